//! `iaf`: a posterior transformed by an inverse autoregressive flow (Kingma et al. 2016; Mushom 2020, section 3.4).

use super::super::architecture::Linear;
use super::super::layers::{Builder, LinearLayer};
use super::{ContinuousPosterior, DiagonalGaussian, Draw, Marginals};
use burn::tensor::activation::log_sigmoid;
use burn::tensor::{Device, Tensor, TensorData};
use std::f64::consts::PI;
use std::sync::Arc;

/// Added to the gates before the sigmoid, so that an untrained step keeps four fifths of its input: with
/// gates near one, a flow starts close to the diagonal posterior (Kingma et al. 2016, section 4, advise a
/// bias of 1 to 2).
const GATE_BIAS: f64 = 1.5;

/// T autoregressive steps and the layer that turns the encoder's features into their context h(x).
///
/// A step computes m and s by a masked network (MADE: Germain et al. 2015) of z and h in which unit i sees
/// units before it only, and then z' = g z + (1 - g) m with g = sigmoid(s). Every other step counts the units
/// from the last to the first.
#[derive(Clone, Debug)]
pub(in crate::model) struct InverseAutoregressiveFlow {
    context: LinearLayer,
    steps: Arc<Vec<Step>>,
}

#[derive(Clone, Debug)]
struct Step {
    hidden: Vec<LinearLayer>,
    shift: LinearLayer,
    gate: LinearLayer,
    reversed: bool,
}

impl InverseAutoregressiveFlow {
    /// `features` is the number of the encoder's features.
    pub(in crate::model) fn new(
        (steps, hidden, context): (usize, &[usize], usize),
        features: usize,
        units: usize,
        builder: Builder<'_>,
    ) -> Self {
        let step = |place: usize| Step::new(place, hidden, context, units, builder);
        Self {
            context: LinearLayer::new(&Linear::relu("encoder.context", context), features, builder),
            steps: Arc::new((0..steps).map(step).collect()),
        }
    }

    /// The posterior of images with these features and this diagonal Gaussian to start from.
    pub(in crate::model) fn posterior(&self, base: DiagonalGaussian, features: Tensor<2>) -> FlowPosterior {
        FlowPosterior { base, context: self.context.forward(features), steps: Arc::clone(&self.steps) }
    }

    pub(in crate::model) fn layers(&self) -> Vec<&LinearLayer> {
        [&self.context].into_iter().chain(self.steps.iter().flat_map(Step::layers)).collect()
    }

    pub(in crate::model) fn layers_mut(&mut self) -> Vec<&mut LinearLayer> {
        let Self { context, steps } = self;
        // No posterior is alive while weights are changed, so that nothing is copied.
        let steps = Arc::make_mut(steps).iter_mut();
        [context].into_iter().chain(steps.flat_map(Step::layers_mut)).collect()
    }
}

impl Step {
    fn new(place: usize, widths: &[usize], context: usize, units: usize, builder: Builder<'_>) -> Self {
        // The degree of an input is its place, from one; the context has degree zero and is seen by all. A
        // hidden value of degree k sees inputs up to k, and an output of degree k hidden values below k.
        let mut degrees: Vec<usize> = (1..=units).chain(std::iter::repeat_n(0, context)).collect();
        let mut hidden = Vec::new();
        for (layer, &width) in widths.iter().enumerate() {
            let own: Vec<usize> = (0..width).map(|value| value % units).collect();
            let name = format!("encoder.flow.{place}.fc{}", layer + 1);
            let mask = mask(&own, &degrees, |own, earlier| own >= earlier, builder);
            hidden.push(LinearLayer::masked(&Linear::relu(name, width), mask, builder));
            degrees = own;
        }
        let outputs: Vec<usize> = (1..=units).collect();
        let head = |name: &str| {
            let table = Linear::plain(format!("encoder.flow.{place}.{name}"), units);
            LinearLayer::masked(
                &table,
                mask(&outputs, &degrees, |own, earlier| own > earlier, builder),
                builder,
            )
        };
        Self { shift: head("shift"), gate: head("gate"), hidden, reversed: place % 2 == 1 }
    }

