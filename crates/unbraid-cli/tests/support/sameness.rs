//! What two studies have to have in common: every byte that is not a matter of time.

use super::study::Bench;
use crate::support::metrics;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Fails unless all runs of two studies ended with the same bytes, and nobody is at work on them.
///
/// These things are a matter of time, or of how often a run was interrupted, and left out; nothing else is:
/// * `metrics.jsonl`: `images_per_second`
/// * `meta.json`: `started`, `resumed`, `finished`
/// * `status.json`: `heartbeat`, `pid`
/// * `scores.json`: `encoding_seconds`, and the `seconds` of each score
/// * the events for TensorBoard: the time of each, and so its checksum
/// * `run.log`, the diary of interruptions
pub(crate) fn assert_same_studies(left: &Bench, right: &Bench) {
    assert_eq!(left.manifest, right.manifest);
    for number in 0..left.manifest.entries.len() {
        let (ours, theirs) = (timeless(&left.run(number)), timeless(&right.run(number)));
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&theirs), "run {number}");
        for (name, bytes) in &ours {
            assert!(*bytes == theirs[name], "run {number}: {name} differs");
        }
    }
    for bench in [left, right] {
        assert_eq!(bench.leases(), [""; 0]);
    }
}

/// All files of a run by their paths, without what is a matter of time.
fn timeless(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![run.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(run).unwrap().to_str().unwrap().to_owned();
            let bytes = fs::read(&path).unwrap();
            let bytes = match name.as_str() {
                "metrics.jsonl" => metrics(run).join("\n").into_bytes(),
                "meta.json" => without(&bytes, |value| remove(value, &["started", "resumed", "finished"])),
                "status.json" => without(&bytes, |value| remove(value, &["heartbeat", "pid"])),
                "scores.json" => without(&bytes, |value| {
                    remove(&mut value["evaluation"], &["encoding_seconds"]);
                    let scores = value["scores"].as_object_mut().unwrap();
                    scores.values_mut().for_each(|score| remove(score, &["seconds"]));
                }),
                "run.log" => Vec::new(),
                name if name.starts_with("tensorboard/") => events_without_times(&bytes),
                _ => bytes,
            };
            files.insert(name, bytes);
        }
    }
    files
}

fn without(bytes: &[u8], change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(bytes).unwrap();
    change(&mut value);
    serde_json::to_vec(&value).unwrap()
}

fn remove(value: &mut Value, keys: &[&str]) {
    let object = value.as_object_mut().unwrap();
    keys.iter().for_each(|key| drop(object.remove(*key).unwrap_or_else(|| panic!("there is no `{key}`"))));
}

/// A record is its length in eight bytes, a checksum of four, the event, a checksum of four; an event begins
/// with the tag of its time, 0x09, and the time in eight bytes.
fn events_without_times(mut bytes: &[u8]) -> Vec<u8> {
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let event = &bytes[12..12 + length];
        assert_eq!(event[0], 0x09);
        events.extend(&event[9..]);
        bytes = &bytes[16 + length..];
    }
    events
}
