//! `parsimon train`

use std::path::Path;

use parsimon::algorithm::ftrl::Ftrl;
use parsimon::data::{Input, Options, Reader};
use parsimon::eval::number::{bytes, duration, significant, thousands};
use parsimon::eval::{Evaluation, Schedule};
use parsimon::survey::{self, Guess, Guessed, Opened};
use parsimon::{
    Error, InputSchema, LearnerOptions, Model, Outcome, Plan, Storage, Trainer, run_with,
};
use parsimon_page::chart::learning_curve;
use serde_json::{Map, Value, json};

use super::columns;
use crate::args::{FrameArgs, StoreArg, TrainArgs};
use crate::cmd::advice::Advisor;
use crate::console::{Console, note};
use crate::fault::Fault;
use crate::output::{Files, write_text};

pub(crate) fn run(args: &TrainArgs) -> Result<(), Fault> {
    let schedule =
        Schedule::parse(&args.progress).map_err(|e| Fault::Usage(format!("--progress: {e}")))?;
    let holdout = args.holdout.map(every).transpose()?;
    let inputs = args.data.inputs();
    let tests = crate::args::inputs(&args.test);
    check_files(args, &inputs, &tests)?;
    let mut plan = Plan {
        passes: args.passes,
        shuffle: args.shuffle,
        seed: args.seed,
        holdout,
        patience: args.early_stop,
        limit: args.limit,
        skip: args.skip,
        checkpoint: args.checkpoint.clone().map(|path| (path, args.checkpoint_every)),
        regret: args.regret,
        ..Plan::new(inputs, Options::default())
    };
    plan.check()?;
    let mut wider = None;
    let (trainer, outcome) = loop {
        let (mut trainer, options, reader) = match &args.resume {
            Some(path) => resumed(args, path, &plan.inputs)?,
            None => fresh(args, &plan.inputs, wider.take())?,
        };
        plan.options = options;
        trainer.report_when(schedule);
        if !args.quiet {
            announce(&trainer);
        }
        let classes = match trainer.settings().is_multiclass() {
            true => trainer.schema().found.classes.clone(),
            false => Vec::new(),
        };
        let before = trainer.progressive().rows();
        let mut console = Console::new(args.quiet, args.passes, before, classes);
        let advisor = Advisor::new(trainer.settings(), args.spec.names_algorithm()?);
        console.warn_with(move |warning| advisor.words(warning));
        let outcome = run_with(&mut trainer, &plan, reader, &mut console);
        console.finish();
        match outcome {
            Ok(outcome) => break (trainer, outcome),
            // A file is read again from the start, with a wider kind for the column.
            Err(Error::Data(error)) if args.resume.is_none() && is_repeatable(&plan.inputs) => {
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
                    _ => error.into(),
                });
            }
        }
    };
    columns::warn(&outcome.warnings);
    if let Some(path) = &args.output {
        outcome.model.save(path)?;
    }
    let test = match &tests[..] {
        [] => None,
        tests => {
            let (test, warnings) = outcome.model.evaluate_warning(tests, &plan.options)?;
            columns::warn(&warnings);
            Some(test)
        }
    };
    if let Some(path) = &args.plot {
        let title = format!("{} on {}", trainer.settings().algorithm().name, names(&plan.inputs));
        write_text(path, &learning_curve(title, &trainer.curve_so_far()).to_svg())?;
    }
    if let Some(path) = &args.json {
        let mut text = serde_json::to_string_pretty(&report(&trainer, &outcome, test.as_ref()))
            .unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if !args.quiet {
        summarize(args, &trainer, &outcome, test.as_ref());
    }
    Ok(())
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
    files.write("--output", args.output.as_deref())?;
    files.write("--json", args.json.as_deref())?;
    files.write("--plot", args.plot.as_deref())
}

/// Whether the data can be read from the start again.
fn is_repeatable(inputs: &[Input]) -> bool {
    !inputs.iter().any(Input::is_read_once)
}

