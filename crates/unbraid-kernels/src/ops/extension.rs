//! The kernels as an extension of burn's CPU backend, and their backward passes.

use std::fmt::Debug;

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients as TapeGradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, TensorData, backend_extension};

use crate::bernoulli::{Bernoulli, bernoulli, scale_rows};
use crate::geometry::{ImageShape, Layer};
use crate::kernel::{self, Direction};
use crate::linear::{
    LinearActivation, LinearBackward, LinearForward, LinearShape, linear_backward, linear_forward,
};
use crate::transpose::{Matrices, transpose};

/// A layer without its tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerOptions {
    pub(crate) layer: Layer,
    pub(crate) direction: Direction,
    pub(crate) relu: bool,
}

/// Two layers without their tensors; the first has a ReLU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairOptions {
    pub(crate) layers: [Layer; 2],
    pub(crate) direction: Direction,
    /// Whether the second layer has a ReLU.
    pub(crate) relu: bool,
}

/// A fully connected layer without its tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearOptions {
    pub(crate) shape: LinearShape,
    pub(crate) activation: LinearActivation,
}

/// Matrices to be transposed, without their values.
#[derive(Clone, Debug)]
pub(crate) struct TransposeOptions {
    pub(crate) matrices: Matrices,
    /// Shape of the result.
    pub(crate) shape: Vec<usize>,
}

/// The operations that this crate adds to burn's CPU backend.
#[backend_extension(Autodiff, Flex)]
pub(crate) trait LayerBackend: Backend {
    /// A convolution or transposed convolution.
    fn unbraid_layer(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: LayerOptions,
    ) -> FloatTensor<Self>;

    /// Two convolutions, or two transposed ones, that are a [pair](kernel::is_pair).
    fn unbraid_pair(
        input: FloatTensor<Self>,
        first_weight: FloatTensor<Self>,
        first_bias: FloatTensor<Self>,
        second_weight: FloatTensor<Self>,
        second_bias: FloatTensor<Self>,
        options: PairOptions,
    ) -> FloatTensor<Self>;

    /// A fully connected layer.
    fn unbraid_linear(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: LinearOptions,
    ) -> FloatTensor<Self>;

    /// The Bernoulli loss of each row of logits.
    fn unbraid_bernoulli(logits: FloatTensor<Self>, targets: FloatTensor<Self>) -> FloatTensor<Self>;

    /// A batch of matrices, each transposed.
    fn unbraid_transpose(input: FloatTensor<Self>, options: TransposeOptions) -> FloatTensor<Self>;
}

/// Why a contiguous tensor is a slice of floats.
pub(super) const SINGLE_PRECISION: &str = "single precision, checked before the operation was chosen";

/// A tensor of the CPU backend.
pub(super) type FlexTensor = FloatTensor<Flex>;

/// Calls `work` with the floats of a tensor, which are copied only if the tensor is not contiguous.
fn with_floats<T>(tensor: &FlexTensor, work: impl FnOnce(&[f32]) -> T) -> T {
    match tensor.as_slice::<f32>() {
        Some(floats) => work(floats),
        None => {
            let contiguous = tensor.to_contiguous();
            work(contiguous.as_slice::<f32>().expect(SINGLE_PRECISION))
        }
    }
}

/// The floats of a contiguous tensor.
fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect(SINGLE_PRECISION)
}

fn tensor(values: Vec<f32>, shape: impl Into<Vec<usize>>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape.into()))
}

fn images(values: Vec<f32>, batch_size: usize, image: ImageShape) -> FlexTensor {
    tensor(values, [batch_size, image.height, image.width, image.channels])
}

fn dimensions(tensor: &FlexTensor) -> Vec<usize> {
    tensor.layout().shape().to_vec()
}

/// Hands a gradient to the parent that it belongs to, if that is tracked.
fn register(grads: &mut TapeGradients, parent: Option<NodeId>, values: Option<Vec<f32>>, shape: Vec<usize>) {
    if let (Some(parent), Some(values)) = (parent, values) {
        grads.register::<Flex>(parent, tensor(values, shape));
    }
}

