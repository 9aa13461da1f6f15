//! `unbraid infer`: images in the order of a unit.

use crate::support::Bench;
use image::GenericImageView;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid::inference::input;

/// Where the first image of a gallery without labels stands, and how far the next one is.
const LEFT: u32 = 16;
const TOP: u32 = 16 + 36 + 20;
const CELL: u32 = 64 + 4;

#[test]
fn images_are_ordered_by_the_mean_of_the_unit() {
    let bench = Bench::new();
    bench.train("run", &["--set", "objective.beta=0.1", "--set", "training.steps=100"]).assert().success();
    // 48 images, fewer than are asked for.
    let data = "shapes(scales=1, orientations=1, positions=4)";
    let infer = ["infer", "run", "--quiet", "--data", data, "--unit", "1", "-n", "100", "-o", "unit.png"];
    bench.succeed(&infer, &[]);
    let run = Run::open(bench.path("run")).unwrap();
    let data = input::open(&run, &data.parse().unwrap(), &Silent).unwrap();
    let images = input::read(data.as_ref(), &(0..48).collect::<Vec<_>>()).unwrap();
    let means = run.encode(&images).unwrap().mean.column(1).to_vec();
    let mut order: Vec<usize> = (0..48).collect();
    order.sort_by(|&left, &right| means[left].total_cmp(&means[right]));
    let picture = image::open(bench.path("unit.png")).unwrap();
    for (column, &image) in order.iter().enumerate() {
        let ((y, x), left) = ((31, 17), LEFT + column as u32 * CELL);
        for (y, x) in [(y, x), (x, y), (32, 32), (50, 40)] {
            let expected = (images[[image, y, x, 0]] * 255.0).round() as u8;
            assert_eq!(picture.get_pixel(left + x as u32, TOP + y as u32).0[0], expected, "column {column}");
        }
    }
}

#[test]
fn only_runs_with_a_training_split_have_images_that_they_have_not_seen() {
    let bench = Bench::new();
    bench.train("split", &["--set", "data.split=train"]).assert().success();
    bench.succeed(&["infer", "split", "--quiet", "--test-split", "--unit", "0", "-o", "unseen.png"], &[]);
    // A fifth of 192 images is not trained on.
    bench.succeed(&["encode", "split", "--quiet", "--test-split", "-o", "codes.csv"], &[]);
    let rows = std::fs::read_to_string(bench.path("codes.csv")).unwrap().lines().count() - 1;
    let run = Run::open(bench.path("split")).unwrap();
    assert_eq!(rows + run.open_data(&Silent).unwrap().data.len(), 192);
    bench.train("whole", &[]).assert().success();
    for (arguments, message) in [
        (
            &["infer", "whole", "--test-split", "--unit", "0", "-o", "wrong.png"][..],
            "--test-split: whole: found a run that was not trained on the training split of its data, expected one with \
             data.split=train",
        ),
        (
            &["infer", "whole", "--unit", "9", "-o", "wrong.png"],
            "unit 9: no such unit; whole has 3 continuous units, 0 to 2",
        ),
    ] {
        bench.refuse(arguments, &format!("error: {message}"));
    }
}
