//! `scenes`: its options, through the registry.

use crate::support::{chain, factors, image, names_and_sizes, open_spec};
use unbraid_data::ImageShape;

#[test]
fn the_full_grid_has_the_size_of_3d_shapes() {
    let data = open_spec("scenes").unwrap();
    assert_eq!((data.len(), data.shape()), (480_000, ImageShape::new(64, 64, 3)));
    // Orientation is fastest, then shape, scale, and the hues of object, wall and floor.
    assert_eq!(factors(data.as_ref(), 15), [0, 0, 0, 0, 1, 0]);
    assert_eq!(factors(data.as_ref(), 479_999), [9, 9, 9, 7, 3, 14]);
    assert!(data.is_full_grid());
    assert!(data.memory() < 10 << 20, "{} bytes", data.memory());
}

/// A factor with one value is none.
#[test]
fn reduced_grids() {
    let data = open_spec("scenes(hues=6, scales=1, orientations=9, size=32)").unwrap();
    assert_eq!((data.len(), data.shape()), (6 * 6 * 6 * 4 * 9, ImageShape::new(32, 32, 3)));
    assert_eq!(data.factors().unwrap().len(), 5);
    let cylinders = open_spec("scenes(hues=2, shape=cylinder, size=32)").unwrap();
    assert_eq!(cylinders.len(), 2 * 2 * 2 * 8 * 15);
    assert_eq!(
        names_and_sizes(cylinders.as_ref()),
        [("floor_hue", 2), ("wall_hue", 2), ("object_hue", 2), ("scale", 8), ("orientation", 15)]
    );
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
        (
            "scenes(shape=cone)",
            "option `shape` of data set `scenes`: found \"cone\", expected one of all, cube, cylinder, sphere, capsule",
        ),
        (
            "scenes(shapes=2, shape=sphere)",
            "data set `scenes`: found the options `shapes` and `shape` = sphere, expected one of them",
        ),
    ] {
        assert_eq!(chain(&open_spec(spec).unwrap_err()), expected);
    }
}

/// One shape alone has the pictures that it has among all four.
#[test]
fn a_single_shape_is_the_one_of_its_name() {
    let all = open_spec("scenes(hues=2, scales=2, orientations=3, size=32)").unwrap();
    let spheres = open_spec("scenes(hues=2, scales=2, orientations=3, size=32, shape=sphere)").unwrap();
    let among = all.index_of(&[1, 0, 1, 1, 2, 2]).unwrap();
    let alone = spheres.index_of(&[1, 0, 1, 1, 2]).unwrap();
    assert_eq!(image(all.as_ref(), among), image(spheres.as_ref(), alone));
}

/// Every size shows the same scene: the mean of four pixels is the pixel of half the size. Five maps, rounded
/// to a 255th each, err by 2.5 of them at most at either size; only outlines, where rays fall otherwise,
/// differ by more. The object's is shorter than four sides of the image, the edges of the room than three,
/// and an outline crosses at most two pixels of a row: 14 sides are less than a quarter of 64 x 64 pixels,
/// and less than half of 32 x 32.
#[test]
fn all_sizes_show_the_same_scene() {
    let [small, medium, large] = [32, 64, 128].map(|size| {
        let data =
            open_spec(&format!("scenes(hues=3, scales=2, shape=cube, orientations=3, size={size})")).unwrap();
        assert_eq!(data.shape(), ImageShape::new(size, size, 3));
        let index = data.index_of(&[0, 1, 2, 1, 0]).unwrap();
        image(data.as_ref(), index)
    });
    for (coarse, fine, side) in [(&small, &medium, 32), (&medium, &large, 64)] {
        let agrees = |place: usize| {
            let (row, column, channel) = (place / 3 / side, place / 3 % side, place % 3);
            let value = |down: usize, right: usize| {
                fine[((2 * row + down) * 2 * side + 2 * column + right) * 3 + channel]
            };
            let mean = (value(0, 0) + value(0, 1) + value(1, 0) + value(1, 1)) / 4.0;
            (mean - coarse[place]).abs() <= 5.0 / 255.0
        };
        let agreeing = (0..coarse.len()).filter(|&place| agrees(place)).count();
        let least = if side == 64 { 0.75 } else { 0.5 };
        assert!(agreeing as f64 > least * coarse.len() as f64, "{agreeing} of {} at {side}", coarse.len());
    }
}
