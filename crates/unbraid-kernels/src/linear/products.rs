//! The three products of a fully connected layer, in blocks that stay in the caches.
//!
//! In each of them one factor is broadcast float by float from where it lies, and the other is copied into *panels* as
//! wide as a register tile, of which 16 KB at a time stay in the first-level cache. The copied one is the smaller: the
//! activations in the forward pass and in the weight gradient, a block of the weights in the input gradient.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::columns::SharedColumns;
use super::panels::{PackRows, PackTransposed, Panel, Rows, panel_width};
use super::{LinearActivation, LinearShape};
use crate::kernel::product::{Left, Product, Right};
use crate::kernel::rows::tiles;
use crate::kernel::scratch::{aligned, with_scratch};
use crate::simd::{Kernel, Simd};

/// Floats of a panel that are multiplied at once: 16 KB.
const PANEL_FLOATS: usize = 4096;

/// Columns of the input gradient that a task computes.
const INPUT_COLUMNS: usize = 64;

/// Rows of the weight gradient that a task computes: few enough for the second-level cache, with the parameters and
/// moments that an optimiser updates by them.
const GRADIENT_ROWS: usize = 24;

/// Blocks of the depth of a product: start and length of each. They depend on the depth alone, as sums must.
fn depth_blocks<S: Simd>(depth: usize) -> impl Iterator<Item = (usize, usize)> {
    tiles(depth, PANEL_FLOATS / panel_width::<S>())
}

/// Calls `work` with each chunk of `floats` and its number.
fn each_chunk(is_small: bool, floats: &mut [f32], length: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    if is_small {
        floats.chunks_exact_mut(length).enumerate().for_each(|(number, chunk)| work(number, chunk));
    } else {
        floats.par_chunks_exact_mut(length).enumerate().for_each(|(number, chunk)| work(number, chunk));
    }
}

/// A single panel as the right factor of a product.
#[inline(always)]
fn one_panel(floats: &[f32], width: usize) -> Right<'_> {
    Right { floats, panel: 0, depth: width, pair: 0 }
}

/// `f(x W^T + b)`, `[batch, outputs]`. Rows of `W` are broadcast, so the sums of a task are transposed.
pub(super) fn forward<S: Simd>(
    simd: S,
    shape: LinearShape,
    activation: LinearActivation,
    (input, weights, bias): (&[f32], &[f32], &[f32]),
) -> Vec<f32> {
    let LinearShape { batch_size, inputs, outputs } = shape;
    let width = panel_width::<S>();
    let columns = batch_size.next_multiple_of(S::LANES);
    let panels = columns.div_ceil(width);
    let mut output = Vec::with_capacity(batch_size * outputs);
    let target = SharedColumns::new(&mut output.spare_capacity_mut()[..batch_size * outputs], outputs);
    with_scratch(panels * inputs * width, |packed| {
        each_chunk(shape.is_small(), packed, inputs * width, |number, floats| {
            let images = number * width..batch_size.min((number + 1) * width);
            let source = &input[images.start * inputs..images.end * inputs];
            simd.vectorize(PackTransposed { source, length: inputs, panel: Panel { width, floats } });
        });
        let packed = &*packed;
        let rows = shape.task_rows();
        (0..outputs.div_ceil(rows)).into_par_iter().for_each(|task| {
            let first = task * rows;
            let rows = rows.min(outputs - first);
            with_scratch(rows * columns, |sums| {
                let sums = &mut sums[..rows * columns];
                let part = Rows { source: &weights[first * inputs..], stride: inputs, rows, columns: inputs };
                let blocks: Vec<(usize, usize)> = depth_blocks::<S>(inputs).collect();
                part.prefetch(simd, blocks[0], (0, 1));
                for (number, (start, depth)) in blocks.iter().copied().enumerate() {
                    for panel in 0..panels {
                        simd.vectorize(Product {
                            rows,
                            columns: width.min(columns - panel * width),
                            depth,
                            pairs: 1,
                            left: Left {
                                floats: &weights[first * inputs + start..],
                                row: inputs,
                                depth: 1,
                                pair: 0,
                            },
                            right: one_panel(&packed[(panel * inputs + start) * width..], width),
                            target: &mut sums[panel * width..],
                            target_row: columns,
                            add: start > 0,
                        });
                        if let Some(next) = blocks.get(number + 1) {
                            part.prefetch(simd, *next, (panel, panels));
                        }
                    }
                }
                simd.vectorize(Activate { activation, bias: &bias[first..first + rows], sums });
                for image in 0..batch_size {
                    let values = (0..rows).map(|row| sums[row * columns + image]);
                    // SAFETY: no other task has these outputs.
                    unsafe { target.write(image, first, values) };
                }
            });
        });
    });
    // SAFETY: the tasks cover all outputs, and each writes its own for every image.
    unsafe { output.set_len(batch_size * outputs) };
    output
}

