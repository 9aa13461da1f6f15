//! Cutting a list of tasks into job arrays that a cluster accepts.

use crate::error::{Error, Result};

/// A job array: a stretch of the list of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobArray {
    /// The place in the list of its first task, which has the array index 0.
    pub offset: usize,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many of them may run at the same time; as many as fit on the cluster if `None`.
    pub at_once: Option<usize>,
}

impl JobArray {
    /// What `sbatch --array` takes: `0-999%50`.
    pub fn indices(&self) -> String {
        let last = self.tasks.saturating_sub(1);
        let limit = self.at_once.map(|limit| format!("%{limit}")).unwrap_or_default();
        format!("0-{last}{limit}")
    }
}

/// As few arrays as possible of at most `most` tasks each, all of about the same size. Together they run at
/// most `at_once` tasks at the same time: Slurm counts for each array alone, so each gets its share.
///
/// # Errors
/// If `at_once` is less than one for each array.
pub fn cut(tasks: usize, most: usize, at_once: Option<usize>) -> Result<Vec<JobArray>> {
    let count = tasks.div_ceil(most.max(1));
    if let Some(limit) = at_once
        && limit < count
    {
        return Err(Error::ArrayLimit { limit, arrays: count, tasks, most });
    }
    let mut offset = 0;
    let mut arrays = Vec::with_capacity(count);
    for place in 0..count {
        let tasks = share(tasks, count, place);
        arrays.push(JobArray { offset, tasks, at_once: at_once.map(|limit| share(limit, count, place)) });
        offset += tasks;
    }
    Ok(arrays)
}

/// What the part at `place` gets of `all` when `count` parts share as evenly as whole numbers can; the first
/// ones get more.
fn share(all: usize, count: usize, place: usize) -> usize {
    all / count + usize::from(place < all % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(offset: usize, tasks: usize, at_once: Option<usize>) -> JobArray {
        JobArray { offset, tasks, at_once }
    }

    #[test]
    fn ten_tasks_in_arrays_of_four_are_four_and_three_and_three() {
        let expected = [array(0, 4, None), array(4, 3, None), array(7, 3, None)];
        assert_eq!(cut(10, 4, None).unwrap(), expected);
        // Five at once for three arrays.
        let limits = cut(10, 4, Some(5)).unwrap().iter().map(|array| array.at_once).collect::<Vec<_>>();
        assert_eq!(limits, [Some(2), Some(2), Some(1)]);
    }

    #[test]
    fn what_fits_is_one_array() {
        assert_eq!(cut(4, 4, Some(9)).unwrap(), [array(0, 4, Some(9))]);
        assert_eq!(cut(1, 1001, None).unwrap(), [array(0, 1, None)]);
        assert_eq!(cut(0, 1001, None).unwrap(), []);
    }

    /// 10,800 runs under Slurm's default of 1,001: eleven arrays, 9 of 982 and 2 of 981.
    #[test]
    fn a_large_study_under_the_default_limit() {
        let arrays = cut(10_800, 1001, None).unwrap();
        let sizes: Vec<usize> = arrays.iter().map(|array| array.tasks).collect();
        assert_eq!(sizes, [982, 982, 982, 982, 982, 982, 982, 982, 982, 981, 981]);
        assert_eq!(arrays[10].offset, 9 * 982 + 981);
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_refused() {
        assert_eq!(
            cut(10, 4, Some(2)).unwrap_err().to_string(),
            "limit of simultaneous tasks: found 2, expected at least 3, since 10 tasks need 3 arrays of at most 4 \
             tasks, and each array runs at least one at a time"
        );
    }

    #[test]
    fn indices_as_sbatch_takes_them() {
        assert_eq!(array(7, 3, None).indices(), "0-2");
        assert_eq!(array(0, 1000, Some(50)).indices(), "0-999%50");
        assert_eq!(array(0, 1, None).indices(), "0-0");
    }
}
