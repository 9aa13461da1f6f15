//! One step of Adam on plain slices, in place.

use crate::simd::{InstructionSet, Kernel, Simd};

/// The settings of [`adam_step`], as PyTorch names them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// `lr`
    pub learning_rate: f64,
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Number of this step, the first is 1.
    pub step: u64,
}

/// Moves `parameters` one step of Adam (Kingma & Ba 2015, Algorithm 1) in PyTorch's form:
///
/// `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`,
/// `p = p - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)`.
///
/// With `largest_second` given it is AMSGrad: `v` in the last line is the largest that it has ever been.
///
/// # Panics
/// If the slices differ in length, or if the step is 0.
pub fn adam_step(
    settings: &AdamStep,
    parameters: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    second: &mut [f32],
    largest_second: Option<&mut [f32]>,
) {
    let length = parameters.len();
    assert!(
        [gradient.len(), first.len(), second.len()].iter().all(|other| *other == length)
            && largest_second.as_ref().is_none_or(|largest| largest.len() == length),
        "adam_step: slices of different lengths",
    );
    assert!(settings.step > 0, "adam_step: the first step is 1");
    let correction = |beta: f64| 1.0 - beta.powf(settings.step as f64);
    InstructionSet::current().run(Update {
        beta1: settings.beta1 as f32,
        rest1: (1.0 - settings.beta1) as f32,
        beta2: settings.beta2 as f32,
        rest2: (1.0 - settings.beta2) as f32,
        step_size: (settings.learning_rate / correction(settings.beta1)) as f32,
        root_correction: correction(settings.beta2).sqrt() as f32,
        epsilon: settings.epsilon as f32,
        parameters,
        gradient,
        first,
        second,
        largest_second,
    });
}

/// All factors in single precision, ready for the loop.
struct Update<'a> {
    beta1: f32,
    rest1: f32,
    beta2: f32,
    rest2: f32,
    step_size: f32,
    root_correction: f32,
    epsilon: f32,
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    largest_second: Option<&'a mut [f32]>,
}

impl Kernel for Update<'_> {
    type Output = ();

    // Plain loops over zipped slices: the compiler vectorises them with the instructions of the set.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let moments = self.first.iter_mut().zip(self.second.iter_mut());
        for ((first, second), gradient) in moments.zip(self.gradient) {
            *first = self.beta1 * *first + self.rest1 * gradient;
            *second = self.beta2 * *second + self.rest2 * (gradient * gradient);
        }
        let second = match self.largest_second {
            None => &*self.second,
            Some(largest) => {
                for (largest, second) in largest.iter_mut().zip(&*self.second) {
                    *largest = largest.max(*second);
                }
                &*largest
            }
        };
        for ((parameter, first), second) in self.parameters.iter_mut().zip(&*self.first).zip(second) {
            *parameter -= self.step_size * first / (second.sqrt() / self.root_correction + self.epsilon);
        }
    }
}
