//! Densities of the aggregate posterior over a grid of alpha and beta.

use super::section::{Block, StudySection};
use super::view::StudyView;
use crate::error::Result;
use crate::figure::{Drawing, Figure};
use crate::picture::density::{self, GridLabels, Square};
use crate::run_report::encoded_run::EncodedRun;
use ndarray::Array2;
use serde_json::Value;
use unbraid::Run;
use unbraid::data::progress::{Progress, Silent};
use unbraid_study::StudyDirectory;
use unbraid_study::analysis::settings::{as_number, value_label};

/// Posteriors that make up a density: all points of the pinwheel.
const POSTERIORS: usize = 400;
/// More runs than this are more than a page can show.
const MOST_RUNS: usize = 100;
/// A posterior far outside of the prior would make everything else small; the square is at most so many times
/// that of the prior.
const MOST_REACH: f64 = 1.5;

/// The density of q(z) for every alpha (rows) and beta (columns), of the first seed (Mathieu, Fig. 3). `None`
/// if runs have no such grid, or other than two continuous units.
pub(crate) fn section(
    view: &StudyView<'_>,
    study: &StudyDirectory,
    progress: &dyn Progress,
) -> Option<StudySection> {
    // Imported rows have no runs to encode with.
    if view.table.is_imported_only() {
        return None;
    }
    let mut blocks = Vec::new();
    for data in &view.data {
        let Some(grid) = Grid::of(view, &view.rows_on(data)) else { continue };
        match figure(&grid, view, study, data, progress) {
            Ok(Some(figure)) => blocks.push(Block::Figure(figure)),
            Ok(None) => {}
            Err(error) => blocks.push(Block::Paragraph(format!("{data}: {}.", unbraid::error_chain(&error)))),
        }
    }
    (!blocks.is_empty()).then(|| StudySection {
        id: "densities",
        heading: "Aggregate posterior by alpha and beta",
        introduction: "Where the codes of the data lie: beta spreads the posterior of each point until they overlap, alpha pulls \
                       all of them together towards the prior. As in Mathieu, Fig. 3."
            .to_owned(),
        blocks,
    })
}

/// Runs by alpha and beta.
struct Grid {
    alphas: Vec<String>,
    betas: Vec<String>,
    /// By alpha, then beta.
    rows: Vec<Vec<Option<usize>>>,
}

impl Grid {
    /// Of these rows, the first seed each; `None` unless both vary.
    fn of(view: &StudyView<'_>, rows: &[usize]) -> Option<Self> {
        let columns = ["objective.alpha", "objective.beta"].map(|key| view.table.setting_column(key));
        let [Some(alpha), Some(beta)] = columns else { return None };
        let value = |row: usize, column: usize| view.table.rows[row].settings[column].as_ref();
        let values_of = |column: usize| {
            let mut values: Vec<&Value> = Vec::new();
            for found in rows.iter().filter_map(|&row| value(row, column)) {
                if !values.contains(&found) {
                    values.push(found);
                }
            }
            let number = |value: &&Value| as_number(value).unwrap_or(f64::NAN);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
            values
        };
        let (alphas, betas) = (values_of(alpha), values_of(beta));
        if alphas.len() < 2 || betas.len() < 2 || alphas.len() * betas.len() > MOST_RUNS {
            return None;
        }
        let run = |a: &&Value, b: &&Value| {
            let same = |&&row: &&usize| value(row, alpha) == Some(*a) && value(row, beta) == Some(*b);
            rows.iter().filter(same).min_by_key(|&&row| view.table.rows[row].seed).copied()
        };
        let rows = alphas.iter().map(|a| betas.iter().map(|b| run(a, b)).collect()).collect();
        let words = |values: Vec<&Value>| values.into_iter().map(|value| value_label(Some(value))).collect();
        Some(Self { alphas: words(alphas), betas: words(betas), rows })
    }
}