/// `dy W`, `[batch, inputs]`, for the gradient `dy` of the sums. With the layer's input and the activation that it is the
/// output of, it is also multiplied with the derivative of that, and so is the gradient of the sums of the layer before.
pub(super) fn input_gradient<S: Simd>(
    simd: S,
    shape: LinearShape,
    (gradient, weights): (&[f32], &[f32]),
    before: Option<(LinearActivation, &[f32])>,
) -> Vec<f32> {
    let LinearShape { batch_size, inputs, outputs } = shape;
    let width = panel_width::<S>();
    let mut output = Vec::with_capacity(batch_size * inputs);
    let target = SharedColumns::new(&mut output.spare_capacity_mut()[..batch_size * inputs], inputs);
    let task_columns = if shape.is_small() { inputs } else { INPUT_COLUMNS };
    (0..inputs.div_ceil(task_columns)).into_par_iter().for_each(|task| {
        let first = task * task_columns;
        let present = task_columns.min(inputs - first);
        let columns = present.next_multiple_of(S::LANES);
        let panels = columns.div_ceil(width);
        let deepest = outputs.min(PANEL_FLOATS / width);
        let packed_length = aligned(panels * deepest * width);
        with_scratch(packed_length + batch_size * columns, |scratch| {
            let (packed, sums) = scratch.split_at_mut(packed_length);
            let sums = &mut sums[..batch_size * columns];
            let blocks: Vec<(usize, usize)> = depth_blocks::<S>(outputs).collect();
            let part = |(start, depth): (usize, usize)| {
                let source = &weights[start * inputs + first..];
                Rows { source, stride: inputs, rows: depth, columns: present }
            };
            for (number, (start, depth)) in blocks.iter().copied().enumerate() {
                let rows = part((start, depth));
                for (number, floats) in packed.chunks_exact_mut(depth * width).take(panels).enumerate() {
                    simd.vectorize(PackRows { rows, number, panel: Panel { width, floats } });
                }
                for panel in 0..panels {
                    simd.vectorize(Product {
                        rows: batch_size,
                        columns: width.min(columns - panel * width),
                        depth,
                        pairs: 1,
                        left: Left { floats: &gradient[start..], row: outputs, depth: 1, pair: 0 },
                        right: one_panel(&packed[panel * depth * width..], width),
                        target: &mut sums[panel * width..],
                        target_row: columns,
                        add: start > 0,
                    });
                    if let Some(next) = blocks.get(number + 1) {
                        part(*next).prefetch(simd, (0, present), (panel, panels));
                    }
                }
            }
            for (image, row) in sums.chunks_exact_mut(columns).enumerate() {
                let row = &mut row[..present];
                if let Some((activation, values)) = before {
                    let values = &values[image * inputs + first..][..present];
                    simd.vectorize(Differentiate { activation, values, gradient: row });
                }
                // SAFETY: no other task has these columns.
                unsafe { target.write(image, first, row.iter().copied()) };
            }
        });
    });
    // SAFETY: the tasks cover all inputs, and each writes its own for every image.
    unsafe { output.set_len(batch_size * inputs) };
    output
}

/// What becomes of some rows of a weight gradient.
pub(super) trait GradientRows: Send {
    /// Where whole rows can be written at once, if they can.
    fn direct(&mut self) -> Option<&mut [f32]> {
        None
    }

    /// Matrices in the layout of the rows that [`GradientRows::finish`] will need; they are fetched while the rows are
    /// computed.
    fn needed(&self) -> Vec<*const f32> {
        Vec::new()
    }

    /// The rows, `stride` floats apart; not called if they were written at once.
    fn finish<S: Simd>(self, simd: S, rows: &[f32], stride: usize);
}

