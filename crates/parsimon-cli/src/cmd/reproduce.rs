//! `parsimon reproduce`: the papers' experiments, run again.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parsimon::workspace::Table;
use parsimon::workspace::number::duration;
use parsimon_data::did_you_mean;
use parsimon_lab::map::{self, Entry};
use parsimon_lab::{Effort, Experiment, Outcome, Plan, Progress, Step, experiments, report, tally};

use crate::args::ReproduceArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::Output;
use crate::provenance;
use crate::wrap::wrapped;

/// CPU time of a full run, unless `--hours` is set.
const FULL_HOURS: f64 = 12.0;

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Fault> {
    let all = experiments().map_err(Fault::Input)?;
    if let Some(paper) = &args.paper {
        let entries = statements(paper, &args.what)?;
        if args.list {
            return list_statements(&entries);
        }
        let ids = tests_of(paper, &entries)?;
        return run_chosen(
            args,
            all.clone(),
            all.into_iter().filter(|e| ids.contains(&e.id)).collect(),
        );
    }
    if args.list {
        return list(&all);
    }
    let known = all.clone();
    run_chosen(args, known, chosen(&args.what, all)?)
}

/// The statements of a paper at these numbers, or all of them.
fn statements(paper: &str, numbers: &[String]) -> Result<Vec<Entry>, Fault> {
    let entries = map::entries();
    if !entries.iter().any(|e| e.paper == paper) {
        let names = entries.iter().map(|e| e.paper.as_str());
        return Err(Fault::Usage(format!(
            "there is no paper {paper:?} (`parsimon reproduce --list` shows them){}",
            did_you_mean(paper, names)
        )));
    }
    if numbers.is_empty() {
        return Ok(entries.into_iter().filter(|e| e.paper == paper).collect());
    }
    let mut found = Vec::new();
    for number in numbers {
        let here = map::find(paper, number);
        if here.is_empty() {
            return Err(Fault::Usage(format!(
                "{paper} has no {number:?} (`parsimon reproduce --paper {paper} --list` shows its numbers)"
            )));
        }
        found.extend(here);
    }
    Ok(found)
}

/// The experiments that test these statements.
fn tests_of(paper: &str, entries: &[Entry]) -> Result<Vec<String>, Fault> {
    let ids: Vec<String> = entries.iter().flat_map(|e| e.experiments.clone()).collect();
    if ids.is_empty() {
        let numbers: Vec<&str> = entries.iter().map(|e| e.at.as_str()).collect();
        return Err(Fault::Usage(format!(
            "no experiment tests {} of {paper}; `--list` shows where the code has it",
            numbers.join(", ")
        )));
    }
    Ok(ids)
}

/// Prints statements with their content, their code and the experiments that test them.
fn list_statements(entries: &[Entry]) -> Result<(), Fault> {
    let mut out = Output::open(None)?;
    for e in entries {
        writeln!(out, "{} {}", e.paper, e.at)?;
        let place =
            |what: &str, file: &Option<String>| file.as_ref().map(|file| format!("{what} {file}"));
        let mut lines = vec![e.says.clone()];
        lines.extend(place("code", &e.code));
        lines.extend(place("twin", &e.twin));
        if !e.methods.is_empty() {
            lines.push(format!("methods {}", e.methods.join(", ")));
        }
        if !e.experiments.is_empty() {
            lines.push(format!("parsimon reproduce {}", e.experiments.join(" ")));
        }
        lines.extend(e.misprint.as_ref().map(|m| format!("printed and corrected: {m}")));
        for line in lines.iter().flat_map(|line| wrapped(line, 96)) {
            writeln!(out, "    {line}")?;
        }
    }
    out.finish()
}

fn run_chosen(
    args: &ReproduceArgs,
    known: Vec<Experiment>,
    experiments: Vec<Experiment>,
) -> Result<(), Fault> {
    let effort = match (args.quick, args.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Standard,
    };
    let plan = Plan {
        experiments,
        effort,
        trials: args.trials,
        seed: args.seed,
        threads: args.threads.map_or_else(threads, |n| n as usize),
        data: args.data.clone(),
        folder: args.out.join("trials"),
        budget: args.hours.or((effort == Effort::Full).then_some(FULL_HOURS)).map(|hours| {
            Duration::try_from_secs_f64(3600.0 * hours.max(0.0)).unwrap_or(Duration::MAX)
        }),
    };
    if let Some(notice) = parsimon_files::threads::notice(plan.threads) {
        note(&notice);
    }
    // Errors of the folder are reported before any work is done.
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
    let mut own = outcomes.iter().filter(|outcome| outcome.paper() == "own");
    if let Some(why) = own.find_map(Outcome::unmeasured) {
        return Err(Fault::Input(why));
    }
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

/// Prints every experiment with its place in the paper and its full claim.
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

/// Returns the experiments of the words: all, those of a paper, one by its id, or one from a file.
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

/// Reads an experiment from a file; the name of the file is its name.
fn own(path: &Path) -> Result<Experiment, Fault> {
    let text = parsimon_files::read_text(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    let experiment = Experiment::parse(&format!("own/{name}"), &text);
    let checked =
        experiment.and_then(|experiment| experiment.check_settings().map(|()| experiment));
    checked.map_err(|e| Fault::Input(format!("{}: {e}", path.display())))
}

fn watch(plan: &Plan) -> Vec<Outcome> {
    let bars = stderr().is_terminal().then(TrialBars::default);
    let outcomes = plan.run(&|progress| match &bars {
        Some(bars) => bars.show(&progress),
        None => print_progress(&progress),
    });
    if let Some(bars) = bars {
        bars.clear();
    }
    outcomes
}

/// A line for every experiment that is finished.
fn print_progress(progress: &Progress<'_>) {
    if progress.step != Step::Begins && progress.done_here == progress.of_here {
        note(&finished(progress));
    }
}

fn finished(progress: &Progress<'_>) -> String {
    let Progress { id, of_here, kept_here, spared_here, spent_here, .. } = *progress;
    let begun = of_here - spared_here;
    let trials = match spared_here {
        0 => format!("{of_here} trial{}", if of_here == 1 { "" } else { "s" }),
        _ => format!("{begun} of {of_here} trials"),
    };
    match begun - kept_here {
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
        if progress.step != Step::Begins && progress.done_here == progress.of_here {
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
