//! The configuration of prebuilt binaries agrees with the rest of the repository.

use std::fs;
use std::path::Path;
use toml::Value;

fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    Value::Table(fs::read_to_string(path).unwrap().parse().unwrap())
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn binaries_are_made_from_this_workspace() {
    let dist = read("dist-workspace.toml");
    assert_eq!(words(&dist["workspace"]["members"]), ["cargo:."]);
    // cargo-dist compiles with the profile of its name.
    let profile = &read("Cargo.toml")["profile"]["dist"];
    assert_eq!(profile["inherits"].as_str(), Some("release"));
    assert_eq!(profile["strip"].as_bool(), Some(true));
    let artifacts = dist["dist"]["extra-artifacts"].as_array().unwrap();
    let [bill] = artifacts.as_slice() else { panic!("{artifacts:?}") };
    let [file] = words(&bill["artifacts"])[..] else { panic!("{bill}") };
    assert_eq!(words(&bill["build"]), ["cargo", "xtask", "sbom", file]);
    // Nothing else is built: a package with a binary that is not for publishing says so.
    let tasks = read("xtask/Cargo.toml");
    assert_eq!(tasks["package"]["publish"].as_bool(), Some(false));
    let command = read("crates/unbraid-cli/Cargo.toml");
    assert_eq!(command["package"].get("publish"), None);
    // `cargo xtask sbom` lists what these features bring; a test of xtask has the same list.
    assert_eq!(words(&command["package"]["metadata"]["dist"]["features"]), ["onnx"]);
}