/// The same for the weight and the bias of a convolution.
fn register_parameters(
    grads: &mut TapeGradients,
    [weight_node, bias_node]: [Option<NodeId>; 2],
    gradients: kernel::Gradients,
    weight: &FlexTensor,
) {
    let channels = vec![gradients.bias.len()];
    register(grads, weight_node, gradients.weights, dimensions(weight));
    register(grads, bias_node, Some(gradients.bias), channels);
}

impl LayerBackend for Flex {
    fn unbraid_layer(
        input: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        options: LayerOptions,
    ) -> FlexTensor {
        layer_forward(&input, &weight, &bias, options)
    }

    fn unbraid_pair(
        input: FlexTensor,
        first_weight: FlexTensor,
        first_bias: FlexTensor,
        second_weight: FlexTensor,
        second_bias: FlexTensor,
        options: PairOptions,
    ) -> FlexTensor {
        let parameters = [[&first_weight, &first_bias], [&second_weight, &second_bias]];
        let [_, output] = pair_forward(&input, parameters, options);
        output
    }

    fn unbraid_linear(
        input: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        options: LinearOptions,
    ) -> FlexTensor {
        fully_connected(&input, &weight, &bias, options)
    }

    fn unbraid_bernoulli(logits: FlexTensor, targets: FlexTensor) -> FlexTensor {
        bernoulli_forward(&logits, &targets, false).0
    }

    fn unbraid_transpose(
        input: FlexTensor,
        TransposeOptions { matrices, shape }: TransposeOptions,
    ) -> FlexTensor {
        transposed(&input, matrices, shape)
    }
}

fn layer_forward(
    input: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    options: LayerOptions,
) -> FlexTensor {
    let LayerOptions { layer, direction, relu } = options;
    let (_, image) = direction.between(&layer);
    let output = with_floats(input, |input| {
        with_floats(weight, |weights| {
            with_floats(bias, |bias| {
                let bias = Some(bias);
                kernel::forward(input, kernel::Forward { layer: &layer, direction, relu, weights, bias })
            })
        })
    });
    images(output, layer.batch_size, image)
}

/// The outputs of both layers.
fn pair_forward(
    input: &FlexTensor,
    parameters: [[&FlexTensor; 2]; 2],
    options: PairOptions,
) -> [FlexTensor; 2] {
    let PairOptions { layers, direction, relu } = options;
    let parameters = parameters.map(|tensors| tensors.map(FlexTensor::to_contiguous));
    let forward = |place: usize, relu| kernel::Forward {
        layer: &layers[place],
        direction,
        relu,
        weights: slice(&parameters[place][0]),
        bias: Some(slice(&parameters[place][1])),
    };
    let [between, output] =
        with_floats(input, |input| kernel::forward_pair(input, [forward(0, true), forward(1, relu)]));
    let image = |place: usize| direction.between(&layers[place]).1;
    let batch_size = layers[0].batch_size;
    [images(between, batch_size, image(0)), images(output, batch_size, image(1))]
}

/// What the backward pass of a pair needs from the forward pass.
#[derive(Clone, Debug)]
struct PairState {
    input: FlexTensor,
    weights: [FlexTensor; 2],
    between: FlexTensor,
    /// The output, if the second layer has a ReLU.
    output: Option<FlexTensor>,
    options: PairOptions,
}

#[derive(Debug)]
struct PairBackward;

impl Backward<Flex, 5> for PairBackward {
    type State = PairState;

    fn backward(self, ops: Ops<PairState, 5>, grads: &mut TapeGradients, _: &mut Checkpointer) {
        let [input_node, first_weight, first_bias, second_weight, second_bias] =
            ops.parents.map(|parent| parent.map(|node| node.id));
        let gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let PairState { input, weights, between, output, options } = ops.state;
        let PairOptions { layers, direction, .. } = options;
        let (input, weights) = (input.to_contiguous(), weights.map(|weight| weight.to_contiguous()));
        let [mut first, second] = kernel::backward_pair(kernel::BackwardPair {
            layers: [&layers[0], &layers[1]],
            direction,
            input: slice(&input),
            weights: [slice(&weights[0]), slice(&weights[1])],
            between: slice(&between),
            output: output.as_ref().map(slice),
            gradient: slice(&gradient),
            needs_input: input_node.is_some(),
        });
        register(grads, input_node, first.input.take(), dimensions(&input));
        register_parameters(grads, [first_weight, first_bias], first, &weights[0]);
        register_parameters(grads, [second_weight, second_bias], second, &weights[1]);
    }
}

