//! `unbraid traverse` from images of data sets, corrupted ones, several starts and classes.

use crate::support::Bench;
use image::GenericImageView;
use unbraid::Run;
use unbraid::data::progress::Silent;
use unbraid::model::Unit;

/// Height of a row of 64 pixels with the gap below its images and the one below the row.
const ROW: u32 = 64 + 4 + 4;

fn height(bench: &Bench, file: &str) -> u32 {
    image::open(bench.path(file)).unwrap().dimensions().1
}

#[test]
fn the_input_stands_above_the_rows_and_starts_have_rows_of_their_own() {
    let bench = Bench::new();
    bench.train("run", &[]).assert().success();
    let draw = |arguments: &[&str], file: &str| {
        let all = [&["traverse", "run", "--quiet", "-o", file][..], arguments].concat();
        bench.succeed(&all, &[]);
        height(&bench, file)
    };
    let plain = draw(&[], "plain.png");
    // One row for the image, one more for what became of it, and three units.
    assert_eq!(draw(&["--index", "5"], "index.png"), plain + ROW);
    assert_eq!(draw(&["--index", "5", "--corrupt", "invert"], "inverted.png"), plain + 2 * ROW);
    assert_eq!(draw(&["--by-kl"], "kl.png"), plain);
    assert_eq!(draw(&["--starts", "5", "--unit", "1"], "starts.png"), plain + 2 * ROW);
    // The triangle is the fourth shape of the same images, which the run has never seen.
    let triangle = "shapes(triangle=true)";
    let seen = ["--data", triangle, "--factors", "3,5,0,16,16"];
    assert_eq!(draw(&seen, "triangle.png"), plain + ROW);
    let factors = "shape 0 to 2, scale 0 to 1, orientation 0 to 1, x 0 to 3, y 0 to 3";
    for (arguments, message) in [
        (&["--index", "192"][..], "--index: found 192, expected less than 192"),
        (&["--factors", "0,0"], &format!("--factors: found 0,0, expected an image with {factors}")),
        (
            &["--factors", "3,0,0,0,0"],
            &format!("--factors: found 3,0,0,0,0, expected an image with {factors}"),
        ),
        (&["--starts", "2"], "--starts: found 0 of --unit, expected one"),
        (
            &["--each-class", "0", "--unit", "0"],
            "unit category.0: no such unit; run has no categorical units",
        ),
        (
            &["--corrupt", "invert"],
            "--corrupt: found no image to corrupt, expected --image, --index or --factors",
        ),
        (
            &["--starts", "2", "--image", "a.png"],
            "the argument '--starts <N>' cannot be used with '--image <FILE>'\n\n\
             Usage: unbraid traverse --output <FILE> --quiet --starts <N> <RUN>\n\n\
             For more information, try '--help'.",
        ),
    ] {
        let all = [&["traverse", "run", "--quiet", "-o", "wrong.png"][..], arguments].concat();
        bench.refuse(&all, &format!("error: {message}"));
    }
}

#[test]
fn a_row_for_each_class() {
    let bench = Bench::new();
    let joint = ["--set", "model.latents={ continuous = 2, categorical = [3] }"];
    bench.train("joint", &joint).assert().success();
    bench.succeed(&["traverse", "joint", "--quiet", "--unit", "0", "-o", "one.png"], &[]);
    let each = ["traverse", "joint", "--quiet", "--unit", "0", "--each-class", "0", "-o", "three.png"];
    bench.succeed(&each, &[]);
    assert_eq!(height(&bench, "three.png"), height(&bench, "one.png") + 2 * ROW);
}

/// KL(N(mu, s^2) || N(0, 1)) = (mu^2 + s^2 - ln s^2 - 1) / 2, mean over all 192 images; 20,000 draws of these
/// come within 3 %.
#[test]
fn units_are_ordered_by_their_divergence() {
    let bench = Bench::new();
    bench.train("run", &["--set", "objective.beta=0.1", "--set", "training.steps=200"]).assert().success();
    let run = Run::open(bench.path("run")).unwrap();
    let data = run.open_data(&Silent).unwrap().data;
    let found = run.unit_activity(data.as_ref(), 20_000, &Silent).unwrap();
    let all: Vec<usize> = (0..data.len()).collect();
    let images = unbraid::inference::input::read(data.as_ref(), &all).unwrap();
    let posteriors = run.encode(&images).unwrap();
    assert!(found.windows(2).all(|pair| pair[0].divergence >= pair[1].divergence), "{found:?}");
    for unit in &found {
        let Unit::Continuous(place) = unit.unit else { panic!("no categorical units") };
        let pairs = posteriors.mean.column(place).into_iter().zip(posteriors.log_variance.column(place));
        let divergence = |(&mean, &log): (&f32, &f32)| {
            let (mean, log) = (f64::from(mean), f64::from(log));
            0.5 * (mean * mean + log.exp() - log - 1.0)
        };
        let expected = pairs.map(divergence).sum::<f64>() / 192.0;
        let means: Vec<f64> = posteriors.mean.column(place).iter().map(|&mean| f64::from(mean)).collect();
        let mean = means.iter().sum::<f64>() / 192.0;
        let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 192.0;
        assert_eq!(unit.is_active, variance > 0.01, "{unit:?} {variance}");
        assert!((unit.divergence - expected).abs() < 0.03 * expected + 1e-3, "{unit:?} {expected}");
    }
}

#[test]
fn priors_are_shown_without_a_run() {
    let bench = Bench::new();
    let sparse = "name=\"sparse\", gamma=0.8";
    let show = ["prior", "show", "--prior", "standard-normal", "--prior", sparse, "-o", "two.png"];
    bench.succeed(&show, &["wrote two.png"]);
    assert!(bench.path("two.png").is_file());
    for (arguments, message) in [
        (
            &["--prior", "cauchy"][..],
            "configuration: model.prior.name: unknown value `cauchy`\n\
             hint: expected one of standard-normal, anisotropic, student-t, mixture, sparse",
        ),
        (
            &["--preset", "mathieu/anisotropic"],
            "mathieu/anisotropic: its variances are those of data, expected a prior that needs none; the report of a run \
             draws it",
        ),
        (&["--prior", "standard-normal", "--reach", "0"], "--reach: found 0, expected a number above 0"),
        (&[], "expected --prior or --preset"),
    ] {
        let all = [&["prior", "show", "-o", "wrong.png"][..], arguments].concat();
        bench.refuse(&all, &format!("error: {message}"));
    }
}
