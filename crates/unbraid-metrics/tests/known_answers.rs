//! Scores whose answer is known in closed form, and the sanity cases of the reference implementation.

use crate::common::{MODELS, load};
use ndarray::{Array2, Axis, array, concatenate};
use rand::RngExt;
use unbraid_metrics::random::{Generator, generator};
use unbraid_metrics::scores::{
    BetaVaeParameters, DciLearner, DciParameters, DifferenceClassifier, FactorVaeParameters, GroupedRows,
    HistogramParameters, InterventionSampler, Irs, IrsParameters, MigFullDataParameters, RmigParameters,
    SapContinuousParameters, SapParameters, SapPredictor, beta_vae_score, dci, factor_vae_score, irs, mig,
    mig_full_data, modularity, rmig, sap, sap_continuous,
};
use unbraid_metrics::{Labelled, LabelledPosteriors, Metric, TrainTest};

/// Two values, posteriors N(-1, 1) and N(1, 1): the information of a binary signal in Gaussian noise, by quadrature.
fn binary_signal_information() -> f64 {
    let density =
        |z: f64, mean: f64| (-0.5 * (z - mean) * (z - mean)).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = 1e-3;
    (-12_000..12_000)
        .map(|i| {
            let z = f64::from(i) * step;
            let (plus, minus) = (density(z, 1.0), density(z, -1.0));
            step * plus * (2.0 * plus / (plus + minus)).ln()
        })
        .sum()
}

#[test]
fn full_data_information_of_gaussian_posteriors() {
    // 0.4859 bits is the tabled capacity of a binary signal at 0 dB.
    let expected = binary_signal_information();
    assert!((expected / 2_f64.ln() - 0.4859).abs() < 1e-4);
    let rows = 10_000;
    let factors = Array2::from_shape_fn((rows, 1), |(row, _)| (row % 2) as i64);
    // Unit 0 carries the signal, unit 1 is the prior everywhere.
    let means = Array2::from_shape_fn(
        (rows, 2),
        |(row, unit)| if unit == 0 { (row % 2) as f64 * 2.0 - 1.0 } else { 0.0 },
    );
    let log_variances = Array2::zeros((rows, 2));
    let data = LabelledPosteriors::new(means.view(), log_variances.view(), factors.view()).unwrap();
    let found = mig_full_data(&data, &MigFullDataParameters::default()).unwrap();
    // The information density has a deviation of about 0.5 nats: 10,000 samples leave an error of 0.005.
    assert!(
        (found.mutual_information[[0, 0]] - expected).abs() < 0.02,
        "{}",
        found.mutual_information[[0, 0]]
    );
    assert!(found.mutual_information[[1, 0]] < 1e-9);
    assert!((found.value - expected / 2_f64.ln()).abs() < 0.03, "{}", found.value);
    // The same posteriors in 100 bins: no sampling, and binning loses next to nothing.
    let found = rmig(&data, &RmigParameters::default()).unwrap();
    assert!((found.value - expected / 2_f64.ln()).abs() < 1e-3, "{}", found.value);
}

/// Draws factor vectors uniformly and computes their codes, as an evaluation with a table of all codes does.
struct Grid {
    sizes: Vec<usize>,
    code: fn(&[f64], &mut [f64]),
    units: usize,
}

impl Grid {
    fn draw(&self, generator: &mut Generator) -> Vec<f64> {
        self.sizes.iter().map(|&size| generator.random_range(0..size) as f64).collect()
    }
}

impl InterventionSampler for Grid {
    fn unit_count(&self) -> usize {
        self.units
    }

    fn factor_count(&self) -> usize {
        self.sizes.len()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        for (first, second) in first.chunks_exact_mut(self.units).zip(second.chunks_exact_mut(self.units)) {
            let (a, mut b) = (self.draw(generator), self.draw(generator));
            b[factor] = a[factor];
            (self.code)(&a, first);
            (self.code)(&b, second);
        }
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        let value = self.draw(generator)[factor];
        for code in batch.chunks_exact_mut(self.units) {
            let mut values = self.draw(generator);
            values[factor] = value;
            (self.code)(&values, code);
        }
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        for code in batch.chunks_exact_mut(self.units) {
            (self.code)(&self.draw(generator), code);
        }
    }
}

fn grid(code: fn(&[f64], &mut [f64])) -> Grid {
    Grid { sizes: vec![10, 10], code, units: 2 }
}