/// `dy^T x`, for the gradient `dy` of the sums: [`GRADIENT_ROWS`] rows for each of `targets`, the last of which may have
/// fewer. With `factors`, the rows of `dy` are multiplied with one each. Returns the gradient of the bias.
pub(super) fn weight_gradient<S: Simd, T: GradientRows>(
    simd: S,
    shape: LinearShape,
    (gradient, input): (&[f32], &[f32]),
    factors: Option<&[f32]>,
    targets: Vec<T>,
) -> Vec<f32> {
    let LinearShape { batch_size, inputs, outputs } = shape;
    let width = panel_width::<S>();
    let columns = inputs.next_multiple_of(S::LANES);
    let panels = columns.div_ceil(width);
    let mut bias = vec![0.0; outputs];
    with_scratch(panels * batch_size * width, |packed| {
        let rows = Rows { source: input, stride: inputs, rows: batch_size, columns: inputs };
        each_chunk(shape.is_small(), packed, batch_size * width, |number, floats| {
            simd.vectorize(PackRows { rows, number, panel: Panel { width, floats } });
        });
        let packed = &*packed;
        let task = |(number, (mut target, bias)): (usize, (T, &mut [f32]))| {
            let (first, rows) = (number * GRADIENT_ROWS, bias.len());
            let left_length = aligned(batch_size * rows);
            with_scratch(left_length + rows * columns, |scratch| {
                let (left, sums) = scratch.split_at_mut(left_length);
                let mut totals = [0.0f64; GRADIENT_ROWS];
                for (image, left) in left.chunks_exact_mut(rows).take(batch_size).enumerate() {
                    let factor = factors.map_or(1.0, |factors| factors[image]);
                    let values = &gradient[image * outputs + first..][..rows];
                    for ((left, value), total) in left.iter_mut().zip(values).zip(&mut totals) {
                        *left = factor * value;
                        *total += f64::from(*left);
                    }
                }
                bias.iter_mut().zip(totals).for_each(|(bias, total)| *bias = total as f32);
                let needed = target.needed();
                let compute = |sums: &mut [f32]| {
                    for (start, depth) in depth_blocks::<S>(batch_size) {
                        for panel in 0..panels {
                            let first = panel * width;
                            simd.vectorize(Product {
                                rows,
                                columns: width.min(columns - first),
                                depth,
                                pairs: 1,
                                left: Left { floats: &left[start * rows..], row: 1, depth: rows, pair: 0 },
                                right: one_panel(&packed[(panel * batch_size + start) * width..], width),
                                target: &mut sums[first..],
                                target_row: columns,
                                add: start > 0,
                            });
                            // Once, and spread over the panels, so that waiting for memory overlaps with arithmetic.
                            for matrix in needed.iter().filter(|_| start == 0) {
                                (0..rows)
                                    .for_each(|row| simd.prefetch(matrix.wrapping_add(row * inputs + first)));
                            }
                        }
                    }
                };
                if columns == inputs
                    && let Some(rows) = target.direct()
                {
                    compute(rows);
                    return;
                }
                let sums = &mut sums[..rows * columns];
                compute(sums);
                target.finish(simd, sums, columns);
            });
        };
        let work = targets.into_iter().zip(bias.chunks_mut(GRADIENT_ROWS)).enumerate();
        if shape.is_small() {
            work.for_each(task);
        } else {
            work.collect::<Vec<_>>().into_par_iter().for_each(task);
        }
    });
    bias
}

/// Rows of a gradient as they are; all of them are written.
pub(super) struct Store<'a>(&'a mut [MaybeUninit<f32>]);

impl<'a> Store<'a> {
    /// The targets of a whole gradient, `[outputs, inputs]`.
    pub(super) fn all(gradient: &'a mut [MaybeUninit<f32>], inputs: usize) -> Vec<Self> {
        gradient.chunks_mut(GRADIENT_ROWS * inputs).map(Self).collect()
    }
}

impl GradientRows for Store<'_> {
    fn direct(&mut self) -> Option<&mut [f32]> {
        // Here, and not for the whole gradient: by the thread that writes these rows next.
        self.0.iter_mut().for_each(|value| {
            value.write(0.0);
        });
        // SAFETY: every float has just been written.
        Some(unsafe { self.0.assume_init_mut() })
    }

    fn finish<S: Simd>(self, _: S, rows: &[f32], stride: usize) {
        let inputs = self.0.len() / (rows.len() / stride);
        for (target, row) in self.0.chunks_exact_mut(inputs).zip(rows.chunks_exact(stride)) {
            target.write_copy_of_slice(&row[..inputs]);
        }
    }
}

/// The number of rows that a target of [`weight_gradient`] has, but for the last.
pub(super) const fn target_rows() -> usize {
    GRADIENT_ROWS
}

/// Adds the bias to transposed sums, `[outputs, columns]`, and applies the activation.
struct Activate<'a> {
    activation: LinearActivation,
    bias: &'a [f32],
    sums: &'a mut [f32],
}

impl Kernel for Activate<'_> {
    type Output = ();

    // The compiler vectorises these loops with the instructions of the set.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let columns = self.sums.len() / self.bias.len();
        for (row, bias) in self.sums.chunks_exact_mut(columns).zip(self.bias) {
            match self.activation {
                LinearActivation::Identity => row.iter_mut().for_each(|sum| *sum += bias),
                // With these comparisons NaN stays NaN, as in PyTorch.
                LinearActivation::Relu => {
                    for sum in row {
                        let value = *sum + bias;
                        *sum = if value < 0.0 { 0.0 } else { value };
                    }
                }
                LinearActivation::LeakyRelu { slope } => {
                    for sum in row {
                        let value = *sum + bias;
                        *sum = if value < 0.0 { slope * value } else { value };
                    }
                }
                LinearActivation::Tanh => row.iter_mut().for_each(|sum| *sum = (*sum + bias).tanh()),
            }
        }
    }
}

/// Multiplies a gradient with the derivative of an activation, given its values.
pub(super) struct Differentiate<'a> {
    pub(super) activation: LinearActivation,
    pub(super) values: &'a [f32],
    pub(super) gradient: &'a mut [f32],
}

impl Kernel for Differentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let pairs = self.gradient.iter_mut().zip(self.values);
        match self.activation {
            LinearActivation::Identity => {}
            // The sign of the output is that of the sum.
            LinearActivation::Relu => {
                pairs.for_each(|(gradient, value)| *gradient = if *value > 0.0 { *gradient } else { 0.0 });
            }
            LinearActivation::LeakyRelu { slope } => {
                pairs.for_each(|(gradient, value)| *gradient *= if *value > 0.0 { 1.0 } else { slope });
            }
            LinearActivation::Tanh => pairs.for_each(|(gradient, value)| *gradient *= 1.0 - value * value),
        }
    }
}
