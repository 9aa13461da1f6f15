//! `scenes`: its options, through the registry.

use crate::support::{chain, factors, open_spec};
use unbraid_data::ImageShape;

#[test]
fn the_full_grid_has_the_size_of_3d_shapes() {
    let data = open_spec("scenes").unwrap();
    assert_eq!((data.len(), data.shape()), (480_000, ImageShape::new(64, 64, 3)));
    // Orientation is fastest, then shape, scale, and the hues of object, wall and floor.
    assert_eq!(factors(data.as_ref(), 15), [0, 0, 0, 0, 1, 0]);
    assert_eq!(factors(data.as_ref(), 479_999), [9, 9, 9, 7, 3, 14]);
    assert!(data.is_full_grid());
    assert!(data.memory() < 9 << 20, "{} bytes", data.memory());
}

/// A factor with one value is none.
#[test]
fn reduced_grids() {
    let data = open_spec("scenes(hues=6, scales=1, orientations=9, size=32)").unwrap();
    assert_eq!((data.len(), data.shape()), (6 * 6 * 6 * 4 * 9, ImageShape::new(32, 32, 3)));
    assert_eq!(data.factors().unwrap().len(), 5);
    for (spec, expected) in [
        ("scenes(size=48)", "option `size` of data set `scenes`: found 48, expected 32, 64 or 128"),
        (
            "scenes(hues=1, scales=1, shapes=1, orientations=1)",
            "data set `scenes`: found a single image, expected a factor with several values",
        ),
        (
            "scenes(shapes=5)",
            "option `shapes` of data set `scenes`: found 5, expected a whole number from 1 to 4",
        ),
    ] {
        assert_eq!(chain(&open_spec(spec).unwrap_err()), expected);
    }
}
