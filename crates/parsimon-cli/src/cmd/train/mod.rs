//! `parsimon train`

mod predictions;
mod report;
mod reporter;
mod resume;

use std::io::Write;
use std::path::Path;

use parsimon::data::{DataErrorKind, Input, Options, Reader};
use parsimon::job::{Job, PassChoice, RefitChoice, Trained, measure_of};
use parsimon::predict::{Assess, Assessed};
use parsimon::settings::Storage;
use parsimon::survey::{Guess, Opened, Source};
use parsimon::train::Outcome;
use parsimon::workspace::number::thousands;
use parsimon::workspace::{Schedule, check_stamp};
use parsimon::{Error, InputSchema, LearnerOptions, Plan, Spec, Trainer};
use parsimon_data::listed;
use parsimon_files::{Stamp, lock_folder_of};
use parsimon_page::chart::learning_curve;

use self::predictions::PredictionsFile;
use self::report::Told;
use self::reporter::Reporter;
use super::columns;
use crate::args::{LearnerArgs, StoreArg, TrainArgs};
use crate::cmd::evaluate;
use crate::cmd::predict::{OTHER_TABLES, TABLE_NAMES};
use crate::console::{announce_terminal, note};
use crate::fault::Fault;
use crate::interrupt;
use crate::output::{Files, Output, Prepared, prepare_text, refuse_endings};

pub(crate) fn run(args: &TrainArgs) -> Result<(), Fault> {
    let schedule =
        Schedule::parse(&args.progress).map_err(|e| Fault::Usage(format!("--progress: {e}")))?;
    let inputs = args.data.inputs();
    let tests = crate::args::inputs(&args.test);
    check_files(args, &inputs, &tests)?;
    if args.seed.is_some() && args.shuffle.is_none() {
        return Err(Fault::Usage(
            "--seed is the seed of --shuffle, and without it rows are learned in their order; add --shuffle, or leave out --seed"
                .into(),
        ));
    }
    let job = planned(args, &inputs, schedule)?;
    if !args.quiet {
        announce_terminal(&inputs);
    }
    // An output that cannot be written is found now, not after hours of learning.
    if let Some(path) = args.predictions.as_deref().filter(|path| *path != Path::new("-")) {
        drop(Output::open(Some(path))?);
    }
    let mut reporter = Reporter::new(args)?;
    let (trained, starts) = learned(args, job, &inputs, &mut reporter)?;
    let predictions = reporter.finish()?;
    let Trained { trainer, outcome, plan, .. } = &trained;
    if outcome.rows == 0 && !outcome.is_stopped && starts.iter().any(|rows| *rows > 0) {
        note(&format!(
            "{}: no rows after those that the checkpoint has learned, so the model is that of the checkpoint; --allow-repeat learns rows again",
            names(&inputs)
        ));
    }
    columns::warn(&outcome.warnings);
    // Files that another job has written since are not overwritten.
    if let Some(path) = &args.checkpoint {
        check_stamp(path, outcome.checkpoint_stamp.as_ref())?;
    }
    let test = match &tests[..] {
        // After a signal no further work begins.
        _ if outcome.is_stopped => Ok(None),
        [] => Ok(None),
        tests => judge(args, outcome, tests, plan).map(Some),
    };
    publish(args, &trained, predictions, &test, &reporter.told)?;
    let test = test?;
    if outcome.is_stopped {
        return Err(Fault::Interrupted(stopped(args, trainer, outcome)));
    }
    if !args.quiet {
        report::summarize(args, &trained);
    }
    // The JSON on standard output has the metrics in it.
    if let Some(test) = test.filter(|_| args.json.as_deref() != Some(Path::new("-"))) {
        let mut out = Output::open(None)?;
        let measure = measure_of(trainer.settings());
        write!(out, "{}", evaluate::text(&test, measure))?;
        out.finish()?;
    }
    Ok(())
}