/// What the backward pass of a layer needs from the forward pass.
#[derive(Clone, Debug)]
struct LayerState {
    input: FlexTensor,
    weight: FlexTensor,
    /// The output, if the layer has a ReLU.
    output: Option<FlexTensor>,
    options: LayerOptions,
}

#[derive(Debug)]
struct LayerBackward;

impl Backward<Flex, 3> for LayerBackward {
    type State = LayerState;

    fn backward(self, ops: Ops<LayerState, 3>, grads: &mut TapeGradients, _: &mut Checkpointer) {
        let [input_node, weight_node, bias_node] = ops.parents.map(|parent| parent.map(|node| node.id));
        let gradient = grads.consume::<Flex>(&ops.node);
        let LayerState { input, weight, output, options } = ops.state;
        let LayerOptions { layer, direction, .. } = options;
        let output = output.map(|output| output.to_contiguous());
        let output = output.as_ref().map(slice);
        let mut gradients = with_floats(&gradient, |gradient| {
            with_floats(&input, |input| {
                with_floats(&weight, |weights| {
                    kernel::backward(kernel::Backward {
                        layer: &layer,
                        direction,
                        input,
                        weights,
                        output,
                        gradient,
                        needs_input: input_node.is_some(),
                        needs_weights: weight_node.is_some(),
                    })
                })
            })
        });
        register(grads, input_node, gradients.input.take(), dimensions(&input));
        register_parameters(grads, [weight_node, bias_node], gradients, &weight);
    }
}

fn fully_connected(
    input: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    LinearOptions { shape, activation }: LinearOptions,
) -> FlexTensor {
    let output = with_floats(input, |input| {
        with_floats(weight, |weights| {
            with_floats(bias, |bias| {
                linear_forward(LinearForward { shape, activation, input, weights, bias })
            })
        })
    });
    tensor(output, [shape.batch_size, shape.outputs])
}

/// What the backward pass of a fully connected layer needs from the forward pass.
#[derive(Clone, Debug)]
struct LinearState {
    input: FlexTensor,
    weight: FlexTensor,
    output: FlexTensor,
    options: LinearOptions,
}

#[derive(Debug)]
struct LinearBackwardPass;

impl Backward<Flex, 3> for LinearBackwardPass {
    type State = LinearState;

    fn backward(self, ops: Ops<LinearState, 3>, grads: &mut TapeGradients, _: &mut Checkpointer) {
        let [input_node, weight_node, bias_node] = ops.parents.map(|parent| parent.map(|node| node.id));
        let gradient = grads.consume::<Flex>(&ops.node);
        let LinearState { input, weight, output, options } = ops.state;
        let LinearOptions { shape, activation } = options;
        let gradients = with_floats(&gradient, |gradient| {
            with_floats(&input, |input| {
                with_floats(&weight, |weights| {
                    with_floats(&output, |output| {
                        linear_backward(LinearBackward {
                            shape,
                            activation,
                            input,
                            weights,
                            output,
                            gradient,
                            needs_input: input_node.is_some(),
                            needs_weights: weight_node.is_some() || bias_node.is_some(),
                        })
                    })
                })
            })
        });
        register(grads, input_node, gradients.input, dimensions(&input));
        if let Some([weights, bias]) = gradients.parameters {
            register(grads, weight_node, Some(weights), dimensions(&weight));
            register(grads, bias_node, Some(bias), vec![shape.outputs]);
        }
    }
}

fn bernoulli_forward(
    logits: &FlexTensor,
    targets: &FlexTensor,
    with_gradient: bool,
) -> (FlexTensor, Option<Vec<f32>>) {
    let rows = dimensions(logits).first().copied().unwrap_or(0);
    let Bernoulli { losses, gradient } = with_floats(logits, |logits| {
        with_floats(targets, |targets| bernoulli(logits, targets, rows, with_gradient))
    });
    (tensor(losses, [rows]), gradient)
}

#[derive(Debug)]
struct BernoulliBackward;

#[derive(Clone, Debug)]
struct BernoulliState {
    /// The gradient of each loss with respect to its logits.
    gradient: Vec<f32>,
    /// Shape of the logits.
    shape: Vec<usize>,
}

impl Backward<Flex, 1> for BernoulliBackward {
    type State = BernoulliState;

