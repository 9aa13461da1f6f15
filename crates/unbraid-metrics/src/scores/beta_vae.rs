//! The BetaVAE score, also known as Z-diff.

use super::interventions::{Accuracies, InterventionSampler, MOST_POINTS, check_counts};
use crate::classes::Classes;
use crate::codes::Codes;
use crate::error::Result;
use crate::learners::{LinearSvm, LogisticParameters, LogisticRegression, SvmLoss, SvmParameters, accuracy};
use crate::metric::{Description, Metric, Options};
use crate::options::{Choice, Declare};
use crate::random::{self, below};
use crate::report::ScoreValues;
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The classifier of [`beta_vae_score`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "classifier", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DifferenceClassifier {
    /// Multinomial logistic regression, as in Locatello et al.
    Logistic(LogisticParameters),
    /// One-vs-rest linear support vector machine. [`DifferenceClassifier::kumar`] is that of Kumar et al.
    Svm(SvmParameters),
}

impl DifferenceClassifier {
    /// The support vector machine of Kumar et al. 2018, section 4: weight 0.01 on the hinge loss, 1 on the regulariser,
    /// classes not balanced.
    pub fn kumar() -> Self {
        Self::Svm(SvmParameters {
            c: 0.01,
            balanced: false,
            loss: SvmLoss::Hinge,
            ..SvmParameters::default()
        })
    }
}

impl Choice for DifferenceClassifier {
    const WORDS: &'static [&'static str] = &["logistic", "svm"];

    fn word(&self) -> &'static str {
        match self {
            Self::Logistic(_) => "logistic",
            Self::Svm(_) => "svm",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "logistic" => Some(Self::default()),
            "svm" => Some(Self::kumar()),
            _ => None,
        }
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        match self {
            Self::Logistic(logistic) => logistic.declare(declare),
            Self::Svm(svm) => svm.declare(declare),
        }
    }
}

impl Default for DifferenceClassifier {
    fn default() -> Self {
        Self::Logistic(LogisticParameters::default())
    }
}

/// Parameters of [`beta_vae_score`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BetaVaeParameters {
    /// Pairs whose differences are averaged into one point for the classifier.
    pub batch_size: usize,
    /// Points that the classifier is fitted to.
    pub train_points: usize,
    /// Points that it is tested on.
    pub test_points: usize,
    /// The classifier.
    pub classifier: DifferenceClassifier,
    /// Seeds all random draws.
    pub seed: u64,
}

impl Default for BetaVaeParameters {
    fn default() -> Self {
        Self {
            batch_size: 64,
            train_points: 10_000,
            test_points: 5_000,
            classifier: DifferenceClassifier::default(),
            seed: 0,
        }
    }
}

impl BetaVaeParameters {
    /// The same parameters with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        match &mut self.classifier {
            // Its solution involves no randomness.
            DifferenceClassifier::Logistic(_) => {}
            DifferenceClassifier::Svm(svm) => svm.seed = seed,
        }
        self
    }

    fn declare(&mut self, declare: &mut Declare<'_>) {
        let Self { batch_size, train_points, test_points, classifier, seed: _ } = self;
        declare.count(
            "batch_size",
            batch_size,
            1..=MOST_POINTS,
            "pairs whose differences are averaged to one point",
        );
        declare.count(
            "train_points",
            train_points,
            1..=MOST_POINTS,
            "points that the classifier is fitted to",
        );
        declare.count("test_points", test_points, 1..=MOST_POINTS, "points that it is tested on");
        declare.choice("classifier", classifier, "logistic regression, or Kumar's linear SVM");
    }
}

