//! Some runs of a study by their numbers, as in `0..100,205`.

use crate::error::{Error, Result};
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

    /// Checks that a study with this many runs has all of them.
    ///
    /// # Errors
    /// If it has not; the message names the first that is missing.
    pub fn check_against(&self, runs: usize) -> Result {
        match self.ranges.last().filter(|range| range.end > runs) {
            Some(last) => Err(Error::NoSuchRun { number: last.start.max(runs), runs }),
            None => Ok(()),
        }
    }
}

impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: &str| {
            let part = part.trim();
            part.parse::<usize>().map_err(|_| Error::SelectionSyntax { found: part.to_owned() })
        };
        let range = |part: &str| match part.split_once("..") {
            None => number(part).map(|number| number..number.saturating_add(1)),
            Some((start, end)) => {
                let range = number(start)?..number(end)?;
                if range.is_empty() {
                    return Err(Error::EmptyRange { found: part.trim().to_owned() });
                }
                Ok(range)
            }
        };
        Ok(Self::joined(text.split(',').map(range).collect::<Result<_>>()?))
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
        let message = |text: &str| text.parse::<Selection>().unwrap_err().to_string();
        for (text, found) in [
            ("", ""),
            ("a", "a"),
            ("1..", ""),
            ("-1", "-1"),
            ("0..=4", "=4"),
            ("1,,2", ""),
            ("99999999999999999999999", "99999999999999999999999"),
        ] {
            let expected = format!("found `{found}`, expected numbers and ranges such as `0..100,205`");
            assert_eq!(message(text), expected, "{text}");
        }
        for text in ["3..3", "5..2"] {
            let expected = format!("found the empty range `{text}`; ranges are half-open, as in `0..100`");
            assert_eq!(message(text), expected);
        }
    }

    /// Ranges are not written out, so a typing error does not fill the memory.
    #[test]
    fn numbers_that_a_study_does_not_have_are_named() {
        let many: Selection = "0..18446744073709551615".parse().unwrap();
        let message =
            |selection: &Selection, runs: usize| selection.check_against(runs).unwrap_err().to_string();
        assert_eq!(message(&many, 36), "the study has no run 36; expected 0 to 35");
        let one: Selection = "40".parse().unwrap();
        assert_eq!(message(&one, 36), "the study has no run 40; expected 0 to 35");
        assert_eq!(message(&one, 1), "the study has no run 40; there is only run 0");
        assert_eq!(message(&one, 0), "the study has no run 40; there are no runs");
        assert!(one.check_against(41).is_ok());
        assert_eq!(many.len(), usize::MAX);
        assert!(many.contains(7) && !one.contains(7));
    }
}
