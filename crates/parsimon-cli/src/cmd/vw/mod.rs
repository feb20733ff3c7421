//! `parsimon vw`: command lines of Vowpal Wabbit.
//!
//! Features get the slots that Vowpal Wabbit gives them, so that collisions of names are the same. The default update is the method
//! `nag` of the registry.

mod csv;
mod example;
mod flags;
mod hash;
mod learner;
mod loss;
mod model;
mod options;
mod report;
mod session;
mod slots;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use parsimon::settings::Loss;
use parsimon::workspace::{Nag, NagClock, Scaled, check};
use parsimon_files::Arguments;

use crate::args::VwArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Output, write_text};

use learner::Learner;
use options::Options;
use session::{Session, Writers};

/// The losses of Vowpal Wabbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LossWord {
    Squared,
    Classic,
    Logistic,
    Hinge,
    Quantile,
    Expectile,
    Poisson,
}

impl LossWord {
    /// Whether the range of predictions is that of margins, whatever the labels.
    fn is_unbounded(self) -> bool {
        matches!(self, LossWord::Logistic | LossWord::Poisson)
    }
}

pub(crate) fn run(args: &VwArgs) -> Result<(), Fault> {
    let words = options::split(&args.words).map_err(Fault::Usage)?;
    let model = words.model().map(model::Model::read).transpose()?;
    let words = match &model {
        Some(model) => words.after(&model.words).map_err(Fault::Usage)?,
        None => words,
    };
    let options = words.options().map_err(Fault::Usage)?;
    if options.help || args.words.is_empty() {
        let mut out = Output::open(None)?;
        out.write_all(flags::help().as_bytes())?;
        return out.finish();
    }
    refuse(&options)?;
    let slots = 1u64 << options.bits;
    check(slots * 24)
        .map_err(|shortage| Fault::Input(format!("{slots} slots: {shortage}; use a smaller -b")))?;
    let mut learner = Learner::new(&options);
    let indexing = model.as_ref().and_then(|model| model.indexing);
    if let Some(model) = model {
        model.restore(&mut learner)?;
        learner.bound(&options);
    }
    let writers = Writers {
        predictions: open_output(options.predictions.as_deref())?,
        raw: open_output(options.raw.as_deref())?,
        audit: if options.audit { Some(Output::open(None)?) } else { None },
    };
    let mut session = Session::new(options, learner, writers, indexing);
    session.run(&open)?;
    finish(session)
}

/// Refuses command lines whose files or passes cannot be.
fn refuse(options: &Options) -> Result<(), Fault> {
    if options.data.is_empty() {
        return Err(Fault::Usage("no data: pass -d FILE, or -d - for standard input".into()));
    }
    if options.passes > 1 && options.data.iter().any(|file| is_standard(file)) {
        return Err(Fault::Usage(
            "standard input can be read only once; write it to a file for --passes".into(),
        ));
    }
    let mut files = Arguments::new();
    for file in &options.data {
        if is_standard(file) {
            files.standard_input();
        } else {
            files.input("-d", Path::new(file));
        }
    }
    let outputs = [
        ("-f", &options.output),
        ("-p", &options.predictions),
        ("-r", &options.raw),
        ("--readable_model", &options.readable),
        ("--invert_hash", &options.inverted),
    ];
    for (name, path) in outputs {
        if let Some(path) = path.as_deref().filter(|path| !is_standard(path)) {
            let checked = files.output(name, Path::new(path));
            checked.map_err(|error| match error.kind() {
                parsimon_files::ErrorKind::SameFile => Fault::Usage(error.to_string()),
                _ => Fault::from(error),
            })?;
        }
    }
    Ok(())
}

/// Writes what is left after the last pass. The model comes last: where it is, everything is.
fn finish(session: Session) -> Result<(), Fault> {
    let Session { options, learner, writers, report, names, .. } = &session;
    if let Some(path) = &options.readable {
        write_text(Path::new(path), &model::text(learner, options, None))?;
    }
    if let Some(path) = &options.inverted {
        write_text(Path::new(path), &model::text(learner, options, Some(names)))?;
    }
    report.summary(options);
    let _ = writers;
    if let Some(path) = options.output.clone().filter(|_| !session.is_saved) {
        session.save(&path)?;
    }
    let quiet = session.options.quiet || session.options.test;
    let Writers { predictions, raw, audit } = session.writers;
    for out in [predictions, raw, audit].into_iter().flatten() {
        out.finish()?;
    }
    if !quiet {
        note(
            "without rates to choose: parsimon train DATA, whose method auto chooses rate and penalty itself",
        );
    }
    Ok(())
}

/// Standard input or output, by the names that people give it.
fn is_standard(path: &str) -> bool {
    ["-", "stdin", "stdout", "/dev/stdin", "/dev/stdout"].contains(&path)
}

fn open_output(path: Option<&str>) -> Result<Option<Output>, Fault> {
    let open = |path: &str| Output::open(Some(Path::new(path)).filter(|_| !is_standard(path)));
    path.map(open).transpose()
}

/// Opens a file, decompressed where it is compressed, or standard input.
fn open(path: &str) -> Result<Box<dyn BufRead>, Fault> {
    if is_standard(path) {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let (bytes, _) = parsimon_data::decompressed(Path::new(path))
        .map_err(|error| Fault::Input(format!("{path}: {}", parsimon_files::in_words(&error))))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, bytes)))
}
