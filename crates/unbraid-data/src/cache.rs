//! The cache of decoded images, which makes the second start on a folder of photographs fast.
//!
//! A cache file is named by a hash of the files it was made from, so it is never stale, and ends with the SHA-256 of
//! its pixels, or, where they are read from it on demand, with those of its blocks. It is written under a
//! temporary name and renamed when complete. When the cache would become larger than its limit, the least
//! recently used files are removed. If a file cannot be written, the images stay in memory and
//! [`Progress::note`] reports it; only images that are too large for memory need the cache.

use crate::error::{DataError, Result};
use crate::files::{create_temporary, is_temporary, sync_directory};
use crate::memory::{self, Bytes};
use crate::progress::Progress;
use crate::storage::{BlockDigests, BlockHasher, ByteImages};
use sha2::{Digest, Sha256};
use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// Larger data sets stay on disk, where the operating system caches as much of them as fits in memory: those
/// of more than 2 GiB, or than half of the limit on memory where that is less.
pub(crate) fn largest_in_memory() -> u64 {
    largest_below(memory::limit())
}

fn largest_below(limit: u64) -> u64 {
    (limit / 2).min(2 << 30)
}

/// Which images are written to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All: decoding them is slow.
    All,
    /// Only those too large for memory: decoding is fast.
    Large,
}

/// Receives decoded bytes, in order, in pieces of any size.
pub(crate) type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// Loads `len` images from the cache, or decodes them. Up to [`largest_in_memory`] bytes are held in memory;
/// larger data sets are written to the cache and read from there on demand.
///
/// # Errors
/// If decoding fails or yields the wrong number of bytes, or if images too large for memory cannot be written.
pub(crate) fn load_or_decode(
    key: &str,
    values_per_image: usize,
    len: usize,
    keep: Keep,
    progress: &dyn Progress,
    decode: impl FnOnce(&mut Sink<'_>) -> Result<()>,
) -> Result<ByteImages> {
    let total = (values_per_image as u64).checked_mul(len as u64).ok_or_else(|| {
        let most = u64::MAX / values_per_image.max(1) as u64;
        DataError::value("number of images", len, format!("at most {most} of {values_per_image} bytes each"))
    })?;
    let form = Form::of(total);
    let large = form == Form::Disk;
    let directory = directory();
    if let Some(directory) = directory.as_deref().filter(|_| large || keep == Keep::All)
        && let Some(images) = load(&file_of(directory, key), values_per_image, len, total, form)?
    {
        return Ok(images);
    }
    if large {
        let directory = directory.ok_or_else(|| {
            let expected = format!(
                "UNBRAID_CACHE or HOME to be set, as images of more than {} are read from a cache",
                Bytes(largest_in_memory())
            );
            DataError::value("cache directory", "none", expected)
        })?;
        decode_to_file(&directory, key, total, decode)?;
        let path = file_of(&directory, key);
        let images = ByteImages::in_hashed_file(values_per_image, len, &path)?;
        let other = || DataError::content(&path, "file", "other bytes than were written", "the same");
        return images.ok_or_else(other);
    }
    // A size from a file header is not trusted until a tenth of it has arrived. Then it is reserved at once, as growing
    // step by step would need twice the memory at the end.
    let mut bytes: Vec<u8> = Vec::new();
    decode(&mut |piece| {
        if bytes.len() as u64 >= total / 10 && (bytes.capacity() as u64) < total {
            bytes.reserve_exact(total as usize - bytes.len());
        }
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    check_total(bytes.len() as u64, total)?;
    if let Some(directory) = directory.filter(|_| keep == Keep::All)
        && let Err(error) = write_file(&directory, key, total, Form::Memory, |file| file.write_all(&bytes))
    {
        progress.note(&format!("{}: cannot cache the decoded images: {error}", directory.display()));
    }
    Ok(ByteImages::in_memory(values_per_image, bytes))
}

fn check_total(found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(DataError::value("decoded images", format!("{found} bytes"), format!("{expected} bytes")))
}

/// The cached images, or `None` if they are missing, incomplete or damaged.
fn load(
    path: &Path,
    values_per_image: usize,
    len: usize,
    total: u64,
    form: Form,
) -> Result<Option<ByteImages>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == total.saturating_add(form.hashes(total)) => {}
        _ => return Ok(None),
    }
    // When it was last used; a cache that cannot be written keeps the time of writing.
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    if form == Form::Disk {
        return ByteImages::in_hashed_file(values_per_image, len, path);
    }
    let mut bytes = fs::read(path).map_err(DataError::io(path, "read"))?;
    let hash = bytes.split_off(usize::try_from(total).unwrap_or(usize::MAX).min(bytes.len()));
    let is_whole = bytes.len() as u64 == total && Sha256::digest(&bytes).as_slice() == hash;
    Ok(is_whole.then(|| ByteImages::in_memory(values_per_image, bytes)))
}

fn decode_to_file(
    directory: &Path,
    key: &str,
    total: u64,
    decode: impl FnOnce(&mut Sink<'_>) -> Result<()>,
) -> Result<()> {
    let path = file_of(directory, key);
    let mut failure = None;
    let written = write_file(directory, key, total, Form::Disk, |file| {
        let mut found = 0;
        let decoded = decode(&mut |piece| {
            found += piece.len() as u64;
            file.write_all(piece).map_err(DataError::io(&path, "write decoded images"))
        });
        decoded.and_then(|()| check_total(found, total)).map_err(|error| {
            // Kept here because `write_file` passes on I/O errors only; it removes the partial file on any error.
            failure = Some(error);
            io::Error::other("decoding failed")
        })
    });
    match failure {
        Some(error) => Err(error),
        None => written.map_err(DataError::io(&path, "write decoded images")),
    }
}

static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// Sets the cache directory of this process. Only the first call has an effect.
///
/// Without it the directory is `$UNBRAID_CACHE`, or `unbraid` in the user's cache directory. Tests use it to
/// start with an empty cache, as environment variables cannot be set safely in a program with threads.
pub fn set_directory(directory: PathBuf) {
    DIRECTORY.get_or_init(|| directory);
}

/// The directory that was set, else `$UNBRAID_CACHE`, else `unbraid` in the user's cache directory.
fn directory() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    DIRECTORY
        .get()
        .cloned()
        .or_else(|| variable("UNBRAID_CACHE"))
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("unbraid")))
        .or_else(|| Some(variable("LOCALAPPDATA")?.join("unbraid").join("cache")))
        .or_else(|| Some(variable("HOME")?.join(".cache").join("unbraid")))
}

