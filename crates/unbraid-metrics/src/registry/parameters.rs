//! The parameters of every metric in one struct, which configuration files can override in part.

use crate::learners::LogisticParameters;
use crate::scores::{
    BetaVaeParameters, ClusterParameters, DciLearner, DciParameters, DifferenceClassifier, DownstreamLearner,
    DownstreamParameters, FactorVaeParameters, FullDataParameters, HistogramParameters, IrsParameters,
    MigSupParameters, RmigParameters, SapParameters, SapPredictor,
};
use serde::{Deserialize, Serialize};

/// Parameters of `sap_continuous`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SapContinuousParameters {
    /// Units whose correlation exceeds this magnitude count as one.
    pub group_above: Option<f64>,
}

/// The parameters of every metric, under the metric's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "each field is the metric of this name")]
pub struct Parameters {
    pub beta_vae_score: BetaVaeParameters,
    pub factor_vae_score: FactorVaeParameters,
    pub mig: HistogramParameters,
    pub mig_full_data: FullDataParameters,
    pub rmig: RmigParameters,
    pub jemmig: HistogramParameters,
    pub mig_sup: MigSupParameters,
    pub aam: HistogramParameters,
    pub dcimig: HistogramParameters,
    pub sap: SapParameters,
    pub sap_continuous: SapContinuousParameters,
    pub dci: DciParameters,
    pub modularity: HistogramParameters,
    pub explicitness: LogisticParameters,
    pub irs: IrsParameters,
    pub mutual_info_score: HistogramParameters,
    pub downstream: DownstreamParameters,
    pub cluster_accuracy: ClusterParameters,
}

impl Parameters {
    /// The same parameters with one seed for everything that draws random numbers.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.beta_vae_score.seed = seed;
        if let DifferenceClassifier::Svm(svm) = &mut self.beta_vae_score.classifier {
            svm.seed = seed;
        }
        self.factor_vae_score.seed = seed;
        self.mig_full_data.seed = seed;
        if let SapPredictor::Svm(svm) = &mut self.sap.predictor {
            svm.seed = seed;
        }
        match &mut self.dci.learner {
            DciLearner::Boosting(boosting) => boosting.seed = seed,
            DciLearner::Forest(forest) => forest.seed = seed,
            DciLearner::Lasso(_) => {}
        }
        self.downstream.seed = seed;
        if let DownstreamLearner::Boosting(boosting) = &mut self.downstream.learner {
            boosting.seed = seed;
        }
        self
    }
}
