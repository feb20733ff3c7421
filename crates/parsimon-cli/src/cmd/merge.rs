//! `parsimon merge`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use parsimon::merge::{Delta, merge_deltas};
use parsimon::workspace::Table;
use parsimon::workspace::{number::significant, number::thousands};
use parsimon::{Error, Trainer};
use parsimon_files::FileId;

use crate::args::MergeArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output};

pub(crate) fn run(args: &MergeArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    args.checkpoints.iter().for_each(|path| files.read_path("CHECKPOINT", path));
    args.from.iter().for_each(|path| files.read_path("--from", path));
    files.write("--out", Some(&args.out))?;
    files.write("--output", args.output.as_deref())?;
    check_distinct(&args.checkpoints)?;
    let mut state = start(args)?;
    state.check_mergeable()?;
    let mut deltas: Vec<Delta> = Vec::new();
    for path in &args.checkpoints {
        let delta = delta(&state, path, args)?;
        // A copy under another name.
        if let Some(same) = deltas.iter().position(|known| delta.rows() > 0 && *known == delta) {
            return Err(Fault::Usage(format!(
                "{} has learned the same as {}; its rows would count twice, so leave one of them out",
                path.display(),
                args.checkpoints[same].display()
            )));
        }
        deltas.push(delta);
    }
    let (learners, rows) = (deltas.len(), deltas.iter().map(Delta::rows).sum::<u64>());
    state.absorb([merge_deltas(deltas)?])?;
    state.save_checkpoint(&args.out).map_err(Error::from)?;
    if let Some(path) = &args.output {
        state.model().save(path).map_err(Error::from)?;
    }
    let mut table = Table::new(["merged", ""]);
    table.row(["checkpoints".to_owned(), thousands(learners as u64)]);
    table.row(["rows merged".to_owned(), thousands(rows)]);
    table.row(["rows in total".to_owned(), thousands(state.progressive().rows())]);
    if let Some(loss) = state.progressive().average() {
        table.row(["progressive loss".to_owned(), significant(loss, 6)]);
    }
    table.row(["nonzeros".to_owned(), thousands(state.online().nonzeros() as u64)]);
    let mut out = Output::open(None)?;
    write!(out, "{table}")?;
    out.finish()?;
    note(&format!("checkpoint {}", args.out.display()));
    if let Some(path) = &args.output {
        note(&format!("model {}", path.display()));
    }
    Ok(())
}

/// Rows count once.
fn check_distinct(checkpoints: &[PathBuf]) -> Result<(), Fault> {
    let mut known = BTreeSet::new();
    for path in checkpoints {
        // A file that is missing is reported when it is read.
        if FileId::of(path).is_some_and(|id| !known.insert(id)) {
            let words = "is named twice; its rows would count twice";
            return Err(Fault::Usage(format!("{} {words}", path.display())));
        }
    }
    Ok(())
}

/// The state that all checkpoints began at.
fn start(args: &MergeArgs) -> Result<Trainer, Fault> {
    if let Some(base) = &args.from {
        return Ok(Trainer::resume(base)?);
    }
    let first = Trainer::resume(&args.checkpoints[0])?;
    let (settings, options, reading) = (first.settings(), first.options(), first.schema());
    Ok(Trainer::new(settings.clone(), options, reading.clone())?)
}

/// Returns the change of one checkpoint since the base. An error names the checkpoint.
fn delta(start: &Trainer, path: &Path, args: &MergeArgs) -> Result<Delta, Fault> {
    let end = Trainer::resume(path)?;
    let base = match &args.from {
        Some(base) => format!("continue from {} with train --resume", base.display()),
        None => {
            "if this checkpoint continued from another one, pass that one with --from".to_owned()
        }
    };
    let delta = Delta::between(start, &end, args.combine.into(), 1)
        .map_err(|e| Fault::Input(format!("{}: {e}; {base}", path.display())))?;
    delta.into_iter().next().ok_or_else(|| Fault::Input(format!("{}: empty", path.display())))
}
