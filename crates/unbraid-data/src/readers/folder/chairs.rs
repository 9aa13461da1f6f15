//! 3D Chairs: `rendered_chairs/<model>/renders/image_003_p020_t034_r096.png`. `p` is the elevation and `t` the azimuth
//! in degrees; the folder is the model.

use super::listing::{Listing, table_of_labels};
use crate::error::{DataError, Result};
use crate::table::FactorTable;
use std::path::Path;

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
    table_of_labels(columns.into_iter().map(|(name, labels)| (name.to_owned(), labels)).collect())
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
