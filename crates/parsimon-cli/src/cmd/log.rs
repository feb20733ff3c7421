//! `parsimon log`

use std::path::Path;

use parsimon::eval::number::thousands;
use parsimon_serve::{OpenError, Without, archive};

use crate::args::{ExportArgs, LogArgs, LogCommand, ReplayArgs};
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
    let mut out = Output::open(args.output.as_deref())?;
    let rows = archive::export(&args.log.directory, args.format, &mut out).map_err(fault)?;
    out.finish()?;
    note(&format!("{} rows", thousands(rows)));
    Ok(())
}
