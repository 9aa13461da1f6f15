//! The scores: pure functions of checked arrays, one file each.
//!
//! A score is a function ([`mig`]), a parameter struct ([`HistogramParameters`]) whose defaults are the settings behind
//! published numbers where there are any, and a [`Metric`] that runs it by name ([`Mig`]).
//!
//! | question | scores |
//! |---|---|
//! | Is each factor encoded by one unit (completeness, compactness)? | [`mig`], [`mig_full_data`], [`rmig`], [`jemmig`], [`aam`], [`sap`], [`sap_continuous`], [`sap_kumar`], [`dci`], [`infomec`], [`mcc`], [`snc`], [`nk`] |
//! | Does each unit encode one factor (disentanglement, modularity)? | [`modularity`], [`mig_sup`], [`dcimig`], [`dci`], [`irs`], [`med`], [`infomec`] |
//! | Do units respond to interventions on factors? | [`beta_vae_score`], [`factor_vae_score`], [`irs`] |
//! | Are factors predictable from codes (informativeness)? | [`explicitness`], [`dci`], [`dci_es`], [`infomec`], [`downstream`], [`attribute_accuracy`], [`cluster_accuracy`] |
//! | Are units independent, sparse, active? (without factors) | [`gaussian_total_correlation`], [`gaussian_wasserstein_correlation`], [`mutual_info_score`], [`hoyer`], [`kl_per_unit`] |
//! | How good are reconstructions? (without factors) | [`reconstruction_error`] |
//! | Do several models agree? (without factors) | [`udr`] |

mod aam;
mod attribute_accuracy;
mod beta_vae;
mod cluster_accuracy;
mod dci;
mod dci_es;
mod dcimig;
mod downstream;
mod explicitness;
mod factor_vae;
mod gaussian_total_correlation;
mod gaussian_wasserstein_correlation;
mod hoyer;
mod infomec;
mod interventions;
mod irs;
mod jemmig;
mod kl;
mod mcc;
mod med;
mod mig;
mod mig_full_data;
mod mig_sup;
mod modularity;
mod mutual_info_score;
mod nk;
mod reconstruction_error;
mod rmig;
mod sap;
mod sap_continuous;
mod sap_groups;
mod sap_kumar;
mod sap_threshold;
mod snc;
mod udr;

pub use aam::{Aam, aam, aam_of};
pub use attribute_accuracy::{AttributeAccuracy, AttributeAccuracyValues, attribute_accuracy};
pub use beta_vae::{BetaVaeParameters, BetaVaeScore, DifferenceClassifier, beta_vae_score};
pub use cluster_accuracy::{ClusterAccuracy, ClusterAccuracyParameters, Matching, cluster_accuracy};
pub use dci::{Dci, DciLearner, DciParameters, DciValues, completeness_of, dci, disentanglement_of};
pub use dci_es::{DciEs, DciEsParameters, DciEsValues, dci_es};
pub use dcimig::{Dcimig, dcimig, dcimig_of};
pub use downstream::{Downstream, DownstreamLearner, DownstreamParameters, DownstreamValues, downstream};
pub use explicitness::{Explicitness, ExplicitnessValues, explicitness};
pub use factor_vae::{FactorVaeParameters, FactorVaeScore, factor_vae_score};
pub use gaussian_total_correlation::{
    GaussianTotalCorrelation, gaussian_total_correlation, total_correlation_of,
};
pub use gaussian_wasserstein_correlation::{
    GaussianWassersteinCorrelation, WassersteinCorrelation, gaussian_wasserstein_correlation,
};
pub use hoyer::{Hoyer, HoyerParameters, hoyer};
pub use infomec::{Infomec, InfomecParameters, InfomecValues, infomec};
pub use interventions::{Accuracies, GroupedRows, InterventionSampler};
pub use irs::{Irs, IrsParameters, IrsValues, irs};
pub use jemmig::{Jemmig, jemmig, jemmig_of};
pub use kl::{Kl, kl_per_unit};
pub use mcc::{Mcc, MccValues, mcc};
pub use med::{Med, MedParameters, MedValues, med};
pub use mig::{HistogramParameters, Mig, MigValues, mig, mig_of};
pub use mig_full_data::{MigFullData, MigFullDataParameters, mig_full_data};
pub use mig_sup::{MigSup, MigSupParameters, Normalizer, mig_sup, mig_sup_of};
pub use modularity::{Modularity, modularity, modularity_of};
pub use mutual_info_score::{MutualInfoScore, mutual_info_score};
pub use nk::{Nk, NkParameters, NkValues, nk};
pub use reconstruction_error::{ReconstructionError, reconstruction_error};
pub use rmig::{Rmig, RmigParameters, rmig};
pub use sap::{Sap, SapParameters, SapPredictor, SapValues, sap};
pub use sap_continuous::{SapContinuous, SapContinuousParameters, sap_continuous};
pub use sap_kumar::{SapKumar, SapKumarParameters, sap_kumar};
pub use snc::{Snc, SncValues, snc};
pub use udr::{Similarity, UdrParameters, UdrValues, udr};

use crate::metric::Metric;

/// The built-in metrics with their default parameters, in display order.
pub(crate) fn builtin() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(BetaVaeScore::default()),
        Box::new(FactorVaeScore::default()),
        Box::new(Mig::default()),
        Box::new(MigFullData::default()),
        Box::new(Rmig::default()),
        Box::new(Jemmig::default()),
        Box::new(MigSup::default()),
        Box::new(Aam::default()),
        Box::new(Dcimig::default()),
        Box::new(Sap::default()),
        Box::new(SapContinuous::default()),
        Box::new(SapKumar::default()),
        Box::new(Dci::default()),
        Box::new(Modularity::default()),
        Box::new(Explicitness::default()),
        Box::new(Irs::default()),
        Box::new(Mcc),
        Box::new(Med::default()),
        Box::new(Infomec::default()),
        Box::new(DciEs::default()),
        Box::new(Snc::default()),
        Box::new(Nk::default()),
        Box::new(GaussianTotalCorrelation),
        Box::new(GaussianWassersteinCorrelation),
        Box::new(MutualInfoScore::default()),
        Box::new(Hoyer::default()),
        Box::new(Kl),
        Box::new(ReconstructionError),
        Box::new(AttributeAccuracy),
        Box::new(ClusterAccuracy::default()),
        Box::new(Downstream::default()),
        Box::new(Downstream::logistic()),
    ]
}
