//! SHA-256 hashes that identify data sets, for logs and the cache.

use crate::error::{DataError, Result};
use crate::files::open_regular;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The source of the hash that [`DataSet::fingerprint`](crate::DataSet::fingerprint) returns.
///
/// ```
/// use unbraid_data::Fingerprint;
///
/// let hash = Fingerprint::Recipe("abc".to_owned()).compute()?;
/// assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Fingerprint {
    /// The content of files. For one file this is its SHA-256, as printed by `sha256sum`; for several, the
    /// SHA-256 of the list of their hashes and names.
    Files(Vec<PathBuf>),
    /// The parameters of a generated data set, as text.
    Recipe(String),
    /// A hash that was computed before.
    Known(String),
}

impl Fingerprint {
    /// Computes the SHA-256, in hexadecimal.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn compute(&self) -> Result<String> {
        match self {
            Self::Known(hash) => Ok(hash.clone()),
            Self::Recipe(recipe) => Ok(hex(&Sha256::digest(recipe.as_bytes()))),
            Self::Files(paths) => match paths.as_slice() {
                [single] => hash_file(single),
                several => {
                    let mut list = Sha256::new();
                    for path in several {
                        let name = path.file_name().unwrap_or_default().to_string_lossy();
                        list.update(format!("{}  {name}\n", hash_file(path)?));
                    }
                    Ok(hex(&list.finalize()))
                }
            },
        }
    }
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn hash_file(path: &Path) -> Result<String> {
    let mut file = open_regular(path).map_err(DataError::io(path, "open"))?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 18];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(read) => hash.update(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(DataError::io(path, "read")(error)),
        }
    }
}

/// Bytes in hexadecimal, as hashes are written.
///
/// ```
/// assert_eq!(unbraid_data::hex(&[0xba, 0x07]), "ba07");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The SHA-256 of "abc" from FIPS 180-2.
    #[test]
    fn one_file_hashes_as_sha256sum_does() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_file(file.path()).unwrap(), expected);
        assert_eq!(Fingerprint::Files(vec![file.path().to_owned()]).compute().unwrap(), expected);
        assert_eq!(Fingerprint::Recipe("abc".into()).compute().unwrap(), expected);
    }
}
