//! How fast the machine could be: multiply-adds on registers alone.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use crate::simd::{InstructionSet, Kernel, Simd};

/// Independent chains of multiply-adds; enough to hide their latency, few enough for the registers of AVX2.
const CHAINS: usize = 12;

/// Multiply-adds of each chain in one measurement: a few milliseconds.
const LENGTH: usize = 1 << 20;

/// Best of this many measurements, since other programs only ever slow one down.
const ROUNDS: usize = 8;

/// A register-only loop; gives the floating-point operations that it did.
struct MultiplyAdds(f32);

impl Kernel for MultiplyAdds {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        // Values that neither grow nor become subnormal, and that the compiler cannot foresee.
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

/// The most multiply-adds that `threads` cores do at the same time with the current instruction set, in GFLOP/s (10^9
/// floating-point operations a second, two for a multiply-add); takes some 50 milliseconds.
///
/// The share of this peak that a computation reaches says how much a faster program could gain on the same machine.
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
        // A thread that panicked would have taken its share of the barrier with it, so it cannot get here.
        let total: f64 = measure() + others.into_iter().filter_map(|other| other.join().ok()).sum::<f64>();
        total / 1e9
    })
}