fn file_of(directory: &Path, key: &str) -> PathBuf {
    directory.join(format!("{key}.{EXTENSION}"))
}

const EXTENSION: &str = "pixels";

/// Bytes of the hash at the end of a file.
const HASH: u64 = 32;

/// How the images of a file are used, and with that how they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// All are read at once: one hash.
    Memory,
    /// They are read on demand, and reading them all first would take many seconds: a hash of each block.
    Disk,
}

impl Form {
    fn of(total: u64) -> Self {
        if total > largest_in_memory() { Self::Disk } else { Self::Memory }
    }

    /// Bytes of the hashes after so many of the images.
    fn hashes(self, total: u64) -> u64 {
        match self {
            Self::Memory => HASH,
            Self::Disk => BlockDigests::size(total),
        }
    }
}

/// The hash of bytes, or of their blocks.
enum Hasher {
    Whole(Sha256),
    Blocks(BlockHasher),
}

impl Hasher {
    fn new(form: Form) -> Self {
        match form {
            Form::Memory => Self::Whole(Sha256::new()),
            Form::Disk => Self::Blocks(BlockHasher::default()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Whole(hash) => hash.update(bytes),
            Self::Blocks(blocks) => blocks.update(bytes),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Whole(hash) => hash.finalize().to_vec(),
            Self::Blocks(blocks) => blocks.finish(),
        }
    }
}

/// Passes bytes on, and their hash at the end.
struct Hashed<W> {
    out: W,
    hash: Hasher,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The environment variable that sets the limit of the cache, in bytes.
pub const LIMIT_VARIABLE: &str = "UNBRAID_CACHE_LIMIT";

/// The limit of the cache in bytes: `$UNBRAID_CACHE_LIMIT`, or 100 GiB.
fn limit() -> u64 {
    env::var(LIMIT_VARIABLE).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(100 << 30)
}

/// What is in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Where it is.
    pub directory: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// How large they are together.
    pub bytes: u64,
    /// How large they may become.
    pub limit: u64,
}

/// What is in the cache; `None` if there is no directory for it.
pub fn usage() -> Option<Usage> {
    let directory = directory()?;
    let files = cached(&directory);
    let bytes = files.iter().map(|file| file.bytes).sum();
    Some(Usage { directory, files: files.len(), bytes, limit: limit() })
}

/// Removes everything from the cache, and what killed processes left there; returns what there was.
///
/// # Errors
/// If a file cannot be removed.
pub fn clean() -> Result<Option<Usage>> {
    let Some(usage) = usage() else { return Ok(None) };
    for file in cached(&usage.directory) {
        fs::remove_file(&file.path).map_err(DataError::io(&file.path, "remove it"))?;
    }
    Ok(Some(usage))
}

/// A file of the cache.
struct Cached {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// The files of the cache, complete or not, and no others; the least recently used first.
fn cached(directory: &Path) -> Vec<Cached> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        is_temporary(&name) || Path::new(&name).extension().is_some_and(|extension| extension == EXTENSION)
    });
    let mut files: Vec<Cached> = ours
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(Cached { path: entry.path(), bytes: metadata.len(), used: metadata.modified().ok()? })
        })
        .collect();
    files.sort_by(|left, right| (left.used, &left.path).cmp(&(right.used, &right.path)));
    files
}

