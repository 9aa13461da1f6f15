//! The bytes of a pickle, read one operation or operand at a time.

use super::damaged;
use crate::import::refusal::Refusal;

/// The longest pickle: that of a state dict has some hundred bytes for each tensor.
const LONGEST: usize = 8 << 20;

/// The bytes of a pickle, and how far they have been read.
pub(super) struct Code<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Code<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: &bytes[..bytes.len().min(LONGEST)], place: 0 }
    }

    /// How many bytes have been read.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let end = self.place.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.ends())?;
        let start = std::mem::replace(&mut self.place, end);
        Ok(&self.bytes[start..end])
    }

    /// The error of a pickle that goes on after the end of what may be read.
    fn ends(&self) -> Refusal {
        if self.bytes.len() < LONGEST {
            return Refusal::new("a file that ends within its pickle", "a whole file");
        }
        Refusal::new(
            format!("a pickle of more than {} MiB", LONGEST >> 20),
            "that of a state dict, with some hundred bytes for each tensor",
        )
    }

    pub(super) fn byte(&mut self) -> Result<u8, Refusal> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        self.take(N)?.try_into().map_err(|_| damaged())
    }

    /// A length of `N` bytes. One that does not fit into memory cannot be within the file either.
    pub(super) fn length<const N: usize>(&mut self) -> Result<usize, Refusal> {
        let mut word = [0; 8];
        word[..N].copy_from_slice(self.take(N)?);
        usize::try_from(u64::from_le_bytes(word)).map_err(|_| damaged())
    }

    pub(super) fn line(&mut self) -> Result<&'a str, Refusal> {
        let rest = &self.bytes[self.place..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.ends())?;
        self.place += length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| damaged())
    }
}