    fn layers(&self) -> impl Iterator<Item = &LinearLayer> {
        self.hidden.iter().chain([&self.shift, &self.gate])
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut LinearLayer> {
        self.hidden.iter_mut().chain([&mut self.shift, &mut self.gate])
    }

    /// The same step as a constant.
    fn frozen(&self) -> Self {
        let hidden = self.hidden.iter().map(LinearLayer::frozen).collect();
        Self { hidden, shift: self.shift.frozen(), gate: self.gate.frozen(), reversed: self.reversed }
    }

    /// z' and ln |dz'_i / dz_i| of each unit.
    fn forward(&self, z: Tensor<2>, context: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let ordered = |values: Tensor<2>| if self.reversed { values.flip([1]) } else { values };
        let z = ordered(z);
        let inputs = Tensor::cat(vec![z.clone(), context], 1);
        let values = self.hidden.iter().fold(inputs, |values, layer| layer.forward(values));
        let log_gate = log_sigmoid(self.gate.forward(values.clone()) + GATE_BIAS);
        let gate = log_gate.clone().exp();
        let shift = self.shift.forward(values);
        let moved = gate.clone() * z + (gate.neg() + 1.0) * shift;
        (ordered(moved), ordered(log_gate))
    }
}

/// 1 where a row may see a column, `[rows, columns]`.
fn mask(
    rows: &[usize],
    columns: &[usize],
    sees: impl Fn(usize, usize) -> bool,
    builder: Builder<'_>,
) -> Tensor<2> {
    let entries = rows.iter().flat_map(|&row| columns.iter().map(move |&column| (row, column)));
    let values: Vec<f32> = entries.map(|(row, column)| f32::from(sees(row, column))).collect();
    Tensor::from_data(TensorData::new(values, [rows.len(), columns.len()]), builder.device)
}

/// A diagonal Gaussian transformed by a flow, for each image of a batch.
#[derive(Clone, Debug)]
pub struct FlowPosterior {
    base: DiagonalGaussian,
    /// h(x), `[images, context]`.
    context: Tensor<2>,
    steps: Arc<Vec<Step>>,
}

impl ContinuousPosterior for FlowPosterior {
    fn dims(&self) -> [usize; 2] {
        self.base.mean.dims()
    }

    fn device(&self) -> Device {
        self.base.mean.device()
    }

    /// z_0 = mu + sigma noise, then the steps. By the change of variables, ln q(z|x) = sum_i (ln N(noise_i; 0, 1) - ln
    /// sigma_i - sum_t ln g_ti) (Kingma et al. 2016, eq. 11).
    fn draw(&self, noise: Tensor<2>) -> Draw {
        let mut log_density =
            (noise.clone() * noise.clone() + self.base.log_variance.clone() + (2.0 * PI).ln()) * -0.5;
        let mut value = self.base.sample(noise);
        for step in &*self.steps {
            let (moved, log_gate) = step.forward(value, self.context.clone());
            value = moved;
            log_density = log_density - log_gate;
        }
        Draw { value, log_density: Some(log_density) }
    }

    fn log_density(&self, draw: &Draw) -> Option<Tensor<2>> {
        draw.log_density.clone()
    }

    fn marginals(&self) -> Option<Marginals> {
        None
    }

    fn repeated(&self, times: usize) -> Arc<dyn ContinuousPosterior> {
        let context = self.context.clone().repeat_dim(0, times);
        Arc::new(Self { base: self.base.repeated(times), context, steps: Arc::clone(&self.steps) })
    }

    fn detached(&self) -> Arc<dyn ContinuousPosterior> {
        let steps = Arc::new(self.steps.iter().map(Step::frozen).collect());
        Arc::new(Self { base: self.base.detached(), context: self.context.clone().detach(), steps })
    }
}
