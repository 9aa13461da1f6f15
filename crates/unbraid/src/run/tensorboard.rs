//! Scalars in the event files that TensorBoard reads: protocol buffers in checksummed records.
//!
//! Only what scalars need is written: `Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary
//! summary = 5; }`, `Summary { repeated Value value = 1; }`, `Value { string tag = 1; float simple_value = 2; }`.

use super::clock;
use super::crc32c::masked;
use crate::train::Row;

/// A fixed name; host and time are in `meta.json`.
pub(super) const FILE: &str = "events.out.tfevents.0.unbraid";

/// The first record of a file.
pub(super) fn opening() -> Vec<u8> {
    let mut event = Vec::new();
    double(&mut event, 1, clock::now());
    bytes(&mut event, 3, b"brain.Event:2");
    record(&event)
}

/// One row of metrics. Its length does not depend on the time, so that a resumed run writes a file of the same length.
pub(super) fn scalars(row: &Row) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in &row.values {
        let mut entry = Vec::new();
        bytes(&mut entry, 1, tag.as_bytes());
        float(&mut entry, 2, *value as f32);
        bytes(&mut summary, 1, &entry);
    }
    let mut event = Vec::new();
    double(&mut event, 1, clock::now());
    integer(&mut event, 2, row.step);
    bytes(&mut event, 5, &summary);
    record(&event)
}

/// Length, its checksum, the data, its checksum.
fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(data.len() + 16);
    record.extend(length);
    record.extend(masked(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked(data).to_le_bytes());
    record
}

/// Seven bits per byte, the lowest first.
fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

fn integer(into: &mut Vec<u8>, field: u8, value: u64) {
    into.push(field << 3);
    varint(into, value);
}

fn double(into: &mut Vec<u8>, field: u8, value: f64) {
    into.push(field << 3 | 1);
    into.extend(value.to_le_bytes());
}

fn bytes(into: &mut Vec<u8>, field: u8, value: &[u8]) {
    into.push(field << 3 | 2);
    varint(into, value.len() as u64);
    into.extend(value);
}

fn float(into: &mut Vec<u8>, field: u8, value: f32) {
    into.push(field << 3 | 5);
    into.extend(value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the `RecordWriter` of TensorBoard 2.21 writes for the record `abc`.
    #[test]
    fn a_record_is_framed_as_tensorboard_frames_it() {
        let by_tensorboard =
            [0x03, 0, 0, 0, 0, 0, 0, 0, 0xb0, 0x99, 0x49, 0x0e, b'a', b'b', b'c', 0x6e, 0x57, 0xf1, 0x21];
        assert_eq!(record(b"abc"), by_tensorboard);
    }

    /// Encoded by hand: tag 1 `k`, tag 2 the float 1.0; step 300 is the varint ac 02.
    #[test]
    fn a_row_is_one_event() {
        let row = Row { step: 300, steps: 1, values: vec![("k".to_owned(), 1.0)] };
        let written = scalars(&row);
        let event = &written[12..written.len() - 4];
        assert_eq!(event[0], 0x09);
        assert_eq!(event[9..], [0x10, 0xac, 0x02, 0x2a, 10, 0x0a, 8, 0x0a, 1, b'k', 0x15, 0, 0, 0x80, 0x3f]);
    }
}
