//! What `train` prints and writes about a run.

use parsimon::algorithm::typed::Ftrl;
use parsimon::eval::Evaluation;
use parsimon::eval::number::{bytes, duration, significant, thousands};
use parsimon::predict::Assessed;
use parsimon::train::{Hindsight, Outcome, Pass};
use parsimon::{Model, Plan, Trainer};
use serde_json::{Map, Value, json};

use crate::args::TrainArgs;
use crate::console::note;

/// A relative error of the best fixed weights that is worth a line.
const INEXACT: f64 = 1e-6;

/// The order in which the rows were learned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) shuffle: Option<usize>,
    pub(super) seed: u64,
    /// Why the rows were learned again in random order, if they were.
    pub(super) forgotten: Option<Hindsight>,
}

/// The settings, with what was found in the data in its place.
fn completed(trainer: &Trainer) -> Map<String, Value> {
    trainer.settings().completed(&trainer.schema().found)
}

pub(super) fn announce(trainer: &Trainer, plan: &Plan) {
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
        let rows = thousands(trainer.progressive().rows());
        let known: Vec<String> = plan
            .inputs
            .iter()
            .zip(&plan.starts)
            .filter(|(_, start)| **start > 0)
            .map(|(input, start)| format!("{} after its first {}", input.name(), thousands(*start)))
            .collect();
        note(&match (&known[..], plan.skip) {
            ([], 0) => format!("continuing after {rows} rows with the first row of the data"),
            ([], skip) => format!(
                "continuing after {rows} rows, without the first {} of the data",
                thousands(skip)
            ),
            (known, _) => format!("continuing after {rows} rows: {}", known.join(", ")),
        });
    }
}

