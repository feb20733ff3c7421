//! Runs trials in parallel, keeps those that are finished, and puts the results together.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::data::stand_in::is_generated;
use crate::experiment::{Category, Effort, Experiment};
use crate::kind::{Run, Trial};
use crate::pace::Pace;
use crate::picture::Picture;
use crate::summary::{Means, average};
use crate::verdict::{Finding, Status, Verdict, judge};

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// How much of it.
    pub effort: Effort,
    /// The number of trials, if not the experiment's.
    pub trials: Option<u64>,
    /// Everything that is drawn follows from it.
    pub seed: u64,
    /// How many trials run side by side; it changes no number.
    pub threads: usize,
    /// Where real data is.
    pub data: PathBuf,
    /// Where finished trials are kept; a run that was interrupted goes on from them.
    pub folder: PathBuf,
}

/// A finished experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// `paper/name`.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where the paper has it.
    pub printed: String,
    /// What the paper says.
    pub claim: String,
    /// What sort of claim it is.
    pub category: Category,
    /// How and when it was run.
    #[serde(default)]
    pub how: String,
    /// What a reader should know about the settings.
    pub note: Option<String>,
    /// What the paper's own settings say about the claim.
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
    /// What is different about it.
    pub name: String,
    /// How many trials.
    pub trials: usize,
    /// At which horizon, where efforts differ in it.
    pub horizon: Option<String>,
    /// In which respect the trials differ.
    pub trials_differ: String,
    /// What was generated in the place of a set that is not there.
    pub stand_in: Option<String>,
    /// What it says about the claim.
    pub verdict: Verdict,
    /// The expectations, measured.
    pub findings: Vec<Finding>,
    /// The curves.
    pub means: Means,
    /// What was chosen in the trials, a line for each method.
    pub chosen: Vec<String>,
    /// What the first trial shows beside its curves.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
    /// Why there is nothing, if there is nothing.
    pub failure: Option<String>,
}

impl VariantOutcome {
    /// How the expectations came out: `5 hold, 1 refuted, 2 undecided of 8`.
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
        format!("{} of {}", parts.collect::<Vec<_>>().join(", "), self.findings.len())
    }
}

/// A trial begins or is done, and where that leaves the run.
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
    /// How many of its finished trials were kept from an earlier run.
    pub kept_here: usize,
    /// What its trials took, one after the other.
    pub spent_here: Duration,
    /// How long the experiment still takes, once one of its trials has been timed.
    pub left_here: Option<Duration>,
    /// Trials done, of all experiments.
    pub done: usize,
    /// Trials in all.
    pub total: usize,
    /// How many of the finished ones were kept from an earlier run.
    pub kept: usize,
    /// How long everything still takes, once a trial has been timed.
    pub left: Option<Duration>,
}

/// What happened to a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Begins,
    /// It is done.
    Done,
}

