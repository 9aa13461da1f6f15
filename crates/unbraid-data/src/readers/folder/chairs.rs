//! 3D Chairs: `rendered_chairs/<model>/renders/image_003_p020_t034_r096.png`. `p` is the elevation and `t` the azimuth
//! in degrees; the folder is the model.

use super::listing::Listing;
use crate::error::{DataError, Result};
use crate::factors::FactorKind;
use crate::files::{LONGEST_TEXT, read_text};
use crate::readers::labels::table_of_labels;
use crate::request::Request;
use crate::spec::OptionValue;
use crate::table::FactorTable;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Model, elevation and azimuth of every image.
pub(super) fn factors(root: &Path, listing: &Listing) -> Result<FactorTable> {
    let (mut models, mut elevations, mut azimuths) = (Vec::new(), Vec::new(), Vec::new());
    for name in listing.names() {
        let (model, elevation, azimuth) = parse(name).ok_or_else(|| {
            let expected = "model/renders/image_NNN_pEEE_tAAA_rRRR.png, as 3D Chairs names its images";
            DataError::content(root, "folder", format!("an image {name}"), expected)
        })?;
        models.push(model.to_owned());
        elevations.push(elevation.to_owned());
        azimuths.push(azimuth.to_owned());
    }
    let columns = [("model", models), ("elevation", elevations), ("azimuth", azimuths)];
    let columns = columns.into_iter().map(|(name, labels)| (name.to_owned(), labels));
    let mut table = table_of_labels(columns.collect())?;
    // Whatever their names look like; a reduced set of views has the same kinds.
    for (position, kind) in
        [FactorKind::Categorical, FactorKind::Ordered, FactorKind::Angle].into_iter().enumerate()
    {
        table.set_kind(position, kind);
    }
    Ok(table)
}

/// Which models are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Models {
    All,
    /// The first by name.
    First(usize),
    /// Those that a file lists, one in each line.
    Listed(PathBuf),
}

impl Models {
    pub(super) fn from_request(request: &Request<'_>) -> Result<Self> {
        match request.value("models") {
            None => Ok(Self::All),
            Some(OptionValue::Text(path)) => Ok(Self::Listed(PathBuf::from(path))),
            Some(_) => Ok(Self::First(request.integer("models", 1..=1_000_000, 1)?)),
        }
    }

    /// Removes the images of all other models.
    ///
    /// # Errors
    /// If there are not as many models, or a listed one is missing.
    pub(super) fn keep(&self, root: &Path, listing: &mut Listing) -> Result<()> {
        let models: Vec<Option<String>> =
            listing.names().iter().map(|name| parse(name).map(|(model, ..)| model.to_owned())).collect();
        let all: BTreeSet<String> = models.iter().flatten().cloned().collect();
        let wanted: BTreeSet<String> = match self {
            Self::All => return Ok(()),
            Self::First(count) => {
                if all.len() < *count {
                    let expected = format!("at least {count}, since `models` is {count}");
                    return Err(DataError::content(
                        root,
                        "folder",
                        format!("{} models", all.len()),
                        expected,
                    ));
                }
                all.into_iter().take(*count).collect()
            }
            Self::Listed(path) => {
                let text = read_text(path, LONGEST_TEXT).map_err(DataError::io(path, "read"))?;
                let wanted: BTreeSet<String> =
                    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
                if wanted.is_empty() {
                    return Err(DataError::content(
                        path,
                        "list of models",
                        "no lines",
                        "a name in each line",
                    ));
                }
                if let Some(missing) = wanted.difference(&all).next() {
                    let expected = format!("only models of {}", root.display());
                    return Err(DataError::content(path, "list of models", format!("`{missing}`"), expected));
                }
                wanted
            }
        };
        // Images that are not chairs stay, for the message that names them.
        listing.keep(|index| models[index].as_ref().is_none_or(|model| wanted.contains(model)));
        Ok(())
    }
}

fn parse(name: &str) -> Option<(&str, &str, &str)> {
    let (folder, file) = name.rsplit_once('/')?;
    let model = folder.strip_suffix("/renders").unwrap_or(folder);
    let model = model.rsplit('/').next()?;
    let mut parts = file.rsplit_once('.')?.0.split('_');
    let (image, _number) = (parts.next()?, parts.next()?);
    let (elevation, azimuth) = (parts.next()?.strip_prefix('p')?, parts.next()?.strip_prefix('t')?);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (image == "image" && digits(elevation) && digits(azimuth)).then_some((model, elevation, azimuth))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn published_names() {
        let name = "1a6f615e8b1b5ae4dbbc9440457e303e/renders/image_003_p020_t034_r096.png";
        assert_eq!(parse(name), Some(("1a6f615e8b1b5ae4dbbc9440457e303e", "020", "034")));
        assert_eq!(parse(&format!("rendered_chairs/{name}")), parse(name));
        assert_eq!(parse("photo_1_p2.png"), None);
        assert_eq!(parse("a/photo.png"), None);
    }
}
