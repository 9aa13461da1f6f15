//! Some runs of a study by their numbers, as in `0..100,205`.

use crate::failure::{Failure, Outcome};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Numbers of runs: half-open ranges as in Rust, in order, with gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    ranges: Vec<Range<usize>>,
}

impl Selection {
    /// These numbers, in any order.
    pub fn of(numbers: impl IntoIterator<Item = usize>) -> Self {
        // No study has a run of the largest number, which has no successor.
        let ranges = numbers.into_iter().map(|number| number..number.saturating_add(1));
        Self::joined(ranges.collect())
    }

    /// Sorts ranges and joins those that touch.
    fn joined(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Self { ranges: joined }
    }

    /// The numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges.iter().cloned().flatten()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether a number is among them.
    pub fn contains(&self, number: usize) -> bool {
        self.ranges.iter().any(|range| range.contains(&number))
    }

    /// Checks that a study of so many runs has all of them; `option` is where they were asked for.
    ///
    /// # Errors
    /// If it has not; the message names the first that is missing.
    pub fn check_against(&self, runs: usize, option: &str) -> Outcome {
        let Some(last) = self.ranges.last().filter(|range| range.end > runs) else { return Ok(()) };
        let missing = last.start.max(runs);
        let expected = match runs {
            0 => "there are no runs".to_owned(),
            1 => "there is only run 0".to_owned(),
            _ => format!("expected 0 to {}", runs - 1),
        };
        Err(Failure::input(format!("{option}: the study has no run {missing}; {expected}")))
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            part.trim().parse::<usize>().map_err(|_| {
                format!("found `{}`, expected numbers and ranges such as `0..100,205`", part.trim())
            })
        };
        let range = |part: &str| match part.split_once("..") {
            None => number(part).map(|number| number..number.saturating_add(1)),
            Some((start, end)) => {
                let range = number(start)?..number(end)?;
                if range.is_empty() {
                    return Err(format!(
                        "found the range `{}`, which is empty; the end does not belong to it, as in `0..100`",
                        part.trim()
                    ));
                }
                Ok(range)
            }
        };
        let ranges: Result<Vec<_>, String> = text.split(',').map(range).collect();
        Ok(Self::joined(ranges?))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, range) in self.ranges.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match range.len() {
                1 => write!(f, "{comma}{}", range.start)?,
                _ => write!(f, "{comma}{}..{}", range.start, range.end)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<usize> {
        text.parse::<Selection>().unwrap().numbers().collect()
    }

    #[test]
    fn ranges_are_half_open_and_numbers_stand_for_themselves() {
        assert_eq!(numbers("0..3,5"), [0, 1, 2, 5]);
        assert_eq!(numbers("7"), [7]);
        assert_eq!(numbers(" 4 .. 6 , 1 "), [1, 4, 5]);
        // In order and once, however they were asked for.
        assert_eq!(numbers("5,0..3,2..6"), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_shortest_text_is_read_back() {
        for (given, shortest) in
            [("0,1,2,5", "0..3,5"), ("9", "9"), ("3..5,5..7", "3..7"), ("4,2", "2,4"), ("0..1", "0")]
        {
            let selection: Selection = given.parse().unwrap();
            assert_eq!(selection.to_string(), shortest);
            assert_eq!(shortest.parse::<Selection>().unwrap(), selection);
            assert_eq!(Selection::of(selection.numbers()), selection);
        }
        assert_eq!(Selection::of([8, 3, 4]).to_string(), "3..5,8");
    }

    #[test]
    fn what_is_no_selection_is_named() {
        for (text, word) in [
            ("", "found ``"),
            ("a", "found `a`"),
            ("1..", "found ``"),
            ("-1", "found `-1`"),
            ("3..3", "`3..3`, which is empty"),
            ("5..2", "`5..2`, which is empty"),
            ("0..=4", "found `=4`"),
            ("1,,2", "found ``"),
            ("99999999999999999999999", "found `99999999999999999999999`"),
        ] {
            let message = text.parse::<Selection>().unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    /// Ranges are not written out, so a slip of the finger does not fill the memory.
    #[test]
    fn numbers_that_a_study_does_not_have_are_named() {
        let many: Selection = "0..18446744073709551615".parse().unwrap();
        let message = many.check_against(36, "--only").unwrap_err().to_string();
        assert_eq!(message, "--only: the study has no run 36; expected 0 to 35");
        let one: Selection = "40".parse().unwrap();
        assert!(one.check_against(36, "--id").unwrap_err().to_string().contains("no run 40"));
        assert!(one.check_against(41, "--id").is_ok());
        assert!(one.check_against(0, "--id").unwrap_err().to_string().contains("there are no runs"));
        assert_eq!(many.len(), usize::MAX);
        assert!(many.contains(7) && !one.contains(7));
    }
}