/// All points of the same grid, for the sampler that has arrays alone.
fn grid_rows(code: fn(&[f64], &mut [f64])) -> GroupedRows {
    let factors = Array2::from_shape_fn((100, 2), |(row, factor)| [row / 10, row % 10][factor] as i64);
    let mut codes = Array2::zeros((100, 2));
    for (mut target, values) in codes.rows_mut().into_iter().zip(factors.rows()) {
        let values: Vec<f64> = values.iter().map(|&value| value as f64).collect();
        let mut code_of = [0.0; 2];
        code(&values, &mut code_of);
        target.iter_mut().zip(code_of).for_each(|(target, value)| *target = value);
    }
    GroupedRows::new(&Labelled::new(codes.view(), factors.view()).unwrap())
}

#[test]
fn interventional_scores_on_a_grid() {
    let beta = BetaVaeParameters { train_points: 2000, test_points: 2000, ..Default::default() };
    let svm = DifferenceClassifier::Svm(unbraid_metrics::learners::SvmParameters {
        balanced: false,
        ..Default::default()
    });
    let beta_svm = BetaVaeParameters { classifier: svm, ..beta.clone() };
    let factor = FactorVaeParameters { train_points: 2000, test_points: 2000, ..Default::default() };
    let aligned: fn(&[f64], &mut [f64]) = |values, code| code.copy_from_slice(values);
    // The sum and the difference: whichever factor is held, both units vary alike, so that only chance is left.
    let rotated: fn(&[f64], &mut [f64]) = |values, code| {
        code[0] = values[0] + values[1];
        code[1] = values[0] - values[1];
    };
    for (code, expected, tolerance) in [(aligned, 1.0, 0.0), (rotated, 0.5, 0.04)] {
        let samplers: [&dyn InterventionSampler; 2] = [&grid(code), &grid_rows(code)];
        for sampler in samplers {
            for (name, found) in [
                ("beta-vae", beta_vae_score(sampler, &beta).unwrap().value),
                ("beta-vae svm", beta_vae_score(sampler, &beta_svm).unwrap().value),
                ("factor-vae", factor_vae_score(sampler, &factor).unwrap().value),
            ] {
                assert!((found - expected).abs() <= tolerance, "{name}: {found}, expected {expected}");
            }
        }
    }
    // A dead unit never votes, however little it varies.
    let half_dead = grid(|values, code| {
        code[0] = values[0];
        code[1] = 1e-3 * values[1];
    });
    let found = factor_vae_score(&half_dead, &factor).unwrap().value;
    assert!((found - 0.5).abs() < 0.04, "{found}");
    let all_dead = grid(|_, code| code.fill(1.0));
    assert_eq!(factor_vae_score(&all_dead, &factor).unwrap().value, 0.0);
}

/// Golden values were drawn from the codes of the full grid; rows of 10,000 points stand in for it here.
#[test]
fn interventional_scores_of_published_models() {
    for model in MODELS {
        let golden = load(model);
        let sampler = GroupedRows::new(&golden.labelled());
        let mean = |key: &str| golden.numbers(key).iter().sum::<f64>() / 3.0;
        let started = std::time::Instant::now();
        let found = beta_vae_score(&sampler, &BetaVaeParameters::default()).unwrap().value;
        let expected = mean("beta_vae_score_on_full_grid_3_seeds");
        eprintln!("{model} beta_vae_score: found {found}, golden {expected}, {:?}", started.elapsed());
        assert!((found - expected).abs() < 0.05, "{model} BetaVAE score: {found}, expected {expected}");
        let started = std::time::Instant::now();
        let found = factor_vae_score(&sampler, &FactorVaeParameters::default()).unwrap().value;
        let expected = mean("factor_vae_score_on_full_grid_3_seeds");
        eprintln!("{model} factor_vae_score: found {found}, golden {expected}, {:?}", started.elapsed());
        assert!((found - expected).abs() < 0.05, "{model} FactorVAE score: {found}, expected {expected}");
    }
}

/// Ten factors, uniform on 1..10, and codes that are the factors.
fn identity_data() -> (Array2<i64>, Array2<f64>) {
    let mut generator = generator(0, "identity data", 0);
    let factors = Array2::from_shape_fn((3000, 10), |_| generator.random_range(1..=10));
    let codes = factors.mapv(|value| value as f64);
    (factors, codes)
}

#[test]
fn sanity_of_the_identity_code() {
    let (factors, codes) = identity_data();
    let data = Labelled::new(codes.view(), factors.view()).unwrap();
    let histogram = HistogramParameters::default();
    assert!(mig(&data, &histogram).unwrap().value >= 0.9);
    assert!(modularity(&data, &histogram).unwrap() >= 0.9);
    assert!(irs(&data, &IrsParameters::default()).unwrap().value >= 0.9);
    assert!(sap_continuous(&data, &SapContinuousParameters::default()).unwrap().value >= 0.9);
    let sampler = GroupedRows::new(&data);
    let beta = BetaVaeParameters { train_points: 1000, test_points: 500, ..Default::default() };
    assert!(beta_vae_score(&sampler, &beta).unwrap().value >= 0.9);
    let factor = FactorVaeParameters { train_points: 1000, test_points: 500, ..Default::default() };
    assert!(factor_vae_score(&sampler, &factor).unwrap().value >= 0.9);
}

