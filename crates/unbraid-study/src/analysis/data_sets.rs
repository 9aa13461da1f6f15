//! Common names for the data sets of a study and of published tables.

/// The data set that a name stands for, without the options that make it smaller: `shapes`, which draws the images of
/// dSprites, and every part of it is `dsprites`, `shapes(variant=noisy)` is `noisy-dsprites`, and
/// `cars3d(...)` is `cars3d`.
///
/// ```
/// use unbraid_study::analysis::data_sets::published_name;
///
/// assert_eq!(published_name("shapes(positions=16)"), published_name("dsprites"));
/// ```
pub fn published_name(data: &str) -> String {
    let (name, options) = data.split_once('(').unwrap_or((data, ""));
    let name = name.trim();
    if !matches!(name, "shapes" | "dsprites") {
        return name.to_owned();
    }
    let option = |option: &str| {
        let (key, value) = option.split_once('=')?;
        (key.trim() == "variant").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    };
    match options.trim_end_matches(')').split(',').find_map(option).as_deref() {
        None | Some("plain") => "dsprites".to_owned(),
        Some(variant) => format!("{variant}-dsprites"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Definition, entries};
    use crate::presets::{PresetScale, text};
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The six data sets of Hartmann's comparison (section 4.1), under the names of disentanglement_lib's tables.
    #[test]
    fn the_data_of_the_full_comparison_have_the_names_of_the_published_rows() {
        let definition =
            Definition::parse(text("dlib", PresetScale::Full).unwrap(), "study.toml", Path::new("."))
                .unwrap();
        let labels: BTreeSet<String> = entries(&definition)
            .unwrap()
            .iter()
            .map(|entry| published_name(entry.settings["data"].as_str().unwrap()))
            .collect();
        let expected =
            ["cars3d", "colour-dsprites", "dsprites", "noisy-dsprites", "scream-dsprites", "smallnorb"];
        assert!(labels.iter().eq(expected), "{labels:?}");
    }

    #[test]
    fn rendered_images_meet_the_published_ones() {
        for (ours, published) in [
            ("shapes", "dsprites"),
            ("dsprites", "dsprites"),
            ("shapes(positions=16,scales=3)", "dsprites"),
            ("shapes(variant=plain)", "dsprites"),
            ("shapes(variant=colour)", "colour-dsprites"),
            ("shapes(positions=8, variant=noisy)", "noisy-dsprites"),
            ("shapes(picture=scream.jpg,variant=scream)", "scream-dsprites"),
            ("colour-dsprites", "colour-dsprites"),
            ("cars3d(crop=false)", "cars3d"),
            ("shapes3d", "shapes3d"),
            ("My data", "My data"),
        ] {
            assert_eq!(published_name(ours), published, "{ours}");
        }
    }
}
