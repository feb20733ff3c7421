//! Memory that is available to this process.

use std::fs::read_to_string;
use std::path::Path;

/// Budget where the system does not report its memory.
const UNKNOWN: u64 = 8_000_000_000;

/// Three quarters of the memory of the machine, of the control group or of the address space, whichever is least.
pub(crate) fn usual_budget() -> u64 {
    let limits = [machine(), control_group(), address_space()];
    let least = limits.into_iter().flatten().min().unwrap_or(UNKNOWN);
    (least / 4 * 3).max(1)
}

/// The memory of the machine.
fn machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of the address space, `ulimit -v`.
fn address_space() -> Option<u64> {
    limit_of(&read_to_string("/proc/self/limits").ok()?)
}

fn limit_of(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The least limit of the control group of this process and those above it, in either version.
fn control_group() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // In a container the group may be mounted at the root.
        let above = Path::new(group.trim_start_matches('/')).ancestors();
        files.extend(above.map(|group| Path::new(root).join(group).join(file)));
    }
    let limit = |file: &std::path::PathBuf| read_to_string(file).ok()?.trim().parse().ok();
    files.iter().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_system_are_read() {
        let header = "Limit                     Soft Limit           Hard Limit           Units\n";
        let of =
            |soft: &str| format!("{header}Max address space         {soft}   unlimited    bytes\n");
        assert_eq!(limit_of(&of("4096000000")), Some(4_096_000_000));
        assert_eq!(limit_of(&of("unlimited")), None);
        assert_eq!(limit_of(header), None);
        assert!(usual_budget() > 0);
        if cfg!(target_os = "linux") {
            assert!(machine().is_some_and(|bytes| usual_budget() <= bytes / 4 * 3));
        }
    }
}
