//! The Bernoulli loss and its gradient in one pass, on slices.
//!
//! With `e = exp(-|x|)`, `softplus(x) = max(x, 0) + ln(1 + e)`, and `sigmoid(x)` is `1 / (1 + e)` for `x >= 0` and
//! `e / (1 + e)` otherwise: no intermediate value overflows, and small results keep their relative accuracy.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::math::{exp_non_positive, ln_1p_unit};
use crate::simd::{InstructionSet, Kernel, Simd};

/// The loss of each row, and its gradient with respect to the logits of the row.
pub(crate) struct Bernoulli {
    pub(crate) losses: Vec<f32>,
    pub(crate) gradient: Option<Vec<f32>>,
}

/// `sum(softplus(logit) - target * logit)` of each of `rows` rows.
pub(crate) fn bernoulli(logits: &[f32], targets: &[f32], rows: usize, with_gradient: bool) -> Bernoulli {
    assert_eq!(logits.len(), targets.len(), "logits and targets");
    let set = InstructionSet::current();
    let columns = logits.len().checked_div(rows).unwrap_or(0);
    assert_eq!(logits.len(), rows * columns, "rows of equal length");
    let mut losses = vec![0.0; rows];
    if columns == 0 {
        return Bernoulli { losses, gradient: with_gradient.then(Vec::new) };
    }
    let rows = || logits.par_chunks_exact(columns).zip(targets.par_chunks_exact(columns));
    if !with_gradient {
        losses.par_iter_mut().zip(rows()).for_each(|(loss, (logits, targets))| {
            *loss = set.run(Row { logits, targets, gradient: None });
        });
        return Bernoulli { losses, gradient: None };
    }
    let mut gradient = Vec::with_capacity(logits.len());
    losses
        .par_iter_mut()
        .zip(rows())
        .zip(gradient.spare_capacity_mut()[..logits.len()].par_chunks_exact_mut(columns))
        .for_each(|((loss, (logits, targets)), gradient)| {
            *loss = set.run(Row { logits, targets, gradient: Some(gradient) });
        });
    // SAFETY: there are `rows * columns` logits, so the chunks cover the gradient, and each row writes all of its own.
    unsafe { gradient.set_len(logits.len()) };
    Bernoulli { losses, gradient: Some(gradient) }
}

/// Multiplies each row of `gradient` by its own factor.
pub(crate) fn scale_rows(gradient: &mut [f32], factors: &[f32]) {
    let columns = gradient.len().checked_div(factors.len()).unwrap_or(0).max(1);
    gradient.par_chunks_mut(columns).zip(factors).for_each(|(row, factor)| {
        for value in row {
            *value *= factor;
        }
    });
}

/// Computes the loss of one row, and writes all of its gradient if that is wanted.
struct Row<'a> {
    logits: &'a [f32],
    targets: &'a [f32],
    gradient: Option<&'a mut [MaybeUninit<f32>]>,
}

/// Number of losses that are summed in single precision; the sums of the blocks are added in double precision.
const BLOCK: usize = 1024;

impl Kernel for Row<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> f32 {
        let mut total = 0.0;
        for start in (0..self.logits.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.logits.len());
            let (logits, targets) = (&self.logits[start..end], &self.targets[start..end]);
            let gradient = self.gradient.as_deref_mut().map(|gradient| &mut gradient[start..end]);
            total += block(simd, logits, targets, gradient);
        }
        total as f32
    }
}

/// The sum of the losses of a block.
#[inline(always)]
fn block<S: Simd>(
    simd: S,
    logits: &[f32],
    targets: &[f32],
    gradient: Option<&mut [MaybeUninit<f32>]>,
) -> f64 {
    let targets = &targets[..logits.len()];
    let mut gradient = gradient.map(|gradient| &mut gradient[..logits.len()]);
    let whole = logits.len() / S::LANES * S::LANES;
    let mut sums = simd.splat(0.0);
    for start in (0..whole).step_by(S::LANES) {
        // SAFETY: `start + LANES` is at most `whole`, and both are at least that long.
        let (x, target) =
            unsafe { (simd.load(logits.as_ptr().add(start)), simd.load(targets.as_ptr().add(start))) };
        let (loss, derivative) = loss_and_derivative(simd, x, target);
        sums = simd.add(sums, loss);
        if let Some(gradient) = &mut gradient {
            // SAFETY: as above; the gradient is as long as the logits.
            unsafe { simd.store(gradient.as_mut_ptr().add(start).cast(), derivative) };
        }
    }
    let mut total = simd.to_array(sums)[..S::LANES].iter().copied().map(f64::from).sum::<f64>();
    for index in whole..logits.len() {
        let (loss, derivative) =
            loss_and_derivative(simd, simd.splat(logits[index]), simd.splat(targets[index]));
        total += f64::from(simd.to_array(loss)[0]);
        if let Some(gradient) = &mut gradient {
            gradient[index].write(simd.to_array(derivative)[0]);
        }
    }
    total
}

/// The loss of each logit, and its derivative with respect to the logit.
#[inline(always)]
fn loss_and_derivative<S: Simd>(simd: S, x: S::Vector, target: S::Vector) -> (S::Vector, S::Vector) {
    let zero = simd.splat(0.0);
    let one = simd.splat(1.0);
    let negative = simd.subtract(zero, x);
    let e = exp_non_positive(simd, simd.select_non_negative(x, negative, x));
    let softplus = simd.add(simd.maximum(zero, x), ln_1p_unit(simd, e));
    let loss = simd.multiply_add(target, negative, softplus);
    let sigmoid = simd.divide(simd.select_non_negative(x, one, e), simd.add(one, e));
    (loss, simd.subtract(sigmoid, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "rows of equal length")]
    fn rows_that_do_not_divide_the_logits_are_refused() {
        bernoulli(&[0.0; 10], &[0.0; 10], 3, true);
    }
}
