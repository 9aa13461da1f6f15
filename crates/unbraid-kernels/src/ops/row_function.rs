//! A discriminator in one pass: a number for each row by fully connected layers, its gradient, and Adam on the weights.

use burn::backend::{BackendTensor, DispatchTensorKind};
use burn::tensor::Tensor;

use crate::adam::AdamStep;
use crate::linear::{LinearActivation, Stack, StackLayer};
use crate::ops::extension::{FlexTensor, SINGLE_PRECISION};
use crate::ops::use_own_kernels;

pub use crate::linear::Parameters as AdamParameters;

/// A fully connected layer of a [`RowFunction`].
#[derive(Clone, Debug)]
pub struct DenseLayer {
    /// `[out, in]`
    pub weight: Tensor<2>,
    /// `[out]`
    pub bias: Tensor<1>,
    /// What is applied to the sums.
    pub activation: LinearActivation,
}

/// A number for each row, computed by a stack of fully connected layers, with everything that the gradients of functions of
/// these numbers need.
///
/// A loss of a discriminator and the term of an encoder that works against it are sums of functions of the same numbers
/// under the same weights. Their gradients differ by one factor for each row only, so that a single pass to the numbers
/// and back serves both, where automatic differentiation would make one for each. [`RowFunction::step`] then computes
/// the gradient of the weights some rows at a time and moves these by Adam while they are in the cache, so that a
/// gradient as large as the weights is never in memory.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use unbraid_kernels::{AdamParameters, AdamStep, DenseLayer, LinearActivation, RowFunction};
///
/// let device = Device::flex();
/// let layer = DenseLayer {
///     weight: Tensor::from_floats([[1.0, 2.0], [3.0, 5.0]], &device),
///     bias: Tensor::zeros([2], &device),
///     activation: LinearActivation::Identity,
/// };
/// let rows = Tensor::from_floats([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], &device);
/// // The second output minus the first.
/// let function = RowFunction::new(rows, &[layer], &[-1.0, 1.0]).expect("the CPU, in single precision");
/// assert_eq!(function.values(), [2.0, 3.0, 10.0]);
/// assert_eq!(function.gradient(), [2.0, 3.0, 2.0, 3.0, 2.0, 3.0]);
///
/// // The sum of the first two numbers has the derivatives 1, 1 and 0; Adam's first step is the learning rate.
/// let (mut weights, mut first, mut second) = ([1.0, 2.0, 3.0, 5.0], [0.0; 4], [0.0; 4]);
/// let settings = AdamStep { learning_rate: 0.5, beta1: 0.9, beta2: 0.999, epsilon: 0.0, step: 1 };
/// let parameters = AdamParameters { values: &mut weights, moments: [&mut first, &mut second], largest: None };
/// let bias = function.step(0, &[1.0, 1.0, 0.0], &settings, parameters);
/// assert_eq!(bias, [-2.0, 2.0]);
/// assert!(weights.iter().zip([1.5, 2.5, 2.5, 4.5]).all(|(weight, expected)| (weight - expected).abs() < 1e-4));
/// ```
#[derive(Clone, Debug)]
pub struct RowFunction(Stack);

impl RowFunction {
    /// The numbers of `rows`: the sum of the last outputs times `direction`. Neither rows nor weights are tracked.
    ///
    /// Returns `None` if they are not all on the flex CPU device in single precision.
    ///
    /// # Panics
    /// If the shapes do not match, or there are no layers.
    pub fn new(rows: Tensor<2>, layers: &[DenseLayer], direction: &[f32]) -> Option<Self> {
        let [_, mut width] = rows.dims();
        for DenseLayer { weight, bias, .. } in layers {
            let ([outputs, inputs], [length]) = (weight.dims(), bias.dims());
            assert!(
                inputs == width && length == outputs && inputs > 0 && outputs > 0,
                "row function: rows of {width} values meet a layer with the weight [{outputs}, {inputs}] and a bias of \
                 {length}"
            );
            width = outputs;
        }
        assert!(
            !layers.is_empty() && direction.len() == width,
            "row function: a direction of {} values for {width} outputs of {} layers",
            direction.len(),
            layers.len()
        );
        let rows = contiguous(rows)?;
        let tensors = layers
            .iter()
            .map(|layer| Some((contiguous(layer.weight.clone())?, contiguous(layer.bias.clone())?)))
            .collect::<Option<Vec<_>>>()?;
        let layers: Vec<StackLayer<'_>> = layers
            .iter()
            .zip(&tensors)
            .map(|(layer, (weight, bias))| StackLayer {
                inputs: layer.weight.dims()[1],
                activation: layer.activation,
                weights: floats(weight),
                bias: floats(bias),
            })
            .collect();
        Some(Self(Stack::new(floats(&rows).to_vec(), &layers, direction)))
    }

    /// The number of each row.
    pub fn values(&self) -> &[f32] {
        &self.0.values
    }

    /// The gradient of each number with respect to its row, one row after the other.
    pub fn gradient(&self) -> &[f32] {
        &self.0.gradient
    }

    /// Moves the weights of a layer by one step of Adam on a sum of functions of the numbers, of which `factors` are the
    /// derivatives. Returns the gradient of the layer's bias.
    ///
    /// The gradient is that at the weights of [`RowFunction::new`], so that layers may be moved in any order.
    ///
    /// # Panics
    /// If there is no such layer, if a slice does not have the length of its weights, if there is not one factor for each
    /// row, or if the step is 0.
    pub fn step(
        &self,
        layer: usize,
        factors: &[f32],
        settings: &AdamStep,
        parameters: AdamParameters<'_>,
    ) -> Vec<f32> {
        self.0.step(layer, factors, settings, parameters)
    }
}

/// The tensor of the CPU backend, without its history; copied only if it is not contiguous. `None` for any other tensor.
fn contiguous<const D: usize>(tensor: Tensor<D>) -> Option<FlexTensor> {
    if !use_own_kernels(&tensor) {
        return None;
    }
    let tensor = if tensor.device().is_autodiff() { tensor.inner() } else { tensor };
    match tensor.into_dispatch().kind {
        DispatchTensorKind::Flex(BackendTensor::Float(tensor)) => Some(tensor.to_contiguous()),
        _ => None,
    }
}

fn floats(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect(SINGLE_PRECISION)
}
