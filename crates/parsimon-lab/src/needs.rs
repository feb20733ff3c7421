//! Data sets that experiments read.

use crate::data::stand_in::has_stand_in;
use crate::data::{Set, find};
use crate::experiment::{Experiment, Kind};

/// Sources of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A package carries it.
    Package,
    /// Rows with its counts are generated if there is no copy.
    StandIn,
    /// The set must be copied by hand.
    Copy,
}

/// Every set that one of the experiments reads, with its source, in the order of first use.
pub fn needed(experiments: &[Experiment]) -> Vec<(&'static Set, Source)> {
    let mut sets: Vec<(&'static Set, Source)> = Vec::new();
    for name in experiments.iter().flat_map(names) {
        let Some(set) = find(&name) else { continue };
        if sets.iter().any(|(known, _)| known.name == set.name) {
            continue;
        }
        let source = match (&set.package, has_stand_in(&set.name)) {
            (Some(_), _) => Source::Package,
            (None, true) => Source::StandIn,
            (None, false) => Source::Copy,
        };
        sets.push((set, source));
    }
    sets
}

/// The names of the sets one experiment reads, in any of its variants.
fn names(experiment: &Experiment) -> Vec<String> {
    let fixed: &[&str] = match experiment.kind {
        Kind::Digits => &["mnist"],
        Kind::Echo => &["g168", "speech-asterisk"],
        _ => &[],
    };
    let variants = experiment.variants.iter().map(|v| &v.settings);
    let tables = std::iter::once(&experiment.settings).chain(variants);
    let named = tables.filter_map(|table| {
        let set = table.get("set").or_else(|| table.get("corpus"))?.as_str()?;
        Some(match set {
            "reuters" => "rcv1-text",
            "newsgroups" => "20news",
            digits if digits.starts_with("mnist-") => "mnist",
            other => other,
        })
    });
    fixed.iter().copied().chain(named).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    /// A clean clone runs nearly everything: by packages, and by rows that are generated. Reviews with all of their words are the exception.
    #[test]
    fn few_experiments_need_a_copy() {
        let all = experiments().unwrap();
        let needs_copy = |e: &&Experiment| {
            let first = Experiment { variants: e.variants[..1].to_vec(), ..(*e).clone() };
            needed(&[first]).iter().any(|(_, source)| *source == Source::Copy)
        };
        let stuck: Vec<&str> = all.iter().filter(needs_copy).map(|e| e.id.as_str()).collect();
        assert!(all.len() >= 35 && stuck.len() <= 5, "{stuck:?} of {}", all.len());
    }

    #[test]
    fn every_set_that_is_named_is_known() {
        for experiment in experiments().unwrap() {
            for name in names(&experiment) {
                assert!(find(&name).is_some(), "{}: {name}", experiment.id);
            }
        }
    }
}
