//! `parsimon reproduce`: the papers' experiments, run again.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use parsimon::did_you_mean;
use parsimon::eval::Table;
use parsimon::eval::number::duration;
use parsimon_lab::{Effort, Experiment, Outcome, Plan, experiments, report};

use crate::args::ReproduceArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Fault> {
    let all = experiments();
    if args.list {
        return list(&all);
    }
    let effort = match (args.quick, args.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Standard,
    };
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
    std::fs::create_dir_all(&args.out).map_err(|e| Fault::file(&args.out, &e))?;
    let start = Instant::now();
    let outcomes = watch(&plan);
    let how = format!(
        "parsimon {}, {} effort, seed {}, in {}: {}",
        env!("CARGO_PKG_VERSION"),
        format!("{effort:?}").to_lowercase(),
        plan.seed,
        duration(start.elapsed()),
        std::env::args().collect::<Vec<_>>().join(" ")
    );
    report::write(&args.out, &outcomes, &how).map_err(|e| Fault::file(&args.out, &e))?;
    summarize(&outcomes)?;
    note(&format!("report {}", args.out.join("index.html").display()));
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn list(all: &[Experiment]) -> Result<(), Fault> {
    let mut table = Table::new(["experiment", "printed", "claim"]);
    for e in all {
        table.row([e.id.as_str(), &e.printed, &e.claim]);
    }
    let mut out = Output::open(None)?;
    writeln!(out, "{table}")?;
    out.finish()
}

/// Everything, a paper, or one experiment.
fn chosen(what: &[String], all: Vec<Experiment>) -> Result<Vec<Experiment>, Fault> {
    if what.is_empty() || what.iter().any(|w| w == "all") {
        return Ok(all);
    }
    for word in what {
        if !all.iter().any(|e| e.id == *word || e.paper() == word) {
            let names = all.iter().flat_map(|e| [e.id.as_str(), e.paper()]);
            return Err(Fault::Usage(format!(
                "there is no paper or experiment {word:?}{}; `parsimon reproduce --list` shows them",
                did_you_mean(word, names)
            )));
        }
    }
    Ok(all.into_iter().filter(|e| what.iter().any(|w| e.id == *w || e.paper() == w)).collect())
}

fn watch(plan: &Plan) -> Vec<Outcome> {
    let bar = stderr().is_terminal().then(|| {
        let bar = ProgressBar::no_length();
        let style = ProgressStyle::with_template(
            "{bar:30} {pos}/{len} trials  {msg}  {elapsed} elapsed, {eta} left",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    });
    let last = Mutex::new(String::new());
    let outcomes = plan.run(&|progress| {
        if let Some(bar) = &bar {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(progress.id.to_owned());
        } else if let Ok(mut last) = last.lock()
            && *last != progress.id
        {
            progress.id.clone_into(&mut last);
            note(&format!("{} ({} of {} trials)", progress.id, progress.done, progress.total));
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    outcomes
}

fn summarize(outcomes: &[Outcome]) -> Result<(), Fault> {
    let mut table = Table::new(["experiment", "run", "trials", "holds", "verdict"]);
    for outcome in outcomes {
        for variant in &outcome.variants {
            let held = variant.findings.iter().filter(|f| f.holds == Some(true)).count();
            if let Some(failure) = &variant.failure {
                note(&format!("{} was not run: {failure}", outcome.id));
            }
            table.row([
                outcome.id.clone(),
                variant.name.clone(),
                variant.trials.to_string(),
                format!("{held} of {}", variant.findings.len()),
                variant.verdict.words().to_owned(),
            ]);
        }
    }
    let mut out = Output::open(None)?;
    writeln!(out, "{table}")?;
    out.finish()
}
