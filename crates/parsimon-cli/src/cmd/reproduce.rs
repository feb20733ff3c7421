//! `parsimon reproduce`: the papers' experiments, run again.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parsimon::eval::Table;
use parsimon::eval::number::duration;
use parsimon_data::did_you_mean;
use parsimon_lab::{Effort, Experiment, Outcome, Plan, Progress, Step, experiments, report, tally};

use crate::args::ReproduceArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::Output;
use crate::provenance;
use crate::wrap::wrapped;

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Fault> {
    let all = experiments().map_err(Fault::Input)?;
    if args.list {
        return list(&all);
    }
    let effort = match (args.quick, args.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Standard,
    };
    let known = all.clone();
    let plan = Plan {
        experiments: chosen(&args.what, all)?,
        effort,
        trials: args.trials,
        seed: args.seed,
        threads: args.threads.map_or_else(threads, |n| n as usize),
        data: args.data.clone(),
        folder: args.out.join("trials"),
    };
    // Before any work is done, not after it.
    parsimon_files::create_folders(&args.out)?;
    let start = Instant::now();
    let mut outcomes = watch(&plan);
    let how = format!(
        "{}, parsimon {}, {} effort, seed {}, in {}: `{}`",
        provenance::date(),
        env!("CARGO_PKG_VERSION"),
        format!("{effort:?}").to_lowercase(),
        plan.seed,
        duration(start.elapsed()),
        provenance::command(),
    );
    outcomes.iter_mut().for_each(|outcome| outcome.how.clone_from(&how));
    summarize(&outcomes)?;
    let kept = report::merged(&args.out, &outcomes, &known);
    for id in &kept.stale {
        note(&format!(
            "{id}: the experiment has changed since it was run; it is left out of the page until it is run again"
        ));
    }
    if !kept.outcomes.is_empty() {
        let count = kept.outcomes.len();
        let s = if count == 1 { "" } else { "s" };
        note(&format!("the page keeps {count} experiment{s} of earlier runs"));
    }
    outcomes.extend(kept.outcomes);
    let place = |outcome: &Outcome| known.iter().position(|e| e.id == outcome.id);
    outcomes.sort_by_key(|outcome| place(outcome).unwrap_or(usize::MAX));
    report::write(&args.out, &outcomes, &how).map_err(|e| Fault::file(&args.out, &e))?;
    note(&format!("report {}", args.out.join("index.html").display()));
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Every experiment with where the paper has it, and its claim below it in full.
fn list(all: &[Experiment]) -> Result<(), Fault> {
    let mut out = Output::open(None)?;
    for e in all {
        writeln!(out, "{}", e.id)?;
        for line in wrapped(&format!("{}: {}", e.printed, e.claim), 96) {
            writeln!(out, "    {line}")?;
        }
    }
    out.finish()
}

/// Everything, a paper, one experiment, or a file of one's own.
fn chosen(what: &[String], all: Vec<Experiment>) -> Result<Vec<Experiment>, Fault> {
    let (files, words): (Vec<&String>, Vec<&String>) =
        what.iter().partition(|word| Path::new(word).extension().is_some_and(|e| e == "toml"));
    for word in &words {
        if *word != "all" && !all.iter().any(|e| e.id == **word || e.paper() == *word) {
            let names = all.iter().flat_map(|e| [e.id.as_str(), e.paper()]);
            return Err(Fault::Usage(format!(
                "there is no paper or experiment {word:?} (`parsimon reproduce --list` shows them){}",
                did_you_mean(word, names)
            )));
        }
    }
    let is_all = what.is_empty() || words.iter().any(|w| *w == "all");
    let is_asked = |e: &Experiment| words.iter().any(|w| e.id == **w || e.paper() == *w);
    let mut chosen: Vec<Experiment> = all.into_iter().filter(|e| is_all || is_asked(e)).collect();
    for file in files {
        chosen.push(own(Path::new(file))?);
    }
    Ok(chosen)
}

/// An experiment from a file; it is named after it.
fn own(path: &Path) -> Result<Experiment, Fault> {
    let text = parsimon_files::read_text(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    Experiment::parse(&format!("own/{name}"), &text)
        .map_err(|e| Fault::Input(format!("{}: {e}", path.display())))
}

fn watch(plan: &Plan) -> Vec<Outcome> {
    let bars = stderr().is_terminal().then(TrialBars::default);
    let outcomes = plan.run(&|progress| match &bars {
        Some(bars) => bars.show(&progress),
        None => tell(&progress),
    });
    if let Some(bars) = bars {
        bars.clear();
    }
    outcomes
}

/// A line for every experiment that is finished.
fn tell(progress: &Progress<'_>) {
    if progress.step == Step::Done && progress.done_here == progress.of_here {
        note(&finished(progress));
    }
}

fn finished(progress: &Progress<'_>) -> String {
    let Progress { id, of_here, kept_here, spent_here, .. } = *progress;
    let trials = format!("{of_here} trial{}", if of_here == 1 { "" } else { "s" });
    match of_here - kept_here {
        0 => format!("{id}: {trials}, kept from an earlier run"),
        _ if kept_here > 0 => {
            format!("{id}: {trials}, {kept_here} of them kept, in {}", duration(spent_here))
        }
        _ => format!("{id}: {trials} in {}", duration(spent_here)),
    }
}

/// On a terminal: a bar for everything, and one for every experiment that runs.
struct TrialBars {
    all: MultiProgress,
    total: ProgressBar,
    running: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Default for TrialBars {
    fn default() -> Self {
        let all = MultiProgress::new();
        let total = all.add(bar("{bar:30} {pos}/{len} trials  {elapsed} elapsed{msg}"));
        total.enable_steady_tick(Duration::from_secs(1));
        Self { all, total, running: Mutex::default() }
    }
}

impl TrialBars {
    fn show(&self, progress: &Progress<'_>) {
        let left = |left: Option<Duration>| {
            left.map_or(String::new(), |left| format!(", about {} left", duration(left)))
        };
        self.total.set_length(progress.total as u64);
        self.total.set_position(progress.done as u64);
        self.total.set_message(left(progress.left));
        let Ok(mut running) = self.running.lock() else { return };
        if progress.step == Step::Done && progress.done_here == progress.of_here {
            if let Some(bar) = running.remove(progress.id) {
                bar.finish_and_clear();
                self.all.remove(&bar);
            }
            // A terminal that goes away is no reason to stop.
            let _ = self.all.println(finished(progress));
            return;
        }
        let bar = running.entry(progress.id.to_owned()).or_insert_with(|| {
            let bar =
                self.all.insert_before(&self.total, bar("{bar:30} {pos}/{len} {prefix}{msg}"));
            bar.set_prefix(progress.id.to_owned());
            bar
        });
        bar.set_length(progress.of_here as u64);
        bar.set_position(progress.done_here as u64);
        bar.set_message(left(progress.left_here));
    }

    fn clear(&self) {
        self.total.finish_and_clear();
    }
}

fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    let bar = ProgressBar::no_length();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn summarize(outcomes: &[Outcome]) -> Result<(), Fault> {
    let mut table = Table::new(["experiment", "run", "trials", "at", "expectations", "verdict"]);
    for outcome in outcomes {
        for variant in &outcome.variants {
            table.row([
                outcome.id.clone(),
                variant.name.clone(),
                variant.trials.to_string(),
                variant.horizon.clone().unwrap_or_default(),
                variant.count(),
                match variant.stand_in {
                    Some(_) => {
                        format!("{}, on generated rows", variant.verdict.said_of(outcome.category))
                    }
                    None => variant.verdict.said_of(outcome.category).to_owned(),
                },
            ]);
        }
    }
    let mut out = Output::open(None)?;
    writeln!(out, "{table}\n{}", tally(outcomes).join("\n"))?;
    out.finish()?;
    for (why, ids) in Outcome::gaps(outcomes) {
        note(&format!("not run: {}: {why}", ids.join(", ")));
    }
    Ok(())
}
