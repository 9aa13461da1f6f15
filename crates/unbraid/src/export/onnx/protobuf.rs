//! The four ways in which ONNX files use protocol buffers: a message is a sequence of numbered fields, each a
//! variable-length integer, a float, or bytes with their length.

/// A message in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// The kinds of fields.
const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;
const FIXED_32: u64 = 5;

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number as u8) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.varint((field << 3) | kind);
    }

    /// Negative numbers take ten bytes, as two's complement of 64 bits.
    pub(super) fn integer(mut self, field: u64, number: i64) -> Self {
        self.key(field, VARINT);
        self.varint(number as u64);
        self
    }

    pub(super) fn float(mut self, field: u64, number: f32) -> Self {
        self.key(field, FIXED_32);
        self.bytes.extend(number.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.key(field, LENGTH_DELIMITED);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.bytes)
    }

    /// The same field once for each item.
    pub(super) fn each<T>(self, items: &[T], add: impl FnMut(Self, &T) -> Self) -> Self {
        items.iter().fold(self, add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation: 150 as field 1 is 08 96 01, "testing" as field 2 is 12
    /// 07 and the letters.
    #[test]
    fn fields_are_written_as_the_format_says() {
        assert_eq!(Message::new().integer(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let testing = Message::new().text(2, "testing").into_bytes();
        assert_eq!(testing, [&[0x12, 0x07][..], b"testing"].concat());
        let inner = Message::new().integer(1, 150);
        assert_eq!(Message::new().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = Message::new().integer(1, -2).into_bytes();
        assert_eq!(minus_two, [&[0x08, 0xfe][..], &[0xff; 8], &[0x01]].concat());
        assert_eq!(Message::new().float(2, 1.0).into_bytes(), [0x15, 0, 0, 0x80, 0x3f]);
        // Field 20 needs two bytes for its key: 20 << 3 = 160.
        assert_eq!(Message::new().integer(20, 1).into_bytes(), [0xa0, 0x01, 0x01]);
    }
}
