//! Common parts of `compare` and `tune`: runs over the same rows, their results, the recommended one, and how
//! all of it is shown.

pub(crate) mod charts;
mod choice;
mod command;
mod constant;
mod entry;
mod guess;
mod names;
mod page;
mod run;
mod table;
mod test;
mod verdict;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parsimon::data::Input;
use parsimon::eval::Evaluation;
use parsimon::workspace::LearningCurve;
use parsimon::workspace::Stopped;
use parsimon::workspace::{number::maybe, number::thousands};
use parsimon::{InputSchema, Settings};
use parsimon_page::chart::Figure;

pub(crate) use self::constant::ConstantScore;
pub(crate) use self::entry::{Follower, Screen, job, learner_options, named, settings};
pub(crate) use self::guess::for_the_labels;
pub(crate) use self::run::{MOST_RUNS, Run, grid, name, plain};
use self::table::Cells;
pub(crate) use self::test::{check_tests, judge};
pub(crate) use self::verdict::Verdict;
use crate::args::{DataArgs, LearnerArgs, ReportArgs, inputs};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Output, write_text};

/// The rows that all runs learn, and how they learn them.
pub(crate) struct Task<'a> {
    pub(crate) data: &'a DataArgs,
    pub(crate) learner: &'a LearnerArgs,
    pub(crate) test: &'a [PathBuf],
    pub(crate) sample_negatives: Option<f64>,
    pub(crate) quiet: bool,
}

impl Task<'_> {
    pub(crate) fn tests(&self) -> Vec<Input> {
        inputs(self.test)
    }
}

/// The results of all runs.
pub(crate) struct Comparison {
    pub(crate) rows: u64,
    /// The reading of the data, with the findings of the survey.
    pub(crate) schema: InputSchema,
    pub(crate) finishes: Vec<Finish>,
    /// The negative rows learned and met, where they were sampled.
    pub(crate) negatives: Option<(u64, u64)>,
    /// Whether a signal ended the pass.
    pub(crate) is_stopped: bool,
    /// The loss of a constant prediction.
    pub(crate) constant: Option<ConstantScore>,
}

impl Comparison {
    /// Success, unless a signal ended the pass.
    pub(crate) fn ended(&self) -> Result<(), Fault> {
        match self.is_stopped {
            true => Err(Fault::Interrupted(format!(
                "the results are of the first {} rows, without the test data",
                thousands(self.rows)
            ))),
            false => Ok(()),
        }
    }
}

/// The result of a run.
pub(crate) struct Finish {
    pub(crate) run: Run,
    pub(crate) settings: Settings,
    /// The time of learning; `None` for runs that learn together.
    pub(crate) time: Option<Duration>,
    /// The scores, or the reason why there are none.
    pub(crate) result: Result<Score, Stopped>,
}

/// The numbers of a run that came to its end.
pub(crate) struct Score {
    /// The progressive loss of all rows, as `train` reports it: for several classes, the share of errors.
    pub(crate) loss: f64,
    /// The metrics of the predictions made before learning, of all rows or the last; where they were kept.
    pub(crate) progressive: Option<Evaluation>,
    pub(crate) test: Option<Evaluation>,
    pub(crate) nonzeros: usize,
    pub(crate) curve: LearningCurve,
}

impl Score {
    /// The metrics that rank the run: those of the test data if there is any.
    pub(crate) fn evaluation(&self) -> Option<&Evaluation> {
        self.test.as_ref().or(self.progressive.as_ref())
    }
}

/// Writes the requested outputs: JSON, page and plot to files, or the table and the recommendation to standard output.
pub(crate) fn publish(
    verdict: &Verdict<'_>,
    task: &Task<'_>,
    report: &ReportArgs,
    title: &str,
    more: &[Figure],
) -> Result<(), Fault> {
    if let Some(path) = &report.json {
        let mut text = serde_json::to_string_pretty(&verdict.to_json()).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    let on_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    if ![&report.json, &report.plot, &report.html].into_iter().any(on_stdout) {
        show(verdict)?;
    }
    if let Some(path) = &report.plot {
        write_text(path, &charts::front(verdict).to_svg())?;
    }
    if let Some(path) = &report.html {
        write_text(path, &page::html(verdict, task, title, more))?;
    }
    Ok(())
}

/// Prints the table and the recommendation to standard output.
fn show(verdict: &Verdict<'_>) -> Result<(), Fault> {
    let mut out = Output::open(None)?;
    writeln!(out, "{}", Cells::of(verdict).table())?;
    for (why, i) in verdict.recommended() {
        let cost = maybe(verdict.points[i].map(|p| p.cost), 4);
        let nonzeros = verdict.points[i].map_or(0, |p| p.nonzeros as u64);
        writeln!(
            out,
            "{}: {why} ({} {cost}, {} nonzeros)\n  {}",
            verdict.comparison.finishes[i].run.name,
            verdict.criterion_name(),
            thousands(nonzeros),
            verdict.commands[i]
        )?;
        if let Some(remark) = verdict.remark(i) {
            writeln!(out, "  {remark}")?;
        }
    }
    if let Some(words) = verdict.nothing_beats_the_constant() {
        writeln!(out, "{words}")?;
    }
    out.finish()
}

/// Prints the runs that did not reach their end, and the paths of the written files.
pub(crate) fn print_verdict(verdict: &Verdict<'_>, report: &ReportArgs, last: &str) {
    let mut given_up = 0;
    for finish in &verdict.comparison.finishes {
        match &finish.result {
            Err(Stopped::Failed(why)) => note(&format!("{} failed: {why}", finish.run.name)),
            // The table has the time of each; the page and the JSON have the reason.
            Err(Stopped::GivenUp { .. }) => given_up += 1,
            Ok(_) => {}
        }
    }
    if given_up > 0 {
        note(&format!("{given_up} far behind the best and given up; --keep-all keeps them"));
    }
    if let Some((learned, met)) = verdict.comparison.negatives {
        let (learned, met) = (thousands(learned), thousands(met));
        note(&format!("learned {learned} of {met} negative rows"));
    }
    note(last);
    for (what, path) in [("plot", &report.plot), ("page", &report.html)] {
        if let Some(path) = path {
            note(&format!("{what} {}", path.display()));
        }
    }
}