/// A learner at the origin, and the data open before it; with other options than those of the flags after a cell that
/// contradicts the kind of its column.
fn fresh(
    args: &TrainArgs,
    inputs: &[Input],
    wider: Option<Options>,
) -> Result<(Trainer, Options, Reader), Fault> {
    let spec = args.spec.spec()?;
    let mut options = args.data.options(args.frame.precision.into())?;
    if let Some(wider) = wider {
        columns::take_kinds(&mut options, wider);
    }
    let Guessed { settings, guess, opened } = survey::open_guessing(&spec, inputs, &options)?;
    if !args.quiet {
        columns::lines(&opened.schema).iter().for_each(|line| note(line));
    }
    if let Some(guess) = guess.filter(|_| !args.quiet) {
        note(&guessed(guess, &opened));
    }
    let Opened { schema, options, reader } = opened;
    if let ([negative, positive], true) =
        (&schema.found.classes[..], settings.may_find_two_classes())
        && !args.quiet
    {
        note(&format!(
            "labels: two classes, {negative} and {positive}, learned as -1 and 1; use --loss {} to learn numbers",
            settings.loss_name()
        ));
    }
    let frame = frame(&args.frame, &schema);
    Ok((Trainer::new(settings, frame, schema)?, options, reader))
}

/// What the labels were taken for, and the flag for another reading of them.
fn guessed(guess: Guess, opened: &Opened) -> String {
    let classes = &opened.schema.found.classes;
    let listed = |most: usize| {
        let shown = classes.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
        if classes.len() > most { format!("{shown}, ...") } else { shown }
    };
    match guess {
        Guess::Two if classes.is_empty() => "labels: two classes, -1 and 1".into(),
        Guess::Two => format!("labels: two classes, {}", listed(2)),
        Guess::Several => format!(
            "labels: {} classes ({}), so --multiclass; use --loss squared to predict numbers",
            classes.len(),
            listed(6)
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
    LearnerOptions { precision: args.precision.into(), bias: !args.no_bias, storage }
}

fn resumed(
    args: &TrainArgs,
    path: &Path,
    inputs: &[Input],
) -> Result<(Trainer, Options, Reader), Fault> {
    if !args.spec.is_empty() {
        return Err(Fault::Usage(
            "a checkpoint carries its settings; leave out the algorithm's flags with --resume"
                .into(),
        ));
    }
    let trainer = Trainer::resume(path)?;
    let precision = trainer.frame().precision;
    args.data.refuse_reading(
        "is for a fresh start; with --resume the checkpoint says how features are read",
    )?;
    let options = args.data.options(precision)?;
    let options = trainer.schema().options(trainer.settings(), precision, &options);
    let reader = Reader::open(inputs, &options)?;
    Ok((trainer, options, reader))
}

/// A share of the rows as "every so many-th".
fn every(share: f64) -> Result<u64, Fault> {
    if !(share > 0.0 && share <= 0.5) {
        return Err(Fault::Usage(format!("--holdout must be a share > 0 and <= 0.5, got {share}")));
    }
    Ok((1.0 / share).round() as u64)
}

fn names(inputs: &[Input]) -> String {
    inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
}

/// The settings, with what was found in the data in its place.
fn completed(trainer: &Trainer) -> Map<String, Value> {
    trainer.settings().completed(&trainer.schema().found)
}

fn announce(trainer: &Trainer) {
    let settings = completed(trainer);
    let shown = settings.iter().filter(|(name, value)| {
        !["algorithm", "classes", "groups"].contains(&name.as_str())
            && **value != Value::Bool(false)
    });
    let shown: Vec<String> = shown
        .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
        .collect();
    note(&format!(
        "{}: {}; {}, {}, {}",
        trainer.settings().algorithm().name,
        shown.join(", "),
        trainer.frame().precision,
        trainer.schema().space(),
        if trainer.frame().bias { "bias" } else { "no bias" },
    ));
    if trainer.progressive().rows() > 0 {
        note(&format!(
            "going on after {} rows, with the first row of the data (--skip passes over rows)",
            thousands(trainer.progressive().rows())
        ));
    }
}

fn summarize(args: &TrainArgs, trainer: &Trainer, outcome: &Outcome, test: Option<&Evaluation>) {
    let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
    let model = &outcome.model;
    note(&format!(
        "\n{} rows, {} features in {} ({} rows/s)",
        thousands(outcome.rows),
        thousands(outcome.features),
        duration(outcome.elapsed),
        thousands((outcome.rows as f64 / seconds) as u64),
    ));
    note(&format!(
        "progressive loss {}{}, {} {}",
        significant(trainer.progressive().average().unwrap_or(0.0), 6),
        match trainer.constant_loss() {
            Some(loss) => format!(" (a constant prediction {})", significant(loss, 6)),
            None => String::new(),
        },
        thousands(model.nonzeros() as u64),
        match model.dictionary() {
            None => "nonzero weights",
            Some(_) => "rows in the dictionary",
        },
    ));
    if let Some(command) = named_by_race(trainer, model) {
        note(&format!("the race was won by {command}"));
    }
    if trainer.names().collisions() > 0 {
        note(&format!(
            "{} slots hold more than one of the {} names; more --bits would part them",
            thousands(trainer.names().collisions() as u64),
            thousands(trainer.names().len() as u64)
        ));
    }
    let (skipped, errors) = &outcome.skipped;
    if *skipped > 0 {
        note(&format!("passed over {} bad rows:", thousands(*skipped)));
        errors.iter().for_each(|error| note(&format!("  {error}")));
    }
    if let Some(test) = test {
        note(&format!("\ntest\n{test}"));
    }
    if let Some(regret) = &outcome.regret {
        note(&format!(
            "regret {} after {} rounds ({} per round): paid {}, best fixed weights {}",
            significant(regret.regret, 5),
            thousands(regret.rounds),
            significant(regret.average, 4),
            significant(regret.paid, 6),
            significant(regret.best, 6)
        ));
        if let Some(bound) = &regret.bound {
            note(&format!(
                "bound Delta_T = {} with D^2 = {}, L = {}",
                significant(bound.value, 5),
                significant(bound.d2, 4),
                significant(bound.lipschitz, 4)
            ));
        }
    }
    if let Some(path) = &args.output {
        let size = std::fs::metadata(path).map_or(0, |m| m.len());
        note(&format!("model {} ({})", path.display(), bytes(size)));
    }
    if let Some((path, what)) = args.plot.as_ref().map(|p| (p, "plot")) {
        note(&format!("{what} {}", path.display()));
    }
    if args.output.is_none() && args.checkpoint.is_none() {
        note("nothing was saved; add -o MODEL to keep the model");
    }
}

/// The flags that give the same model, where a race has chosen them.
fn named_by_race(trainer: &Trainer, model: &Model) -> Option<String> {
    trainer.online().chosen()?;
    let settings = model.settings();
    let ftrl: &Ftrl = settings.typed()?;
    // The penalty of the constant is a one with thirty zeros.
    let spelled = |x: f64| if x >= 1e9 { format!("{x:e}") } else { x.to_string() };
    let (rate, l1) = (spelled(ftrl.rate), spelled(ftrl.penalized.l1));
    let constant = if model.nonzeros() == 0 { " (a constant)" } else { "" };
    Some(format!("-a ftrl --normalize --rate {rate} --beta 0 --l1 {l1}{constant}"))
}

fn report(trainer: &Trainer, outcome: &Outcome, test: Option<&Evaluation>) -> Value {
    let (skipped, errors) = &outcome.skipped;
    json!({
        "settings": completed(trainer),
        "precision": trainer.frame().precision.to_string(),
        "bias": trainer.frame().bias,
        "reading": trainer.schema(),
        "rows": trainer.progressive().rows(),
        "features": outcome.features,
        "seconds": outcome.elapsed.as_secs_f64(),
        "progressive_loss": trainer.progressive().average(),
        "constant_loss": trainer.constant_loss(),
        "nonzeros": outcome.model.nonzeros(),
        "names": trainer.names().len(),
        "collisions": trainer.names().collisions(),
        "skipped_rows": skipped,
        "skipped": errors,
        "passes": outcome.passes,
        "test": test,
        "regret": outcome.regret,
        "curve": trainer.curve_so_far(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
