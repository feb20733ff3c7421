//! The number of threads that a process may start for one task.
//!
//! Every thread takes address space and a share of the system's limits. A number far beyond the cores gains nothing, and a
//! very large one makes the runtime abort the process when a thread cannot set up its stack.

use std::thread::available_parallelism;

/// Threads for each available core. More than one keeps cores busy while some threads wait for their turn.
const PER_CORE: usize = 4;

/// Returns the number of threads to start when `requested` were asked for: at least 1, and at most four for each available core.
///
/// The number of cores is the one that the control group and the affinity of the process leave.
pub fn usable(requested: usize) -> usize {
    requested.clamp(1, most(available_parallelism().map_or(1, usize::from)))
}

/// Returns a sentence about threads that are not started, if `requested` is more than [`usable`].
pub fn notice(requested: usize) -> Option<String> {
    let used = usable(requested);
    (used < requested).then(|| {
        format!("{requested} threads were requested; {used} are used, {PER_CORE} for each core")
    })
}

fn most(cores: usize) -> usize {
    cores.saturating_mul(PER_CORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bounded_by_the_cores() {
        let cores = available_parallelism().map_or(1, usize::from);
        assert_eq!([0, 1].map(usable), [1, 1]);
        assert_eq!(usable(cores + 1), cores + 1);
        assert_eq!([most(cores), most(cores) + 1, usize::MAX].map(usable), [most(cores); 3]);
        assert_eq!(notice(most(cores)), None);
        let sentence = notice(1_000_000).unwrap();
        assert!(sentence.contains(&format!("{} are used", most(cores))), "{sentence}");
    }
}