    fn backward(self, ops: Ops<BernoulliState, 1>, grads: &mut TapeGradients, _: &mut Checkpointer) {
        let [logits_node] = ops.parents;
        let upstream = grads.consume::<Flex>(&ops.node);
        if let Some(node) = logits_node {
            let BernoulliState { mut gradient, shape } = ops.state;
            with_floats(&upstream, |upstream| scale_rows(&mut gradient, upstream));
            grads.register::<Flex>(node.id, tensor(gradient, shape));
        }
    }
}

fn transposed(input: &FlexTensor, matrices: Matrices, shape: Vec<usize>) -> FlexTensor {
    tensor(with_floats(input, |input| transpose(input, matrices)), shape)
}

#[derive(Debug)]
struct TransposeBackward;

impl Backward<Flex, 1> for TransposeBackward {
    /// What undoes it.
    type State = TransposeOptions;

    fn backward(self, ops: Ops<TransposeOptions, 1>, grads: &mut TapeGradients, _: &mut Checkpointer) {
        let [input_node] = ops.parents;
        let gradient = grads.consume::<Flex>(&ops.node);
        if let Some(node) = input_node {
            let TransposeOptions { matrices, shape } = ops.state;
            grads.register::<Flex>(node.id, transposed(&gradient, matrices, shape));
        }
    }
}

impl<C: CheckpointStrategy> LayerBackend for Autodiff<Flex, C> {
    fn unbraid_layer(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: LayerOptions,
    ) -> FloatTensor<Self> {
        let nodes = [input.node(), weight.node(), bias.node()];
        let output = layer_forward(input.primitive(), weight.primitive(), bias.primitive(), options);
        match LayerBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = LayerState {
                    input: input.into_primitive(),
                    weight: weight.into_primitive(),
                    output: options.relu.then(|| output.clone()),
                    options,
                };
                prep.finish(state, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn unbraid_pair(
        input: FloatTensor<Self>,
        first_weight: FloatTensor<Self>,
        first_bias: FloatTensor<Self>,
        second_weight: FloatTensor<Self>,
        second_bias: FloatTensor<Self>,
        options: PairOptions,
    ) -> FloatTensor<Self> {
        let nodes =
            [input.node(), first_weight.node(), first_bias.node(), second_weight.node(), second_bias.node()];
        let parameters = [
            [first_weight.primitive(), first_bias.primitive()],
            [second_weight.primitive(), second_bias.primitive()],
        ];
        let [between, output] = pair_forward(input.primitive(), parameters, options);
        match PairBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = PairState {
                    input: input.into_primitive(),
                    weights: [first_weight.into_primitive(), second_weight.into_primitive()],
                    between,
                    output: options.relu.then(|| output.clone()),
                    options,
                };
                prep.finish(state, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn unbraid_linear(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: LinearOptions,
    ) -> FloatTensor<Self> {
        let nodes = [input.node(), weight.node(), bias.node()];
        let output = fully_connected(input.primitive(), weight.primitive(), bias.primitive(), options);
        match LinearBackwardPass.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = LinearState {
                    input: input.into_primitive(),
                    weight: weight.into_primitive(),
                    output: output.clone(),
                    options,
                };
                prep.finish(state, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn unbraid_bernoulli(logits: FloatTensor<Self>, targets: FloatTensor<Self>) -> FloatTensor<Self> {
        match BernoulliBackward.prepare::<C>([logits.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (losses, gradient) = bernoulli_forward(logits.primitive(), targets.primitive(), true);
                let (gradient, shape) = (gradient.unwrap_or_default(), dimensions(logits.primitive()));
                prep.finish(BernoulliState { gradient, shape }, losses)
            }
            OpsKind::UnTracked(prep) => {
                prep.finish(bernoulli_forward(logits.primitive(), targets.primitive(), false).0)
            }
        }
    }

    fn unbraid_transpose(input: FloatTensor<Self>, options: TransposeOptions) -> FloatTensor<Self> {
        let TransposeOptions { matrices, shape } = options;
        let output = transposed(input.primitive(), matrices, shape);
        match TransposeBackward.prepare::<C>([input.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (matrices, shape) = (matrices.transposed(), dimensions(input.primitive()));
                prep.finish(TransposeOptions { matrices, shape }, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}