/// Writes all outputs under temporary names, and then gives them their names, the checkpoint last: where one of them cannot be written,
/// none is, and the same command does everything again. Where the test has failed there is no report.
fn publish(
    args: &TrainArgs,
    trained: &Trained,
    predictions: Option<PredictionsFile>,
    test: &Result<Option<Assessed>, Fault>,
    told: &Told,
) -> Result<(), Fault> {
    let Trained { trainer, outcome, .. } = trained;
    let mut prepared = Vec::new();
    if let Some(path) = &args.output {
        prepared.push(Prepared::File(outcome.model.prepare(path)?));
    }
    if let Some(predictions) = predictions {
        prepared.push(predictions.prepare()?);
    }
    if let Some(path) = &args.plot {
        let inputs = names(&args.data.inputs());
        let title = format!("{} on {inputs}", trainer.settings().algorithm().name);
        let curve = learning_curve(title, &trainer.curve_so_far()).to_svg();
        prepared.push(prepare_text(path, &curve)?);
    }
    if let (Some(path), Ok(test)) = (&args.json, test) {
        let mut text = serde_json::to_string_pretty(&report::json(trained, test.as_ref(), told))
            .unwrap_or_default();
        text.push('\n');
        prepared.push(prepare_text(path, &text)?);
    }
    let Some(path) = &args.checkpoint else {
        return prepared.into_iter().try_for_each(Prepared::commit);
    };
    prepared.push(Prepared::File(trainer.prepare_checkpoint(path)?));
    // No other job has its turn between the look at the checkpoint and the last name.
    let _lock = lock_folder_of(path);
    check_stamp(path, outcome.checkpoint_stamp.as_ref())?;
    prepared.into_iter().try_for_each(Prepared::commit)
}

/// The job that the flags describe.
fn planned<'a>(
    args: &TrainArgs,
    source: &'a dyn Source,
    schedule: Schedule,
) -> Result<Job<'a>, Fault> {
    let mut options = args.data.options(args.learner.precision())?;
    options.run.stop = Some(interrupt::stop());
    let mut job = Job {
        precision: args.learner.precision(),
        bias: !args.learner.no_bias,
        storage: match args.learner.store {
            StoreArg::Dense => InputSchema::storage,
            StoreArg::Index => |_| Storage::Index,
        },
        schedule,
        // A method that is named learns as its paper has it.
        passes: match args.passes.is_none()
            && args.shuffle.is_none()
            && !args.no_shuffle
            && !args.spec.names_algorithm()?
        {
            true => PassChoice::HeldOut,
            false => PassChoice::Planned,
        },
        refit: if args.refit { RefitChoice::Always } else { RefitChoice::Never },
        may_shuffle: !args.no_shuffle && !args.spec.names_algorithm()?,
        // Predictions that were written to standard output cannot be withdrawn.
        is_repeatable: args.predictions.as_deref() != Some(Path::new("-")),
        ..Job::new(source, Spec::default(), options)
    };
    job.plan = Plan {
        passes: args.passes.unwrap_or(1),
        shuffle: args.shuffle,
        seed: args.seed.unwrap_or(1),
        holdout: args.holdout,
        patience: args.early_stop,
        limit: args.limit,
        skip: args.skip.unwrap_or(0),
        sample_negatives: args.sample_negatives,
        predictions: args.predictions.is_some(),
        checkpoint: args.checkpoint.clone().map(|path| (path, args.checkpoint_every)),
        checkpoint_stamp: args.checkpoint.as_deref().map(Stamp::of),
        defers_checkpoint: true,
        regret: args.regret,
        ..job.plan
    };
    job.plan.check()?;
    Ok(job)
}

/// A learner, and the data open before it.
struct Start {
    trainer: Trainer,
    options: Options,
    reader: Reader,
    /// The rows of each input that were learned before.
    starts: Vec<u64>,
}

/// Judges the model on the test data, as `evaluate` does.
fn judge(
    args: &TrainArgs,
    outcome: &Outcome,
    tests: &[Input],
    plan: &Plan,
) -> Result<Assessed, Fault> {
    let mut options = args.data.options(outcome.model.precision())?;
    options.run.stop.clone_from(&plan.options.run.stop);
    // Cells that the model does not know are missing; they are counted below.
    let how = Assess { allow_unknown: true, ..Assess::default() };
    let assessed = outcome.model.assess(tests, &options, &how, &mut |_| {});
    let assessed = assessed.map_err(|error| match Fault::from(error) {
        Fault::Interrupted(_) => Fault::Interrupted(match &args.output {
            Some(path) => format!("the test was not finished; model {}", path.display()),
            None => "the test was not finished".into(),
        }),
        fault => fault,
    })?;
    evaluate::warn(&assessed);
    Ok(assessed)
}

/// The result of an interrupted run: how much was learned, and the files that were written.
fn stopped(args: &TrainArgs, trainer: &Trainer, outcome: &Outcome) -> String {
    let learned =
        format!("learned {} rows ({})", thousands(outcome.rows), report::progressive(trainer));
    let mut saved = Vec::new();
    saved.extend(args.output.as_ref().map(|path| format!("model {}", path.display())));
    saved.extend(
        args.checkpoint
            .as_ref()
            .map(|path| format!("checkpoint {0} (--resume {0} continues)", path.display())),
    );
    match saved.is_empty() {
        true => format!("{learned}; nothing was saved without -o or --checkpoint"),
        false => format!("{learned}; {}", saved.join(", ")),
    }
}

