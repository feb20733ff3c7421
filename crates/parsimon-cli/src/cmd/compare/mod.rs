//! `parsimon compare`: several methods, at several settings, in one pass over the data.

mod charts;
mod choice;
mod command;
mod contest;
mod page;
mod runs;
mod table;
mod verdict;
mod window;

use std::io::Write;
use std::path::Path;

use parsimon::eval::number::{maybe, thousands};

use self::table::Cells;
use self::verdict::Verdict;
use crate::args::{CompareArgs, inputs};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Output, check_outputs, write_text};

pub(crate) fn run(args: &CompareArgs) -> Result<(), Fault> {
    let read = [args.data.inputs(), inputs(&args.test), args.spec.inputs()].concat();
    check_outputs(&[&args.json, &args.plot, &args.html].map(|path| path.as_deref()), &read)?;
    let contest = contest::hold(args, runs::runs(args)?)?;
    let verdict = Verdict::new(args, &contest);
    if let Some(path) = &args.json {
        let mut text = serde_json::to_string_pretty(&verdict.to_json()).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    let on_stdout = |path: &Option<_>| path.as_deref() == Some(Path::new("-"));
    if ![&args.json, &args.plot, &args.html].into_iter().any(on_stdout) {
        show(&verdict)?;
    }
    if let Some(path) = &args.plot {
        write_text(path, &charts::front(&verdict).to_svg())?;
    }
    if let Some(path) = &args.html {
        write_text(path, &page::html(&verdict, &args.data.inputs(), &inputs(&args.test)))?;
    }
    if !args.quiet {
        summarize(args, &verdict);
    }
    Ok(())
}

/// The table and what is recommended, on standard output.
fn show(verdict: &Verdict<'_>) -> Result<(), Fault> {
    let mut out = Output::open(None)?;
    writeln!(out, "{}", Cells::of(verdict).table())?;
    for (why, i) in verdict.recommended() {
        let cost = maybe(verdict.points[i].map(|p| p.cost), 4);
        let nonzeros = verdict.points[i].map_or(0, |p| p.nonzeros as u64);
        writeln!(
            out,
            "{}: {why} ({} {cost}, {} nonzeros)\n  {}",
            verdict.contest.finishes[i].run.name,
            verdict.criterion_name(),
            thousands(nonzeros),
            verdict.commands[i]
        )?;
        if let Some(remark) = verdict.remark(i) {
            writeln!(out, "  {remark}")?;
        }
    }
    out.finish()
}

fn summarize(args: &CompareArgs, verdict: &Verdict<'_>) {
    for finish in &verdict.contest.finishes {
        if let Err(failure) = &finish.result {
            note(&format!("{} failed: {failure}", finish.run.name));
        }
    }
    let (runs, rows) = (verdict.points.len() as u64, verdict.contest.rows);
    note(&format!(
        "{} in one pass over {} rows; times are for learning alone",
        if runs == 1 { "one run".to_owned() } else { format!("{} runs", thousands(runs)) },
        thousands(rows)
    ));
    for (what, path) in [("plot", &args.plot), ("page", &args.html)] {
        if let Some(path) = path {
            note(&format!("{what} {}", path.display()));
        }
    }
}
