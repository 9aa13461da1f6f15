//! Independent components among the principal ones: FastICA (Hyvarinen 1999).

use super::orthonormal::orthonormalize;
use super::probabilistic::{LinearModel, LinearUnit, noise_variance};
use super::{Fit, Images, PrincipalComponents};
use crate::error::Result;
use crate::model::StateTensor;
use ndarray::{Array1, Array2, Axis};
use rand_distr::{Distribution, StandardNormal};
use unbraid_data::random::Stream;
use unbraid_data::{DataError, DataSet, ImageShape};
use unbraid_metrics::linear_algebra::symmetric_eigen;

/// The change of the directions, as one minus a cosine, at which FastICA stops.
const TOLERANCE: f64 = 1e-10;

/// The maximum number of its iterations. Sources of which two or more are Gaussian have no unique directions.
const MOST_ITERATIONS: usize = 500;

/// Principal components with less than this share of the largest variance are rounding error, not directions to rotate.
const SMALLEST_SHARE: f64 = 1e-9;

/// The state dict of a `linear` network whose codes are the independent components of the data.
///
/// With the principal directions U, variances L and mean m of the images, y = L^(-1/2) U^T (x - m) are
/// whitened codes, and R is the rotation that makes R y least Gaussian ([`fast_ica`]). Codes are s = R y,
/// each of variance one, in the order of the variance of pixels that they explain; images are decoded as
/// m + A s with A = U L^(1/2) R^T. The noise is that of probabilistic PCA, and the log-variances are the
/// diagonal of the posterior covariance s^2 (A^T A + s^2 I)^-1 under z ~ N(0, I).
///
/// # Errors
/// If an image cannot be read.
pub fn independent_components(
    data: &dyn DataSet,
    fit: Fit,
    images: ImageShape,
) -> Result<Vec<StateTensor>, DataError> {
    let components = PrincipalComponents::fit(data, fit)?;
    let units = fit.components;
    let noise = noise_variance(&components, units, images.values());
    let floor = components.variances.first().map_or(0.0, |largest| largest * SMALLEST_SHARE);
    let found = components.variances.iter().filter(|variance| **variance > floor).count();
    let deviations: Vec<f64> = components.variances[..found].iter().map(|variance| variance.sqrt()).collect();
    let rotation = fast_ica(&whitened(data, fit, &components, &deviations)?);

    // One source after the other, by the squared length of its image.
    let explained = |source: usize| -> f64 {
        let parts = rotation.row(source);
        parts.iter().zip(&deviations).map(|(share, deviation)| (share * deviation).powi(2)).sum()
    };
    let mut order: Vec<usize> = (0..found).collect();
    order.sort_by(|a, b| explained(*b).total_cmp(&explained(*a)));

    let mut model = LinearModel::empty(&components.mean, units, images, noise);
    for (unit, source) in order.into_iter().enumerate() {
        let mixed = |scale: &dyn Fn(f64) -> f64| -> Array1<f64> {
            let mut direction = Array1::zeros(images.values());
            for (place, deviation) in deviations.iter().enumerate() {
                direction.scaled_add(
                    rotation[[source, place]] * scale(*deviation),
                    &components.directions.row(place),
                );
            }
            direction
        };
        let image = mixed(&|deviation| deviation);
        let largest = image.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        let variance: f64 = deviations
            .iter()
            .enumerate()
            .map(|(place, deviation)| {
                rotation[[source, place]].powi(2) * noise / (deviation * deviation + noise)
            })
            .sum();
        let filter = mixed(&|deviation| 1.0 / deviation) * sign;
        let offset = -filter.dot(&components.mean);
        model.set_unit(unit, LinearUnit { image: image * sign, filter, offset, variance });
    }
    Ok(model.into_state())
}

/// L^(-1/2) U^T (x - m) of all images of the fit, `[images, components]`.
fn whitened(
    data: &dyn DataSet,
    fit: Fit,
    components: &PrincipalComponents,
    deviations: &[f64],
) -> Result<Array2<f64>, DataError> {
    let mut block = components.directions.slice_axis(Axis(0), (..deviations.len()).into()).t().to_owned();
    for (mut column, deviation) in block.columns_mut().into_iter().zip(deviations) {
        column /= *deviation;
    }
    let images = Images::new(data, fit.images);
    let mut codes = Vec::new();
    let mut count = 0;
    images.sum(
        |chunk| (&chunk - &components.mean).dot(&block),
        |part: Array2<f64>| {
            count += part.nrows();
            codes.extend(part);
        },
    )?;
    Ok(Array2::from_shape_vec((count, deviations.len()), codes).expect("one code for each image"))
}

/// The rotation R, rows of which are directions w, such that the components w^T y of whitened codes `[points,
/// components]` are as far from Gaussian as possible: FastICA with symmetric decorrelation and g = tanh (Hyvarinen
/// 1999, eq. 20 and 24), w <- E\[y g(w^T y)\] - E\[g'(w^T y)\] w for all rows, then R <- (R R^T)^(-1/2) R, until
/// convergence.
pub fn fast_ica(codes: &Array2<f64>) -> Array2<f64> {
    let (points, size) = codes.dim();
    let mut generator = Stream::new(0, "first directions of independent components").at(0).generator();
    let first = Array2::from_shape_simple_fn((size, size), || StandardNormal.sample(&mut generator));
    let mut rotation = orthonormalize(&first);
    for _ in 0..MOST_ITERATIONS {
        let tanh = codes.dot(&rotation.t()).mapv_into(f64::tanh);
        let mut moved = tanh.t().dot(codes) / points.max(1) as f64;
        for ((mut row, old), column) in moved.rows_mut().into_iter().zip(rotation.rows()).zip(tanh.columns())
        {
            let slope = column.iter().map(|value| 1.0 - value * value).sum::<f64>() / points.max(1) as f64;
            row.scaled_add(-slope, &old);
        }
        let moved = decorrelated(&moved);
        // A direction may change its sign from one iteration to the next.
        let change =
            moved.rows().into_iter().zip(rotation.rows()).map(|(new, old)| 1.0 - new.dot(&old).abs());
        let change = change.fold(0.0, f64::max);
        rotation = moved;
        if change <= TOLERANCE {
            break;
        }
    }
    rotation
}

/// (W W^T)^(-1/2) W, the orthogonal matrix closest to W.
fn decorrelated(matrix: &Array2<f64>) -> Array2<f64> {
    let (values, vectors) = symmetric_eigen(&matrix.dot(&matrix.t()));
    let mut scaled = vectors.clone();
    for (mut column, value) in scaled.columns_mut().into_iter().zip(values) {
        column /= value.max(f64::MIN_POSITIVE).sqrt();
    }
    scaled.dot(&vectors.t()).dot(matrix)
}
