//! Runs trials in parallel, keeps those that are finished, and puts the results together.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use cpu_time::ThreadTime;
use parsimon::workspace::number::thousands;

use crate::data::stand_in::is_generated;
use crate::experiment::{Category, Changed, Effort, Experiment, Origin};
use crate::kind::{Run, Trial};
use crate::pace::Pace;
use crate::picture::Picture;
use crate::place::Place;
use crate::summary::{Means, average};
use crate::verdict::{Basis, FEWEST_TRIALS, Finding, Status, Verdict, is_far, judge, searched};

/// Per experiment and variant, the number of trials that were looked at last, and whether they decide.
type Decided = BTreeMap<(usize, usize), (u64, bool)>;

/// Experiments to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// Amount.
    pub effort: Effort,
    /// The number of trials, if not the experiment's.
    pub trials: Option<u64>,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Number of trials that run in parallel; does not change the results.
    pub threads: usize,
    /// Folder of real data.
    pub data: PathBuf,
    /// Folder of finished trials, from which an interrupted run continues.
    pub folder: PathBuf,
    /// CPU time of new trials after which only the trials that every verdict needs are begun.
    pub budget: Option<Duration>,
}

/// A finished experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// `paper/name`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Place in the paper.
    pub printed: String,
    /// Claim of the paper.
    pub claim: String,
    /// Sort of the claim.
    pub category: Category,
    /// Information that the claim depends on and the paper does not give.
    #[serde(default)]
    pub open: Option<String>,
    /// Whether its rows differ from the paper's.
    #[serde(default)]
    pub is_other: bool,
    /// Changes after a result was seen.
    #[serde(default)]
    pub changed: Option<Changed>,
    /// Command and date of the run.
    pub how: String,
    /// Remarks on the settings.
    pub note: Option<String>,
    /// Verdict under the paper's own settings.
    pub verdict: Verdict,
    /// Every way it was run, the paper's first.
    pub variants: Vec<VariantOutcome>,
    #[serde(skip)]
    pub(crate) experiment: Option<Experiment>,
}

impl Outcome {
    /// The paper's short name.
    pub fn paper(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }

    /// An expectation about something that was run and that no method measures, with its line in the file.
    pub fn unmeasured(&self) -> Option<String> {
        let experiment = self.experiment.as_ref()?;
        for expectation in &experiment.expectations {
            let sides = [Some(&expectation.left), expectation.right.as_ref()].into_iter().flatten();
            for place in sides.filter_map(|side| Place::parse(side).ok()) {
                let lacks = |v: &&VariantOutcome| {
                    let of = v.means.get(&place.method);
                    v.trials > 0 && of.is_some_and(|of| !of.contains_key(&place.measure))
                };
                let Some(variant) = self.variants.iter().find(lacks) else { continue };
                let known: Vec<&str> =
                    variant.means[&place.method].keys().map(String::as_str).collect();
                let line = experiment.line_of(&expectation.says).unwrap_or(1);
                return Some(format!(
                    "{}: line {line}: {:?}: nothing measures {:?}; there are {}",
                    self.id,
                    expectation.says,
                    place.measure,
                    known.join(", ")
                ));
            }
        }
        None
    }

    /// Every reason why something was not run, with the experiments it stopped.
    pub fn gaps(outcomes: &[Outcome]) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for outcome in outcomes {
            for why in outcome.variants.iter().filter_map(|v| v.failure.as_deref()) {
                let known = reasons.iter().position(|(reason, _)| *reason == why);
                let k = known.unwrap_or_else(|| {
                    reasons.push((why, Vec::new()));
                    reasons.len() - 1
                });
                if !reasons[k].1.contains(&outcome.id.as_str()) {
                    reasons[k].1.push(&outcome.id);
                }
            }
        }
        reasons
    }
}

/// One way an experiment was run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VariantOutcome {
    /// Difference from the experiment.
    pub name: String,
    /// Number of trials.
    pub trials: usize,
    /// Number of trials that the file asks for.
    #[serde(default)]
    pub planned: usize,
    /// Why there are fewer trials than planned.
    #[serde(default)]
    pub stopped: Option<String>,
    /// Horizon, where efforts differ in it.
    pub horizon: Option<String>,
    /// Respect in which the trials differ.
    pub trials_differ: String,
    /// Whether its rows differ from the paper's.
    #[serde(default)]
    pub is_other: bool,
    /// Generated replacement of a missing data set.
    pub stand_in: Option<String>,
    /// Verdict on the claim.
    pub verdict: Verdict,
    /// The expectations, measured.
    pub findings: Vec<Finding>,
    /// The curves.
    pub means: Means,
    /// Values chosen in the trials, one line for each method.
    pub chosen: Vec<String>,
    /// Pictures of the first trial besides its curves.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
    /// Reason why nothing was run.
    pub failure: Option<String>,
}

