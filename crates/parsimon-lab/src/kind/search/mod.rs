//! Search for a configuration in which a theorem fails.
//!
//! The grid is dimension, length of the truth, rounds, step, order of the rows and noise; a trial takes its share of it, each configuration with rows of its
//! own, and then climbs from its worst configuration: one coordinate is moved, or the rows are drawn again, and the worse configuration is kept. The search knows
//! only the two sides of the theorem, so it finds a violation from a cold start or not at all.

mod averaging;
mod case;
mod constrained;
mod geometry;
mod lazy;
mod pairs;

use serde::{Deserialize, Serialize};

use case::Order;
pub(crate) use case::{Case, GRID};

use super::Run;

/// Rounding, relative to the terms compared, that is no violation.
pub(crate) const SLACK: f64 = 1e-9;

/// The fewest configurations on which a theorem is said to hold.
pub const FEWEST: u64 = 2000;

/// Moves of the climb for every ten configurations of the grid.
const CLIMB: usize = 1;

/// A statement with two sides.
pub(crate) struct Statement {
    /// The name that experiments use.
    pub(crate) name: &'static str,
    /// The inequality or equation searched.
    pub(crate) says: &'static str,
    /// Excess of the left side over the right, relative to their terms. The second argument multiplies one constant of the right side: 1 is the
    /// theorem as stated, and a smaller one is a false theorem that a search has to refute.
    pub(crate) excess: fn(&Case, f64) -> f64,
}

/// Every statement that can be searched.
pub(crate) fn statements() -> impl Iterator<Item = &'static Statement> {
    let parts =
        [constrained::STATEMENTS, averaging::STATEMENTS, lazy::STATEMENTS, geometry::STATEMENTS];
    parts.into_iter().flatten()
}

/// Findings of a search about one statement, in one trial or in all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The statement's name.
    pub statement: String,
    /// The inequality or equation.
    pub says: String,
    /// Whether the verdict rests on it.
    pub core: bool,
    /// Configurations tried.
    pub configurations: u64,
    /// Number of configurations that violate the statement.
    pub broken: u64,
    /// The largest excess of the left side over the right, relative to their terms; above zero the statement is broken.
    pub worst: f64,
    /// The configuration of the largest excess.
    pub at: String,
}

impl Searched {
    /// Two parts of a search put together.
    pub(crate) fn join(&mut self, other: &Searched) {
        self.configurations += other.configurations;
        self.broken += other.broken;
        if other.worst > self.worst {
            self.worst = other.worst;
            self.at.clone_from(&other.at);
        }
    }
}

/// Search of a trial, as in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The statement's name, or `pairs` for the pairs of the experiment.
    pub statement: String,
    /// Whether the verdict rests on it.
    #[serde(default = "yes")]
    pub core: bool,
}

fn yes() -> bool {
    true
}

impl Search {
    /// Whether the statement exists.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.statement == pairs::NAME || statements().any(|s| s.name == self.statement) {
            return Ok(());
        }
        let names: Vec<&str> = statements().map(|s| s.name).collect();
        Err(format!(
            "there is no statement {:?} to search; there are {}",
            self.statement,
            names.join(", ")
        ))
    }
}

/// The trial's share of the search, for every statement of the experiment.
pub(super) fn trial(run: &Run<'_>, configurations: usize) -> Result<Vec<Searched>, String> {
    let mut found = Vec::new();
    for search in &run.experiment.searches {
        let searched = match statements().find(|s| s.name == search.statement) {
            Some(statement) => {
                let excess = |case: &Case| (statement.excess)(case, 1.0);
                find(&excess, run.number, run.seed, configurations, statement.name, statement.says)
            }
            None => pairs::search(run, configurations)?,
        };
        found.push(Searched { core: search.core, ..searched });
    }
    Ok(found)
}

/// A part of the grid, then a climb from its worst configuration.
pub(crate) fn find(
    excess: &dyn Fn(&Case) -> f64,
    part: u64,
    seed: u64,
    configurations: usize,
    name: &str,
    says: &str,
) -> Searched {
    let mut found = Searched {
        statement: name.to_owned(),
        says: says.to_owned(),
        core: true,
        configurations: 0,
        broken: 0,
        worst: f64::NEG_INFINITY,
        at: String::new(),
    };
    let mut worst: Option<Case> = None;
    let first = part * configurations as u64;
    for k in 0..configurations as u64 {
        let case = Case::of_grid(first + k, seed ^ (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        if found.tried(&case, excess(&case)) {
            worst = Some(case);
        }
    }
    let Some(mut worst) = worst else { return found };
    for k in 0..(configurations * CLIMB).div_ceil(10) as u64 {
        let case = worst.neighbor(k, seed);
        if found.tried(&case, excess(&case)) {
            worst = case;
        }
    }
    found
}

impl Searched {
    /// Counts a configuration. Returns whether it is the worst so far.
    fn tried(&mut self, case: &Case, excess: f64) -> bool {
        self.configurations += 1;
        // A run that overflows is not compared.
        if !excess.is_finite() {
            return false;
        }
        self.broken += u64::from(excess > SLACK);
        let is_worst = excess > self.worst;
        if is_worst {
            self.worst = excess;
            self.at = case.to_string();
        }
        is_worst
    }
}

#[cfg(test)]
mod tests;