pub(super) fn summarize(args: &TrainArgs, trainer: &Trainer, outcome: &Outcome, order: &Order) {
    let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
    let model = &outcome.model;
    note(&format!(
        "\n{} rows, {} features in {} ({} rows/s)",
        thousands(outcome.rows),
        thousands(outcome.features),
        duration(outcome.elapsed),
        thousands((outcome.rows as f64 / seconds) as u64),
    ));
    let measure = crate::cmd::progressive_measure(trainer.settings());
    let estimate = Estimate::of(trainer, outcome);
    note(&format!(
        "{}{}, {} {}",
        estimate.words(trainer),
        match estimate.constant {
            Some(loss) => {
                format!(" (a constant prediction {})", significant(measure.factor * loss, 6))
            }
            None => String::new(),
        },
        thousands(model.nonzeros() as u64),
        match model.dictionary() {
            None => "nonzero weights",
            Some(_) => "rows in the dictionary",
        },
    ));
    warn_of_constants(trainer, &estimate);
    if let Some(command) = named_by_race(trainer, model, order) {
        note(&match model.nonzeros() {
            0 => format!("auto found nothing better than a constant prediction: {command}"),
            _ => format!("settings chosen by auto: {command}"),
        });
    }
    if trainer.names().collisions() > 0 {
        let slots = trainer.names().collisions() as u64;
        note(&format!(
            "{} hash slot{} shared by several of the {} names; use more --bits to avoid collisions",
            thousands(slots),
            if slots == 1 { " is" } else { "s are" },
            thousands(trainer.names().len() as u64)
        ));
    }
    if let (Some((learned, met)), Some(share)) = (outcome.negatives, trainer.sample_negatives()) {
        note(&format!(
            "learned {} of {} negative rows, each with importance {}",
            thousands(learned),
            thousands(met),
            significant(1.0 / share, 6)
        ));
    }
    let (skipped, errors) = &outcome.skipped;
    if *skipped > 0 {
        let s = if *skipped == 1 { "" } else { "s" };
        note(&format!("skipped {} bad row{s}:", thousands(*skipped)));
        errors.iter().for_each(|error| note(&format!("  {error}")));
    }
    if let Some(regret) = &outcome.regret {
        note(&format!(
            "regret {} after {} rounds ({} per round): loss {}, loss of the best fixed weights {}",
            significant(regret.regret, 5),
            thousands(regret.rounds),
            significant(regret.average, 4),
            significant(regret.paid, 6),
            significant(regret.best, 6)
        ));
        if regret.accuracy > INEXACT {
            note(&format!(
                "the best fixed weights are not exact: their loss may be up to about {} lower, and the regret that much higher",
                significant(regret.accuracy * regret.best.abs(), 2)
            ));
        }
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
    if let Some(path) = &args.checkpoint {
        let size = std::fs::metadata(path).map_or(0, |m| m.len());
        note(&format!("checkpoint {0} ({1}); --resume {0} continues", path.display(), bytes(size)));
    }
    let files = [("predictions", &args.predictions), ("plot", &args.plot)];
    for (what, path) in files.iter().filter_map(|(what, path)| Some((what, path.as_ref()?))) {
        note(&format!("{what} {}", path.display()));
    }
    if args.output.is_none() && args.checkpoint.is_none() {
        note("nothing was saved; add -o MODEL to keep the model");
    }
}

/// Warns of labels that are all the same, and of a model that is no better than a constant.
fn warn_of_constants(trainer: &Trainer, estimate: &Estimate) {
    let is_behind = estimate.constant.is_some_and(|constant| estimate.loss >= constant);
    if trainer.has_one_label() {
        note("warning: all rows have the same label; there is nothing to learn");
    } else if is_behind {
        note("the model is no better than a constant prediction");
    }
}

/// The loss that estimates the loss on new rows: of predictions for rows that were not learned before.
struct Estimate {
    loss: f64,
    /// The loss of a constant on the same rows.
    constant: Option<f64>,
    /// Which rows these are.
    rows: Judged,
}

enum Judged {
    /// All rows, each before it was learned.
    AllRows,
    /// The rows of the first of several passes, each before it was learned.
    FirstPass,
    /// The rows that were held out, after the last pass or, with early stopping, the best one.
    Holdout { pass: u32 },
}

impl Estimate {
    fn of(trainer: &Trainer, outcome: &Outcome) -> Self {
        let holdout = |pass: &Pass| pass.holdout.as_ref().and_then(Evaluation::mean_loss);
        let held = outcome.kept_pass().and_then(|pass| Some((pass.pass, holdout(pass)?)));
        let first = outcome.passes.first().filter(|_| outcome.passes.len() > 1);
        // Of several classes the mean loss is no error rate.
        let held = held.filter(|_| first.is_some() && !trainer.settings().is_multiclass());
        match (held, first) {
            (Some((pass, loss)), _) => {
                Self { loss, constant: None, rows: Judged::Holdout { pass } }
            }
            (None, Some(first)) => Self {
                loss: first.progressive.unwrap_or(0.0),
                constant: first.constant,
                rows: Judged::FirstPass,
            },
            (None, None) => Self {
                loss: trainer.progressive().average().unwrap_or(0.0),
                constant: trainer.constant_loss(),
                rows: Judged::AllRows,
            },
        }
    }

    fn words(&self, trainer: &Trainer) -> String {
        let measure = crate::cmd::progressive_measure(trainer.settings());
        let name = measure_name(trainer);
        let loss = significant(measure.factor * self.loss, 6);
        match self.rows {
            Judged::AllRows => format!("progressive {name} {loss}"),
            Judged::FirstPass => format!("progressive {name} of the first pass {loss}"),
            Judged::Holdout { pass } => format!("holdout {name} {loss} after pass {pass}"),
        }
    }

    fn to_json(&self) -> Value {
        let of = match self.rows {
            Judged::AllRows => "progressive",
            Judged::FirstPass => "progressive, first pass",
            Judged::Holdout { .. } => "holdout",
        };
        json!({"loss": self.loss, "of": of})
    }
}

/// What the progressive loss is called.
fn measure_name(trainer: &Trainer) -> &'static str {
    let measure = crate::cmd::progressive_measure(trainer.settings());
    match trainer.settings().is_multiclass() {
        true => "error rate",
        false if measure.is_mse() => measure.name,
        false => "loss",
    }
}

