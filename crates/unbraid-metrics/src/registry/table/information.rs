//! Metrics of the information that units have of factors, or of each other.

use super::{BASE, CODES, POSTERIORS, json};
use crate::registry::report::Outcome;
use crate::registry::{Direction, Metric};
use crate::scores;

pub(super) const MIG: Metric = Metric {
    name: "mig",
    keys: &["mig"],
    details: &["mutual_information"],
    meaning: "each factor is known to one unit only (gap in mutual information, binned)",
    parameters: |parameters| json(&parameters.mig),
    run: |input| {
        let found = scores::mig(&input.codes.labelled()?, &input.parameters.mig)?;
        Ok(Outcome::of("mig", found.value)
            .list("mig_per_factor", found.per_factor)
            .matrix("mutual_information", found.mutual_information))
    },
    ..BASE
};

pub(super) const MIG_FULL_DATA: Metric = Metric {
    name: "mig_full_data",
    keys: &["mig_full_data"],
    details: &["mutual_information_full_data"],
    meaning: "as mig, from entropies of the aggregate posterior instead of bins (Chen)",
    needs: POSTERIORS,
    parameters: |parameters| json(&parameters.mig_full_data),
    run: |input| {
        let found =
            scores::mig_full_data(&input.codes.labelled_posteriors()?, &input.parameters.mig_full_data)?;
        Ok(Outcome::of("mig_full_data", found.value)
            .matrix("mutual_information_full_data", found.mutual_information))
    },
    ..BASE
};

pub(super) const RMIG: Metric = Metric {
    name: "rmig",
    keys: &["rmig"],
    details: &["mutual_information_quantised"],
    meaning: "as mig, with each point spread over the bins as its posterior is",
    needs: POSTERIORS,
    parameters: |parameters| json(&parameters.rmig),
    run: |input| {
        let found = scores::rmig(&input.codes.labelled_posteriors()?, &input.parameters.rmig)?;
        Ok(Outcome::of("rmig", found.value).matrix("mutual_information_quantised", found.mutual_information))
    },
    ..BASE
};

pub(super) const JEMMIG: Metric = Metric {
    name: "jemmig",
    keys: &["jemmig"],
    meaning: "as mig, and the best unit knows nothing beyond its factor",
    parameters: |parameters| json(&parameters.jemmig),
    run: |input| {
        Ok(Outcome::of("jemmig", scores::jemmig(&input.codes.labelled()?, &input.parameters.jemmig)?))
    },
    ..BASE
};

pub(super) const MIG_SUP: Metric = Metric {
    name: "mig_sup",
    keys: &["mig_sup"],
    meaning: "each unit knows one factor only (gap along the other axis)",
    parameters: |parameters| json(&parameters.mig_sup),
    run: |input| {
        Ok(Outcome::of("mig_sup", scores::mig_sup(&input.codes.labelled()?, &input.parameters.mig_sup)?))
    },
    ..BASE
};

pub(super) const AAM: Metric = Metric {
    name: "aam",
    keys: &["aam"],
    meaning: "the best unit knows more of a factor than all others together",
    parameters: |parameters| json(&parameters.aam),
    run: |input| Ok(Outcome::of("aam", scores::aam(&input.codes.labelled()?, &input.parameters.aam)?)),
    ..BASE
};

pub(super) const DCIMIG: Metric = Metric {
    name: "dcimig",
    keys: &["dcimig"],
    meaning: "share of all factor entropy that sits in units which know one factor",
    parameters: |parameters| json(&parameters.dcimig),
    run: |input| {
        Ok(Outcome::of("dcimig", scores::dcimig(&input.codes.labelled()?, &input.parameters.dcimig)?))
    },
    ..BASE
};

pub(super) const MODULARITY: Metric = Metric {
    name: "modularity",
    keys: &["modularity"],
    meaning: "each unit knows at most one factor",
    parameters: |parameters| json(&parameters.modularity),
    run: |input| {
        Ok(Outcome::of(
            "modularity",
            scores::modularity(&input.codes.labelled()?, &input.parameters.modularity)?,
        ))
    },
    ..BASE
};

pub(super) const MUTUAL_INFO_SCORE: Metric = Metric {
    name: "mutual_info_score",
    keys: &["mutual_info_score"],
    meaning: "mean mutual information between two units",
    direction: Direction::Lower,
    range: (0.0, f64::INFINITY),
    needs: CODES,
    parameters: |parameters| json(&parameters.mutual_info_score),
    run: |input| {
        let value = scores::mutual_info_score(&input.codes.train(), &input.parameters.mutual_info_score)?;
        Ok(Outcome::of("mutual_info_score", value))
    },
    ..BASE
};
