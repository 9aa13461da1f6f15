//! The types of a configuration, read from the source of the library: names, documentation, serde's
//! attributes. The source is formatted by rustfmt, so that lines are enough to tell its parts.

use std::collections::BTreeMap;
use std::path::Path;

/// A struct or an enum.
pub(super) struct Item {
    pub(super) doc: String,
    pub(super) serde: String,
    pub(super) kind: ItemKind,
}

pub(super) enum ItemKind {
    Struct(Vec<Field>),
    /// A struct of one unnamed field, of this type.
    Wrapper(String),
    Enum(Vec<Variant>),
}

pub(super) struct Field {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) serde: String,
    pub(super) of_type: String,
}

pub(super) struct Variant {
    /// Its name in a configuration.
    pub(super) word: String,
    pub(super) doc: String,
    pub(super) is_default: bool,
    pub(super) payload: Payload,
}

pub(super) enum Payload {
    Fields(Vec<Field>),
    /// The type of its only unnamed field.
    Wrapped(String),
    Nothing,
}

/// The types by their names, and the bodies of functions that give default values.
pub(super) struct Source {
    pub(super) items: BTreeMap<String, Item>,
    pub(super) functions: BTreeMap<String, String>,
}

impl Source {
    /// Reads all files of the configuration.
    pub(super) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config");
        let mut source = Self { items: BTreeMap::new(), functions: BTreeMap::new() };
        for folder in [root.clone(), root.join("objective")] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    source.add(text.split("#[cfg(test)]\nmod tests {").next().unwrap());
                }
            }
        }
        source
    }

    fn add(&mut self, text: &str) {
        let mut lines = text.lines().peekable();
        let mut above = Above::default();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) {
                let name: String = rest.chars().take_while(|letter| letter.is_alphanumeric()).collect();
                let (doc, serde, _) = above.take();
                let kind = if let Some((_, wrapped)) = rest.split_once('(').filter(|_| rest.ends_with(';')) {
                    ItemKind::Wrapper(wrapped.trim_end_matches(");").trim_start_matches("pub ").to_owned())
                } else {
                    let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                    if line.starts_with("pub struct ") {
                        ItemKind::Struct(fields(&body))
                    } else {
                        ItemKind::Enum(variants(&body))
                    }
                };
                self.items.insert(name, Item { doc, serde, kind });
                continue;
            }
            // A function without arguments whose body is one expression.
            if let Some((before, _)) = line.split_once("() -> ").filter(|_| line.ends_with(" {")) {
                let name = before.rsplit(' ').next().unwrap().to_owned();
                if let Some(body) = lines.peek() {
                    self.functions.insert(name, body.trim().to_owned());
                }
            }
            above.line(line);
        }
    }
}

/// Documentation and attributes above an item.
#[derive(Default)]
struct Above {
    doc: String,
    serde: String,
    is_default: bool,
    in_serde: bool,
    is_done: bool,
}

impl Above {
    fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            // What follows the first paragraph is detail.
            self.is_done |= text.trim().is_empty();
            if !self.is_done {
                self.doc.push_str(text);
            }
        } else if let Some(text) = line.strip_prefix("#[serde(") {
            self.serde.push_str(text);
            self.in_serde = !line.ends_with(")]");
        } else if self.in_serde {
            self.serde.push_str(line);
            self.in_serde = !line.ends_with(")]");
        } else if line == "#[default]" {
            self.is_default = true;
        } else if !line.starts_with("#[") {
            *self = Self::default();
        }
    }

    fn take(&mut self) -> (String, String, bool) {
        let Self { doc, serde, is_default, .. } = std::mem::take(self);
        (doc.trim().to_owned(), serde, is_default)
    }
}

/// The fields among the lines of a struct or of a variant.
fn fields(lines: &[&str]) -> Vec<Field> {
    let mut above = Above::default();
    let mut fields = Vec::new();
    for line in lines {
        let code = line.trim().strip_prefix("pub ").unwrap_or(line.trim());
        match code
            .split_once(": ")
            .filter(|_| code.ends_with(',') && !above.in_serde && !code.starts_with('/'))
        {
            Some((name, of_type)) => {
                let (doc, serde, _) = above.take();
                let of_type = of_type.trim_end_matches(',').to_owned();
                fields.push(Field { name: name.to_owned(), doc, serde, of_type });
            }
            None => above.line(line),
        }
    }
    fields
}

fn variants(lines: &[&str]) -> Vec<Variant> {
    let mut above = Above::default();
    let mut variants = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let code = line.trim();
        if !code.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            above.line(line);
            continue;
        }
        let name: String = code.chars().take_while(|letter| letter.is_alphanumeric()).collect();
        let (doc, own, is_default) = above.take();
        let payload = if let Some((_, wrapped)) = code.split_once('(') {
            Payload::Wrapped(wrapped.trim_end_matches("),").to_owned())
        } else if code.ends_with('{') {
            let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "},").copied().collect();
            Payload::Fields(fields(&body))
        } else {
            Payload::Nothing
        };
        let renamed = own.split_once("rename = \"").and_then(|(_, rest)| rest.split('"').next());
        let word = renamed.map_or_else(|| kebab(&name), str::to_owned);
        variants.push(Variant { word, doc, is_default, payload });
    }
    variants
}

/// `DipVaeIi` as serde writes it: `dip-vae-ii`.
pub(super) fn kebab(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}
