//! `cargo xtask sbom`: the bill of materials of the command, in CycloneDX's JSON. It is a function of
//! Cargo.lock and of the features that prebuilt binaries have, and so is made with each release from the
//! commit that is released.

use crate::cannot_start;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Writes it to `file`.
pub(crate) fn write(file: &str) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = root.join("crates/unbraid-cli/Cargo.toml");
    let text = std::fs::read_to_string(&manifest)
        .map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    let features = release_features(&text)?.join(",");
    let output = Command::new("cargo")
        .current_dir(&root)
        .args(["tree", "--locked", "--package", "unbraid-cli", "--edges", "normal,build", "--target", "all"])
        .args(["--features", &features, "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"])
        .output()
        .map_err(cannot_start)?;
    if !output.status.success() {
        return Err(format!("sbom: cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let bill = bill(&String::from_utf8_lossy(&output.stdout))?;
    std::fs::write(root.join(file), bill).map_err(|error| format!("cannot write {file}: {error}"))?;
    eprintln!("== bill of materials: {file}");
    Ok(())
}

/// The features that cargo-dist compiles with: the line `features = ["a", "b"]` of its table in the manifest.
fn release_features(manifest: &str) -> Result<Vec<&str>, String> {
    let table = manifest.lines().skip_while(|line| *line != "[package.metadata.dist]").skip(1);
    let mut keys = table.take_while(|line| !line.starts_with('['));
    let list = keys.find_map(|line| line.strip_prefix("features = [")?.strip_suffix(']'));
    let list =
        list.ok_or("sbom: found no line `features = [...]` in [package.metadata.dist] of unbraid-cli")?;
    Ok(list.split(',').map(|name| name.trim().trim_matches('"')).filter(|name| !name.is_empty()).collect())
}

/// From lines such as `serde v1.0.229|MIT OR Apache-2.0`, of which the first is the command itself; a package of this
/// repository has its path after the version, a procedural macro that word.
fn bill(tree: &str) -> Result<String, String> {
    let mut command = None;
    let mut components = BTreeSet::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let (package, licence) = line.split_once('|').ok_or_else(|| format!("sbom: found `{line}`"))?;
        let mut words = package.split(' ');
        let (Some(name), Some(version)) =
            (words.next(), words.next().and_then(|word| word.strip_prefix('v')))
        else {
            return Err(format!("sbom: found `{package}`, expected a name and a version"));
        };
        // Older manifests write a slash for OR.
        let component = (name, version, licence.replace('/', " OR "));
        command.get_or_insert_with(|| component.clone());
        components.insert(component);
    }
    let Some(command) = command else { return Err("sbom: found no packages".to_owned()) };
    components.remove(&command);
    let described = |kind: &str, (name, version, licence): &(&str, &str, String)| {
        format!(
            "{{\"type\": \"{kind}\", \"name\": \"{name}\", \"version\": \"{version}\", \"purl\": \
             \"pkg:cargo/{name}@{version}\", \"licenses\": [{{\"expression\": \"{licence}\"}}]}}"
        )
    };
    let mut text = format!(
        "{{\n\"bomFormat\": \"CycloneDX\",\n\"specVersion\": \"1.5\",\n\"version\": 1,\n\"metadata\": {{\"component\": \
         {}}},\n\"components\": [",
        described("application", &command)
    );
    for (place, component) in components.iter().enumerate() {
        let _ = write!(text, "{}\n{}", if place == 0 { "" } else { "," }, described("library", component));
    }
    text.push_str("\n]\n}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{bill, release_features};

    /// `release.rs` in the tests of unbraid-cli reads the same line with a parser of TOML.
    #[test]
    fn the_bill_has_the_features_of_the_release() {
        assert_eq!(release_features(include_str!("../../crates/unbraid-cli/Cargo.toml")).unwrap(), ["onnx"]);
        let manifest =
            "[package]\nfeatures = [\"x\"]\n[package.metadata.dist]\nfeatures = [\"a\", \"b\"]\n[features]\n";
        assert_eq!(release_features(manifest).unwrap(), ["a", "b"]);
        assert!(release_features("[package.metadata.dist]\n[features]\nfeatures = []\n").is_err());
    }

    #[test]
    fn every_package_is_listed_once() {
        let tree = "unbraid-cli v0.1.0 (/a/b)|MIT OR Apache-2.0\nserde v1.0.229|MIT/Apache-2.0\n\n\
                    clap_derive v4.6.0 (proc-macro)|MIT OR Apache-2.0\nserde v1.0.229|MIT/Apache-2.0\n";
        let licence = "\"licenses\": [{\"expression\": \"MIT OR Apache-2.0\"}]";
        let expected = format!(
            "{{\n\"bomFormat\": \"CycloneDX\",\n\"specVersion\": \"1.5\",\n\"version\": 1,\n\"metadata\": {{\"component\": \
             {{\"type\": \"application\", \"name\": \"unbraid-cli\", \"version\": \"0.1.0\", \"purl\": \
             \"pkg:cargo/unbraid-cli@0.1.0\", {licence}}}}},\n\"components\": [\n\
             {{\"type\": \"library\", \"name\": \"clap_derive\", \"version\": \"4.6.0\", \"purl\": \
             \"pkg:cargo/clap_derive@4.6.0\", {licence}}},\n\
             {{\"type\": \"library\", \"name\": \"serde\", \"version\": \"1.0.229\", \"purl\": \
             \"pkg:cargo/serde@1.0.229\", {licence}}}\n]\n}}\n"
        );
        assert_eq!(bill(tree).unwrap(), expected);
        assert_eq!(bill("").unwrap_err(), "sbom: found no packages");
    }
}
