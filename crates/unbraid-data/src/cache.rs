//! The cache of decoded images, which makes the second start on a folder of photographs fast.
//!
//! A cache file is named by a hash of the files it was made from, so it is never stale. It is written under a temporary
//! name and renamed when complete. If it cannot be written, the images stay in memory and [`Progress::note`] reports it;
//! only images that are too large for memory need the cache.

use crate::error::{DataError, Result};
use crate::progress::Progress;
use crate::storage::ByteImages;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Larger data sets stay on disk, where the operating system caches as much of them as fits in memory.
pub(crate) const LARGEST_IN_MEMORY: u64 = 2 << 30;

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

/// Loads `len` images from the cache, or decodes them. Up to 2 GiB are held in memory; larger data sets are written to
/// the cache and read from there on demand.
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
    let large = total > LARGEST_IN_MEMORY;
    let directory = directory();
    if let Some(directory) = directory.as_deref().filter(|_| large || keep == Keep::All)
        && let Some(images) = load(&file_of(directory, key), values_per_image, len, total)?
    {
        return Ok(images);
    }
    if large {
        let directory = directory.ok_or_else(|| {
            let expected =
                "UNBRAID_CACHE or HOME to be set, as images of more than 2 GiB are read from a cache";
            DataError::value("cache directory", "none", expected)
        })?;
        decode_to_file(&directory, key, total, decode)?;
        return ByteImages::in_file(values_per_image, len, &file_of(&directory, key), 0);
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
        && let Err(error) = write_file(&directory, key, |file| file.write_all(&bytes))
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

/// The cached images, or `None` if they are missing or incomplete.
fn load(path: &Path, values_per_image: usize, len: usize, total: u64) -> Result<Option<ByteImages>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() == total => {}
        _ => return Ok(None),
    }
    if total > LARGEST_IN_MEMORY {
        return ByteImages::in_file(values_per_image, len, path, 0).map(Some);
    }
    let bytes = fs::read(path).map_err(DataError::io(path, "read"))?;
    Ok((bytes.len() as u64 == total).then(|| ByteImages::in_memory(values_per_image, bytes)))
}

fn decode_to_file(
    directory: &Path,
    key: &str,
    total: u64,
    decode: impl FnOnce(&mut Sink<'_>) -> Result<()>,
) -> Result<()> {
    let path = file_of(directory, key);
    let mut failure = None;
    let written = write_file(directory, key, |file| {
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
/// Without it the directory is `$UNBRAID_CACHE`, or `unbraid` in the user's cache directory. Tests use it to start with an
/// empty cache, as environment variables cannot be set safely in a program with threads.
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
    directory.join(format!("{key}.pixels"))
}

fn write_file(
    directory: &Path,
    key: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let temporary = directory.join(format!("{key}.{}.partial", std::process::id()));
    let result = (|| {
        let mut file = BufWriter::new(File::create(&temporary)?);
        write(&mut file)?;
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, file_of(directory, key))
    })();
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}