/// The progressive loss in words.
pub(super) fn progressive(trainer: &Trainer) -> String {
    let measure = crate::cmd::progressive_measure(trainer.settings());
    let average = trainer.progressive().average().unwrap_or(0.0);
    format!("progressive {} {}", measure_name(trainer), significant(measure.factor * average, 6))
}

/// The flags that give the same model, where a race has chosen them.
fn named_by_race(trainer: &Trainer, model: &Model, order: &Order) -> Option<String> {
    trainer.online().chosen()?;
    let settings = model.settings();
    let ftrl: &Ftrl = settings.typed()?;
    // The penalty of the constant is a one with thirty zeros.
    let spelled = |x: f64| if x >= 1e9 { format!("{x:e}") } else { x.to_string() };
    let (rate, l1) = (spelled(ftrl.rate), spelled(ftrl.penalized.l1));
    let mut command = format!("-a ftrl --normalize --rate {rate} --beta 0 --l1 {l1}");
    // A method that is named learns the rows in their order.
    if let (Some(rows), Some(_)) = (order.shuffle, order.forgotten) {
        command += &format!(" --shuffle {rows}");
    }
    Some(command)
}

pub(super) fn json(
    trainer: &Trainer,
    outcome: &Outcome,
    test: Option<&Assessed>,
    order: &Order,
) -> Value {
    let (skipped, errors) = &outcome.skipped;
    let measure = crate::cmd::progressive_measure(trainer.settings());
    let mse = |loss: Option<f64>| loss.filter(|_| measure.is_mse()).map(|x| measure.factor * x);
    json!({
        "settings": completed(trainer),
        "precision": trainer.frame().precision.to_string(),
        "bias": trainer.frame().bias,
        "reading": trainer.schema(),
        "rows": trainer.progressive().rows(),
        "features": outcome.features,
        "seconds": outcome.elapsed.as_secs_f64(),
        "progressive_loss": trainer.progressive().average(),
        "estimate": Estimate::of(trainer, outcome).to_json(),
        "constant_loss": trainer.constant_loss(),
        "progressive_mse": mse(trainer.progressive().average()),
        "constant_mse": mse(trainer.constant_loss()),
        "nonzeros": outcome.model.nonzeros(),
        "names": trainer.names().len(),
        "collisions": trainer.names().collisions(),
        "skipped_rows": skipped,
        "skipped": errors,
        "passes": outcome.passes,
        "shuffle": order.shuffle.map(|rows| json!({
            "rows": rows,
            "seed": order.seed,
            "because": if order.forgotten.is_some() { "hindsight" } else { "--shuffle" },
        })),
        "hindsight": order.forgotten.or(outcome.hindsight).map(|found| json!({
            "rows": found.rows,
            "loss": found.loss,
            "progressive_loss": found.progressive,
            "constant_loss": found.constant,
        })),
        "negatives": outcome.negatives.map(|(learned, met)| json!({"learned": learned, "met": met})),
        "checkpoints": (outcome.pauses.count > 0).then(|| json!({
            "count": outcome.pauses.count,
            "pauses_seconds": outcome.pauses.total.as_secs_f64(),
            "shortest_pause_seconds": outcome.pauses.shortest.as_secs_f64(),
            "longest_pause_seconds": outcome.pauses.longest.as_secs_f64(),
        })),
        "test": test.map(|test| &test.evaluation),
        "test_beside_constant": test.map(|test| &test.beside),
        "is_stopped": outcome.is_stopped,
        "regret": outcome.regret,
        "curve": trainer.curve_so_far(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