/// Removes the least recently used files until there is room for this many more bytes.
fn make_room(directory: &Path, needed: u64, limit: u64) -> io::Result<()> {
    if needed > limit {
        return Err(io::Error::other(format!(
            "found {} of decoded images, expected at most {}, the limit of the cache ({LIMIT_VARIABLE})",
            Bytes(needed),
            Bytes(limit)
        )));
    }
    let files = cached(directory);
    let mut left: u64 = files.iter().map(|file| file.bytes).sum();
    // Another process may still be writing what is not complete.
    for file in files.iter().filter(|file| !file.path.file_name().is_some_and(is_temporary)) {
        if left.saturating_add(needed) <= limit {
            break;
        }
        fs::remove_file(&file.path)?;
        left -= file.bytes;
    }
    Ok(())
}

fn write_file(
    directory: &Path,
    key: &str,
    total: u64,
    form: Form,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    make_room(directory, total.saturating_add(form.hashes(total)), limit())?;
    let (temporary, file) = create_temporary(&file_of(directory, key))?;
    let result = (|| {
        let mut file = Hashed { out: BufWriter::new(file), hash: Hasher::new(form) };
        write(&mut file)?;
        let Hashed { mut out, hash } = file;
        out.write_all(&hash.finish())?;
        out.into_inner()?.sync_all()?;
        fs::rename(&temporary, file_of(directory, key))
    })();
    match result {
        Ok(()) => sync_directory(directory),
        Err(_) => {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn load_two(path: &Path, form: Form) -> Option<Vec<u8>> {
        let images = load(path, 4, 2, 8, form).unwrap()?;
        let mut pixels = vec![0.0; 8];
        for (image, pixels) in pixels.chunks_exact_mut(4).enumerate() {
            images.write(image, pixels).unwrap();
        }
        Some(pixels.into_iter().map(|value: f32| (value * 255.0).round() as u8).collect())
    }

    #[test]
    fn a_file_with_other_pixels_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        let path = file_of(directory.path(), "key");
        let pixels = [1, 2, 3, 4, 5, 6, 7, 8];
        // One hash; or that of the only block, and that of the list of hashes.
        for (form, length) in [(Form::Memory, 40), (Form::Disk, 72)] {
            write_file(directory.path(), "key", 8, form, |file| file.write_all(&pixels)).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), length);
            assert_eq!(load_two(&path, form).unwrap(), pixels);
            let whole = fs::read(&path).unwrap();
            for (place, name) in [(3, "a pixel"), (39, "the hash"), (length as usize - 1, "the last hash")] {
                let mut changed = whole.clone();
                changed[place] ^= 1;
                fs::write(&path, changed).unwrap();
                assert_eq!(load_two(&path, form), None, "{form:?}: {name}");
            }
            // As earlier versions wrote it.
            fs::write(&path, &whole[..8]).unwrap();
            assert_eq!(load_two(&path, form), None);
        }
    }

    /// Changed after it was opened, as by another program: of 150 images of a block each, most are not looked
    /// at before they are used.
    #[test]
    fn a_file_that_is_read_on_demand_is_checked_on_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let values = 1 << 16;
        let total = 150 << 16;
        write_file(directory.path(), "key", total, Form::Disk, |file| {
            (0..150).try_for_each(|image| file.write_all(&vec![image; values]))
        })
        .unwrap();
        let path = file_of(directory.path(), "key");
        let mut changed = fs::read(&path).unwrap();
        changed[7 << 16] ^= 1;
        fs::write(&path, changed).unwrap();
        let images = load(&path, values, 150, total, Form::Disk).unwrap().unwrap();
        for image in 0..150 {
            let first = images.with_image(image, |bytes| bytes[0]);
            if image == 7 {
                let message = format!(
                    "{}: image 7: found other bytes, expected those that were cached; remove the file, and the images are \
                     decoded again",
                    path.display()
                );
                assert_eq!(first.unwrap_err().to_string(), message);
            } else {
                assert_eq!(usize::from(first.unwrap()), image);
            }
        }
    }

    #[test]
    fn half_of_the_limit_on_memory_is_for_images() {
        assert_eq!(largest_below(u64::MAX), 2 << 30);
        assert_eq!(largest_below(4 << 30), 2 << 30);
        assert_eq!(largest_below(1 << 30), 512 << 20);
        assert_eq!(largest_below(0), 0);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        for (name, age) in [("old", 30), ("older", 40), ("new", 10)] {
            let file = File::create(file_of(directory.path(), name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        fs::write(directory.path().join("mine.txt"), "x").unwrap();
        let names = || -> Vec<_> {
            cached(directory.path()).iter().map(|file| file.path.file_stem().unwrap().to_owned()).collect()
        };
        assert_eq!(names(), ["older", "old", "new"]);
        make_room(directory.path(), 50, 350).unwrap();
        assert_eq!(names().len(), 3);
        make_room(directory.path(), 150, 350).unwrap();
        assert_eq!(names(), ["old", "new"]);
        assert_eq!(
            make_room(directory.path(), 2048, 1024).unwrap_err().to_string(),
            "found 2.0 KiB of decoded images, expected at most 1.0 KiB, the limit of the cache (UNBRAID_CACHE_LIMIT)"
        );
        assert!(directory.path().join("mine.txt").exists());
    }
}
