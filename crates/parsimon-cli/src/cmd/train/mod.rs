//! `parsimon train`

mod order;
mod predictions;
mod report;
mod resume;

use std::io::Write;
use std::path::Path;

use parsimon::data::{DataErrorKind, Input, Options, Reader, Stop};
use parsimon::eval::Schedule;
use parsimon::eval::number::thousands;
use parsimon::predict::{Assess, Assessed};
use parsimon::settings::Storage;
use parsimon::survey::{self, Guess, Guessed, Opened};
use parsimon::train::{Outcome, run_with};
use parsimon::{Error, InputSchema, LearnerOptions, Plan, Trainer};
use parsimon_data::listed;
use parsimon_page::chart::learning_curve;

use self::predictions::{Predicting, PredictionsFile};
use super::columns;
use crate::args::{FrameArgs, StoreArg, TrainArgs};
use crate::cmd::advice::Advisor;
use crate::cmd::evaluate;
use crate::cmd::predict::{OTHER_TABLES, TABLE_NAMES};
use crate::console::{Console, announce_terminal, note};
use crate::fault::Fault;
use crate::interrupt;
use crate::output::{Files, Output, refuse_endings, write_text};

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
    let mut plan = Plan {
        passes: args.passes,
        shuffle: args.shuffle,
        seed: args.seed.unwrap_or(1),
        holdout: args.holdout,
        patience: args.early_stop,
        limit: args.limit,
        skip: args.skip.unwrap_or(0),
        sample_negatives: args.sample_negatives,
        predictions: args.predictions.is_some(),
        checkpoint: args.checkpoint.clone().map(|path| (path, args.checkpoint_every)),
        regret: args.regret,
        ..Plan::new(inputs, Options::default())
    };
    plan.check()?;
    if !args.quiet {
        announce_terminal(&plan.inputs);
    }
    let stop = interrupt::stop();
    let mut wider = None;
    let mut forgotten = None;
    let (trainer, outcome, predictions) = loop {
        let start = match (&args.resume, &args.from) {
            (Some(path), _) => resume::resumed(args, path, &plan.inputs, &stop)?,
            (None, Some(path)) => resume::from_model(args, path, &plan.inputs, &stop)?,
            (None, None) => fresh(args, &plan, wider.take(), &stop)?,
        };
        let Start { mut trainer, options, reader, starts } = start;
        plan.options = Options { stop: Some(stop.clone()), ..options };
        plan.starts = starts;
        // A checkpoint goes on sampling as it began.
        plan.sample_negatives = args.sample_negatives.or_else(|| trainer.sample_negatives());
        trainer.report_when(schedule);
        if !args.quiet && plan.shuffle == args.shuffle {
            report::announce(&trainer, &plan);
        }
        let classes = match trainer.settings().is_multiclass() {
            true => trainer.schema().found.classes.clone(),
            false => Vec::new(),
        };
        let before = trainer.progressive().rows();
        let mut console = Console::new(args.quiet, args.passes, before, classes);
        let advisor = Advisor::new(trainer.settings(), args.spec.names_algorithm()?);
        console.measure_by(super::progressive_measure(trainer.settings()));
        console.warn_with(move |warning| advisor.words(warning));
        let file = args.predictions.as_deref().map(|path| PredictionsFile::create(path, &trainer));
        let mut predicting = Predicting { console, file: file.transpose()? };
        let outcome = run_with(&mut trainer, &plan, reader, &mut predicting);
        let Predicting { console, file } = predicting;
        console.finish();
        match outcome {
            Ok(outcome) => {
                let Some(rows) = order::again(args, &plan, &trainer, &outcome)? else {
                    break (trainer, outcome, file);
                };
                // What is learned is kept until there is something better.
                if let Some(path) = &args.output {
                    outcome.model.save(path)?;
                }
                plan.shuffle = Some(rows);
                forgotten = outcome.hindsight;
                wider = Some(plan.options.clone());
            }
            // A file is read again from the start, with a wider kind for the column.
            Err(Error::Data(error))
                if args.resume.is_none()
                    && args.from.is_none()
                    && is_repeatable(args, &plan.inputs) =>
            {
                let Some(options) = survey::widened(&plan.options, &error) else {
                    return Err(error.into());
                };
                if !args.quiet {
                    columns::widened(&error, &options);
                }
                wider = Some(options);
            }
            Err(error) => {
                return Err(match (&error, console.last_words()) {
                    (Error::Diverged { .. }, Some(words)) => Fault::Input(words.to_owned()),
                    (Error::Data(data), _)
                        if data.kind() == DataErrorKind::Label
                            && plan.inputs.iter().any(Input::is_read_once) =>
                    {
                        Fault::Input(format!(
                            "{data}; data that is read once is not searched for its labels: declare two classes with --classes A,B, \
                             several with --multiclass --classes A,B,C, or learn numbers with --loss squared"
                        ))
                    }
                    (Error::NothingLearned, _) if stop.is_stopped() => {
                        Fault::Interrupted("no row was learned, nothing was saved".into())
                    }
                    _ => error.into(),
                });
            }
        }
    };
    if outcome.rows == 0 && !outcome.is_stopped && plan.starts.iter().any(|rows| *rows > 0) {
        return Err(Fault::Input(format!(
            "{}: no rows after those that the checkpoint has learned; pass new data, or --skip 0 to learn the same rows again",
            names(&plan.inputs)
        )));
    }
    columns::warn(&outcome.warnings);
    if let Some(path) = &args.output {
        outcome.model.save(path)?;
    }
    predictions.map_or(Ok(()), PredictionsFile::finish)?;
    let test = match &tests[..] {
        // After a signal nothing more is begun.
        _ if outcome.is_stopped => None,
        [] => None,
        tests => Some(judge(args, &outcome, tests, &plan)?),
    };
    if let Some(path) = &args.plot {
        let title = format!("{} on {}", trainer.settings().algorithm().name, names(&plan.inputs));
        write_text(path, &learning_curve(title, &trainer.curve_so_far()).to_svg())?;
    }
    let order = report::Order { shuffle: plan.shuffle, seed: plan.seed, forgotten };
    if let Some(path) = &args.json {
        let report = report::json(&trainer, &outcome, test.as_ref(), &order);
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if outcome.is_stopped {
        return Err(Fault::Interrupted(stopped(args, &trainer, &outcome)));
    }
    if !args.quiet {
        report::summarize(args, &trainer, &outcome, &order);
    }
    // The JSON on standard output has the metrics in it.
    if let Some(test) = test.filter(|_| args.json.as_deref() != Some(Path::new("-"))) {
        let mut out = Output::open(None)?;
        let measure = super::progressive_measure(trainer.settings());
        write!(out, "{}", evaluate::text(&test, measure))?;
        out.finish()?;
    }
    Ok(())
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
    let options = Options {
        stop: plan.options.stop.clone(),
        ..args.data.options(outcome.model.precision())?
    };
    // What the model does not know is counted below, and missing.
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

/// What a signal left: how much was learned, and where it is.
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
    if let Some(path) = &args.resume {
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

/// Whether everything can be done from the start again: predictions on standard output cannot be taken back.
fn is_repeatable(args: &TrainArgs, inputs: &[Input]) -> bool {
    !inputs.iter().any(Input::is_read_once) && args.predictions.as_deref() != Some(Path::new("-"))
}

/// A learner at the origin, and the data open before it; with other options than those of the flags after a cell that
/// contradicts the kind of its column.
fn fresh(
    args: &TrainArgs,
    plan: &Plan,
    wider: Option<Options>,
    stop: &Stop,
) -> Result<Start, Fault> {
    // The second time, in another order, everything is known.
    let is_quiet = args.quiet || plan.shuffle != args.shuffle;
    let spec = args.spec.spec()?;
    let mut options = args.data.options(args.frame.precision())?;
    options.stop = Some(stop.clone());
    options.mark_skipped = args.predictions.is_some();
    if let Some(wider) = wider {
        columns::take_kinds(&mut options, wider);
    }
    let Guessed { settings, guess, opened } =
        survey::open_guessing(&spec, &plan.inputs[..], &options)?;
    if !is_quiet {
        columns::announce(&opened, &args.data);
    }
    if let Some(guess) = guess.filter(|_| !is_quiet) {
        note(&guessed(guess, &opened));
    }
    let Opened { schema, options, reader, .. } = opened;
    if let ([negative, positive], true) =
        (&schema.found.classes[..], settings.may_find_two_classes())
        && !is_quiet
    {
        note(&format!(
            "labels: two classes, {negative} and {positive}, learned as -1 and 1; use --loss {} to learn numbers",
            settings.loss_name()
        ));
    }
    let frame = frame(&args.frame, &schema);
    let trainer = Trainer::new(settings, frame, schema)?;
    Ok(Start { trainer, options, reader, starts: Vec::new() })
}

/// What the labels were taken for, and the flag for another reading of them.
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
            "labels: {} classes ({}), so --multiclass{}",
            classes.len(),
            listed(classes.iter(), 6),
            match classes.iter().all(|class| class.parse::<f64>().is_ok()) {
                true => "; use --loss squared to predict numbers",
                false => "",
            }
        ),
        Guess::Numbers => {
            "labels: numbers, so --loss squared; use --multiclass if they are classes".into()
        }
    }
}

/// Precision, bias and store as asked for.
pub(crate) fn frame(args: &FrameArgs, reading: &InputSchema) -> LearnerOptions {
    let storage = match args.store {
        StoreArg::Dense => reading.storage(),
        StoreArg::Index => Storage::Index,
    };
    LearnerOptions { precision: args.precision(), bias: !args.no_bias, storage }
}

fn names(inputs: &[Input]) -> String {
    inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
}
