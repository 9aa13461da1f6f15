//! What all pages share: escaped text, data URIs, and the page around its sections.

use crate::error::{Error, Result};
use crate::live;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use unbraid::data::files::open_regular;
use unbraid::files::{self, Existing};

/// Text that may stand in HTML, SVG or a quoted attribute, whatever it contains.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Neither HTML nor XML has a place for other control characters.
            control if control.is_control() && !matches!(control, '\n' | '\t') => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A file as an address that contains it.
pub(crate) fn data_uri(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64(bytes))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// What the pages of this program contain and no others do.
const GENERATOR: &str = "<meta name=\"generator\" content=\"unbraid ";

/// Checks that a page can be written, before the work goes into its content. An earlier page of unbraid may be replaced
/// if `existing` says so; any other file is kept.
///
/// # Errors
/// If its name does not end in `.html`, there is a file that must be kept, or the directory is missing.
pub fn check_page(path: &Path, existing: Existing) -> Result {
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html")) {
        return Err(Error::FileName { path: path.to_owned(), expected: "a name that ends in .html" });
    }
    files::probe_output(path, existing)?;
    if path.exists() && !is_page(path) {
        return Err(unbraid::Error::ForeignFile { path: path.to_owned(), expected: "page" }.into());
    }
    Ok(())
}

/// Whether a file is a page of this program, by its beginning.
fn is_page(path: &Path) -> bool {
    /// The policy before it has a hash for each script and style.
    const BEGINNING: u64 = 1 << 16;
    let mut start = Vec::new();
    let read = open_regular(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut start));
    read.is_ok() && start.windows(GENERATOR.len()).any(|bytes| bytes == GENERATOR.as_bytes())
}

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
/// How charts look, in a page and as files.
pub(crate) const CHART_STYLE: &str = include_str!("../assets/chart.css");

/// A part of a page with a heading, which the table of contents links to.
#[derive(Debug)]
pub(crate) struct Section {
    /// What addresses it within the page: a plain word.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) heading: &'static str,
    /// Its content, as HTML.
    pub(crate) content: String,
}

/// A self-contained page: everything it shows is in it, and its security policy forbids the browser to fetch anything.
/// Sections without content are left out.
pub(crate) fn page(title: &str, summary: &str, sections: &[Section]) -> String {
    let (style, script) = (format!("\n{STYLE}{CHART_STYLE}"), format!("\n{SCRIPT}"));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{GENERATOR}{}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{style}</style>\n\
         </head>\n<body>\n<header>\n<h1>{title}</h1>\n{summary}<nav aria-label=\"Contents\">\n",
        policy(&[&style, live::STYLE], &[&script, live::SCRIPT]),
        env!("CARGO_PKG_VERSION"),
        title = escape(title),
    );
    let filled = || sections.iter().filter(|section| !section.content.is_empty());
    for section in filled() {
        let _ = writeln!(html, "<a href=\"#{}\">{}</a>", section.id, escape(section.heading));
    }
    html.push_str("</nav>\n</header>\n<main>\n");
    for Section { id, heading, content } in filled() {
        let heading = escape(heading);
        let _ = writeln!(
            html,
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}</h2>\n\
             {content}</section>"
        );
    }
    let _ = write!(html, "</main>\n<script>{script}</script>\n</body>\n</html>\n");
    html
}

/// The page's security policy: no script and no style sheet but our own, which the browser knows by their
/// hashes, no style of a single element, and nothing from anywhere else. What scripts set through
/// `element.style` is not touched by it.
fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let hashes = |texts: &[&str]| {
        let hash = |text: &&str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
        texts.iter().map(hash).collect::<Vec<_>>().join(" ")
    };
    format!(
        "default-src 'none'; img-src data:; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hashes(scripts),
        hashes(styles)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_matches_its_definition() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(data_uri("image/png", &[0xfb, 0xff]), "data:image/png;base64,+/8=");
    }

    #[test]
    fn only_our_own_pages_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.html");
        let message = |existing| check_page(&path, existing).unwrap_err().to_string();
        let other = check_page(Path::new("page.txt"), Existing::Keep).unwrap_err();
        assert_eq!(other.to_string(), "page.txt: expected a name that ends in .html");
        check_page(&path, Existing::Keep).unwrap();
        std::fs::write(&path, "mine").unwrap();
        assert_eq!(
            message(Existing::Replace),
            format!(
                "{}: found a file that unbraid did not write, expected none or an earlier page",
                path.display()
            )
        );
        std::fs::write(&path, page("a", "", &[])).unwrap();
        check_page(&path, Existing::Replace).unwrap();
        assert_eq!(message(Existing::Keep), format!("{}: the file exists", path.display()));
    }

    /// The hashes are those that `openssl dgst -sha256 -binary | base64` gives for a script and a style sheet.
    #[test]
    fn only_our_own_script_may_run() {
        assert_eq!(
            policy(&["a{}"], &["alert(1)"]),
            "default-src 'none'; img-src data:; script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; \
             style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; base-uri 'none'; form-action 'none'"
        );
        let page = page("a", "", &[]);
        assert!(!page.contains("unsafe-inline"));
        let between = |open: &str, close: &str| {
            let start = page.find(open).unwrap() + open.len();
            page[start..start + page[start..].find(close).unwrap()].to_owned()
        };
        let (style, script) = (between("<style>", "</style>"), between("<script>", "</script>"));
        let policy = policy(&[&style, live::STYLE], &[&script, live::SCRIPT]);
        assert!(page.contains(&policy));
    }

    #[test]
    fn nothing_escapes_from_text() {
        assert_eq!(
            escape("<img src='x' onerror=\"a&b\">\u{0}\n"),
            "&lt;img src=&#39;x&#39; onerror=&quot;a&amp;b&quot;&gt;\u{fffd}\n"
        );
        let section = Section { id: "a", heading: "A & B", content: "<p>x</p>\n".to_owned() };
        let empty = Section { id: "b", heading: "Nothing", content: String::new() };
        let page = page("</title><script>alert(1)</script>", "", &[section, empty]);
        assert!(page.contains("&lt;/title&gt;&lt;script&gt;alert(1)") && !page.contains("<script>alert"));
        assert!(page.contains("A &amp; B") && !page.contains("Nothing"));
    }
}
