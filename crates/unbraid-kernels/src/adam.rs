//! One step of Adam on plain slices, in place.

use crate::simd::{InstructionSet, Kernel, Simd};

/// The settings of [`adam_step`], named as in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate, `lr`.
    pub learning_rate: f64,
    /// Decay rate of the first moment.
    pub beta1: f64,
    /// Decay rate of the second moment.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Number of this step, starting at 1.
    pub step: u64,
}

/// Updates `parameters` by one step of Adam (Kingma & Ba 2015, Algorithm 1) in PyTorch's form:
///
/// `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`,
/// `p = p - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)`
///
/// with `m` in `first_moment` and `v` in `second_moment`, both zero before step `t = 1`. With `max_second_moment` it is
/// AMSGrad: `v` in the last line is the maximum of all `v` so far, which that slice holds.
///
/// ```
/// use unbraid_kernels::{AdamStep, adam_step};
///
/// let (mut parameters, mut first, mut second) = ([1.0], [0.0], [0.0]);
/// let settings = AdamStep { learning_rate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step: 1 };
/// adam_step(&settings, &mut parameters, &[5.0], &mut first, &mut second, None);
/// // The first step has the size of the learning rate, whatever the gradient.
/// assert!((parameters[0] - 0.9).abs() < 1e-5);
/// ```
///
/// # Panics
/// If the slices differ in length, or if the step is 0.
pub fn adam_step(
    settings: &AdamStep,
    parameters: &mut [f32],
    gradient: &[f32],
    first_moment: &mut [f32],
    second_moment: &mut [f32],
    max_second_moment: Option<&mut [f32]>,
) {
    let length = parameters.len();
    assert!(
        [gradient.len(), first_moment.len(), second_moment.len()].iter().all(|other| *other == length)
            && max_second_moment.as_ref().is_none_or(|max| max.len() == length),
        "adam_step: slices of different lengths",
    );
    assert!(settings.step > 0, "adam_step: the first step is 1");
    let correction = |beta: f64| 1.0 - beta.powf(settings.step as f64);
    InstructionSet::current().run(Update {
        beta1: settings.beta1 as f32,
        one_minus_beta1: (1.0 - settings.beta1) as f32,
        beta2: settings.beta2 as f32,
        one_minus_beta2: (1.0 - settings.beta2) as f32,
        step_size: (settings.learning_rate / correction(settings.beta1)) as f32,
        root_correction: correction(settings.beta2).sqrt() as f32,
        epsilon: settings.epsilon as f32,
        parameters,
        gradient,
        first_moment,
        second_moment,
        max_second_moment,
    });
}

/// A step with all factors in single precision.
struct Update<'a> {
    beta1: f32,
    one_minus_beta1: f32,
    beta2: f32,
    one_minus_beta2: f32,
    step_size: f32,
    root_correction: f32,
    epsilon: f32,
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    first_moment: &'a mut [f32],
    second_moment: &'a mut [f32],
    max_second_moment: Option<&'a mut [f32]>,
}

impl Kernel for Update<'_> {
    type Output = ();

    // The compiler vectorises these loops with the instructions of the set.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let moments = self.first_moment.iter_mut().zip(self.second_moment.iter_mut());
        for ((first, second), gradient) in moments.zip(self.gradient) {
            *first = self.beta1 * *first + self.one_minus_beta1 * gradient;
            *second = self.beta2 * *second + self.one_minus_beta2 * (gradient * gradient);
        }
        let second_moment = match self.max_second_moment {
            None => &*self.second_moment,
            Some(max_second_moment) => {
                for (max, second) in max_second_moment.iter_mut().zip(&*self.second_moment) {
                    *max = max.max(*second);
                }
                &*max_second_moment
            }
        };
        let parameters = self.parameters.iter_mut();
        for ((parameter, first), second) in parameters.zip(&*self.first_moment).zip(second_moment) {
            *parameter -= self.step_size * first / (second.sqrt() / self.root_correction + self.epsilon);
        }
    }
}
