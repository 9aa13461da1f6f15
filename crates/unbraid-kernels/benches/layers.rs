//! Time, GFLOP/s and fraction of the measured peak of each layer of the network `conv` (64 binary images of 64 x 64), and of
//! the fully connected layers of a discriminator.
//!
//! `cargo bench -p unbraid-kernels --bench layers [-- THREADS [ROUNDS]]`

use mimalloc::MiMalloc;
use unbraid_kernels::{DenseShape, InstructionSet, LayerShape, measured_peak_gflops};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    unbraid_kernels::keep_freed_memory();
    // Cargo passes flags as well.
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let threads = numbers.next().map_or_else(|| vec![1, 2], |threads| vec![threads]);
    let rounds = numbers.next().unwrap_or(20);
    for threads in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| report(threads, rounds));
    }
}

fn report(threads: usize, rounds: usize) {
    let peak = measured_peak_gflops(threads);
    println!("{threads} threads, {}, peak {peak:.0} GFLOP/s", InstructionSet::current());
    println!(
        "{:<28}{:>22}{:>22}{:>22}{:>22}",
        "", "forward", "input gradient", "weight gradient", "backward"
    );
    let mut total = [0.0; 2];
    for transposed in [false, true] {
        for (size, fine_channels, coarse_channels) in [(64, 1, 32), (32, 32, 32), (16, 32, 64), (8, 64, 64)] {
            let shape = LayerShape {
                batch_size: 64,
                image_size: size,
                fine_channels,
                coarse_channels,
                kernel: 4,
                stride: 2,
                padding: 1,
                transposed,
            };
            let times = shape.measure(rounds);
            let cell = |seconds: f64, passes: f64| {
                let rate = passes * times.operations / seconds / 1e9;
                format!("{:.2} ms {rate:>5.0} {:>3.0} %", 1e3 * seconds, 100.0 * rate / peak)
            };
            let (from, to, kind) = match transposed {
                false => (fine_channels, coarse_channels, "convolution"),
                true => (coarse_channels, fine_channels, "transposed"),
            };
            println!(
                "{:<28}{:>22}{:>22}{:>22}{:>22}",
                format!("{kind} {from} -> {to}, {size}"),
                cell(times.forward, 1.0),
                cell(times.input_gradient, 1.0),
                cell(times.weight_gradient, 1.0),
                cell(times.backward, 2.0),
            );
            // The first layer needs no gradient of the images.
            let first = !transposed && fine_channels == 1;
            total[0] += times.forward + if first { times.weight_gradient } else { times.backward };
            total[1] += times.operations * if first { 2.0 } else { 3.0 };
        }
    }
    let share = 100.0 * total[1] / total[0] / 1e9 / peak;
    println!("all layers of a step: {:.1} ms, {share:.0} % of the peak\n", 1e3 * total[0]);
    dense(rounds, peak);
}

fn dense(rounds: usize, peak: f64) {
    println!(
        "{:<28}{:>22}{:>22}{:>22}{:>22}",
        "fully connected", "forward", "input gradient", "weight gradient", "the same with Adam"
    );
    let shapes = [
        (64, 1000, 1000),
        (128, 1000, 1000),
        (512, 1000, 1000),
        (64, 1024, 256),
        (64, 256, 1024),
        (64, 256, 20),
    ];
    for (batch_size, inputs, outputs) in shapes {
        let times = DenseShape { batch_size, inputs, outputs }.measure(rounds);
        let cell = |seconds: f64| {
            let rate = times.operations / seconds / 1e9;
            format!("{:.2} ms {rate:>5.0} {:>3.0} %", 1e3 * seconds, 100.0 * rate / peak)
        };
        println!(
            "{:<28}{:>22}{:>22}{:>22}{:>22}",
            format!("{batch_size} x {inputs} -> {outputs}"),
            cell(times.forward),
            cell(times.input_gradient),
            cell(times.weight_gradient),
            cell(times.weight_step),
        );
    }
    println!();
}
