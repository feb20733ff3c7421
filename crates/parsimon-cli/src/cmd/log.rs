//! `parsimon log`

use std::path::Path;

use parsimon::workspace::number::thousands;
use parsimon_serve::{OpenError, Without, archive};

use crate::args::{
    BackupArgs, ExportArgs, LogArgs, LogCommand, RepairArgs, ReplayArgs, RestoreArgs,
};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output};

pub(crate) fn run(args: &LogArgs) -> Result<(), Fault> {
    match &args.command {
        LogCommand::Inspect(log) => {
            let found = archive::inspect(&log.directory).map_err(fault)?;
            println(&serde_json::to_string_pretty(&found).unwrap_or_default())
        }
        LogCommand::Verify(log) => {
            let (last, torn) = archive::verify(&log.directory).map_err(fault)?;
            let tail = match torn {
                0 => String::new(),
                bytes => format!("; {bytes} bytes of unfinished records behind them"),
            };
            println(&format!("{} records are whole{tail}", thousands(last)))
        }
        LogCommand::Replay(args) => replay(args),
        LogCommand::Export(args) => export(args),
        LogCommand::Backup(BackupArgs { log, destination }) => copy(&log.directory, destination),
        LogCommand::Restore(RestoreArgs { backup, directory }) => copy(backup, directory),
        LogCommand::Repair(args) => repair(args),
        LogCommand::Upgrade(log) => upgrade(&log.directory),
    }
}

fn println(text: &str) -> Result<(), Fault> {
    use std::io::Write as _;
    let mut out = Output::open(None)?;
    writeln!(out, "{text}")?;
    out.finish()
}

fn fault(error: OpenError) -> Fault {
    match error {
        OpenError::State(error) => error.into(),
        error => Fault::Input(error.to_string()),
    }
}

fn replay(args: &ReplayArgs) -> Result<(), Fault> {
    let mut without = Without::default();
    for selector in &args.without {
        without.add(selector).map_err(|e| Fault::Usage(format!("--without: {e}")))?;
    }
    let mut files = Files::default();
    files.write("--output", args.output.as_deref())?;
    files.write("--checkpoint", args.checkpoint.as_deref())?;
    let replayed = archive::replay(&args.log.directory, &without).map_err(fault)?;
    let save = |path: &Option<std::path::PathBuf>, save: &dyn Fn(&Path) -> Result<(), Fault>| {
        path.as_deref().map_or(Ok(()), save)
    };
    save(&args.output, &|path| Ok(replayed.trainer.model().save(path)?))?;
    save(&args.checkpoint, &|path| Ok(replayed.trainer.save_checkpoint(path)?))?;
    note(&format!(
        "{} rows learned, {} left out; epoch {}, record {}, digest {:016x}",
        thousands(replayed.rows),
        thousands(replayed.left_out),
        replayed.version.epoch,
        replayed.version.seq,
        replayed.digest
    ));
    Ok(())
}

fn export(args: &ExportArgs) -> Result<(), Fault> {
    let formats = match (args.set_aside, args.format) {
        (false, None) => archive::formats(&args.log.directory, args.after).map_err(fault)?,
        _ => Vec::new(),
    };
    let (Some(output), true) = (&args.output, formats.len() > 1) else { return export_one(args) };
    // Rows of several formats do not fit in one file.
    for format in formats {
        let output = Some(output.with_extension(format.to_string()));
        let (log, format) = (args.log.clone(), Some(format));
        let one = ExportArgs { log, set_aside: false, after: args.after, format, output };
        if let Some(path) = &one.output {
            note(&format!("{}:", path.display()));
        }
        export_one(&one)?;
    }
    Ok(())
}

fn export_one(args: &ExportArgs) -> Result<(), Fault> {
    let mut out = Output::open(args.output.as_deref())?;
    let rows = match args.set_aside {
        true => archive::export_set_aside(&args.log.directory, &mut out),
        false => archive::export(&args.log.directory, args.format, args.after, &mut out),
    };
    let rows = rows.map_err(fault)?;
    out.finish()?;
    note(&format!("{} rows", thousands(rows)));
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Fault> {
    let copied = archive::backup(from, to).map_err(fault)?;
    for name in &copied.left_out {
        note(&format!("left out a damaged snapshot: {name}"));
    }
    println(&format!(
        "{}: records {} to {} and {} snapshots, read back and whole",
        to.display(),
        thousands(copied.first),
        thousands(copied.last),
        copied.snapshots.len()
    ))
}

fn repair(args: &RepairArgs) -> Result<(), Fault> {
    let directory = &args.log.directory;
    let found = archive::damage(directory).map_err(fault)?;
    let Some(damage) = found.damage else {
        return println(&format!(
            "{} records are whole; there is nothing to repair",
            thousands(found.last)
        ));
    };
    note(&damage);
    note(&format!(
        "a repair keeps the records up to {} and cuts the rest: {}",
        thousands(found.last),
        found.aside.join(", ")
    ));
    let target = match (&args.output, args.yes) {
        (Some(output), _) => {
            archive::duplicate(directory, output).map_err(fault)?;
            output
        }
        (None, true) => directory,
        (None, false) => {
            return Err(Fault::Usage(
                "nothing was changed; pass --yes to cut the log in place, or --output DIR to repair a copy".into(),
            ));
        }
    };
    let repaired = archive::repair(target).map_err(fault)?;
    println(&format!(
        "{}: {} records are left; what was cut: {}",
        target.display(),
        thousands(repaired.last),
        repaired.aside.join(", ")
    ))
}

fn upgrade(directory: &Path) -> Result<(), Fault> {
    match archive::upgrade(directory, None).map_err(fault)? {
        None => println("the log has the arithmetic of this program; there is nothing to do"),
        Some(done) => println(&format!(
            "arithmetic {} instead of {}: {} rows learned again; epoch {} begins with record {}",
            done.now,
            done.before,
            thousands(done.rows),
            done.version.epoch,
            thousands(done.version.seq)
        )),
    }
}
