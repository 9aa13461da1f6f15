//! Words and paths as a shell reads them.

use crate::error::{Error, Result};
use std::path::Path;

/// One word for a POSIX shell, quoted only where it must be. sbatch reads its `#SBATCH` lines by the same rules.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Nothing is special within single quotes, and a single quote itself goes into double ones.
    format!("'{}'", word.replace('\'', r#"'"'"'"#))
}

/// The absolute path as text: a command that is run elsewhere has to find it.
///
/// # Errors
/// If it is not Unicode, or has a line break, which would end a line of a script.
pub fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).map_err(unbraid::Error::io(path, "tell where it is"))?;
    match absolute.to_str() {
        Some(text) if !text.contains(['\n', '\r', '\0']) => Ok(text.to_owned()),
        _ => Err(Error::UnusablePath { path: absolute }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_what_must_be_is_quoted() {
        assert_eq!(shell("/runs/beta-vae-beta=4"), "/runs/beta-vae-beta=4");
        assert_eq!(shell("two words"), "'two words'");
        assert_eq!(shell("it's"), r#"'it'"'"'s'"#);
        assert_eq!(shell(""), "''");
    }

    #[test]
    fn a_shell_gives_the_word_back() {
        for word in
            ["a b", "$HOME `id` $(id)", "\"'\\'\"", "~", "*", "#x", "!!", "é\u{1f600}", "-n", "a;b|c&d>e"]
        {
            let line = format!("printf %s {}", shell(word));
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }

    #[test]
    fn a_path_with_a_line_break_is_refused() {
        let message = absolute(Path::new("/a\nb")).unwrap_err().to_string();
        assert_eq!(
            message,
            "/a\nb: expected a path in Unicode without line breaks, to write it into a command"
        );
        assert_eq!(absolute(Path::new("/a/./b c")).unwrap(), "/a/b c");
    }
}
