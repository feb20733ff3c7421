//! Power cuts after every operation of scripts, with many subsets of what was not synced; and power cuts during recovery from them.

use std::collections::BTreeSet;

use parsimon_testing::SplitMix64;

use super::driver::{Driver, Facts, Run, Wrong};
use super::script;
use crate::simulated::{SimulatedDisk, State};

/// Thoroughness of the search.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Crashes tried per state.
    pub(crate) subsets: usize,
    /// One of this number of recoveries is crashed, too.
    pub(crate) again: u64,
}

/// The disks that were recovered from.
#[derive(Default)]
pub(crate) struct Seen {
    /// The states by content alone, and by content with the facts that they were compared with.
    pub(crate) images: BTreeSet<u64>,
    checked: BTreeSet<(u64, u64, u64, usize)>,
    pub(crate) recoveries: usize,
    pub(crate) within_recovery: usize,
}

/// The ways in which a state may survive: all if they are few, else the extremes and a random choice.
fn subsets(state: &State, limit: usize, random: &mut SplitMix64) -> Vec<Vec<usize>> {
    let ways = state.choices();
    let total = ways.iter().try_fold(1_usize, |total, ways| total.checked_mul(*ways));
    if let Some(total) = total.filter(|total| *total <= limit) {
        let nth = |mut index: usize| {
            let digit = |ways: &usize| {
                let digit = index % ways;
                index /= ways;
                digit
            };
            ways.iter().map(digit).collect()
        };
        return (0..total).map(nth).collect();
    }
    let newest: Vec<usize> = ways.iter().map(|ways| ways - 1).collect();
    let mut chosen = vec![vec![0; ways.len()], newest.clone()];
    while chosen.len() < limit {
        let density = [0.1, 0.5, 0.9][random.below(3) as usize];
        let one = |ways: &usize| match random.chance(density) {
            true => 1 + random.below(*ways as u64 - 1) as usize,
            false => 0,
        };
        chosen.push(ways.iter().map(one).collect());
    }
    chosen
}

/// Crashes every state in many ways and recovers.
pub(crate) fn explore(
    (states, timeline): &Run,
    seed: u64,
    effort: Effort,
    deeper: bool,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    let random = &mut SplitMix64::new(seed);
    for (index, state) in states.iter().enumerate() {
        let facts = Facts::at(timeline, index);
        for choices in subsets(state, effort.subsets, random) {
            let image = state.crash(&choices);
            let digest = image.digest();
            let key = (digest, facts.acknowledged, facts.removed_before, facts.snapshots.len());
            if !seen.checked.insert(key) {
                continue;
            }
            let new = seen.images.insert(digest);
            seen.recoveries += 1;
            seen.within_recovery += usize::from(new && !deeper);
            let disk = SimulatedDisk::new(image, script::block(seed));
            let crash_again = deeper && random.below(effort.again) == 0;
            if !crash_again {
                Driver::open(disk, facts.clone())?;
                continue;
            }
            // Recover, append a few records, and crash at every step.
            disk.record();
            let mut driver = Driver::open(disk.clone(), facts.clone())?;
            // The facts from before hold while recovery runs.
            driver.timeline.insert(0, (0, facts.clone()));
            // Lost records are sent again before anything else.
            let lost = facts.sent.get(driver.facts.sent.len()).map(|sent| sent.bytes().to_vec());
            driver.send(&[lost.unwrap_or_default()])?;
            driver.commit()?;
            script::send(&mut driver, random)?;
            driver.commit()?;
            let run = (disk.take_history(), driver.timeline);
            let few = Effort { subsets: effort.subsets.min(4), again: 0 };
            explore(&run, seed, few, false, seen)?;
        }
    }
    Ok(())
}

/// Explores the scripts with these seeds.
pub(crate) fn scripts(
    seeds: std::ops::Range<u64>,
    steps: usize,
    effort: Effort,
) -> Result<Seen, Wrong> {
    let mut seen = Seen::default();
    for seed in seeds {
        let run = script::run(seed, steps)?;
        seen.checked.clear();
        explore(&run, seed, effort, true, &mut seen)
            .map_err(|wrong| Wrong::Promise(format!("seed {seed}: {wrong:?}")))?;
    }
    Ok(seen)
}

#[test]
fn no_acknowledged_record_is_lost_at_any_of_100_000_crash_points() {
    let run = |seeds| scripts(seeds, 150, Effort { subsets: 100, again: 20 }).unwrap();
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| run(0..70));
        let two = run(70..140);
        (one.join().unwrap(), two)
    });
    let images = one.images.union(&two.images).count();
    println!(
        "{images} distinct crash points, {} of them during a recovery; {} recoveries",
        one.within_recovery + two.within_recovery,
        one.recoveries + two.recoveries
    );
    assert!(images >= 100_000, "{images} distinct crash points");
}
