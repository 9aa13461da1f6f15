//! What is done to a picture on its way to an image of the data set.

use crate::dataset::ImageShape;
use crate::error::Result;
use crate::progress::Silent;
use crate::registry;
use crate::request::Request;
use crate::spec::DataSpec;

/// What is done to a picture besides resizing it: the options `crop` and `mask` of a folder of images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Side of the centred square that is cut out first, in pixels of the file; the largest rectangle of the right
    /// aspect ratio if absent.
    pub crop: Option<usize>,
    /// Whether to take the silhouette of what is in front of white: 1 inside, 0 outside.
    pub mask: bool,
}

impl Treatment {
    /// As the options of a data set say, which need not exist any more. Data sets that are no folders, or not
    /// built in, have no such options.
    ///
    /// # Errors
    /// If an option has an impossible value.
    pub fn of(data: &DataSpec) -> Result<Self> {
        let Ok(entry) = registry::entry(data.name.as_deref().unwrap_or("folder")) else {
            return Ok(Self::default());
        };
        Self::from_request(&Request::new(entry, data, &Silent))
    }

    pub(super) fn from_request(request: &Request<'_>) -> Result<Self> {
        let crop =
            if request.has_option("crop") { request.optional_integer("crop", 1..=65_536)? } else { None };
        Ok(Self { crop, mask: request.has_option("mask") && request.boolean("mask", false)? })
    }

    /// The part of a picture of this width and height that an image of `shape` is cut out of: left, top,
    /// width and height.
    ///
    /// # Errors
    /// If the picture is too small: the side of the square.
    pub(crate) fn part_of(
        self,
        (width, height): (usize, usize),
        shape: ImageShape,
    ) -> Result<[usize; 4], usize> {
        let (part_width, part_height) = match self.crop {
            Some(side) if side > width.min(height) => return Err(side),
            Some(side) => (side, side),
            None => largest_part((width as u64, height as u64), shape),
        };
        Ok([(width - part_width) / 2, (height - part_height) / 2, part_width, part_height])
    }
}

/// Width and height of the largest part of a picture that has the aspect ratio of `shape`.
fn largest_part((width, height): (u64, u64), shape: ImageShape) -> (usize, usize) {
    let (wanted_width, wanted_height) = (shape.width as u64, shape.height as u64);
    let part_width = width.min(height * wanted_width / wanted_height).max(1);
    let part_height = height.min(width * wanted_height / wanted_width).max(1);
    (part_width as usize, part_height as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_a_folder() {
        let of = |spec: &str| Treatment::of(&spec.parse().unwrap());
        assert_eq!(of("folder(path=a, crop=148)").unwrap(), Treatment { crop: Some(148), mask: false });
        assert_eq!(of("chairs(path=a, mask=true)").unwrap(), Treatment { crop: None, mask: true });
        // Without a name, as a configuration of an earlier version may have it.
        assert_eq!(of("./photos").unwrap(), Treatment::default());
        assert_eq!(of("shapes").unwrap(), Treatment::default());
        assert_eq!(of("somebodys-own(crop=3)").unwrap(), Treatment::default());
        assert!(of("folder(path=a, crop=0)").is_err());
    }

    #[test]
    fn the_part_is_in_the_centre() {
        let square = ImageShape::new(8, 8, 3);
        let crop = |side| Treatment { crop: Some(side), mask: false };
        assert_eq!(Treatment::default().part_of((30, 20), square), Ok([5, 0, 20, 20]));
        assert_eq!(crop(10).part_of((30, 20), square), Ok([10, 5, 10, 10]));
        assert_eq!(crop(20).part_of((30, 20), square), Ok([5, 0, 20, 20]));
        assert_eq!(crop(21).part_of((30, 20), square), Err(21));
    }
}
