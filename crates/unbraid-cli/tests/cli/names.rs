//! Names of units: given, shown, and used in place of numbers.

use crate::support::Bench;
use std::fs;

fn named() -> Bench {
    let bench = Bench::new();
    let latents = "model.latents={ continuous = 3, categorical = [4] }";
    bench.train("run", &["--set", latents, "--set", "training.steps=4"]).assert().success();
    image::RgbImage::new(70, 80).save(bench.path("a.png")).unwrap();
    assert_eq!(bench.expect_output(&["name", "run"]), "");
    let printed = bench.expect_output(&["name", "run", "2=azimuth", "category.0=the shape"]);
    assert_eq!(printed, "2=azimuth\ncategory.0=the shape\n");
    bench
}

#[test]
fn names_stand_for_units() {
    let bench = named();
    let same = |first: &[&str], second: &[&str], output: &str| {
        let file = |name: &str| fs::read(bench.path(&format!("{name}{output}"))).unwrap();
        for (arguments, name) in [(first, "number"), (second, "name")] {
            let path = format!("{name}{output}");
            bench.succeed(&[arguments, &["--quiet", "-o", &path]].concat(), &[]);
        }
        assert!(file("number") == file("name"), "{first:?}");
        fs::remove_file(bench.path(&format!("number{output}"))).unwrap();
        fs::remove_file(bench.path(&format!("name{output}"))).unwrap();
    };
    let edit = |set: [&'static str; 2]| ["edit", "run", "--image", "a.png", "--set", set[0], "--set", set[1]];
    same(&edit(["2=1.5", "category.0=3"]), &edit(["azimuth=1.5", "the shape=3"]), ".png");
    same(&["traverse", "run", "--unit", "2"], &["traverse", "run", "--unit", "azimuth"], ".png");
    let each = |unit: &'static str| ["traverse", "run", "--unit", "0", "--each-class", unit];
    same(&each("0"), &each("the shape"), ".png");
    same(&["infer", "run", "--unit", "2"], &["infer", "run", "--unit", "azimuth"], ".png");
    let sample = |class: &'static str| ["sample", "run", "-n", "4", "--category", class];
    same(&sample("0=2"), &sample("the shape=2"), ".npz");

    // A table has names, and is read with numbers as well.
    let table = bench.expect_output(&["encode", "run", "--quiet"]);
    let header =
        "image,mean_0,mean_1,mean_azimuth,deviation_0,deviation_1,deviation_azimuth,category_the shape,";
    assert!(table.starts_with(header), "{}", table.lines().next().unwrap());
    fs::write(bench.path("named.csv"), &table).unwrap();
    let numbers = table.replacen("mean_azimuth", "mean_2", 1).replacen("category_the shape", "category_0", 1);
    fs::write(bench.path("numbers.csv"), numbers).unwrap();
    same(&["decode", "run", "numbers.csv"], &["decode", "run", "named.csv"], ".npz");
}

#[test]
fn names_are_shown_in_the_page_and_its_figures() {
    let bench = named();
    bench.succeed(&["report", "run", "--quiet"], &[]);
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(page.contains("\"name\":\"azimuth\"") && page.contains("azimuth (2)"), "sliders and figures");
    assert!(page.contains("the shape (category.0)") && !page.contains(">unit 2<"));
    for figure in ["aggregate-posterior.svg", "training.svg"] {
        let text = fs::read_to_string(bench.path("run/figures").join(figure)).unwrap();
        assert!(text.contains("azimuth"), "{figure}");
    }
    bench.succeed(&["report", "run", "--quiet", "--model-limit", "0"], &[]);
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(page.contains("not part of this page") && !page.contains("id=\"live\""));
    // Two units exchange their names, and one loses it.
    assert_eq!(bench.expect_output(&["name", "run", "2=x", "1=azimuth", "category.0="]), "1=azimuth\n2=x\n");
}

#[test]
fn wrong_names_are_refused_and_nothing_changes() {
    let bench = named();
    let before = fs::read_to_string(bench.path("run/units.toml")).unwrap();
    let form = "1 to 40 characters, among them a letter, without = or line breaks, that are not the number of a unit";
    let help = "\n\nFor more information, try '--help'.";
    for (arguments, message) in [
        (&["name", "run", "0=7"][..], format!("name: found `7`, expected {form}")),
        (
            &["name", "run", "0=azimuth"],
            "name: found `azimuth`, the name of unit 2, expected a name of its own".to_owned(),
        ),
        (&["name", "run", "9=x"], "unit 9: no such unit; run has 3 continuous units, 0 to 2".to_owned()),
        (&["name", "run", "0=x", "0=y"], "name: found two for unit 0, expected one".to_owned()),
        (&["name", "run", "2=x", "azimuth=y"], "name: found two for azimuth (2), expected one".to_owned()),
        (
            &["name", "run", "x"],
            format!("invalid value 'x' for '[UNIT=NAME]...': found `x`, expected UNIT=NAME, as in 3=azimuth{help}"),
        ),
        (
            &["infer", "run", "--unit", "azimut", "-o", "o.png"],
            "unit `azimut`: no such unit; expected its number, as in 3, or category.0 for a categorical unit, or its name; \
             those of run are azimuth, the shape"
                .to_owned(),
        ),
        (
            &["edit", "run", "--image", "a.png", "--set", "azimuth=x", "-o", "o.png"],
            "assignment: found the value `x` for azimuth (2), expected a number".to_owned(),
        ),
        (
            &["traverse", "run", "--each-class", "azimuth", "--unit", "0", "-o", "o.png"],
            "unit: found azimuth (2), expected a categorical unit".to_owned(),
        ),
        (
            &["report", "run", "--model-limit", "-1"],
            format!("invalid value '-1' for '--model-limit <MB>': found `-1`, expected a number of megabytes, 0 or more{help}"),
        ),
    ] {
        bench.refuse(arguments, &format!("error: {message}"));
    }
    assert_eq!(fs::read_to_string(bench.path("run/units.toml")).unwrap(), before);
    fs::write(bench.path("run/units.toml"), "[continuous]\n3 = \"x\"\n").unwrap();
    bench.refuse(
        &["sample", "run", "-o", "o.png"],
        "error: run/units.toml: continuous.3: found unit `3`, expected one of the 3 continuous units",
    );
}
