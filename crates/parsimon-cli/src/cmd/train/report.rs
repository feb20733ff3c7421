//! Printed and written reports of `train`.

use parsimon::algorithm::typed::Ftrl;
use parsimon::job::{Decided, Estimate, InOrder, Judged, Notice, Trained, measure_of};
use parsimon::predict::Assessed;
use parsimon::settings::Loss;
use parsimon::study::Regret;
use parsimon::workspace::{
    Curves, number::bytes, number::duration, number::significant, number::thousands,
};
use parsimon::{Plan, Trainer};
use serde_json::{Map, Value, json};

use crate::args::TrainArgs;
use crate::cmd::advice::Advisor;
use crate::console::note;

/// A relative error of the best fixed weights that is worth a line.
const INEXACT: f64 = 1e-6;

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
        trainer.options().precision,
        trainer.schema().space(),
        if trainer.options().bias { "bias" } else { "no bias" },
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

/// The choice between lines, curves and pairs.
pub(super) fn decided(decided: &Decided) -> String {
    let Decided { lines, chosen, curves, pairs, rows } = decided;
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let rows = thousands(*rows as u64);
    let lines = significant(*lines, 4);
    if curves + pairs == 0 {
        return format!(
            "no curves and no pairs of columns: on {rows} rows that were not learned, lines have the loss {lines}, and these no less"
        );
    }
    format!(
        "{} and {}: on {rows} rows that were not learned, the loss is {} instead of {lines}; use --curves none --pairs none for lines",
        count(*curves, "curve"),
        count(*pairs, "pair"),
        significant(*chosen, 4)
    )
}

