//! Runs trials in parallel, keeps those that are finished, and puts the results together.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::experiment::{Effort, Experiment};
use crate::kind::{Run, Trial};
use crate::summary::{Finding, Means, Verdict, average, judge};

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
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// `paper/name`.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where the paper has it.
    pub printed: String,
    /// What the paper says.
    pub claim: String,
    /// What a reader should know about the settings.
    pub note: Option<String>,
    /// What the paper's own settings say about the claim.
    pub verdict: Verdict,
    /// Every way it was run, the paper's first.
    pub variants: Vec<VariantOutcome>,
    #[serde(skip)]
    pub(crate) experiment: Option<Experiment>,
}

/// One way an experiment was run.
#[derive(Clone, Debug, Serialize)]
pub struct VariantOutcome {
    /// What is different about it.
    pub name: String,
    /// How many trials.
    pub trials: usize,
    /// What it says about the claim.
    pub verdict: Verdict,
    /// The expectations, measured.
    pub findings: Vec<Finding>,
    /// The curves.
    pub means: Means,
    /// What was chosen in each trial, by method.
    pub chosen: Vec<String>,
    /// Why there is nothing, if there is nothing.
    pub failure: Option<String>,
}

/// What has been done so far.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The experiment whose trial is finished.
    pub id: &'a str,
    /// Trials finished, of all experiments.
    pub done: usize,
    /// Trials in all.
    pub total: usize,
    /// How many of the finished ones were kept from an earlier run.
    pub kept: usize,
}

/// One trial of one variant.
struct Task<'a> {
    experiment: &'a Experiment,
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
        let (next, done, kept) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Vec<Mutex<Option<Result<Trial, String>>>> =
            tasks.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.clamp(1, tasks.len().max(1)) {
                scope.spawn(|| {
                    while let Some((task, result)) = {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        tasks.get(k).zip(results.get(k))
                    } {
                        let (trial, was_kept) = self.perform(task);
                        if let Ok(mut place) = result.lock() {
                            *place = Some(trial);
                        }
                        kept.fetch_add(usize::from(was_kept), Ordering::Relaxed);
                        report(Progress {
                            id: &task.experiment.id,
                            done: done.fetch_add(1, Ordering::Relaxed) + 1,
                            total: tasks.len(),
                            kept: kept.load(Ordering::Relaxed),
                        });
                    }
                });
            }
        });
        let mut trials = results.into_iter().map(|place| {
            let finished = place.into_inner().ok().flatten();
            finished.unwrap_or_else(|| Err("the trial did not finish".into()))
        });
        let outcome = |experiment| self.outcome(experiment, &mut trials);
        self.experiments.iter().map(outcome).collect()
    }

    fn trials_of(&self, experiment: &Experiment) -> u64 {
        self.trials.unwrap_or_else(|| experiment.trials.at(self.effort)).max(1)
    }

    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for experiment in &self.experiments {
            for variant in 0..experiment.variants.len() {
                let trials = 0..self.trials_of(experiment);
                tasks.extend(trials.map(|trial| Task { experiment, variant, trial }));
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
        let trial = Run { experiment, variant, effort, seed, data }.trial();
        if let Ok(trial) = &trial {
            // Keeping is a convenience: a full disk must not cost the result.
            let _ = write_kept(&path, &Kept { fingerprint, trial: trial.clone() });
        }
        (trial, false)
    }

    /// All that a trial depends on, in one number.
    fn fingerprint(&self, task: &Task<'_>) -> u64 {
        let text = format!(
            "{} {:?} {:?} {} {} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.effort,
            self.seed,
            task.variant,
            task.trial,
            task.experiment
        );
        hash(text.as_bytes())
    }

    fn outcome(
        &self,
        experiment: &Experiment,
        trials: &mut impl Iterator<Item = Result<Trial, String>>,
    ) -> Outcome {
        let mut variants = Vec::new();
        for variant in &experiment.variants {
            let all: Vec<_> = trials.by_ref().take(self.trials_of(experiment) as usize).collect();
            let failure = all.iter().find_map(|t| t.as_ref().err().cloned());
            let all: Vec<Trial> = all.into_iter().filter_map(Result::ok).collect();
            let means = average(&all);
            let findings: Vec<_> =
                experiment.expectations.iter().map(|e| judge(e, &means)).collect();
            variants.push(VariantOutcome {
                name: variant.name.clone(),
                trials: all.len(),
                verdict: Verdict::of(&findings),
                findings,
                chosen: all
                    .iter()
                    .flat_map(|t| &t.chosen)
                    .map(|(m, c)| format!("{m}: {c}"))
                    .collect(),
                means,
                failure,
            });
        }
        Outcome {
            id: experiment.id.clone(),
            title: experiment.title.clone(),
            printed: experiment.printed.clone(),
            claim: experiment.claim.clone(),
            note: experiment.note.clone(),
            verdict: variants.first().map_or(Verdict::NotRun, |v| v.verdict),
            variants,
            experiment: Some(experiment.clone()),
        }
    }
}

fn read_kept(path: &Path, fingerprint: u64) -> Option<Trial> {
    let kept: Kept = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    (kept.fingerprint == fingerprint).then_some(kept.trial)
}

fn write_kept(path: &Path, kept: &Kept) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let temporary = path.with_extension("tmp");
    std::fs::write(&temporary, serde_json::to_string(kept)?)?;
    std::fs::rename(temporary, path)
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
