//! What a cluster allows, from `scontrol show config`.

use std::process::{Command, Stdio};

/// How large job arrays may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterLimits {
    /// The most tasks of one array; 0 where arrays are switched off.
    pub array_tasks: usize,
    /// The most jobs that the cluster keeps at a time, of all users; each task of an array is one.
    pub jobs: Option<usize>,
}

impl Default for ClusterLimits {
    /// Slurm's own defaults.
    fn default() -> Self {
        Self { array_tasks: 1001, jobs: None }
    }
}

impl ClusterLimits {
    /// Those of the cluster that this machine belongs to; none where it cannot be asked.
    pub fn of_cluster() -> Option<Self> {
        let output = Command::new("scontrol").args(["show", "config"]).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| Self::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    /// From the lines `Key = value` of `scontrol show config`. What they do not say is Slurm's default.
    pub fn parse(text: &str) -> Self {
        let value = |wanted: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            pairs.find(|(key, _)| key.trim() == wanted).map(|(_, value)| value.trim())
        };
        let number = |wanted: &str| value(wanted).and_then(|text| text.parse::<usize>().ok());
        // The largest index is one less than MaxArraySize, and ours begin at 0. A site may allow fewer tasks
        // than indices.
        let indices = number("MaxArraySize").unwrap_or(Self::default().array_tasks);
        let tasks = value("SchedulerParameters").into_iter().flat_map(|text| text.split(','));
        let tasks = tasks.filter_map(|pair| pair.trim().strip_prefix("max_array_tasks=")?.parse().ok());
        Self { array_tasks: tasks.fold(indices, usize::min), jobs: number("MaxJobCount") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "\
Configuration data as of 2026-11-16T11:07:40
AccountingStorageBackupHost = (null)
BOOT_TIME               = 2026-11-16T11:07:32
ClusterName             = test
MaxArraySize            = 20001
MaxDBDMsgs              = 20008
MaxJobCount             = 50000
SchedulerParameters     = (null)
SchedulerType           = sched/backfill

Slurmctld(primary) at vm is UP
";

    #[test]
    fn the_limits_are_read() {
        assert_eq!(ClusterLimits::parse(CONFIG), ClusterLimits { array_tasks: 20_001, jobs: Some(50_000) });
    }

    #[test]
    fn a_site_may_allow_fewer_tasks_than_indices() {
        let parameters = "= bf_continue,max_array_tasks=500,defer";
        let text = CONFIG.replace("= (null)\nSchedulerType", &format!("{parameters}\nSchedulerType"));
        assert_eq!(ClusterLimits::parse(&text).array_tasks, 500);
    }

    #[test]
    fn what_is_not_said_is_slurms_default() {
        assert_eq!(ClusterLimits::parse(""), ClusterLimits { array_tasks: 1001, jobs: None });
        assert_eq!(ClusterLimits::parse("MaxArraySize = 0\n").array_tasks, 0);
    }
}