/// The mean of all points is 0 and their largest deviation d is 1. The mean of each group is half of its common value, so that
/// one of its four points deviates by 1.5 and the others by 0.5. The quantile 0.99 of four numbers lies 0.97 of the way from the
/// third to the last: 1.47.
#[test]
fn points_far_from_the_mean_of_a_small_group_make_irs_negative() {
    let codes = array![[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0], [-1.0], [1.0]];
    let factors = array![[0], [0], [0], [0], [1], [1], [1], [1]];
    let data = Labelled::new(codes.view(), factors.view()).unwrap();
    let largest = IrsParameters { quantile: 1.0, ..Default::default() };
    assert_eq!(irs(&data, &largest).unwrap().value, 1.0 - 1.5);
    assert!((irs(&data, &IrsParameters::default()).unwrap().value - (1.0 - 1.47)).abs() < 1e-12);
    let (smallest, _) = Irs::default().description().range;
    assert_eq!(smallest, -1.0);
}

#[test]
fn sanity_of_the_zero_code() {
    let (factors, codes) = identity_data();
    let codes = Array2::zeros(codes.dim());
    let data = Labelled::new(codes.view(), factors.view()).unwrap();
    assert!(mig(&data, &HistogramParameters::default()).unwrap().value <= 0.2);
    assert!(irs(&data, &IrsParameters::default()).unwrap().value <= 0.1);
    assert!(sap_continuous(&data, &SapContinuousParameters::default()).unwrap().value <= 0.2);
    let sampler = GroupedRows::new(&data);
    let factor = FactorVaeParameters { train_points: 1000, test_points: 500, ..Default::default() };
    assert!(factor_vae_score(&sampler, &factor).unwrap().value <= 0.2);
}

#[test]
fn sanity_of_the_duplicated_code() {
    let (factors, codes) = identity_data();
    let twice = concatenate![Axis(1), codes, codes];
    let data = Labelled::new(twice.view(), factors.view()).unwrap();
    let histogram = HistogramParameters::default();
    assert!(mig(&data, &histogram).unwrap().value <= 0.1);
    assert!(modularity(&data, &histogram).unwrap() >= 0.9);
    assert!(sap_continuous(&data, &SapContinuousParameters::default()).unwrap().value <= 0.2);
    // Kumar's remedy: correlated units count as one.
    assert!(sap_continuous(&data, &SapContinuousParameters { group_above: Some(0.9) }).unwrap().value >= 0.9);
}

/// The options of SAP and DCI on codes with a unit for each of two factors and a copy of the first.
#[test]
fn options_of_sap_and_dci() {
    let factors = Array2::from_shape_fn((240, 2), |(row, factor)| [row % 4, (row / 4) % 3][factor] as i64);
    let codes = Array2::from_shape_fn((240, 3), |(row, unit)| {
        let wobble = ((row * (unit + 7)) % 11) as f64 * 0.01;
        factors[[row, [0, 1, 0][unit]]] as f64 + wobble
    });
    let data = TrainTest::new(codes.view(), factors.view(), codes.view(), factors.view()).unwrap();
    let threshold = SapParameters { predictor: SapPredictor::Threshold, group_above: None };
    let found = sap(&data, &threshold).unwrap();
    // Two units encode factor 0 alike. One encodes factor 1, and the others are at chance (1/3, or a little above by luck).
    assert!(found.per_factor[0].abs() < 1e-9, "{:?}", found.per_factor);
    assert!(found.per_factor[1] > 0.5, "{:?}", found.per_factor);
    for predictor in [SapPredictor::Threshold, SapPredictor::default()] {
        let grouped = sap(&data, &SapParameters { predictor, group_above: Some(0.9) }).unwrap();
        assert_eq!(grouped.groups, [vec![0, 2], vec![1]]);
        assert!(grouped.value > 0.2, "{}", grouped.value);
    }
    // With all units to choose from at each split; fewer would force importance on useless ones.
    let forest =
        unbraid_metrics::learners::ForestParameters { features_per_split: Some(3), ..Default::default() };
    for learner in [DciLearner::Forest(forest), DciLearner::Lasso(Default::default())] {
        let found = dci(&data, &DciParameters { learner: learner.clone() }).unwrap();
        assert!(found.disentanglement > 0.8, "{learner:?}: {found:?}");
        assert!(found.informativeness_test > 0.8, "{learner:?}: {found:?}");
    }
}
