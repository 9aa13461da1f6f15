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
    InstructionSet::current().run(Update {
        factors: settings.factors(),
        parameters,
        gradient,
        first_moment,
        second_moment,
        max_second_moment,
    });
}

impl AdamStep {
    /// # Panics
    /// If the step is 0.
    pub(crate) fn factors(&self) -> Factors {
        assert!(self.step > 0, "adam_step: the first step is 1");
        let correction = |beta: f64| 1.0 - beta.powf(self.step as f64);
        Factors {
            beta1: self.beta1 as f32,
            one_minus_beta1: (1.0 - self.beta1) as f32,
            beta2: self.beta2 as f32,
            one_minus_beta2: (1.0 - self.beta2) as f32,
            step_size: (self.learning_rate / correction(self.beta1)) as f32,
            root_correction: correction(self.beta2).sqrt() as f32,
            epsilon: self.epsilon as f32,
        }
    }
}

/// The factors of a step, in single precision.
#[derive(Clone, Copy)]
pub(crate) struct Factors {
    beta1: f32,
    one_minus_beta1: f32,
    beta2: f32,
    one_minus_beta2: f32,
    step_size: f32,
    root_correction: f32,
    epsilon: f32,
}

/// A step of some parameters.
pub(crate) struct Update<'a> {
    pub(crate) factors: Factors,
    pub(crate) parameters: &'a mut [f32],
    pub(crate) gradient: &'a [f32],
    pub(crate) first_moment: &'a mut [f32],
    pub(crate) second_moment: &'a mut [f32],
    pub(crate) max_second_moment: Option<&'a mut [f32]>,
}

impl Kernel for Update<'_> {
    type Output = ();

    // The compiler vectorises these loops with the instructions of the set. No product is fused with a sum, so that the
    // result does not depend on the place of a parameter in a vector.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { factors, parameters, gradient, first_moment, second_moment, max_second_moment } = self;
        let moments = first_moment.iter_mut().zip(second_moment.iter_mut());
        let all = parameters.iter_mut().zip(gradient).zip(moments);
        match max_second_moment {
            None => {
                for ((parameter, gradient), (first, second)) in all {
                    factors.add(gradient, first, second);
                    factors.descend(parameter, *first, *second);
                }
            }
            Some(max_second_moment) => {
                for (((parameter, gradient), (first, second)), max) in all.zip(max_second_moment) {
                    factors.add(gradient, first, second);
                    *max = max.max(*second);
                    factors.descend(parameter, *first, *max);
                }
            }
        }
    }
}

impl Factors {
    #[inline(always)]
    fn add(&self, gradient: &f32, first: &mut f32, second: &mut f32) {
        *first = self.beta1 * *first + self.one_minus_beta1 * gradient;
        *second = self.beta2 * *second + self.one_minus_beta2 * (gradient * gradient);
    }

    #[inline(always)]
    fn descend(&self, parameter: &mut f32, first: f32, second: f32) {
        *parameter -= self.step_size * first / (second.sqrt() / self.root_correction + self.epsilon);
    }
}
