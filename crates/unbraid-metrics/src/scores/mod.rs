//! The scores, one file each: pure functions of arrays.

mod dci;
mod gaussian;
mod hoyer;
mod irs;
mod mig;
mod mig_relatives;
mod modularity;
mod mutual_info_score;

pub use dci::{Dci, DciLearner, DciParameters, completeness_of, dci, disentanglement_of};
pub use gaussian::{
    WassersteinCorrelation, gaussian_total_correlation, gaussian_wasserstein_correlation,
    total_correlation_of,
};
pub use hoyer::hoyer;
pub use irs::{Irs, IrsParameters, irs};
pub use mig::{HistogramParameters, Mig, mig, mig_of};
pub use mig_relatives::{
    MigSupParameters, Normalizer, aam, aam_of, dcimig, dcimig_of, jemmig, jemmig_of, mig_sup, mig_sup_of,
};
pub use modularity::{modularity, modularity_of};
pub use mutual_info_score::mutual_info_score;
