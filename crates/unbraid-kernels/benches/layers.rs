//! Time, GFLOP/s and fraction of the measured peak of each layer of the network `conv` (64 binary images of 64 x 64), and of
//! the fully connected layers of a discriminator.
//!
//! `cargo xtask bench kernels [THREADS [ROUNDS]]`; with `--choice [ROUNDS]` both algorithms of the layers that have two, on
//! one thread, beside the model that chooses between them.

use mimalloc::MiMalloc;
use unbraid_kernels::{DenseShape, InstructionSet, LayerShape, measured_peak_gflops};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    unbraid_kernels::keep_freed_memory();
    // Cargo passes flags as well.
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    if std::env::args().any(|argument| argument == "--choice") {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of threads");
        let rounds = numbers.next().unwrap_or(5);
        return pool.install(|| choice(rounds));
    }
    let threads = numbers.next().map_or_else(|| vec![1, 2], |threads| vec![threads]);
    let rounds = numbers.next().unwrap_or(20);
    for threads in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| report(threads, rounds));
    }
}

/// A layer of 4 x 4 kernels with stride 2 for 64 images.
fn layer(image_size: usize, fine_channels: usize, coarse_channels: usize, transposed: bool) -> LayerShape {
    LayerShape {
        batch_size: 64,
        image_size,
        fine_channels,
        coarse_channels,
        kernel: 4,
        stride: 2,
        padding: 1,
        transposed,
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
            let times = layer(size, fine_channels, coarse_channels, transposed).measure(rounds);
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

/// Times of both algorithms for each shape, and what the model of the cost would lose with other constants.
fn choice(rounds: usize) {
    println!("1 thread, {}, both passes of 64 images", InstructionSet::current());
    println!("{:<32}{:>12}{:>12}{:>10}{:>10}", "", "definition", "Winograd", "ratio", "model");
    let mut all = Vec::new();
    for transposed in [false, true] {
        for (fine_channels, coarse_channels) in
            [(16, 16), (16, 32), (32, 16), (32, 32), (32, 64), (64, 64), (64, 128), (128, 128)]
        {
            for coarse_size in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16] {
                let image_size = 2 * coarse_size;
                let shape = layer(image_size, fine_channels, coarse_channels, transposed);
                let Some(times) = shape.compare_algorithms(rounds) else { continue };
                let kind = if transposed { "transposed" } else { "convolution" };
                println!(
                    "{:<32}{:>9.3} ms{:>9.3} ms{:>10.2}{:>10.2}",
                    format!("{kind} {fine_channels}, {coarse_channels}, {image_size}"),
                    1e3 * times.direct,
                    1e3 * times.winograd,
                    times.direct / times.winograd,
                    times.cost.saving(),
                );
                all.push(times);
            }
        }
    }
    println!("\n{:<32}{:>12}{:>12}", "multiply-adds of a float", "chosen well", "time lost");
    for transform in [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0] {
        let well = all
            .iter()
            .filter(|times| (times.direct > times.winograd) == (times.cost.saving_with(transform) > 1.0));
        let lost = all.iter().map(|times| {
            let chosen = if times.cost.saving_with(transform) > 1.0 { times.winograd } else { times.direct };
            (chosen / times.direct.min(times.winograd)).ln()
        });
        let lost = (lost.sum::<f64>() / all.len() as f64).exp_m1();
        println!("{transform:<32}{:>8}/{:<4}{:>10.2} %", well.count(), all.len(), 100.0 * lost);
    }
}
