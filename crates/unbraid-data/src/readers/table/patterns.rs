//! Columns by name or pattern: `x*+age`.

use crate::error::{DataError, Result, one_line};
use crate::readers::folder::first_names;
use crate::registry::nearest;

/// Patterns joined by `+`. `*` matches any letters, `?` a single one, and a backslash makes the next letter
/// an ordinary one.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    /// What they are, for messages.
    subject: String,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Letter(char),
    AnyLetter,
    AnyLetters,
}

impl Patterns {
    /// Parses them; `subject` says what they are.
    pub(super) fn parse(text: &str, subject: String) -> Result<Self> {
        let mut patterns = vec![Pattern { text: String::new(), tokens: Vec::new() }];
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let token = match letter {
                '+' => {
                    patterns.push(Pattern { text: String::new(), tokens: Vec::new() });
                    continue;
                }
                '*' => Token::AnyLetters,
                '?' => Token::AnyLetter,
                '\\' => Token::Letter(letters.next().unwrap_or('\\')),
                letter => Token::Letter(letter),
            };
            let last = patterns.last_mut().expect("there is one from the start");
            last.text.push(letter);
            if let (Token::Letter(escaped), '\\') = (token, letter) {
                last.text.push(escaped);
            }
            last.tokens.push(token);
        }
        if patterns.iter().any(|pattern| pattern.tokens.is_empty()) {
            return Err(DataError::value(subject, format!("\"{text}\""), "names joined by `+`"));
        }
        Ok(Self { subject, patterns })
    }

    /// The places of the columns that match: pattern by pattern, and those of one pattern in the order of the table.
    /// `*` and `?` match no column of `factors`.
    ///
    /// # Errors
    /// If a pattern matches none, or is the name of a factor.
    pub(super) fn places(&self, names: &[String], factors: &[usize]) -> Result<Vec<usize>> {
        let mut places: Vec<usize> = Vec::new();
        for pattern in &self.patterns {
            let (taken, matching): (Vec<usize>, Vec<usize>) = (0..names.len())
                .filter(|&place| pattern.matches(&names[place]))
                .partition(|place| factors.contains(place));
            if matching.is_empty() && !taken.is_empty() {
                let is = if pattern.is_name() { "is a factor" } else { "matches factors only" };
                let found = format!("\"{}\", which {is}", pattern.text);
                return Err(DataError::value(&self.subject, found, "columns that `factors` does not name"));
            }
            if matching.is_empty() {
                let found = format!("\"{}\", which no column matches", pattern.text);
                let near = nearest(&pattern.text, &names.iter().map(String::as_str).collect::<Vec<_>>());
                let hint = near.map(|name| format!("\nhint: did you mean `{}`?", one_line(name)));
                let expected = format!("some of the columns {}", first_names(names));
                return Err(DataError::value(&self.subject, found, expected + &hint.unwrap_or_default()));
            }
            for place in matching {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        Ok(places)
    }
}

impl Pattern {
    /// Whether it is a single name.
    fn is_name(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Letter(_)))
    }

    fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        // Where to go on if a later token fails: the last `*` takes one letter more.
        let (mut token, mut letter, mut retry) = (0, 0, None);
        while letter < name.len() {
            match self.tokens.get(token) {
                Some(Token::AnyLetters) => {
                    retry = Some((token, letter));
                    token += 1;
                }
                Some(Token::AnyLetter) => (token, letter) = (token + 1, letter + 1),
                Some(Token::Letter(wanted)) if *wanted == name[letter] => {
                    (token, letter) = (token + 1, letter + 1);
                }
                Some(Token::Letter(_)) | None => match retry {
                    Some((star, taken)) => {
                        retry = Some((star, taken + 1));
                        (token, letter) = (star + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        self.tokens[token..].iter().all(|token| *token == Token::AnyLetters)
    }
}

/// A pattern that matches this name only.
pub(super) fn literal(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(letter, '+' | '*' | '?' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(patterns: &str, names: &[&str]) -> Result<Vec<usize>> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Patterns::parse(patterns, "columns".to_owned())?.places(&names, &[])
    }

    #[test]
    fn columns_are_chosen_by_name_and_pattern() {
        let names = ["id", "x1", "x2", "x10", "age"];
        for (patterns, expected) in [
            ("x*", &[1, 2, 3][..]),
            ("x?", &[1, 2]),
            ("age+x?", &[4, 1, 2]),
            ("*", &[0, 1, 2, 3, 4]),
            ("x1+x*", &[1, 2, 3]),
            ("*1*", &[1, 3]),
            ("*0", &[3]),
        ] {
            assert_eq!(places(patterns, &names).unwrap(), expected, "{patterns}");
        }
    }

    #[test]
    fn patterns_leave_factors_out_and_names_of_factors_are_refused() {
        let names = ["x1", "x2", "y", "x*"].map(str::to_owned);
        let places =
            |patterns: &str| Patterns::parse(patterns, "columns".to_owned())?.places(&names, &[0, 3]);
        assert_eq!(places("x*").unwrap(), [1]);
        assert_eq!(places("y+*").unwrap(), [2, 1]);
        for (patterns, found) in [
            ("x*+x1", "\"x1\", which is a factor"),
            ("x\\*", "\"x\\*\", which is a factor"),
            ("y+?1", "\"?1\", which matches factors only"),
        ] {
            assert_eq!(
                places(patterns).unwrap_err().to_string(),
                format!("columns: found {found}, expected columns that `factors` does not name")
            );
        }
    }

    #[test]
    fn any_name_can_be_written() {
        let odd = ["a+b", "a*", "a?", "a\\", "ab", "é, \"x\""];
        for (place, name) in odd.iter().enumerate() {
            assert_eq!(places(&literal(name), &odd).unwrap(), [place], "{name}");
        }
    }

    #[test]
    fn a_pattern_without_a_column_is_named() {
        let message = |patterns: &str| places(patterns, &["a", "b", "c", "d"]).unwrap_err().to_string();
        assert_eq!(
            message("a+y*"),
            "columns: found \"y*\", which no column matches, expected some of the columns a, b, c and 1 more"
        );
        let names = ["height", "width", "age", "kind"];
        assert_eq!(
            places("age+hieght", &names).unwrap_err().to_string(),
            "columns: found \"hieght\", which no column matches, expected some of the columns height, width, age and 1 more\n\
             hint: did you mean `height`?"
        );
        for text in ["", "a+", "+"] {
            assert_eq!(message(text), format!("columns: found \"{text}\", expected names joined by `+`"));
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_patterns_never_panic(pattern in ".{0,20}", name in ".{0,20}") {
            let _ = places(&pattern, &[&name]);
        }

        #[test]
        fn a_literal_matches_its_name(name in ".{1,20}") {
            proptest::prop_assert_eq!(places(&literal(&name), &[&name]).unwrap(), [0]);
        }
    }
}
