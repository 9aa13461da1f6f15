//! The peak arithmetic throughput of the machine, measured with multiply-adds on registers.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use crate::simd::{InstructionSet, Kernel, Simd};

/// Independent chains of multiply-adds: enough to hide their latency, and few enough for the registers of AVX2.
const CHAINS: usize = 12;

/// Multiply-adds of each chain in one measurement, which takes a few milliseconds.
const LENGTH: usize = 1 << 20;

/// Number of measurements. The fastest counts, because other programs can only slow one down.
const ROUNDS: usize = 8;

/// A loop that uses registers only; returns the number of its floating-point operations.
struct MultiplyAdds(f32);

impl Kernel for MultiplyAdds {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        // Values that stay finite and normal, and that the compiler does not know.
        let factor = simd.splat(black_box(self.0));
        let mut sums = [simd.splat(black_box(1.0)); CHAINS];
        for _ in 0..LENGTH {
            for sum in &mut sums {
                *sum = simd.multiply_add(*sum, factor, factor);
            }
        }
        let total = sums.into_iter().reduce(|a, b| simd.add(a, b));
        black_box(total.map(|total| simd.maximum(total, total)));
        2 * S::LANES * CHAINS * LENGTH
    }
}

/// The peak throughput of `threads` threads with the current instruction set in GFLOP/s (10^9 floating-point operations
/// per second; a multiply-add counts as two). Measuring it takes about 50 milliseconds.
///
/// A computation that reaches a fraction `f` of this peak could at best become `1 / f` times as fast on the same machine.
pub fn measured_peak_gflops(threads: usize) -> f64 {
    let set = InstructionSet::current();
    let threads = threads.max(1);
    let barrier = Barrier::new(threads);
    let measure = || {
        let mut best: f64 = 0.0;
        for _ in 0..ROUNDS {
            barrier.wait();
            let start = Instant::now();
            let operations = set.run(MultiplyAdds(0.5));
            best = best.max(operations as f64 / start.elapsed().as_secs_f64());
        }
        best
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(measure)).collect();
        // If a thread panicked, the others would wait at the barrier forever; so none has when this is reached.
        let total: f64 = measure() + others.into_iter().filter_map(|other| other.join().ok()).sum::<f64>();
        total / 1e9
    })
}
