//! A metric of your own beside the built-in ones.
//!
//! ```text
//! cargo run -p unbraid-metrics --example own_metric
//! ```

use ndarray::Array2;
use unbraid_metrics::correlation::spearman;
use unbraid_metrics::{
    Codes, Declare, Description, Labelled, Metric, Options, Registry, Report, Result, ScoreValues,
};

/// The rank correlation gap: as MIG, with the magnitude of Spearman's correlation in place of mutual information.
struct RankCorrelationGap {
    /// Correlations below this magnitude count as 0.
    threshold: f64,
}

impl Metric for RankCorrelationGap {
    fn description(&self) -> Description {
        Description::new("rank_gap", "each factor is rank-correlated with one unit only")
            .number("rank_gap", "rank correlation gap")
            .detail("rank_correlation")
            .factor_values_are_numbers()
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        declare.number("threshold", &mut self.threshold, 0.0..=1.0, "correlations below this count as 0");
    }

    fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        let correlation = self.correlations(&codes.labelled()?)?;
        let gaps: Vec<f64> = correlation
            .columns()
            .into_iter()
            .map(|column| {
                let mut units = column.to_vec();
                units.sort_by(|a, b| b.total_cmp(a));
                units[0] - units.get(1).copied().unwrap_or(0.0)
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        Ok(ScoreValues::new("rank_gap", mean)
            .with_list("rank_gap_per_factor", gaps)
            .with_matrix("rank_correlation", correlation))
    }
}

impl RankCorrelationGap {
    /// Magnitudes \[units, factors\].
    fn correlations(&self, data: &Labelled<'_>) -> Result<Array2<f64>> {
        let (codes, factors) = (data.codes(), data.factors().mapv(|value| value as f64));
        let mut matrix = Array2::zeros((codes.ncols(), factors.ncols()));
        for ((unit, factor), entry) in matrix.indexed_iter_mut() {
            let found = spearman(&codes.column(unit).to_vec(), &factors.column(factor).to_vec())?.abs();
            *entry = if found < self.threshold { 0.0 } else { found };
        }
        Ok(matrix)
    }
}

/// Scores codes in which two units encode the first factor and one unit encodes the second.
pub(crate) fn run() -> Result<Report> {
    let factors = Array2::from_shape_fn((90, 2), |(row, factor)| [row / 10, row % 10][factor] as i64);
    let codes = Array2::from_shape_fn((90, 3), |(row, unit)| factors[[row, [0, 1, 0][unit]]] as f64);
    let codes = Codes::split(codes.view(), factors.view())?;
    let registry = Registry::builtin().with(RankCorrelationGap { threshold: 0.1 })?;
    registry.run(&["rank-gap", "mig"], &codes, &Options::default())
}

fn main() -> Result<()> {
    let report = run()?;
    for score in &report.scores {
        println!("{:<10} {:.3}  {}", score.name, score.value(), score.parameters);
    }
    Ok(())
}
