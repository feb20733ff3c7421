//! Regularization path: the largest weights as l1 grows.

use parsimon::Model;
use parsimon::tune::Sweep;
use parsimon_page::chart::{Figure, Panel, Series};
use serde_json::Value;

use crate::cmd::comparison::{Comparison, Finish};

/// Weights that can be distinguished in a chart: the colors and the kinds of line are few.
const MOST_WEIGHTS: usize = 18;
/// Least number of values of l1 for a path.
const FEWEST: usize = 3;

/// The largest weights against l1, where it was swept, with everything else as in the best run.
pub(super) fn weights(comparison: &Comparison, sweep: &Sweep, best: usize) -> Option<Figure> {
    let line = line(comparison, best);
    let places: Vec<usize> = line.iter().map(|(_, k)| *k).collect();
    let models: Vec<(f64, Model)> = line
        .iter()
        .zip(sweep.models(&places))
        .filter_map(|((l1, _), model)| Some((*l1, model?)))
        .filter(|(_, model)| model.heads().len() == 1)
        .collect();
    if models.len() < FEWEST {
        return None;
    }
    let mut panel = Panel::new("l1", "weight").show_y(0.0);
    if models.iter().all(|(l1, _)| *l1 > 0.0) {
        panel = panel.log_x();
    }
    for j in largest(&models) {
        let at = |(l1, model): &(f64, Model)| (*l1, model.heads()[0].weight(j));
        // A name is kept by the models where the weight is not zero.
        let owner = models.iter().find(|(_, m)| m.heads()[0].weight(j) != 0.0);
        let name = owner.map_or_else(|| j.to_string(), |(_, model)| model.name(j).into_owned());
        panel = panel.series(Series::line(name, models.iter().map(at)).with_markers());
    }
    let others = comparison.finishes[best].run.swept.iter().filter(|(name, _)| name != "l1");
    let others: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
    let with = if others.is_empty() { String::new() } else { format!(", {}", others.join(", ")) };
    Some(
        Figure::new("The largest weights")
            .subtitle(format!("as l1 grows{with}; settings that were given up are not drawn"))
            .panel(panel),
    )
}

/// The runs that differ from one in l1 alone, by l1.
fn line(comparison: &Comparison, best: usize) -> Vec<(f64, usize)> {
    let l1 = |f: &Finish| f.run.swept.iter().find(|s| s.0 == "l1").and_then(|s| s.1.as_f64());
    let others = |f: &Finish| -> Vec<(String, Value)> {
        f.run.swept.iter().filter(|s| s.0 != "l1").cloned().collect()
    };
    let own = others(&comparison.finishes[best]);
    let runs = comparison.finishes.iter().enumerate();
    let runs = runs.filter(|(_, f)| f.result.is_ok() && others(f) == own);
    let mut line: Vec<(f64, usize)> = runs.filter_map(|(k, f)| Some((l1(f)?, k))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

/// The features with the largest weight in any of the models, the largest first.
fn largest(models: &[(f64, Model)]) -> Vec<u32> {
    let mut all: Vec<(f64, u32)> = Vec::new();
    for (_, model) in models {
        let head = &model.heads()[0];
        let mut own: Vec<(f64, u32)> =
            head.indices().iter().zip(head.weights()).map(|(&j, w)| (w.abs(), j)).collect();
        own.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // No more than these can be among the largest of all.
        all.extend(own.into_iter().take(MOST_WEIGHTS));
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut largest: Vec<u32> = Vec::new();
    for (_, j) in all {
        if !largest.contains(&j) && largest.len() < MOST_WEIGHTS {
            largest.push(j);
        }
    }
    largest
}
