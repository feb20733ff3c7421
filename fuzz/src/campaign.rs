//! Many inputs for one target, counted.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parsimon_testing::Mutator;
use parsimon_testing::allocation::peak;

use crate::{Outcome, Target};

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the message and the place of a panic instead of printing it. Panics of the Arrow libraries are caught by the readers, and
/// would fill the screen.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| LAST_PANIC.set(panic.to_string())));
}

/// The message and the place of the last panic of this thread.
pub fn last_panic() -> String {
    LAST_PANIC.take()
}

/// What became of the inputs of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All inputs.
    pub inputs: u64,
    /// Refused before their contents were looked at.
    pub unrecognized: u64,
    /// Refused for their contents.
    pub refused: u64,
    /// Taken.
    pub accepted: u64,
    /// The most bytes held at a time.
    pub peak: u64,
}

impl Tally {
    /// The share of inputs that got past the header.
    pub fn share_past_header(&self) -> f64 {
        (self.refused + self.accepted) as f64 / self.inputs.max(1) as f64
    }

    fn count(&mut self, outcome: Outcome) {
        self.inputs += 1;
        match outcome {
            Outcome::Unrecognized => self.unrecognized += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Accepted => self.accepted += 1,
        }
    }
}

/// An input that broke a promise.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which input it was, or the file it is from.
    pub origin: String,
    /// The input.
    pub bytes: Vec<u8>,
    /// What happened.
    pub words: String,
}

/// Inputs for one target. [`keep_panics`] should be called before.
pub struct Campaign<'a> {
    target: &'a Target,
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    /// What became of the inputs so far.
    pub tally: Tally,
}

impl<'a> Campaign<'a> {
    /// Reads every seed and every file of the corpus first: a seed that is refused is a fault, and what once broke something is
    /// tried again.
    pub fn new(target: &'a Target) -> Result<Self, Fault> {
        let mut campaign = Self {
            target,
            seeds: (target.seeds)(),
            words: target.words(),
            tally: Tally::default(),
        };
        for (k, seed) in campaign.seeds.clone().into_iter().enumerate() {
            let origin = format!("seed {k}");
            let outcome = campaign.attempt(&seed, || origin.clone())?;
            if outcome != Outcome::Accepted {
                let words = "a good input was refused".to_owned();
                return Err(Fault { origin, bytes: seed, words });
            }
        }
        // These are not mutated: some take gigabytes.
        for (file, bytes) in target.corpus() {
            campaign.attempt(&bytes, || file.clone())?;
        }
        Ok(campaign)
    }

    /// Mutates seeds until `go_on` has enough. The same number gives the same inputs.
    pub fn run(&mut self, number: u64, mut go_on: impl FnMut(u64) -> bool) -> Result<(), Fault> {
        let (seeds, words) = (self.seeds.clone(), self.words.clone());
        let mut mutator = Mutator::new(number, &seeds, &words);
        let mut k = 0;
        while go_on(k) {
            let bytes = mutator.next();
            let outcome = self.attempt(&bytes, || format!("input {k} of number {number}"))?;
            self.tally.count(outcome);
            k += 1;
        }
        Ok(())
    }

    fn attempt(&mut self, bytes: &[u8], origin: impl Fn() -> String) -> Result<Outcome, Fault> {
        let fault = |words| Fault { origin: origin(), bytes: bytes.to_vec(), words };
        let run = || (self.target.run)(bytes);
        let (result, held) = peak(|| catch_unwind(AssertUnwindSafe(run)));
        let outcome = result.map_err(|_| fault(last_panic()))?;
        self.tally.peak = self.tally.peak.max(held);
        let most = self.target.memory + 2000 * bytes.len() as u64;
        if held > most {
            return Err(fault(format!("took {held} bytes of memory, more than {most}")));
        }
        Ok(outcome)
    }
}
