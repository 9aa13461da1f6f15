//! Adam against steps computed by hand.

use unbraid_kernels::{AdamStep, adam_step};

use crate::common::on_every_instruction_set;

fn settings(step: u64) -> AdamStep {
    AdamStep { learning_rate: 0.1, beta1: 0.5, beta2: 0.75, epsilon: 0.0, step }
}

/// These factors keep every number short. Gradient 2, then -1:
/// m = 1, v = 1; m / 0.5 = 2, v / 0.25 = 4, so the step is 0.1 * 2 / 2 = 0.1.
/// m = 0.5 - 0.5 = 0, so the second step is 0; v = 0.75 + 0.25 = 1.
#[test]
fn two_steps_by_hand() {
    on_every_instruction_set(|set| {
        // Longer than a vector of any instruction set, and not a multiple of one.
        let (mut p, mut m, mut v) = (vec![1.0; 37], vec![0.0; 37], vec![0.0; 37]);
        adam_step(&settings(1), &mut p, &[2.0; 37], &mut m, &mut v, None);
        assert!(m.iter().chain(&v).all(|value| *value == 1.0), "{set}");
        assert!(p.iter().all(|p| (p - 0.9).abs() <= f32::EPSILON), "{set}: {p:?}");
        adam_step(&settings(2), &mut p, &[-1.0; 37], &mut m, &mut v, None);
        assert!(m.iter().all(|m| *m == 0.0) && v.iter().all(|v| *v == 1.0), "{set}");
        assert!(p.iter().all(|p| (p - 0.9).abs() <= f32::EPSILON), "{set}: {p:?}");
    });
}

/// Gradients 4, then 0: v = 4, then 3. Plain: m = 2, then 1; the second step is 0.1 / 0.75 * 1 / sqrt(3 / 0.4375).
/// AMSGrad keeps 4 instead of 3.
#[test]
fn amsgrad_keeps_the_largest_second_moment() {
    on_every_instruction_set(|set| {
        let run = |amsgrad: bool| {
            let (mut p, mut m, mut v, mut largest) = ([0.0], [0.0], [0.0], [0.0]);
            for (step, gradient) in [(1, 4.0), (2, 0.0)] {
                let largest = amsgrad.then_some(largest.as_mut_slice());
                adam_step(&settings(step), &mut p, &[gradient], &mut m, &mut v, largest);
            }
            (p[0], v[0])
        };
        // The first step is 0.1 * (2 / 0.5) / sqrt(4 / 0.25) = 0.1.
        let second = |v: f64| -0.1 - 0.1 / 0.75 / (v / 0.4375).sqrt();
        for (amsgrad, kept) in [(false, 3.0), (true, 4.0)] {
            let (p, v) = run(amsgrad);
            assert_eq!(v, 3.0, "{set}");
            assert!((f64::from(p) - second(kept)).abs() < 1e-7, "{set}: {p}, not {}", second(kept));
        }
    });
}

#[test]
fn epsilon_is_added_after_the_correction() {
    // Step 1 from gradient g: |g| / (|g| + epsilon) of the learning rate, whatever the decays.
    let settings = AdamStep { learning_rate: 1.0, beta1: 0.9, beta2: 0.999, epsilon: 1.0, step: 1 };
    let (mut p, mut m, mut v) = ([0.0], [0.0], [0.0]);
    adam_step(&settings, &mut p, &[3.0], &mut m, &mut v, None);
    // 1 - 0.999 has only four digits in single precision; the square root halves its error.
    assert!((p[0] + 0.75).abs() < 1e-4, "{}", p[0]);
}

#[test]
#[should_panic(expected = "slices of different lengths")]
fn different_lengths_are_refused() {
    adam_step(&settings(1), &mut [0.0], &[0.0, 1.0], &mut [0.0], &mut [0.0], None);
}
