//! The scores, one file each: pure functions of arrays.

mod attribute_accuracy;
mod beta_vae;
mod cluster_accuracy;
mod dci;
mod downstream;
mod explicitness;
mod factor_vae;
mod gaussian;
mod hoyer;
mod interventions;
mod irs;
mod mig;
mod mig_full_data;
mod mig_relatives;
mod modularity;
mod mutual_info_score;
mod posterior_kl;
mod rmig;
mod sap;
mod sap_groups;
mod sap_threshold;
mod udr;

pub use attribute_accuracy::{AttributeAccuracy, attribute_accuracy};
pub use beta_vae::{Accuracies, BetaVaeParameters, DifferenceClassifier, beta_vae_score};
pub use cluster_accuracy::{ClusterParameters, Matching, cluster_accuracy};
pub use dci::{Dci, DciLearner, DciParameters, completeness_of, dci, disentanglement_of};
pub use downstream::{Downstream, DownstreamLearner, DownstreamParameters, downstream};
pub use explicitness::{Explicitness, explicitness};
pub use factor_vae::{FactorVaeParameters, factor_vae_score};
pub use gaussian::{
    WassersteinCorrelation, gaussian_total_correlation, gaussian_wasserstein_correlation,
    total_correlation_of,
};
pub use hoyer::hoyer;
pub use interventions::{GroupedRows, InterventionSampler};
pub use irs::{Irs, IrsParameters, irs};
pub use mig::{HistogramParameters, Mig, mig, mig_of};
pub use mig_full_data::{FullDataMig, FullDataParameters, mig_full_data};
pub use mig_relatives::{
    MigSupParameters, Normalizer, aam, aam_of, dcimig, dcimig_of, jemmig, jemmig_of, mig_sup, mig_sup_of,
};
pub use modularity::{modularity, modularity_of};
pub use mutual_info_score::mutual_info_score;
pub use posterior_kl::kl_per_unit;
pub use rmig::{Rmig, RmigParameters, rmig};
pub use sap::{Sap, SapParameters, SapPredictor, sap, sap_continuous};
pub use udr::{Similarity, Udr, UdrParameters, udr};
