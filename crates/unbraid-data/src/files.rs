//! Opening files that may come from strangers: regular files only, read up to a stated limit, and temporary files under
//! names that nobody can guess.
//!
//! Errors are [`io::Error`]s, so that the caller can say which file it is and what it was for.

use crate::memory::{self, Bytes};
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest configuration, note or list of options: a thousand times what people write.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// The longest table with a line for each step, image or run.
pub const LONGEST_TABLE: u64 = 1 << 30;

/// The longest table that is read as a whole: [`LONGEST_TABLE`], or less where it would not fit into memory
/// if each of its bytes became `expansion` bytes, as those of the shortest rows do.
pub fn longest_table(expansion: u64) -> u64 {
    LONGEST_TABLE.min(memory::limit() / expansion)
}

/// Opens a file for reading. Named pipes, sockets and devices, on which a reader may wait for ever, are refused; a
/// directory is left to the first read, which says so.
///
/// # Errors
/// If it cannot be opened or is not a regular file.
///
/// ```
/// use std::path::Path;
/// use unbraid_data::files::open_regular;
///
/// let error = open_regular(Path::new("/dev/null")).unwrap_err();
/// # #[cfg(unix)]
/// assert_eq!(error.to_string(), "found a character device, expected a regular file");
/// ```
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    refuse_special(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opening a named pipe would otherwise wait for somebody to write to it.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(path)
}

/// Opens a file of our own for reading and writing, or creates it. Its content is kept. A symbolic link is refused: who
/// can place one in a directory must not choose which file elsewhere is changed.
///
/// # Errors
/// If it cannot be opened or created, or is not a regular file.
pub fn open_own(path: &Path) -> io::Result<File> {
    open_unlinked(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
}

/// As [`open_own`], for adding to its end.
///
/// # Errors
/// As [`open_own`].
pub fn append_own(path: &Path) -> io::Result<File> {
    open_unlinked(path, OpenOptions::new().append(true).create(true))
}

fn open_unlinked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return Err(not_regular("a symbolic link"));
    }
    // For a link that was made since.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    let file = options.open(path)?;
    refuse_special(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read, is not a regular file, or is longer.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    open_limited(path, limit)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    check_length(bytes.len() as u64, limit)?;
    Ok(bytes)
}

/// Opens a file of at most `limit` bytes for reading, as [`open_regular`] does.
///
/// # Errors
/// As [`open_regular`], and if it is longer.
pub fn open_limited(path: &Path, limit: u64) -> io::Result<File> {
    let file = open_regular(path)?;
    check_length(file.metadata()?.len(), limit)?;
    Ok(file)
}

fn check_length(length: u64, limit: u64) -> io::Result<()> {
    if length <= limit {
        return Ok(());
    }
    let message = format!("found a file of {}, expected at most {}", Bytes(length), Bytes(limit));
    Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
}

/// Reads a text of at most `limit` bytes.
///
/// # Errors
/// As [`read_limited`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text_of(read_limited(path, limit)?)
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        // As `std::fs::read_to_string` says it.
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

/// Reads a text of at most `limit` bytes that its user named, such as on a command line: a pipe is read as
/// well, as shells make one of `<(command)`. What is named in a file from elsewhere is for [`read_text`].
///
/// # Errors
/// As [`read_text`], and if nobody writes to the pipe.
pub fn read_piped_text(path: &Path, limit: u64) -> io::Result<String> {
    #[cfg(unix)]
    if std::fs::metadata(path).is_ok_and(|found| is_pipe(found.file_type())) {
        return text_of(read_pipe(open_without_waiting(path)?, limit)?);
    }
    read_text(path, limit)
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

/// Reads a pipe until its writers have closed it.
#[cfg(unix)]
fn read_pipe(mut pipe: File, limit: u64) -> io::Result<Vec<u8>> {
    /// How long somebody who opened the other end a moment later is waited for.
    const PATIENCE: Duration = Duration::from_secs(2);
    let start = Instant::now();
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match pipe.read(&mut piece) {
            Ok(0) if bytes.is_empty() && start.elapsed() < PATIENCE => {}
            Ok(0) if bytes.is_empty() => {
                let message = "found a named pipe that nobody writes to, expected a file or a pipe with text";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                bytes.extend_from_slice(&piece[..count]);
                if bytes.len() as u64 > limit {
                    let message =
                        format!("found a pipe with more than {}, expected at most that", Bytes(limit));
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
                }
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Its writer is not ready yet.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Creates a file beside `path` whose name begins with a dot and ends in [`PARTIAL`]. Nothing that exists is opened,
/// links included, and the name cannot be foreseen.
///
/// # Errors
/// If it cannot be created.
pub fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}{PARTIAL}", token()));
    let temporary = path.with_file_name(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
    Ok((temporary, file))
}

/// The suffix of a file that is still being written.
pub const PARTIAL: &str = ".partial";

/// Whether a name is that of a temporary file, left behind if its process was killed.
pub fn is_temporary(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") && name.ends_with(PARTIAL.as_bytes())
}

/// Waits until the entry of a file in its directory is on disk: without it, a rename may be forgotten when the machine
/// fails, though the content of the file is not. Systems that cannot wait for a directory do without.
pub fn sync_directory(directory: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    #[cfg(not(unix))]
    let _ = directory;
}

/// What the clock of a directory's file system says, or ours where nothing can be written: machines that share a file
/// system need not agree on the time.
pub fn time_in(directory: &Path) -> SystemTime {
    let time = create_temporary(&directory.join("clock")).and_then(|(path, file)| {
        let time = file.metadata().and_then(|metadata| metadata.modified());
        let _ = std::fs::remove_file(path);
        time
    });
    time.unwrap_or_else(|_| SystemTime::now())
}

/// Sixteen hexadecimal digits that nobody else has: the keys of a hash map come from the system's random numbers.
pub fn token() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:016x}", RandomState::new().hash_one((std::process::id(), now)))
}

fn refuse_special(kind: FileType) -> io::Result<()> {
    match special(kind) {
        Some(found) => Err(not_regular(found)),
        None => Ok(()),
    }
}

fn not_regular(found: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("found {found}, expected a regular file"))
}

