//! `parsimon train`

use std::path::Path;

use parsimon::core::Precision;
use parsimon::data::{Input, Options, Reader};
use parsimon::eval::Schedule;
use parsimon::eval::number::{bytes, duration, significant, thousands};
use parsimon::{
    Frame, Outcome, Plan, Reading, Settings, Storage, Trainer, find_classes, run as run_plan,
};
use serde_json::{Value, json};

use crate::args::{FrameArgs, StoreArg, TrainArgs};
use crate::console::{Console, note};
use crate::fault::Fault;
use crate::output::write_text;

pub(crate) fn run(args: &TrainArgs) -> Result<(), Fault> {
    let schedule =
        Schedule::parse(&args.progress).map_err(|e| Fault::Usage(format!("--progress: {e}")))?;
    let holdout = args.holdout.map(every).transpose()?;
    let inputs = args.data.inputs();
    let (mut trainer, options) = match &args.resume {
        Some(path) => resumed(args, path)?,
        None => fresh(args, &inputs)?,
    };
    trainer.report_when(schedule);
    if !args.quiet {
        announce(&trainer);
    }
    let plan = Plan {
        passes: args.passes,
        shuffle: args.shuffle,
        seed: args.seed,
        holdout,
        patience: args.early_stop,
        limit: args.limit,
        skip: args.skip,
        tests: crate::args::inputs(&args.test),
        checkpoint: args.checkpoint.clone().map(|path| (path, args.checkpoint_every)),
        regret: args.regret,
        ..Plan::new(inputs, options)
    };
    let classes = match trainer.settings().flag("multiclass") {
        true => trainer.reading().classes.clone(),
        false => Vec::new(),
    };
    let mut console = Console::new(args.quiet, args.passes, trainer.progressive().rows(), classes);
    let outcome = run_plan(&mut trainer, &plan, &mut console);
    console.finish();
    let outcome = outcome?;
    if let Some(path) = &args.output {
        outcome.model.save(path)?;
    }
    if let Some(path) = &args.plot {
        let title = format!("{} on {}", trainer.settings().algorithm().name, names(&plan.inputs));
        write_text(path, &trainer.curve().figure(title).to_svg())?;
    }
    if let Some(path) = &args.json {
        let mut text =
            serde_json::to_string_pretty(&report(&trainer, &outcome)).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if !args.quiet {
        summarize(args, &trainer, &outcome);
    }
    Ok(())
}

/// A learner at the origin: settings, space and labels are found out before the first row is learned.
fn fresh(args: &TrainArgs, inputs: &[Input]) -> Result<(Trainer, Options), Fault> {
    let settings = args.spec.spec()?.resolve()?;
    let precision = args.frame.precision.into();
    let options = args.data.options(precision)?;
    prepare(settings, &args.frame, inputs, options)
}

/// Finds out space, labels and, where it is needed, the number of features; builds the learner.
pub(crate) fn prepare(
    settings: Settings,
    frame: &FrameArgs,
    inputs: &[Input],
    mut options: Options,
) -> Result<(Trainer, Options), Fault> {
    let classes = find_classes(&settings, inputs, &options)?;
    let is_stdin = inputs.iter().any(|input| matches!(input, Input::Stdin));
    let space = match (options.space, is_stdin) {
        (Some(space), _) => space,
        // Standard input cannot be opened twice; its format's own space is the reader's to choose.
        (None, true) => options.format.map_or(parsimon::data::Space::Ids, |f| f.default_space()),
        (None, false) => Reader::open(inputs, &options)?.space(),
    };
    options.space = Some(space);
    let settings = match settings.wants_dimension() {
        true if is_stdin => {
            return Err(Fault::Usage("standard input cannot be scanned; say --dimension".into()));
        }
        true => {
            let dimension = largest_index(inputs, &options)?;
            settings.with_dimension(dimension)
        }
        false => settings,
    };
    let reading = Reading::new(&options, space, classes);
    options.labels = reading.labels(&settings);
    let precision: Precision = frame.precision.into();
    let storage = match frame.store {
        StoreArg::Dense => reading.storage(),
        StoreArg::Index => Storage::Index,
    };
    let frame = Frame { precision, bias: !frame.no_bias, storage };
    Ok((Trainer::new(settings, frame, reading)?, options))
}

fn largest_index(inputs: &[Input], options: &Options) -> Result<u32, Fault> {
    let options =
        Options { labels: parsimon::data::Labels::Any, keep_names: false, ..options.clone() };
    let mut reader = Reader::open(inputs, &options)?;
    let mut chunk = parsimon::core::Chunk::new();
    while reader.read(&mut chunk)? {}
    Ok(reader.largest_index().max(1))
}

fn resumed(args: &TrainArgs, path: &Path) -> Result<(Trainer, Options), Fault> {
    if !args.spec.is_empty() {
        return Err(Fault::Usage(
            "a checkpoint carries its settings; leave out the algorithm's flags with --resume"
                .into(),
        ));
    }
    let trainer = Trainer::resume(path)?;
    let precision = trainer.frame().precision;
    let options = args.data.options(precision)?;
    let options = trainer.reading().options(trainer.settings(), precision, &options);
    Ok((trainer, options))
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

fn announce(trainer: &Trainer) {
    let settings = trainer.settings().to_json();
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
        trainer.reading().space(),
        if trainer.frame().bias { "bias" } else { "no bias" },
    ));
    if trainer.progressive().rows() > 0 {
        note(&format!("going on after {} rows", thousands(trainer.progressive().rows())));
    }
}

fn summarize(args: &TrainArgs, trainer: &Trainer, outcome: &Outcome) {
    let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
    let model = &outcome.model;
    note(&format!(
        "\n{} rows, {} features in {} ({} rows/s)",
        thousands(trainer.progressive().rows()),
        thousands(outcome.features),
        duration(outcome.elapsed),
        thousands((outcome.features as f64 / seconds * rows_per_feature(trainer, outcome)) as u64),
    ));
    note(&format!(
        "progressive loss {}, {} nonzero weights",
        significant(trainer.progressive().average().unwrap_or(0.0), 6),
        thousands(model.nonzeros() as u64)
    ));
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
    if let Some(test) = &outcome.test {
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

/// Rows of this run per feature of this run; a resumed learner has seen more rows than this run.
fn rows_per_feature(trainer: &Trainer, outcome: &Outcome) -> f64 {
    trainer.progressive().rows() as f64 / (outcome.features as f64).max(1.0)
}

fn report(trainer: &Trainer, outcome: &Outcome) -> Value {
    let (skipped, errors) = &outcome.skipped;
    json!({
        "settings": trainer.settings().to_json(),
        "precision": trainer.frame().precision.to_string(),
        "bias": trainer.frame().bias,
        "reading": trainer.reading(),
        "rows": trainer.progressive().rows(),
        "features": outcome.features,
        "seconds": outcome.elapsed.as_secs_f64(),
        "progressive_loss": trainer.progressive().average(),
        "nonzeros": outcome.model.nonzeros(),
        "names": trainer.names().len(),
        "collisions": trainer.names().collisions(),
        "skipped_rows": skipped,
        "skipped": errors,
        "passes": outcome.passes,
        "test": outcome.test,
        "regret": outcome.regret,
        "curve": trainer.curve(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