/// Refuses outputs that would overwrite an input or each other.
fn check_files(args: &TrainArgs, inputs: &[Input], tests: &[Input]) -> Result<(), Fault> {
    let mut files = Files::default();
    files.read("DATA", inputs);
    files.read("--test", tests);
    files.read("--spec", &args.spec.inputs());
    // Before --resume: a checkpoint may be continued in place, and nothing else may replace it.
    files.write("--checkpoint", args.checkpoint.as_deref())?;
    if let Some(path) = args.resumed() {
        files.read_path("--resume", path);
    }
    if let Some(path) = &args.from {
        files.read_path("--from", path);
    }
    files.write("--output", args.output.as_deref())?;
    files.write("--json", args.json.as_deref())?;
    refuse_endings("--predictions", args.predictions.as_deref(), &OTHER_TABLES, TABLE_NAMES)?;
    files.write("--predictions", args.predictions.as_deref())?;
    files.draw("--plot", args.plot.as_deref())
}

/// Runs the job: from the beginning, from a checkpoint, or from a model. Returns as well how many rows of each input had been
/// learned before.
fn learned(
    args: &TrainArgs,
    mut job: Job<'_>,
    inputs: &[Input],
    reporter: &mut Reporter<'_>,
) -> Result<(Trained, Vec<u64>), Fault> {
    let stop = job.plan.options.run.stop.clone().unwrap_or_else(interrupt::stop);
    let start = match (args.resumed(), &args.from) {
        (Some(path), _) => Some(resume::resumed(args, path, inputs, &stop)?),
        (None, Some(path)) => Some(resume::from_model(args, path, inputs, &stop)?),
        (None, None) => None,
    };
    let trained = match start {
        None => {
            job.spec = args.spec.spec()?;
            job.run(reporter)
        }
        Some(Start { trainer, options, reader, starts }) => {
            job.plan.options = options;
            job.plan.options.run.stop = Some(stop.clone());
            job.plan.starts = starts;
            // A resumed checkpoint samples with its first share.
            job.plan.sample_negatives =
                args.sample_negatives.or_else(|| trainer.sample_negatives());
            job.go_on(trainer, reader, reporter)
        }
    };
    let failed = match trained {
        Ok(trained) => return Ok((trained, job.plan.starts)),
        Err(failed) => failed,
    };
    reporter.finish()?;
    Err(match (failed.error, reporter.last_words.take()) {
        (Error::Diverged { .. }, Some(words)) => Fault::Input(words),
        (Error::Data(data), _)
            if data.kind() == DataErrorKind::Label && inputs.iter().any(Input::is_read_once) =>
        {
            Fault::Input(format!(
                "{data}; data that is read once is not searched for its labels: declare two classes with --classes A,B, \
                 several with --multiclass --classes A,B,C, or learn numbers with --loss squared"
            ))
        }
        (Error::NothingLearned, _) if stop.is_stopped() => {
            Fault::Interrupted("no row was learned, nothing was saved".into())
        }
        (error, _) => error.into(),
    })
}

/// The number of classes from which a job may take longer than expected.
const MANY_CLASSES: usize = 1_000;

/// The guessed kind of labels, and the flag that overrides it.
pub(crate) fn guessed(guess: Guess, opened: &Opened) -> String {
    let classes = &opened.schema.found.classes;
    match guess {
        Guess::Two => {
            let usual = ["-1".to_owned(), "1".to_owned()];
            let classes = if classes.is_empty() { &usual[..] } else { classes };
            format!(
                "labels: two classes, {}; the probability of {} is predicted",
                listed(classes.iter(), 2),
                listed(classes.last().iter(), 1)
            )
        }
        Guess::Several => format!(
            "labels: {} classes ({}), so --multiclass{}{}",
            classes.len(),
            listed(classes.iter(), 6),
            match classes.iter().all(|class| class.parse::<f64>().is_ok()) {
                true => "; use --loss squared to predict numbers",
                false => "",
            },
            match classes.len() {
                ..MANY_CLASSES => String::new(),
                count => format!(
                    "; each row is learned for every class, so time and memory grow with their number, here to about {} times those of two classes",
                    thousands(count as u64)
                ),
            }
        ),
        Guess::Numbers => {
            "labels: numbers, so --loss squared; use --multiclass if they are classes".into()
        }
    }
}

/// Options of the learner from the flags: precision, bias and store.
pub(crate) fn model_options(args: &LearnerArgs, reading: &InputSchema) -> LearnerOptions {
    let storage = match args.store {
        StoreArg::Dense => reading.storage(),
        StoreArg::Index => Storage::Index,
    };
    LearnerOptions { precision: args.precision(), bias: !args.no_bias, storage }
}

fn names(inputs: &[Input]) -> String {
    inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
}