/// One trial of one variant.
struct Task<'a> {
    experiment: &'a Experiment,
    /// The experiment's place in the plan.
    place: usize,
    variant: usize,
    trial: u64,
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
        let threads = self.threads.clamp(1, tasks.len().max(1));
        let counts = self.experiments.iter().map(|e| e.variants.len() * self.count(e) as usize);
        let pace = Mutex::new(Pace::new(counts, threads));
        let results: Vec<Mutex<Option<Result<Trial, String>>>> =
            tasks.iter().map(|_| Mutex::new(None)).collect();
        // Under the lock, so that reports come in order.
        let tell = |task: &Task<'_>, step: Step, took: Option<Duration>| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            if step == Step::Done {
                pace.finish(task.place, took);
            }
            report(progress(&pace, task, step));
        };
        let work = || {
            while let Some((task, result)) = {
                let k = next.fetch_add(1, Ordering::Relaxed);
                tasks.get(k).zip(results.get(k))
            } {
                tell(task, Step::Begins, None);
                let start = Instant::now();
                let (trial, was_kept) = self.perform(task);
                if let Ok(mut place) = result.lock() {
                    *place = Some(trial);
                }
                tell(task, Step::Done, (!was_kept).then(|| start.elapsed()));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system allows no more threads, those at hand do the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut trials = results.into_iter().map(|place| {
            let finished = place.into_inner().ok().flatten();
            finished.unwrap_or_else(|| Err("the trial did not finish".into()))
        });
        let outcome = |experiment| self.outcome(experiment, &mut trials);
        self.experiments.iter().map(outcome).collect()
    }

    fn count(&self, experiment: &Experiment) -> u64 {
        self.trials.unwrap_or_else(|| experiment.trials.at(self.effort)).max(1)
    }

    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for (place, experiment) in self.experiments.iter().enumerate() {
            for variant in 0..experiment.variants.len() {
                let trials = 0..self.count(experiment);
                tasks.extend(trials.map(|trial| Task { experiment, place, variant, trial }));
            }
        }
        tasks
    }

    /// A trial, from the folder if it is there.
    fn perform(&self, task: &Task<'_>) -> (Result<Trial, String>, bool) {
        let variant = &task.experiment.variants[task.variant];
        let fingerprint = self.fingerprint(task);
        let name = format!(
            "{}-{}-{}.json",
            task.experiment.id.replace('/', "-"),
            task.variant,
            task.trial
        );
        let path = self.folder.join(name);
        if let Some(trial) = read_kept(&path, fingerprint) {
            return (Ok(trial), true);
        }
        // All variants of a trial meet the same draws.
        let seed = mix(self.seed ^ mix(hash(task.experiment.id.as_bytes())) ^ mix(task.trial + 1));
        let (experiment, effort, data) = (task.experiment, self.effort, &self.data);
        let is_first = task.trial == 0;
        let run = Run { experiment, variant, effort, seed, is_first, data };
        // A defect in one loop must not cost the others their results.
        let trial = catch_unwind(|| run.trial())
            .unwrap_or_else(|why| Err(format!("the trial panicked: {}", words(&*why))));
        if let Ok(trial) = &trial {
            // Keeping is a convenience: a full disk must not cost the result.
            let _ = write_kept(&path, &Kept { fingerprint, trial: trial.clone() });
        }
        (trial, false)
    }

    /// All that a trial depends on, in one number: the program, the settings, the seed, but not what the claim is.
    fn fingerprint(&self, task: &Task<'_>) -> u64 {
        let Experiment { id, kind, axes, settings, pairs, .. } = task.experiment;
        let variant = &task.experiment.variants[task.variant];
        let methods = task.experiment.methods_of(variant);
        let text = format!(
            "{} {} {:?} {} {} {id} {kind:?} {axes:?} {settings:?} {pairs:?} {:?} {methods:?} {} {}",
            env!("CARGO_PKG_VERSION"),
            env!("PARSIMON_SOURCES"),
            self.effort,
            self.seed,
            task.trial,
            variant.settings,
            crate::peers::fingerprint(task.experiment),
            self.is_generated(task),
        );
        hash(text.as_bytes())
    }

    /// Whether rows are generated in the place of the set that a trial reads.
    fn is_generated(&self, task: &Task<'_>) -> bool {
        let variant = &task.experiment.variants[task.variant];
        let set = variant.settings.get("set").or(task.experiment.settings.get("set"));
        let name = set.and_then(toml::Value::as_str);
        name.is_some_and(|name| is_generated(name, &self.data))
    }

    fn outcome(
        &self,
        experiment: &Experiment,
        trials: &mut impl Iterator<Item = Result<Trial, String>>,
    ) -> Outcome {
        let count = self.count(experiment) as usize;
        let mut runs: Vec<(Vec<Trial>, Option<String>)> = Vec::new();
        for _ in &experiment.variants {
            let all: Vec<_> = trials.by_ref().take(count).collect();
            let failure = all.iter().find_map(|t| t.as_ref().err().cloned());
            runs.push((all.into_iter().filter_map(Result::ok).collect(), failure));
        }
        let pairs: Vec<_> =
            experiment.variants.iter().zip(&runs).map(|(v, (t, _))| (v, &t[..])).collect();
        // The number of trials is the file's, fixed before anything was seen; another number, or a trial that failed, gives a look.
        let is_whole = runs.iter().all(|(t, _)| t.is_empty() || t.len() == count);
        let decides = self.effort != Effort::Quick && self.trials.is_none() && is_whole;
        let findings = judge(experiment, &pairs, decides);
        let mut variants = Vec::new();
        for ((variant, (all, failure)), findings) in
            experiment.variants.iter().zip(runs).zip(findings)
        {
            variants.push(VariantOutcome {
                name: variant.name.clone(),
                trials: all.len(),
                horizon: experiment.horizon(variant, self.effort),
                trials_differ: experiment.trials_differ_in(variant).to_owned(),
                stand_in: all.first().and_then(|t| t.stand_in.clone()),
                verdict: Verdict::of(&findings),
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
        spent_here: here.spent,
        left_here: pace.left_of(task.place),
        done: pace.done(),
        total: pace.total(),
        kept: pace.kept(),
        left: pace.left(),
    }
}

/// What was chosen, the most frequent first: `SGD: rate 2^-3 (×4), rate 2^-2`.
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

/// What a panic said.
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

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
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
