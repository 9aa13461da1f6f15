//! The sliced Wasserstein distance between aggregate posterior and prior (Kolouri et al. 2018; Mushom 2020, eq. 2.5).

use super::{ForwardPass, Needs, Term};
use burn::tensor::{Int, Tensor, TensorData};
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::random::Stream;

/// `sliced_wasserstein`: the squared Wasserstein-2 distance of one-dimensional projections of B samples of q(z) and of p(z),
/// mean over random directions (Kolouri et al. 2018, eq. 9):
///
/// SW^2 = 1/L sum_l 1/B sum_i (a_(i) - b_(i))^2 with a = theta_l^T z and b = theta_l^T p in ascending order.
///
/// In one dimension, the optimal transport pairs values by rank. The directions are uniform on the sphere and new at
/// every step.
#[derive(Clone, Debug)]
pub struct SlicedWasserstein {
    projections: usize,
    directions: Stream,
}

impl SlicedWasserstein {
    /// With this many directions.
    pub fn new(projections: usize, seed: u64) -> Self {
        Self { projections, directions: Stream::new(seed, "directions of projections") }
    }

    /// Directions of length one as columns, `[units, projections]`.
    fn directions(&self, forward: &ForwardPass<'_>) -> Tensor<2> {
        let [_, units] = forward.sample.dims();
        let mut generator = self.directions.at(forward.step).generator();
        let mut columns = vec![0.0; units * self.projections];
        for projection in 0..self.projections {
            let direction: Vec<f64> = (0..units).map(|_| StandardNormal.sample(&mut generator)).collect();
            let length = direction.iter().map(|value| value * value).sum::<f64>().sqrt();
            for (unit, value) in direction.into_iter().enumerate() {
                columns[unit * self.projections + projection] = (value / length) as f32;
            }
        }
        Tensor::from_data(TensorData::new(columns, [units, self.projections]), &forward.sample.device())
    }
}

impl Term for SlicedWasserstein {
    fn name(&self) -> &'static str {
        "sliced_wasserstein"
    }

    fn needs(&self) -> Needs {
        Needs { prior_sample: true, ..Needs::default() }
    }

    fn value(&self, forward: &ForwardPass<'_>) -> Tensor<1> {
        let directions = self.directions(forward);
        let [posterior, prior] = [forward.first_sample(), forward.prior_sample()]
            .map(|points| ascending(points.matmul(directions.clone())));
        let difference = posterior - prior;
        (difference.clone() * difference).mean()
    }
}

/// Every column in ascending order, with the gradient of each value.
fn ascending(columns: Tensor<2>) -> Tensor<2> {
    let [rows, width] = columns.dims();
    let values: Vec<f32> =
        columns.clone().inner().into_data().try_into_vec().expect("all tensors are in single precision");
    let mut sources = vec![0_i64; rows * width];
    let mut order: Vec<usize> = (0..rows).collect();
    for column in 0..width {
        // Stable, so that equal values do not depend on the order of the column before.
        order.sort_unstable();
        order.sort_by(|a, b| values[a * width + column].total_cmp(&values[b * width + column]));
        for (row, source) in order.iter().enumerate() {
            sources[row * width + column] = *source as i64;
        }
    }
    let sources = Tensor::<2, Int>::from_data(TensorData::new(sources, [rows, width]), &columns.device());
    columns.gather(0, sources)
}
