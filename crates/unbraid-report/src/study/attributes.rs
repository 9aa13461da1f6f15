//! How well single attributes are classified.

use super::best::best;
use super::section::{Block, StudySection};
use super::view::StudyView;
use unbraid_study::analysis::quantities::{self, Kind};

/// The accuracy of each attribute by its name, for the best setting of each method (Kumar, Table 2). `None`
/// if no run has such numbers.
pub(crate) fn section(view: &StudyView<'_>) -> Option<StudySection> {
    let mut blocks = Vec::new();
    for data in &view.data {
        let rows = view.rows_on(data);
        let keys = quantities::keys_of(view.table, &rows, Kind::Attribute);
        if keys.is_empty() {
            continue;
        }
        let on = if view.data.len() > 1 { format!(" on {data}") } else { String::new() };
        blocks.push(Block::Table(format!("Accuracy of each attribute{on}"), best(view, &rows, &keys)));
    }
    (!blocks.is_empty()).then(|| StudySection {
        id: "attributes",
        heading: "Attribute accuracies",
        introduction: "How often an attribute is classified correctly along the difference between the mean codes of images \
                       with and without it: mean and standard deviation over seeds, for the best setting of each method. \
                       Always giving the more frequent answer reaches its share. As in Kumar, Table 2."
            .to_owned(),
        blocks,
    })
}
