//! The densities of priors of two units, without a run (Mathieu et al. 2019, Fig. 5 and 6).

use super::canvas::Canvas;
use super::density::{self, Square};
use ndarray::ArrayView2;
use unbraid::prior::Prior;

/// The share of each unit on either side that a picture may leave out.
const TAIL: f64 = 0.002;

/// Draws the densities of priors of two units side by side, in the same colours and over the same square:
/// from `-reach` to `reach` along both axes, or as far as the widest of them goes.
///
/// ```
/// use unbraid::Device;
/// use unbraid::config::PriorConfig;
/// use unbraid::prior::Prior;
///
/// let family = PriorConfig::StudentT { degrees_of_freedom: 3.0 };
/// let prior = Prior::new(&family, 2, None, &Device::cpu().tensor_device())?;
/// let picture = unbraid_report::draw_priors(&[("Student-t, 3 degrees of freedom", prior)], Some(4.0));
/// assert!(picture.width() > 320);
/// # Ok::<(), unbraid::Error>(())
/// ```
///
/// # Panics
/// If a prior has another number of units than two.
pub fn draw_priors(priors: &[(&str, Prior)], reach: Option<f64>) -> Canvas {
    let reach = reach.unwrap_or_else(|| widest(priors));
    let square = Square { low: -reach, high: reach };
    let points = square.points();
    let density = |prior: &Prior| square.with(prior.densities(&ArrayView2::from(points.as_slice())));
    let panels: Vec<_> = priors.iter().map(|(title, prior)| (*title, density(prior))).collect();
    density::draw(square, &panels)
}

/// How far the priors go, but for their tails.
fn widest(priors: &[(&str, Prior)]) -> f64 {
    let ends = priors.iter().flat_map(|(_, prior)| {
        (0..2).flat_map(|unit| [TAIL, 1.0 - TAIL].map(|share| prior.quantile(unit, share).abs()))
    });
    ends.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::Device;
    use unbraid::config::PriorConfig;

    fn prior(config: &PriorConfig) -> Prior {
        Prior::new(config, 2, None, &Device::cpu().tensor_device()).unwrap()
    }

    /// Student's t with 3 degrees of freedom has the density 2 / (pi sqrt(3)) at 0 and 3/4 squared of that at
    /// 1; two independent units have the products. The mixture of Mathieu's eq. 9 has a quarter of 1 / (2 pi
    /// 0.03) at each of its positions, but for what the others add: exp(-2 / (2 0.03)) of it from two
    /// neighbours.
    #[test]
    fn densities_are_those_of_the_formulas() {
        let student = prior(&PriorConfig::StudentT { degrees_of_freedom: 3.0 });
        let at_zero = 2.0 / (std::f64::consts::PI * 3.0_f64.sqrt());
        let found = student.densities(&ArrayView2::from(&[[0.0, 0.0], [1.0, 0.0], [1.0, -1.0]][..]));
        let expected = [1.0, 0.5625, 0.5625 * 0.5625].map(|share| share * at_zero * at_zero);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        let positions = vec![vec![0.0, -1.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![-1.0, 0.0]];
        let mixture = prior(&PriorConfig::Mixture { positions, variance: 0.03, weights: Vec::new() });
        let found = mixture.densities(&ArrayView2::from(&[[0.0, 1.0], [-1.0, 0.0]][..]));
        let expected = 0.25 / (2.0 * std::f64::consts::PI * 0.03);
        assert!(found.iter().all(|found| (found - expected).abs() < 1e-5 * expected), "{found:?}");
    }

    /// 0.998 of a standard normal distribution lies below 2.878.
    #[test]
    fn pictures_reach_as_far_as_the_widest_prior() {
        let normal = ("normal", prior(&PriorConfig::StandardNormal {}));
        assert!((widest(std::slice::from_ref(&normal)) - 2.878_161_739_095_483).abs() < 1e-6);
        let wide = ("t", prior(&PriorConfig::StudentT { degrees_of_freedom: 3.0 }));
        assert!(widest(&[normal.clone(), wide.clone()]) > 5.0);
        let one = draw_priors(std::slice::from_ref(&normal), None);
        let two = draw_priors(&[normal, wide], Some(4.0));
        assert!(two.width() > one.width() && two.height() == one.height());
    }
}
