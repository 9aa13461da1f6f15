//! Metrics of the distribution of codes, which need no factors.

use super::{BASE, CODES};
use crate::registry::report::Outcome;
use crate::registry::{Direction, Metric, Needs};
use crate::scores;

pub(super) const GAUSSIAN_TOTAL_CORRELATION: Metric = Metric {
    name: "gaussian_total_correlation",
    keys: &["gaussian_total_correlation"],
    meaning: "information that units share, as if codes were Gaussian",
    direction: Direction::Lower,
    range: (0.0, f64::INFINITY),
    needs: CODES,
    run: |input| {
        let value = scores::gaussian_total_correlation(&input.codes.train());
        Ok(Outcome::of("gaussian_total_correlation", value))
    },
    ..BASE
};

pub(super) const GAUSSIAN_WASSERSTEIN_CORRELATION: Metric = Metric {
    name: "gaussian_wasserstein_correlation",
    keys: &["gaussian_wasserstein_correlation", "gaussian_wasserstein_correlation_norm"],
    meaning: "distance of the codes from uncorrelated ones, as if Gaussian",
    direction: Direction::Lower,
    range: (0.0, f64::INFINITY),
    needs: CODES,
    run: |input| {
        let found = scores::gaussian_wasserstein_correlation(&input.codes.train());
        Ok(Outcome::of("gaussian_wasserstein_correlation", found.value)
            .value("gaussian_wasserstein_correlation_norm", found.normalised))
    },
    ..BASE
};

pub(super) const HOYER: Metric = Metric {
    name: "hoyer",
    keys: &["hoyer"],
    meaning: "each point uses few of the units",
    direction: Direction::Neither,
    needs: CODES,
    run: |input| Ok(Outcome::of("hoyer", scores::hoyer(&input.codes.train()))),
    ..BASE
};

pub(super) const KL: Metric = Metric {
    name: "kl",
    keys: &["kl"],
    meaning: "divergence of the posteriors from a standard normal in nats, summed over units",
    direction: Direction::Neither,
    range: (0.0, f64::INFINITY),
    needs: Needs { log_variances: true, ..CODES },
    run: |input| {
        let per_unit = scores::kl_per_unit(&input.codes.posteriors()?);
        Ok(Outcome::of("kl", per_unit.iter().sum()).list("kl_per_unit", per_unit))
    },
    ..BASE
};