/// BetaVAE score (also Z-diff): can a linear classifier tell which factor two points share, from the absolute differences of
/// their codes?
///
/// ```text
/// point:  a random factor k as the label; for each unit, the mean of |z - z'| over pairs that share k
/// score:  accuracy of a linear classifier fitted to such points, on new ones
/// ```
///
/// * Range: 0 to 1, higher is better; chance is 1 / factors. It can be high even if the codes are a rotation of the factors.
/// * Features are neither scaled nor pruned. With a single factor the score is 1, since there is nothing to tell apart.
/// * Reference: Higgins et al. 2017, beta-VAE: Learning basic visual concepts with a constrained variational framework;
///   numbers of pairs and points as in Locatello et al. 2019. Kumar et al. 2018 call it the Z-diff score and use a support
///   vector machine ([`DifferenceClassifier::kumar`]).
/// * See also: [`factor_vae_score`](super::factor_vae_score), which needs no fitted classifier and is harder to satisfy.
///
/// # Errors
/// If a parameter is out of range.
///
/// ```
/// use ndarray::Array2;
/// use unbraid_metrics::Labelled;
/// use unbraid_metrics::scores::{BetaVaeParameters, GroupedRows, beta_vae_score};
///
/// let factors = Array2::from_shape_fn((100, 2), |(row, factor)| (if factor == 0 { row / 10 } else { row % 10 }) as i64);
/// let codes = factors.mapv(|value| value as f64);
/// let sampler = GroupedRows::new(&Labelled::new(codes.view(), factors.view())?);
/// let parameters = BetaVaeParameters { train_points: 200, test_points: 100, ..Default::default() };
/// assert_eq!(beta_vae_score(&sampler, &parameters)?.value, 1.0);
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub fn beta_vae_score(
    sampler: &dyn InterventionSampler,
    parameters: &BetaVaeParameters,
) -> Result<Accuracies> {
    check_counts(parameters.batch_size, parameters.train_points, parameters.test_points)?;
    if sampler.factor_count() < 2 {
        return Ok(Accuracies { value: 1.0, train: 1.0 });
    }
    let (train, train_labels) = differences(sampler, parameters, "beta-vae train", parameters.train_points);
    let (test, test_labels) = differences(sampler, parameters, "beta-vae test", parameters.test_points);
    let classes = Classes::new(train_labels.view());
    let (fitted, predicted) = match &parameters.classifier {
        DifferenceClassifier::Logistic(logistic) => {
            let model = LogisticRegression::fit(train.view(), &classes, logistic)?;
            (model.predict(train.view()), model.predict(test.view()))
        }
        DifferenceClassifier::Svm(svm) => {
            let model = LinearSvm::fit(train.view(), &classes, svm)?;
            (model.predict(train.view()), model.predict(test.view()))
        }
    };
    Ok(Accuracies {
        value: accuracy(&predicted, &classes.labels_of(test_labels.view())),
        train: accuracy(&fitted, &classes.labels_of(train_labels.view())),
    })
}

/// The metric `beta_vae_score`; see [`beta_vae_score`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BetaVaeScore {
    /// Its parameters.
    pub parameters: BetaVaeParameters,
}

impl Metric for BetaVaeScore {
    fn description(&self) -> Description {
        let meaning =
            "a linear classifier tells which factor two points share from the distances between their units";
        Description::new("beta_vae_score", meaning)
            .number("beta_vae_score", "BetaVAE score")
            .alias("z_diff")
            .interventional()
            .compares_factors("beta_vae_score")
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        self.parameters.declare(declare);
    }

    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues> {
        let parameters = self.parameters.clone().with_seed(options.seed);
        let found = beta_vae_score(options.sampler_for(codes)?.as_ref(), &parameters)?;
        Ok(ScoreValues::new("beta_vae_score", found.value)
            .with_list("beta_vae_train_accuracy", vec![found.train]))
    }
}

/// Points for the classifier, and their factors. Each point has a random generator of its own.
fn differences(
    sampler: &dyn InterventionSampler,
    parameters: &BetaVaeParameters,
    purpose: &str,
    points: usize,
) -> (Array2<f64>, Array1<i64>) {
    let units = sampler.unit_count();
    let size = parameters.batch_size * units;
    let drawn: Vec<(i64, Vec<f64>)> = (0..points)
        .into_par_iter()
        .map_init(
            || (vec![0.0; size], vec![0.0; size]),
            |(first, second), point| {
                let mut generator = random::generator(parameters.seed, purpose, point as u64);
                let factor = below(&mut generator, sampler.factor_count());
                sampler.pairs(factor, &mut generator, first, second);
                let mut sums = vec![0.0; units];
                for (first, second) in first.chunks_exact(units).zip(second.chunks_exact(units)) {
                    for (sum, (a, b)) in sums.iter_mut().zip(first.iter().zip(second)) {
                        *sum += (a - b).abs();
                    }
                }
                sums.iter_mut().for_each(|sum| *sum /= parameters.batch_size as f64);
                (factor as i64, sums)
            },
        )
        .collect();
    let features = Array2::from_shape_fn((points, units), |(point, unit)| drawn[point].1[unit]);
    (features, drawn.iter().map(|(factor, _)| *factor).collect())
}
