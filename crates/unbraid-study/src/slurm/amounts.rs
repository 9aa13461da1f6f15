//! Times and amounts of memory as sbatch writes them, checked before anything is submitted.

use crate::error::{Error, Result};

/// How long before the end of its time a task is warned, in seconds: enough to write a checkpoint.
pub const WARNING_SECONDS: u64 = 120;

/// A task with less time than this would be warned, up to a minute early, before it has done anything.
const LEAST_SECONDS: u64 = 300;

/// Checks the value of `--time`: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`,
/// `days-hours:minutes` or `days-hours:minutes:seconds`.
///
/// # Errors
/// If it is none of these, or less than five minutes.
pub fn check_time(text: &str) -> Result {
    let wrong = |expected| Error::SlurmOption { option: "--time", found: text.to_owned(), expected };
    let seconds =
        seconds(text).ok_or_else(|| wrong("minutes, hours:minutes:seconds or days-hours:minutes:seconds"))?;
    if seconds < LEAST_SECONDS {
        return Err(wrong(
            "at least 5 minutes: runs are warned 2 minutes before the end, to save themselves",
        ));
    }
    Ok(())
}

fn seconds(text: &str) -> Option<u64> {
    // `parse` alone would let a plus sign through.
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(number).collect::<Option<Vec<u64>>>()?;
    let [hours, minutes, seconds] = match (days, parts.as_slice()) {
        (Some(_), [hours]) => [*hours, 0, 0],
        (Some(_), [hours, minutes]) => [*hours, *minutes, 0],
        (None, [minutes]) => [0, *minutes, 0],
        (None, [minutes, seconds]) => [0, *minutes, *seconds],
        (_, [hours, minutes, seconds]) => [*hours, *minutes, *seconds],
        _ => return None,
    };
    let scaled = |count: u64, unit: u64| count.checked_mul(unit);
    scaled(days.unwrap_or(0), 86_400)?
        .checked_add(scaled(hours, 3600)?)?
        .checked_add(scaled(minutes, 60)?)?
        .checked_add(seconds)
}

/// Checks the value of `--mem`: a whole number of megabytes, or of what K, M, G or T says.
///
/// # Errors
/// If it is something else.
pub fn check_memory(text: &str) -> Result {
    let number = text.strip_suffix(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']).unwrap_or(text);
    if !number.is_empty() && number.len() <= 12 && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(());
    }
    Err(Error::SlurmOption {
        option: "--mem",
        found: text.to_owned(),
        expected: "a whole number of megabytes, or one with K, M, G or T, as in `4G`",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_time() {
        for (text, expected) in [
            ("90", 5400),
            ("90:30", 5430),
            ("2:00:00", 7200),
            ("100:00:01", 360_001),
            ("1-0", 86_400),
            ("1-2:30", 95_400),
            ("10-02:30:05", 873_005),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
            check_time(text).unwrap();
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2h",
            "-1",
            "+90",
            "1:2:3:4",
            "1-",
            "1-2-3",
            "1.5",
            " 90",
            "1:",
            "99999999999999999999",
            "--wrap=id",
        ] {
            let expected = format!(
                "--time: found `{text}`, expected minutes, hours:minutes:seconds or days-hours:minutes:seconds"
            );
            assert_eq!(check_time(text).unwrap_err().to_string(), expected);
        }
        for text in ["0", "4", "4:59", "0:04:59"] {
            let expected = format!(
                "--time: found `{text}`, expected at least 5 minutes: runs are warned 2 minutes before the end, to save \
                 themselves"
            );
            assert_eq!(check_time(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn memory_is_a_number_and_a_unit() {
        for text in ["4G", "500", "500M", "1t", "0", "2000000k"] {
            check_memory(text).unwrap();
        }
        for text in ["", "G", "4GB", "-4G", "1.5G", "4 G", "9999999999999", "4G\n#"] {
            let expected = format!(
                "--mem: found `{text}`, expected a whole number of megabytes, or one with K, M, G or T, as in `4G`"
            );
            assert_eq!(check_memory(text).unwrap_err().to_string(), expected);
        }
    }
}