impl VariantOutcome {
    /// Summary of the expectations: `5 hold, 1 refuted, 2 undecided of 8`.
    pub fn count(&self) -> String {
        let of = |status| self.findings.iter().filter(|f| f.status == status).count();
        let parts = [
            (of(Status::Holds), "hold"),
            (of(Status::Refuted), "refuted"),
            (of(Status::Undecided), "undecided"),
            (of(Status::Empty), "without a rival"),
            (of(Status::NotMeasured), "not measured"),
        ];
        if of(Status::Preview) > 0 {
            let so_far = self.findings.iter().filter(|f| f.leans == Some(true)).count();
            return format!("so far {so_far} of {}", self.findings.len());
        }
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
        let parts = format!("{} of {}", parts.collect::<Vec<_>>().join(", "), self.findings.len());
        let fewest = self.findings.iter().filter_map(|f| f.configurations).min();
        match fewest {
            Some(searched) => format!("{parts}; {} configurations searched", thousands(searched)),
            None => parts,
        }
    }
}

impl VariantOutcome {
    /// Agreement and disagreement with the paper, if the rows are not the paper's.
    pub fn agreement(&self) -> [(&'static str, Vec<&str>); 3] {
        let of = |status: &[Status]| -> Vec<&str> {
            let is_asked = |f: &&Finding| status.contains(&f.status);
            self.findings.iter().filter(is_asked).map(|f| f.says.as_str()).collect()
        };
        [
            ("agrees with the paper", of(&[Status::Holds])),
            ("differs", of(&[Status::Refuted])),
            ("not separated", of(&[Status::Undecided, Status::Empty])),
        ]
    }
}

/// State of the run when a trial begins or is done.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The experiment.
    pub id: &'a str,
    /// Whether the trial begins or is done.
    pub step: Step,
    /// Trials done of the experiment.
    pub done_here: usize,
    /// Trials of the experiment.
    pub of_here: usize,
    /// Number of its finished trials from an earlier run.
    pub kept_here: usize,
    /// Number of its trials that were not begun: it was decided without them, or the time was up.
    pub spared_here: usize,
    /// Total time of its trials.
    pub spent_here: Duration,
    /// Remaining time of the experiment, once one of its trials has been timed.
    pub left_here: Option<Duration>,
    /// Trials done, of all experiments.
    pub done: usize,
    /// Trials in all.
    pub total: usize,
    /// Number of finished trials from an earlier run.
    pub kept: usize,
    /// Remaining time of all experiments, once a trial has been timed.
    pub left: Option<Duration>,
}

/// Events of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Begins,
    /// It is done.
    Done,
    /// It is not begun.
    Spared,
}

/// Trials are looked at in blocks: after each, an experiment whose intervals are far from all boundaries is stopped, and experiments take
/// turns by blocks, so that each has some trials when the time is up.
const BLOCK: u64 = FEWEST_TRIALS as u64;

/// One trial of one variant.
struct Task<'a> {
    experiment: &'a Experiment,
    /// The experiment's place in the plan.
    place: usize,
    variant: usize,
    trial: u64,
}

/// The place of a trial's result.
type Slot = Mutex<Option<Result<Trial, String>>>;