#[cfg(unix)]
fn special(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_file() || kind.is_dir() {
        None
    } else if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_char_device() {
        Some("a character device")
    } else if kind.is_block_device() {
        Some("a block device")
    } else {
        Some("a special file")
    }
}

#[cfg(not(unix))]
fn special(kind: FileType) -> Option<&'static str> {
    (!kind.is_file() && !kind.is_dir()).then_some("a special file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::BTreeSet<String> = (0..1000).map(|_| token()).collect();
        assert_eq!(tokens.len(), 1000);
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "12345678");
        let error = read_text(&path, 7).unwrap_err();
        assert_eq!(error.to_string(), "found a file of 8 bytes, expected at most 7 bytes");
        // Sparse: a terabyte that takes no room.
        let length = 1 << 40;
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        let error = read_text(&path, LONGEST_TEXT).unwrap_err();
        assert_eq!(error.to_string(), "found a file of 1024.0 GiB, expected at most 64.0 MiB");
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(
            read_text(&path, 9).unwrap_err().to_string(),
            fs::read_to_string(&path).unwrap_err().to_string()
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, found) in [("pipe", "a named pipe"), ("zero", "a character device")] {
            let error = open_regular(&at(name)).unwrap_err();
            assert_eq!(error.to_string(), format!("found {found}, expected a regular file"));
        }
        // The system itself refuses to open a socket.
        assert!(open_regular(&at("socket")).is_err());
        assert!(open_regular(&at("none")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
        fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert_eq!(read_text(&at("link"), 9).unwrap(), "x");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_where_its_user_named_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let written = |bytes: usize, limit: u64| {
            std::thread::scope(|scope| {
                // Opening it waits for the reader. Nobody reads all of what is too long.
                scope.spawn(|| {
                    let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
                    let _ = (0..bytes).try_for_each(|_| pipe.write_all(b"x"));
                });
                read_piped_text(&path, limit).map_err(|error| error.to_string())
            })
        };
        assert_eq!(written(3, 3), Ok("xxx".to_owned()));
        // More than a pipe holds at a time.
        assert_eq!(written(100_000, 100_000).map(|text| text.len()), Ok(100_000));
        assert_eq!(written(4, 3).unwrap_err(), "found a pipe with more than 3 bytes, expected at most that");
        let error = read_piped_text(&path, 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "found a named pipe that nobody writes to, expected a file or a pipe with text"
        );
        fs::write(directory.path().join("file"), "x").unwrap();
        assert_eq!(read_piped_text(&directory.path().join("file"), 3).unwrap(), "x");
        let error = read_piped_text(Path::new("/dev/zero"), 3).unwrap_err();
        assert_eq!(error.to_string(), "found a character device, expected a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_to_write() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("secret"), "precious").unwrap();
        for (link, target) in [("link", at("secret")), ("dangling", at("new"))] {
            std::os::unix::fs::symlink(&target, at(link)).unwrap();
            for error in [open_own(&at(link)).unwrap_err(), append_own(&at(link)).unwrap_err()] {
                assert_eq!(error.to_string(), "found a symbolic link, expected a regular file");
            }
        }
        assert_eq!(fs::read_to_string(at("secret")).unwrap(), "precious");
        assert!(!at("new").exists());
        let mut file = open_own(&at("secret")).unwrap();
        file.write_all(b"P").unwrap();
        append_own(&at("secret")).unwrap().write_all(b"!").unwrap();
        assert_eq!(fs::read_to_string(at("secret")).unwrap(), "Precious!");
    }

    #[test]
    fn temporary_files_are_new_and_recognised() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let (first, _) = create_temporary(&path).unwrap();
        let (second, _) = create_temporary(&path).unwrap();
        assert_ne!(first, second);
        for temporary in [first, second] {
            assert!(is_temporary(temporary.file_name().unwrap()) && temporary.parent() == path.parent());
        }
        assert!(!is_temporary(OsStr::new("a.partial")) && !is_temporary(OsStr::new(".hidden")));
        assert!(create_temporary(Path::new("no/such/a.txt")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_text() {
        use std::os::unix::ffi::OsStrExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(OsStr::from_bytes(b"a\xff.txt"));
        let (temporary, _) = create_temporary(&path).unwrap();
        assert!(is_temporary(temporary.file_name().unwrap()));
        assert!(temporary.file_name().unwrap().as_bytes().starts_with(b".a\xff.txt."));
    }
}
