//! Hashes of the blocks of a file that is too large to be read when it is opened: each block is checked when
//! it is first used.

use super::bytes::read_exact_at;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Small, so that an image costs little more than itself, and yet the hashes are half a thousandth of the file.
const BLOCK: usize = 1 << 16;
/// Bytes of a SHA-256.
const DIGEST: usize = 32;
/// Blocks that are checked when a file is opened, so that one of which much is damaged is noticed at once.
const SAMPLED: usize = 64;

/// Computes the hashes while a file is written.
#[derive(Default)]
pub(crate) struct BlockHasher {
    block: Sha256,
    filled: usize,
    table: Vec<u8>,
}

impl BlockHasher {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (block, rest) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.block.update(block);
            self.filled += block.len();
            if self.filled == BLOCK {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        self.table.extend_from_slice(&std::mem::take(&mut self.block).finalize());
        self.filled = 0;
    }

    /// What is written after the last byte: the hash of each block, and the hash of these.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.filled > 0 {
            self.end_block();
        }
        let hash = Sha256::digest(&self.table);
        self.table.extend_from_slice(&hash);
        self.table
    }
}

/// The hashes of a file, and which blocks have been compared with them.
pub(crate) struct BlockDigests {
    length: u64,
    table: Vec<u8>,
    checked: Vec<AtomicBool>,
}

impl BlockDigests {
    /// How many bytes the hashes of so many bytes take.
    pub(crate) fn size(length: u64) -> u64 {
        length.div_ceil(BLOCK as u64).saturating_add(1).saturating_mul(DIGEST as u64)
    }

    /// Reads the hashes after the first `length` bytes of a file; `None` if they are damaged, or some of the
    /// blocks are.
    ///
    /// # Errors
    /// If the file cannot be read, or ends before the hashes do.
    pub(super) fn read(file: &File, length: u64) -> io::Result<Option<Self>> {
        let size = Self::size(length);
        if file.metadata()?.len() < length.saturating_add(size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let size = usize::try_from(size).map_err(io::Error::other)?;
        let mut table = vec![0; size];
        read_exact_at(file, &mut table, length)?;
        let hash = table.split_off(size - DIGEST);
        if Sha256::digest(&table).as_slice() != hash {
            return Ok(None);
        }
        let count = table.len() / DIGEST;
        let digests = Self { length, table, checked: (0..count).map(|_| AtomicBool::new(false)).collect() };
        for block in (0..count).step_by(count.div_ceil(SAMPLED).max(1)).chain(count.checked_sub(1)) {
            if !digests.check_block(file, block)? {
                return Ok(None);
            }
        }
        Ok(Some(digests))
    }

    /// Whether the blocks with these bytes are those that were written. Each is read once.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn check(&self, file: &File, start: u64, length: usize) -> io::Result<bool> {
        let block = |place: u64| (place / BLOCK as u64) as usize;
        let last = start.saturating_add(length as u64).saturating_sub(1).max(start);
        for block in block(start)..=block(last) {
            if !self.check_block(file, block)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn check_block(&self, file: &File, block: usize) -> io::Result<bool> {
        let Some(checked) = self.checked.get(block) else { return Ok(false) };
        // Two threads that come at the same time both read it.
        if checked.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let start = (block * BLOCK) as u64;
        let mut bytes = vec![0; (self.length - start).min(BLOCK as u64) as usize];
        read_exact_at(file, &mut bytes, start)?;
        let is_same = Sha256::digest(&bytes).as_slice() == &self.table[block * DIGEST..][..DIGEST];
        checked.store(is_same, Ordering::Relaxed);
        Ok(is_same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(parts: &[&[u8]]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        for part in parts {
            file.write_all(part).unwrap();
        }
        file
    }

    fn hashes(pieces: &[&[u8]]) -> Vec<u8> {
        let mut hasher = BlockHasher::default();
        for piece in pieces {
            hasher.update(piece);
        }
        hasher.finish()
    }

    /// Each block has its own hash, however the bytes arrive. That of "abc" is in FIPS 180-2.
    #[test]
    fn hashes_are_those_of_the_blocks() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let found = hashes(&[b"a", b"", b"bc"]);
        assert_eq!(crate::fingerprint::hex(&found[..DIGEST]), abc);
        assert_eq!(&found[DIGEST..], Sha256::digest(&found[..DIGEST]).as_slice());
        let bytes: Vec<u8> = (0..2 * BLOCK + 5).map(|place| (place % 251) as u8).collect();
        let whole = hashes(&[&bytes]);
        assert_eq!(whole.len() as u64, BlockDigests::size(bytes.len() as u64));
        assert_eq!(hashes(&[&bytes[..7], &bytes[7..BLOCK + 1], &bytes[BLOCK + 1..]]), whole);
        assert_eq!(&whole[DIGEST..2 * DIGEST], Sha256::digest(&bytes[BLOCK..2 * BLOCK]).as_slice());
        assert_eq!(&whole[2 * DIGEST..3 * DIGEST], Sha256::digest(&bytes[2 * BLOCK..]).as_slice());
    }

    /// A file of 200 blocks, every fourth of which is checked at once: a change in another one is found when
    /// it is used, and in no other block.
    #[test]
    fn a_changed_block_is_found_when_it_is_used() {
        let mut bytes = vec![1; 200 * BLOCK];
        let hashes = hashes(&[&bytes]);
        let length = bytes.len() as u64;
        bytes[5 * BLOCK + 3] = 2;
        let damaged = file(&[&bytes, &hashes]);
        let digests = BlockDigests::read(&damaged, length).unwrap().unwrap();
        let at = |block: usize, before: u64| (block * BLOCK) as u64 - before;
        assert!(digests.check(&damaged, at(4, 0), BLOCK).unwrap());
        assert!(!digests.check(&damaged, at(5, 0), 1).unwrap());
        assert!(!digests.check(&damaged, at(5, 10), 20).unwrap(), "an image in two blocks");
        assert!(digests.check(&damaged, at(6, 0), BLOCK).unwrap());
        assert!(digests.check(&damaged, at(200, 1), 1).unwrap());
        bytes[5 * BLOCK + 3] = 1;
        bytes[8 * BLOCK] = 2;
        assert!(BlockDigests::read(&file(&[&bytes, &hashes]), length).unwrap().is_none());
        bytes[8 * BLOCK] = 1;
        let mut others = hashes.clone();
        others[40] ^= 1;
        assert!(BlockDigests::read(&file(&[&bytes, &others]), length).unwrap().is_none());
        assert!(BlockDigests::read(&file(&[&bytes, &hashes[1..]]), length).is_err());
    }
}