/// The first trials of a task's variant, as far as they are done without a gap.
fn done(tasks: &[Task<'_>], results: &[Slot], task: &Task<'_>, before: u64) -> Vec<Trial> {
    let is_asked =
        |t: &Task<'_>| t.place == task.place && t.variant == task.variant && t.trial < before;
    let of = tasks.iter().zip(results).filter(|(t, _)| is_asked(t));
    of.map_while(|(_, place)| place.lock().ok()?.as_ref()?.as_ref().ok().cloned()).collect()
}

/// A trial on disk, with what it depends on.
#[derive(Serialize, Deserialize)]
struct Kept {
    fingerprint: u64,
    trial: Trial,
}

impl Plan {
    /// Runs everything. Trials are independent of each other and of the number of threads.
    pub fn run(&self, report: &(dyn Fn(Progress<'_>) + Sync)) -> Vec<Outcome> {
        let tasks = self.tasks();
        let next = AtomicUsize::new(0);
        let threads = parsimon_files::threads::usable(self.threads).min(tasks.len().max(1));
        let counts = self.experiments.iter().map(|e| e.variants.len() * self.count(e) as usize);
        let pace = Mutex::new(Pace::new(counts, threads));
        let results: Vec<Slot> = tasks.iter().map(|_| Mutex::new(None)).collect();
        let (spent, known) = (Mutex::new(Duration::ZERO), Mutex::default());
        let is_over = || {
            let spent = *spent.lock().unwrap_or_else(PoisonError::into_inner);
            self.budget.is_some_and(|budget| spent >= budget)
        };
        // Under the lock, so that reports come in order.
        let tell = |task: &Task<'_>, step: Step, took: Option<Duration>| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            if step == Step::Done {
                pace.finish(task.place, took);
            } else if step == Step::Spared {
                pace.spare(task.place);
            }
            report(progress(&pace, task, step));
        };
        let work = || {
            while let Some((task, result)) = {
                let k = next.fetch_add(1, Ordering::Relaxed);
                tasks.get(k).zip(results.get(k))
            } {
                // Kept trials cost nothing, and a run that goes on finds those of the run before.
                let is_spared = task.trial >= BLOCK
                    && (self.is_decided(&tasks, &results, task, &known)
                        || (is_over() && !self.is_kept(task)));
                if is_spared {
                    tell(task, Step::Spared, None);
                    continue;
                }
                tell(task, Step::Begins, None);
                let (start, cpu) = (Instant::now(), ThreadTime::try_now());
                let (trial, was_kept) = self.perform(task);
                if let Ok(mut spent) = spent.lock() {
                    *spent += cpu.and_then(|cpu| cpu.try_elapsed()).unwrap_or_default();
                }
                if let Ok(mut place) = result.lock() {
                    *place = Some(trial);
                }
                tell(task, Step::Done, (!was_kept).then(|| start.elapsed()));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // If the system allows no more threads, the existing ones do the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        // In the order of trials, whatever the order in which they were begun.
        let mut of: BTreeMap<(usize, usize, u64), Result<Trial, String>> = BTreeMap::new();
        for (task, place) in tasks.iter().zip(results) {
            if let Some(trial) = place.into_inner().ok().flatten() {
                of.insert((task.place, task.variant, task.trial), trial);
            }
        }
        let outcome = |(place, experiment): (usize, &Experiment)| {
            let variants = 0..experiment.variants.len();
            let runs = variants.map(|variant| {
                // Without a gap: a verdict is made from the first trials.
                let trials =
                    (0..self.count(experiment)).map_while(|t| of.remove(&(place, variant, t)));
                trials.collect()
            });
            self.outcome(experiment, runs.collect())
        };
        self.experiments.iter().enumerate().map(outcome).collect()
    }

    /// Whether the blocks of trials before a task's decide every comparison of its variant by far. A verdict then takes the first such
    /// number of blocks, so that it does not depend on which trials were begun.
    fn is_decided(
        &self,
        tasks: &[Task<'_>],
        results: &[Slot],
        task: &Task<'_>,
        known: &Mutex<Decided>,
    ) -> bool {
        if !self.may_stop() {
            return false;
        }
        let before = task.trial - task.trial % BLOCK;
        let key = (task.place, task.variant);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&key) {
            Some((looked_at, is_far)) if *is_far || *looked_at == before => return *is_far,
            _ => {}
        }
        let trials = done(tasks, results, task, before);
        let is_far = self.stops_at(task.experiment, task.variant, &trials).is_some();
        // While another thread is in the block, the next trial looks again.
        if is_far || trials.len() as u64 == before {
            known.insert(key, (before, is_far));
        }
        is_far
    }

    /// Whether a run may stop early: only where the number of trials is not fixed by the caller.
    fn may_stop(&self) -> bool {
        self.effort == Effort::Full && self.trials.is_none()
    }

    /// The number of trials after which a variant stops: the first whole number of blocks that decides everything by far.
    fn stops_at(&self, experiment: &Experiment, variant: usize, trials: &[Trial]) -> Option<usize> {
        if !self.may_stop() {
            return None;
        }
        let mut blocks = (1..).map(|k| k * BLOCK as usize).take_while(|n| *n <= trials.len());
        blocks.find(|n| is_far(experiment, &experiment.variants[variant], &trials[..*n]))
    }

    /// Whether a trial is in the folder.
    fn is_kept(&self, task: &Task<'_>) -> bool {
        read_kept(&self.path(task), self.fingerprint(task)).is_some()
    }

    fn count(&self, experiment: &Experiment) -> u64 {
        self.trials.unwrap_or_else(|| experiment.trials.at(self.effort)).max(1)
    }

    /// All trials: a block of each experiment, then the next block of each.
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for (place, experiment) in self.experiments.iter().enumerate() {
            for variant in 0..experiment.variants.len() {
                let trials = 0..self.count(experiment);
                tasks.extend(trials.map(|trial| Task { experiment, place, variant, trial }));
            }
        }
        tasks.sort_by_key(|t| (t.trial / BLOCK, t.place, t.variant, t.trial));
        tasks
    }

    /// The file of a trial.
    fn path(&self, task: &Task<'_>) -> PathBuf {
        let id = task.experiment.id.replace('/', "-");
        self.folder.join(format!("{id}-{}-{}.json", task.variant, task.trial))
    }

    /// A trial, from the folder if it is there.
    fn perform(&self, task: &Task<'_>) -> (Result<Trial, String>, bool) {
        let variant = &task.experiment.variants[task.variant];
        let fingerprint = self.fingerprint(task);
        let path = self.path(task);
        if let Some(trial) = read_kept(&path, fingerprint) {
            return (Ok(trial), true);
        }
        // All variants of a trial meet the same draws.
        let seed = mix(self.seed ^ mix(id_hash(&task.experiment.id)) ^ mix(task.trial + 1));
        let (experiment, effort, data) = (task.experiment, self.effort, &self.data);
        let is_first = task.trial == 0;
        let number = task.trial;
        let run =
            Run { experiment, variant, effort, number, seed, is_first, data, is_probe: false };
        // A defect in one loop must not cost the others their results.
        let trial = catch_unwind(|| run.trial())
            .unwrap_or_else(|why| Err(format!("the trial panicked: {}", words(&*why))));
        if let Ok(trial) = &trial {
            // Keeping is a convenience: a full disk must not cost the result.
            let _ = write_kept(&path, &Kept { fingerprint, trial: trial.clone() });
        }
        (trial, false)
    }

    /// Fingerprint of everything that a trial depends on: the program, the settings and the seed, without the claim.
    fn fingerprint(&self, task: &Task<'_>) -> u64 {
        let Experiment { id, kind, axes, settings, pairs, searches, .. } = task.experiment;
        let variant = &task.experiment.variants[task.variant];
        let methods = task.experiment.methods_of(variant);
        let text = format!(
            "{} {} {:?} {} {} {id} {kind:?} {axes:?} {settings:?} {pairs:?} {searches:?} {:?} {methods:?} {} {}",
            env!("CARGO_PKG_VERSION"),
            env!("PARSIMON_SOURCES"),
            self.effort,
            self.seed,
            task.trial,
            variant.settings,
            crate::peers::fingerprint(task.experiment),
            self.is_generated(task),
        );
        parsimon_files::checksum(text.as_bytes())
    }

    /// Whether rows are generated in the place of the set that a trial reads.
    fn is_generated(&self, task: &Task<'_>) -> bool {
        let variant = &task.experiment.variants[task.variant];
        let set = variant.settings.get("set").or(task.experiment.settings.get("set"));
        let name = set.and_then(toml::Value::as_str);
        name.is_some_and(|name| is_generated(name, &self.data))
    }

    fn outcome(&self, experiment: &Experiment, trials: Vec<Vec<Result<Trial, String>>>) -> Outcome {
        let count = self.count(experiment) as usize;
        let mut runs: Vec<(Vec<Trial>, Option<String>)> = Vec::new();
        let mut stops: Vec<Option<String>> = Vec::new();
        let mut is_whole = true;
        for (k, all) in trials.into_iter().enumerate() {
            let failure = all.iter().find_map(|t| t.as_ref().err().cloned());
            let begun = all.len();
            let mut done: Vec<Trial> = all.into_iter().filter_map(Result::ok).collect();
            // A failed trial makes the run a preview. The end of the time, or a block that decides, does not depend on undecided comparisons.
            is_whole &= done.is_empty() || done.len() == begun;
            let far = self.stops_at(experiment, k, &done).filter(|n| *n < count);
            stops.push(match far {
                Some(n) => {
                    done.truncate(n);
                    Some("every interval is far from its boundary".into())
                }
                None if begun < count && !done.is_empty() => Some("the time was up".into()),
                None => None,
            });
            runs.push((done, failure));
        }
        let pairs: Vec<_> =
            experiment.variants.iter().zip(&runs).map(|(v, (t, _))| (v, &t[..])).collect();
        // The number of trials is fixed in the file before any result was seen; another number, or a failed trial, gives a preview.
        let decides = self.effort != Effort::Quick && self.trials.is_none() && is_whole;
        let findings = judge(experiment, &pairs, decides);
        let mut variants = Vec::new();
        for (k, (((variant, (all, failure)), mut findings), stopped)) in
            experiment.variants.iter().zip(runs).zip(findings).zip(stops).enumerate()
        {
            findings.extend(searched(&all, decides));
            let stand_in = all.first().and_then(|t| t.stand_in.clone());
            let is_other = stand_in.is_some() || experiment.origin(variant) == Origin::Other;
            let basis = match experiment.category {
                Category::Theorem if k == 0 => Basis::Search,
                Category::Experiment if is_other => Basis::OtherData,
                _ => Basis::Data,
            };
            variants.push(VariantOutcome {
                name: variant.name.clone(),
                trials: all.len(),
                planned: count,
                stopped,
                horizon: experiment.horizon(variant, self.effort),
                trials_differ: experiment.trials_differ_in(variant).to_owned(),
                stand_in,
                is_other,
                verdict: match (Verdict::of(&findings, basis), &experiment.open) {
                    (Verdict::Reproduces | Verdict::Refuted, Some(_)) => Verdict::Undecided,
                    (verdict, _) => verdict,
                },
                findings,
                chosen: chosen(&all),
                pictures: all.first().map_or_else(Vec::new, |t| t.pictures.clone()),
                means: average(&all),
                failure,
            });
        }
        Outcome {
            id: experiment.id.clone(),
            title: experiment.title.clone(),
            printed: experiment.printed.clone(),
            claim: experiment.claim.clone(),
            category: experiment.category,
            open: experiment.open.clone(),
            is_other: variants.first().is_some_and(|v| v.is_other),
            changed: experiment.changed.clone(),
            how: String::new(),
            note: experiment.note.clone(),
            verdict: variants.first().map_or(Verdict::NotRun, |v| v.verdict),
            variants,
            experiment: Some(experiment.clone()),
        }
    }
}

fn progress<'a>(pace: &Pace, task: &Task<'a>, step: Step) -> Progress<'a> {
    let here = pace.part(task.place);
    Progress {
        id: &task.experiment.id,
        step,
        done_here: here.done,
        of_here: here.of,
        kept_here: here.kept,
        spared_here: here.spared,
        spent_here: here.spent,
        left_here: pace.left_of(task.place),
        done: pace.done(),
        total: pace.total(),
        kept: pace.kept(),
        left: pace.left(),
    }
}