pub(super) fn summarize(args: &TrainArgs, trained: &Trained) {
    let Trained { trainer, outcome, .. } = trained;
    let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
    let model = &outcome.model;
    note(&format!(
        "\n{} rows, {} features in {} ({} rows/s)",
        thousands(outcome.rows),
        thousands(outcome.features),
        duration(outcome.elapsed),
        thousands((outcome.rows as f64 / seconds) as u64),
    ));
    let measure = measure_of(trainer.settings());
    let estimate = trained.estimate();
    note(&format!(
        "{}{}, {} {}",
        estimated(&estimate, trained),
        rivals(estimate.constant, last_label(trained, &estimate), measure.factor),
        thousands(model.nonzeros() as u64),
        match model.dictionary() {
            None => "nonzero weights",
            Some(_) => "rows in the dictionary",
        },
    ));
    let notices = trained.notices();
    let advisor = Advisor::new(trainer.settings(), false);
    let tell = |matters: fn(&Notice) -> bool| {
        notices.iter().filter(|n| matters(n)).for_each(|notice| note(&advisor.words(notice)));
    };
    if let Some(InOrder { progressive, constant, last_label }) = trained.in_order {
        note(&format!(
            "in the order of the rows: progressive {} {}{}",
            measure_name(trainer),
            significant(measure.factor * progressive, 6),
            rivals(constant, last_label, measure.factor)
        ));
    }
    tell(|notice| {
        matches!(
            notice,
            Notice::OneLabel | Notice::NoBetterThanConstant { .. } | Notice::BehindLastLabel { .. }
        )
    });
    if let Some(command) = named_by_race(trained) {
        note(&match model.nonzeros() {
            0 => format!("auto found nothing better than a constant prediction: {command}"),
            _ => format!("settings chosen by auto: {command}"),
        });
    }
    tell(|notice| matches!(notice, Notice::Collisions { .. } | Notice::ManyPasses { .. }));
    if let (Some((learned, met)), Some(share)) = (outcome.negatives, trainer.sample_negatives()) {
        note(&format!(
            "learned {} of {} negative rows, each with importance {}",
            thousands(learned),
            thousands(met),
            significant(1.0 / share, 6)
        ));
    }
    tell(|notice| matches!(notice, Notice::Skipped { .. }));
    if let Some(regret) = &outcome.regret {
        summarize_regret(regret);
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

fn summarize_regret(regret: &Regret) {
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

/// The losses that a progressive loss must beat, in parentheses.
fn rivals(constant: Option<f64>, last_label: Option<f64>, factor: f64) -> String {
    let number = |loss: f64| significant(factor * loss, 6);
    let named = [
        constant.map(|loss| format!("a constant prediction {}", number(loss))),
        last_label.map(|loss| format!("the last label {}", number(loss))),
    ];
    let named: Vec<String> = named.into_iter().flatten().collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// The loss of the last label on the rows of an estimate.
fn last_label(trained: &Trained, estimate: &Estimate) -> Option<f64> {
    trained.trainer.last_label_loss().filter(|_| estimate.rows == Judged::AllRows)
}

/// The loss that estimates the loss on new rows, in words.
fn estimated(estimate: &Estimate, trained: &Trained) -> String {
    let trainer = &trained.trainer;
    let measure = measure_of(trainer.settings());
    let name = measure_name(trainer);
    let loss = significant(measure.factor * estimate.loss, 6);
    match estimate.rows {
        Judged::AllRows if trained.in_order.is_some() && trained.plan.shuffle.is_some() => {
            format!("progressive {name} in random order {loss}")
        }
        Judged::AllRows => format!("progressive {name} {loss}"),
        Judged::FirstPass => format!("progressive {name} of the first pass {loss}"),
        Judged::Chosen => format!("held-out {name} {loss}"),
        Judged::Holdout { pass } => format!("holdout {name} {loss} after pass {pass}"),
    }
}

fn estimate_json(estimate: &Estimate) -> Value {
    let of = match estimate.rows {
        Judged::AllRows => "progressive",
        Judged::FirstPass => "progressive, first pass",
        Judged::Chosen => "held-out rows of the choice",
        Judged::Holdout { .. } => "holdout",
    };
    json!({"loss": estimate.loss, "of": of})
}

/// The name of the progressive loss.
fn measure_name(trainer: &Trainer) -> &'static str {
    let measure = measure_of(trainer.settings());
    match trainer.settings().is_multiclass() {
        true => "error rate",
        false if measure.is_mse() => measure.name,
        false => "loss",
    }
}

/// The progressive loss in words.
pub(super) fn progressive(trainer: &Trainer) -> String {
    let measure = measure_of(trainer.settings());
    let average = trainer.progressive().average().unwrap_or(0.0);
    format!("progressive {} {}", measure_name(trainer), significant(measure.factor * average, 6))
}

/// The flags that give the same model, where a race has chosen them.
fn named_by_race(trained: &Trained) -> Option<String> {
    if trained.refitted.is_some() {
        return None;
    }
    if trained.repeated.is_none() {
        trained.trainer.online().chosen()?;
    }
    let settings = trained.outcome.model.settings();
    let ftrl: &Ftrl = settings.typed()?;
    // The penalty of the constant is a one with thirty zeros.
    let spelled = |x: f64| if x >= 1e9 { format!("{x:e}") } else { x.to_string() };
    let (rate, l1) = (spelled(ftrl.rate), spelled(ftrl.penalized.l1));
    let mut command = format!("-a ftrl --normalize --rate {rate} --beta 0 --l1 {l1}");
    if let Some(rows) = ftrl.half_life {
        command += &format!(" --half-life {rows}");
    }
    if settings.loss() == Loss::Softmax {
        command += " --loss softmax";
    }
    if trained.repeated.is_some() {
        command += &format!(" --passes {}", trained.plan.passes);
    }
    // A method that is named learns the rows in their order.
    let is_mixed = trained.forgotten.is_some() || trained.repeated.is_some();
    if let (Some(rows), true) = (trained.plan.shuffle, is_mixed) {
        command += &format!(" --shuffle {rows}");
    }
    command += &named_curves(trained);
    Some(command)
}

/// The flags of the curves and pairs that the data has decided.
fn named_curves(trained: &Trained) -> String {
    let Some(table) = &trained.trainer.schema().table else { return String::new() };
    // Kinds of a schema or of flags are passed again.
    if trained.plan.options.reading.curves != Curves::None || !table.has_curves() {
        return String::new();
    }
    let knots = |count: usize| [4, 8, 16].into_iter().find(|k| *k >= count).unwrap_or(count);
    let curved = table.columns.iter().filter(|column| !column.knots.is_empty());
    let curves: Vec<String> =
        curved.map(|c| format!("{}:{}", c.name, knots(c.knots.values().len()))).collect();
    let pairs: Vec<String> = table.pairs.iter().map(|pair| pair.join(":")).collect();
    let listed = |flag: &str, parts: &[String]| match parts {
        [] => String::new(),
        parts => format!(" {flag} {}", parts.join(",")),
    };
    listed("--curves", &curves) + &listed("--pairs", &pairs)
}

/// The window and the seed of shuffling, and its reason.
fn shuffled(trained: &Trained) -> Option<Value> {
    let Trained { plan, forgotten, repeated, refitted, .. } = trained;
    let because = match (refitted, repeated, forgotten) {
        (Some(_), ..) => "refit",
        (None, Some(_), _) => "passes",
        (None, None, Some(_)) => "hindsight",
        (None, None, None) => "--shuffle",
    };
    plan.shuffle.map(|rows| json!({"rows": rows, "seed": plan.seed, "because": because}))
}

/// The progressive loss of the rows in their order, where they were learned again in another.
fn in_order(trained: &Trained) -> Option<Value> {
    trained.in_order.map(|found| {
        json!({
            "progressive_loss": found.progressive,
            "constant_loss": found.constant,
            "last_label_loss": found.last_label,
        })
    })
}

/// Guesses and warnings for the report, also where `--quiet` keeps them from the terminal.
#[derive(Default)]
pub(super) struct Told {
    /// Guesses from the data.
    pub(super) guesses: Vec<String>,
    /// Warnings of the learner.
    pub(super) warnings: Vec<String>,
}

impl Told {
    /// Adds a warning that is not there yet: rows may be learned again.
    pub(super) fn warn(&mut self, words: &str) {
        let words = words.trim().trim_start_matches("warning: ");
        if !self.warnings.iter().any(|known| known == words) {
            self.warnings.push(words.to_owned());
        }
    }
}

/// The report as JSON.
pub(super) fn json(trained: &Trained, test: Option<&Assessed>, told: &Told) -> Value {
    let Trained { trainer, outcome, forgotten, repeated, refitted, .. } = trained;
    let (skipped, errors) = &outcome.skipped;
    let measure = measure_of(trainer.settings());
    let mse = |loss: Option<f64>| loss.filter(|_| measure.is_mse()).map(|x| measure.factor * x);
    let advisor = Advisor::new(trainer.settings(), false);
    let notices = trained.notices();
    let mut warnings = told.warnings.clone();
    warnings.extend(notices.iter().map(|notice| advisor.words(notice)));
    let table = trainer.schema().table.as_ref();
    let is_chosen = repeated.is_some() || trainer.online().chosen().is_some();
    json!({
        "settings": completed(trainer),
        "chosen": is_chosen.then(|| outcome.model.settings().to_json()),
        "chosen_flags": named_by_race(trained),
        "found": told.guesses,
        "guesses": table.and_then(|table| {
            let guess = table.notes.label_guess()?;
            Some(json!({
                "label": table.label,
                "because": guess.reason.words(),
                "runners_up": guess.runners_up,
                "weight": table.weight,
            }))
        }),
        "warnings": warnings,
        "precision": trainer.options().precision.to_string(),
        "bias": trainer.options().bias,
        "reading": trainer.schema(),
        "rows": trainer.progressive().rows(),
        "features": outcome.features,
        "seconds": outcome.elapsed.as_secs_f64(),
        "progressive_loss": trainer.progressive().average(),
        "estimate": estimate_json(&trained.estimate()),
        "constant_loss": trainer.constant_loss(),
        "last_label_loss": last_label(trained, &trained.estimate()),
        "in_order": in_order(trained),
        "progressive_mse": mse(trainer.progressive().average()),
        "constant_mse": mse(trainer.constant_loss()),
        "nonzeros": outcome.model.nonzeros(),
        "names": trainer.names().len(),
        "collisions": trainer.names().collisions(),
        "skipped_rows": skipped,
        "skipped": errors,
        "passes": outcome.passes,
        "passes_chosen": repeated.map(|found| json!({
            "passes": found.passes,
            "rows": found.rows,
            "loss": found.loss,
            "one_pass": found.one_pass,
        })),
        "refitted": refitted.map(|found| json!({
            "passes": found.passes,
            "rows": found.rows,
            "loss": found.loss,
            "with_penalty": found.one_pass,
        })),
        "shuffle": shuffled(trained),
        "hindsight": forgotten.or(outcome.hindsight).map(|found| json!({
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
