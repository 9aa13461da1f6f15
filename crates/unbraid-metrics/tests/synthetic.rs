//! Codes of known quality with all that any metric needs, and the whole registry run on them in seconds.

use ndarray::{Array2, Axis};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use unbraid_metrics::random::generator;
use unbraid_metrics::scores::{
    BetaVaeParameters, BetaVaeScore, Downstream, FactorVaeParameters, FactorVaeScore, MigFullData,
    MigFullDataParameters,
};
use unbraid_metrics::{Codes, FactorKind, Metric, Options, Registry, Report, registry};

/// Sizes of the factors; the last has fewer values than any metric has bins.
pub(crate) const SIZES: [usize; 3] = [3, 5, 8];

/// Independent uniform factors.
pub(crate) fn factors(rows: usize, seed: u64) -> Array2<i64> {
    let mut generator = generator(seed, "test factors", 0);
    Array2::from_shape_fn((rows, SIZES.len()), |(_, factor)| generator.random_range(0..SIZES[factor] as i64))
}

/// Standard normal numbers.
pub(crate) fn noise(rows: usize, units: usize, seed: u64) -> Array2<f64> {
    let mut generator = generator(seed, "test noise", 0);
    Array2::from_shape_fn((rows, units), |_| StandardNormal.sample(&mut generator))
}

/// All arrays that any metric needs, to be changed before they are checked.
#[derive(Clone)]
pub(crate) struct Arrays {
    pub(crate) codes_train: Array2<f64>,
    pub(crate) factors_train: Array2<i64>,
    pub(crate) codes_test: Array2<f64>,
    pub(crate) factors_test: Array2<i64>,
    pub(crate) log_variance_train: Array2<f64>,
    pub(crate) clusters_train: Array2<i64>,
    pub(crate) clusters_test: Array2<i64>,
    pub(crate) kinds: Vec<FactorKind>,
}

impl Arrays {
    pub(crate) fn check(&self) -> unbraid_metrics::Result<Codes> {
        let Self { codes_train, factors_train, codes_test, factors_test, .. } = self.clone();
        let errors = (0..codes_train.nrows()).map(|row| 1e-6 * row as f64).collect();
        let kinds = self.kinds[..factors_train.ncols()].to_vec();
        Codes::new(codes_train, factors_train, codes_test, factors_test)?
            .with_log_variances(self.log_variance_train.clone())?
            .with_reconstruction_errors(errors)?
            .with_factor_kinds(kinds)?
            .with_clusters(self.clusters_train.clone(), self.clusters_test.clone())
    }

    /// Some of the training and of the test points.
    pub(crate) fn select_rows(&self, train: &[usize], test: &[usize]) -> Self {
        Self {
            codes_train: self.codes_train.select(Axis(0), train),
            factors_train: self.factors_train.select(Axis(0), train),
            codes_test: self.codes_test.select(Axis(0), test),
            factors_test: self.factors_test.select(Axis(0), test),
            log_variance_train: self.log_variance_train.select(Axis(0), train),
            clusters_train: self.clusters_train.select(Axis(0), train),
            clusters_test: self.clusters_test.select(Axis(0), test),
            kinds: self.kinds.clone(),
        }
    }
}

/// Codes with everything that any metric needs. Log-variances are small beside the codes.
pub(crate) fn codes(make: impl Fn(&Array2<i64>, u64) -> Array2<f64>) -> Arrays {
    let (factors_train, factors_test) = (factors(1200, 1), factors(600, 2));
    let codes_train = make(&factors_train, 3);
    let clusters = |factors: &Array2<i64>| factors.select(Axis(1), &[0]).mapv(|value| (value + 1) % 3);
    Arrays {
        log_variance_train: Array2::from_elem(codes_train.dim(), -6.0),
        codes_train,
        codes_test: make(&factors_test, 4),
        clusters_train: clusters(&factors_train),
        clusters_test: clusters(&factors_test),
        factors_train,
        factors_test,
        kinds: vec![FactorKind::Categorical, FactorKind::Ordered, FactorKind::Angle],
    }
}

/// One unit for each factor, with a little noise, and a useless one: scaled so that all units have about the deviation 1.
pub(crate) fn nearly_perfect() -> Arrays {
    codes(|factors, seed| {
        let noise = noise(factors.nrows(), SIZES.len() + 1, seed);
        Array2::from_shape_fn(noise.dim(), |(row, unit)| match SIZES.get(unit) {
            Some(&size) => 3.0 * factors[[row, unit]] as f64 / size as f64 + 0.02 * noise[[row, unit]],
            None => noise[[row, unit]],
        })
    })
}

/// The built-in metrics with fewer points than in publications, so that all of them run in seconds.
pub(crate) fn quick_registry(train_points: usize, test_points: usize) -> Registry {
    let beta_vae = BetaVaeParameters { train_points, test_points, ..Default::default() };
    let factor_vae = FactorVaeParameters { train_points, test_points, ..Default::default() };
    let mig_full_data = MigFullDataParameters { samples: 300, ..Default::default() };
    let mut downstream = [Downstream::default(), Downstream::logistic()];
    downstream.iter_mut().for_each(|metric| metric.parameters.labels = vec![10, 100]);
    let [boosting, logistic] = downstream;
    let mut registry = Registry::builtin();
    let metrics: [Box<dyn Metric>; 5] = [
        Box::new(BetaVaeScore { parameters: beta_vae }),
        Box::new(FactorVaeScore { parameters: factor_vae }),
        Box::new(MigFullData { parameters: mig_full_data }),
        Box::new(boosting),
        Box::new(logistic),
    ];
    for metric in metrics {
        registry.replace(metric).unwrap();
    }
    registry
}

pub(crate) fn run(arrays: &Arrays) -> Report {
    let registry = quick_registry(1000, 500);
    let names: Vec<&str> = registry.iter().map(|metric| metric.name.as_str()).collect();
    let report = registry.run(&names, &arrays.check().unwrap(), &Options::default()).unwrap();
    assert_all_sound(&report);
    report
}

/// Never NaN, never infinite, never outside the range that the table promises.
pub(crate) fn assert_all_sound(report: &Report) {
    for score in &report.scores {
        let metric = registry::find(&score.name).unwrap();
        for (key, value) in score.values.numbers() {
            if score.values.why_undefined(key).is_some() {
                assert!(value.is_nan(), "{key} is {value}");
                continue;
            }
            assert!(value.is_finite(), "{key} is {value}");
            assert!(*value >= metric.range.0 - 1e-12, "{key} is {value}, below {}", metric.range.0);
            // Efficiency is a ratio of accuracies and may exceed 1.
            assert!(*value <= metric.range.1 + 1e-9 || key.contains("efficiency"), "{key} is {value}");
        }
        for (key, matrix) in score.values.matrices() {
            assert!(matrix.iter().all(|value| value.is_finite()), "{key}");
        }
        for (key, list) in score.values.lists() {
            assert!(list.iter().all(|value| value.is_finite()), "{key}");
        }
    }
}