fn figure(
    grid: &Grid,
    view: &StudyView<'_>,
    study: &StudyDirectory,
    data: &str,
    progress: &dyn Progress,
) -> Result<Option<Figure>> {
    let mut reach = 0.0_f64;
    let mut prior = None;
    let mut posteriors = Vec::new();
    progress.start("densities", grid.rows.iter().flatten().flatten().count() as u64);
    for row in grid.rows.iter().flatten() {
        progress.advance(1);
        let Some(row) = row else {
            posteriors.push(None);
            continue;
        };
        let run = Run::open(study.run_named(&view.table.rows[*row].name).root())?;
        if run.units() != 2 {
            progress.finish();
            return Ok(None);
        }
        let opened = run.open_data(&Silent)?.data;
        let encoded = EncodedRun::new(&run, opened.as_ref(), POSTERIORS.min(opened.len()), &Silent)?;
        let own = (0..2)
            .map(|unit| run.range_of(unit))
            .fold(0.0_f64, |reach, (low, high)| reach.max(low.abs()).max(high.abs()));
        let means = encoded.posteriors().mean.clone();
        let furthest = means.iter().fold(own, |reach, &mean| reach.max(f64::from(mean.abs()) * 1.05));
        reach = reach.max(furthest.min(MOST_REACH * own));
        posteriors.push(Some((means, encoded.posteriors().log_variance.clone())));
        prior.get_or_insert(run);
    }
    progress.finish();
    let Some(run) = prior else { return Ok(None) };
    let square = Square { low: -reach, high: reach };
    let panels: Vec<Option<Array2<f64>>> = posteriors
        .into_iter()
        .map(|found| {
            found.map(|(mean, log)| density::evaluate(square, density::aggregate_posterior(&mean, &log)))
        })
        .collect();
    let prior =
        square.with(run.joint_prior_densities(&ndarray::ArrayView2::from(square.points().as_slice())));
    let labels = GridLabels { row: "alpha", rows: &grid.alphas, column: "beta", columns: &grid.betas };
    Ok(Some(Figure {
        name: "densities",
        title: format!("Density of q(z) on {data}"),
        caption: format!(
            "Each panel has its own colours, from dark for zero to yellow for its highest value, over the same square, \
             {:.1} to {:.1}; the last is the prior. Of several seeds the first is shown.",
            square.low, square.high
        ),
        drawing: Drawing::Picture(density::draw_grid(&labels, &panels, &prior)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tiny_run;
    use unbraid_study::{Row, Table};

    #[test]
    fn runs_stand_by_their_alpha_and_beta() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("runs")).unwrap();
        let study = StudyDirectory::create(directory.path(), "base = \"mathieu/pinwheel\"\n").unwrap();
        let mut rows = Vec::new();
        for (alpha, beta, seed) in [(10.0, 0.5, 1), (10.0, 0.5, 0), (0.0, 0.5, 0), (0.0, 1.0, 0)] {
            let name = format!("a{alpha}-b{beta}-s{seed}");
            tiny_run(
                &directory,
                &format!("runs/{name}"),
                &[
                    "data={ name = \"pinwheel\" }",
                    "model.architecture={ name = \"mlp\", encoder = [8], decoder = [8] }",
                    "model.latents={ continuous = 2, categorical = [] }",
                    "model.likelihood={ name = \"gaussian\", scale = 0.3, output = \"linear\" }",
                    "evaluation.after_training=false",
                    "evaluation.report=false",
                ],
            );
            rows.push(Row {
                seed: Some(seed),
                settings: vec![Some(alpha.into()), Some(beta.into())],
                ..Row::named(name, "decomposition", "pinwheel")
            });
        }
        let setting_keys = ["objective.alpha", "objective.beta"].map(str::to_owned).to_vec();
        let table = Table { setting_keys, number_keys: Vec::new(), rows };
        let view = StudyView::new(&table);
        let grid = Grid::of(&view, &view.rows).unwrap();
        assert_eq!(
            (grid.alphas.as_slice(), grid.betas.as_slice()),
            (&["0".to_owned(), "10".to_owned()][..], &["0.5".to_owned(), "1".to_owned()][..])
        );
        // The first seed counts, and alpha = 10 with beta = 1 is missing.
        assert_eq!(grid.rows, [[Some(2), Some(3)], [Some(1), None]]);
        let section = section(&view, &study, &Silent).unwrap();
        let Block::Figure(Figure { drawing: Drawing::Picture(canvas), .. }) = &section.blocks[0] else {
            panic!("a picture");
        };
        assert!(canvas.width() >= 3 * density::SIDE && canvas.height() >= 2 * density::SIDE);
    }
}
