//! The command on both devices.

use crate::agreement::{largest, name};
use crate::support::{Bench, metrics};
use std::fs;
use std::path::Path;

fn numbers(line: &str) -> serde_json::Map<String, serde_json::Value> {
    let line = if line.ends_with('}') { line.to_owned() } else { format!("{line}}}") };
    serde_json::from_str(&line).unwrap()
}

/// The largest difference of the losses of two runs, as a share of the loss.
fn apart(found: &Path, expected: &Path) -> f64 {
    let (found, expected) = (metrics(found), metrics(expected));
    assert_eq!(found.len(), expected.len());
    let loss = |line: &String| numbers(line)["train/loss"].as_f64().unwrap();
    largest(found.iter().zip(&expected).map(|(found, expected)| (loss(found) / loss(expected) - 1.0).abs()))
}

#[test]
fn devices_are_listed_by_name_and_wrong_numbers_refused() {
    let bench = Bench::new();
    let devices = bench.expect_output(&["devices"]);
    let line = devices.lines().find(|line| line.starts_with("wgpu")).unwrap();
    assert!(line.len() > "wgpu     ".len() && !line.contains("not in this build"), "{devices}");
    let version = bench.expect_output(&["--version", "--verbose"]);
    assert!(version.contains("wgpu") && version.contains(line), "{version}");

    let expected = match devices.lines().filter(|line| line.starts_with("wgpu")).count() {
        1 => "`wgpu:0`, the only device of this machine for wgpu".to_owned(),
        count => format!("`wgpu:0` to `wgpu:{}`, the devices of this machine", count - 1),
    };
    bench.refuse(
        &["train", "--config", "tiny.toml", "--device", "wgpu:99", "--out", "none"],
        &format!("error: --device: found `wgpu:99`, expected {expected}"),
    );
    bench.refuse(
        &["train", "--config", "tiny.toml", "--device", "cuda", "--out", "none"],
        "error: --device: found `cuda`, expected `cpu`, since this build lacks `--features cuda`",
    );
    assert!(!bench.path("none").exists());
}

/// Runs of two parts, begun and ended on each device. All agree with the run on the CPU alone as far as two
/// devices can, and every command works on what another device has written.
#[test]
fn runs_move_between_devices() {
    let bench = Bench::new();
    let gpu = name();
    // The row in progress at step 40 is completed by the second part.
    let train = |out: &str, device: &str| {
        bench.train(out, &["--device", device, "--steps", "40"]).assert().success();
    };
    let extend = |out: &str, device: &str| {
        bench.succeed(&["train", "--extend", "60", "--out", out, "--device", device, "--quiet"], &[]);
    };
    train("cpu", "cpu");
    extend("cpu", "cpu");
    for (out, first, second) in
        [("gpu", gpu.as_str(), gpu.as_str()), ("from-gpu", &gpu, "cpu"), ("to-gpu", "cpu", &gpu)]
    {
        train(out, first);
        extend(out, second);
        let apart = apart(&bench.path(out), &bench.path("cpu"));
        println!("{first}, then {second}: {apart:.1e}");
        // As in fifty steps of the library.
        assert!(apart < 1e-3, "{first}, then {second}: {apart}");
    }

    // Codes of the same weights on both devices.
    let codes = |device: &str, file: &str| -> Vec<f64> {
        bench.succeed(&["encode", "gpu", "--device", device, "--quiet", "-o", file], &[]);
        let text = fs::read_to_string(bench.path(file)).unwrap();
        text.lines()
            .skip(1)
            .flat_map(|line| line.split(',').filter_map(|cell| cell.parse().ok()).collect::<Vec<f64>>())
            .collect()
    };
    let (found, expected) = (codes(&gpu, "gpu.csv"), codes("cpu", "cpu.csv"));
    assert_eq!(found.len(), expected.len());
    let apart = largest(found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs()));
    println!("codes: {apart:.1e}");
    // One pass through the encoder: some ten roundings of numbers around one, each of 6e-8.
    assert!(apart < 1e-5, "{apart}");

    // Scores of codes that differ that little differ by no more than a point that crosses a border of a histogram.
    let scores = |device: &str| {
        let text = bench.expect_output(&[
            "evaluate",
            "gpu",
            "--device",
            device,
            "--quiet",
            "--format",
            "json",
            "--metrics",
            "mig,modularity",
        ]);
        numbers(text.trim())
    };
    let (found, expected) = (scores(&gpu), scores("cpu"));
    for key in ["mig", "modularity"] {
        let [found, expected] = [&found, &expected].map(|scores| scores[key].as_f64().unwrap());
        println!("{key}: {found} {expected}");
        assert!((found - expected).abs() < 5e-3, "{key}: {found} {expected}");
    }

    bench.succeed(&["report", "gpu", "--device", &gpu, "--quiet"], &[]);
    assert!(fs::read_to_string(bench.path("gpu/report.html")).unwrap().contains("</html>"));
    for device in [gpu.as_str(), "cpu"] {
        bench.succeed(
            &["traverse", "from-gpu", "--device", device, "--quiet", "-o", &format!("{device}.png")],
            &[],
        );
        let few = ["--images", "64", "--likelihood-images", "8", "--samples", "4"];
        bench.succeed(&[&["measure", "to-gpu", "--device", device, "--quiet"][..], &few].concat(), &[]);
    }
}