/// Returns the chosen values, the most frequent first: `SGD: rate 2^-3 (×4), rate 2^-2`.
fn chosen(trials: &[Trial]) -> Vec<String> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (method, choice) in trials.iter().flat_map(|t| &t.chosen) {
        *counts.entry(method).or_default().entry(choice).or_default() += 1;
    }
    let line = |(method, choices): (&str, BTreeMap<&str, usize>)| {
        let mut choices: Vec<_> = choices.into_iter().collect();
        choices.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let times = |(choice, n): &(&str, usize)| match n {
            1 => (*choice).to_owned(),
            n => format!("{choice} (×{n})"),
        };
        let choices: Vec<String> = choices.iter().map(times).collect();
        format!("{method}: {}", choices.join(", "))
    };
    counts.into_iter().map(line).collect()
}

/// Returns the message of a panic.
fn words(why: &(dyn std::any::Any + Send)) -> &str {
    let text = why.downcast_ref::<String>().map(String::as_str);
    text.or(why.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

fn read_kept(path: &Path, fingerprint: u64) -> Option<Trial> {
    let kept: Kept = serde_json::from_slice(&parsimon_files::read_file(path).ok()?).ok()?;
    (kept.fingerprint == fingerprint).then_some(kept.trial)
}

fn write_kept(path: &Path, kept: &Kept) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        parsimon_files::create_folders(folder)?;
    }
    Ok(parsimon_files::write_file(path, serde_json::to_string(kept)?.as_bytes())?)
}

/// The FNV-1a hash of an experiment's id, from which its trials are drawn. The files of the experiments fix the draws, and
/// with them the verdicts of `record/lab.md`, so this hash must not change.
fn id_hash(id: &str) -> u64 {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    id.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// splitmix64's mixer.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_counted() {
        let trial = |rate: &str| Trial {
            chosen: BTreeMap::from([("SGD".to_owned(), format!("rate {rate}"))]),
            ..Trial::default()
        };
        let trials = ["2^-2", "2^-3", "2^-3", "2^-3"].map(trial);
        assert_eq!(chosen(&trials), ["SGD: rate 2^-3 (×3), rate 2^-2"]);
        assert!(chosen(&[]).is_empty());
    }
}
