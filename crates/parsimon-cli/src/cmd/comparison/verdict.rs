//! Verdict of a comparison: the ranking metric, the front, and the recommended runs.

use parsimon::workspace::Measure;
use parsimon::workspace::Stopped;
use parsimon::workspace::number::maybe;
use serde_json::{Map, Value, json};

use super::choice::{Choice, Criterion, Tradeoff, front, points};
use super::command::command;
use super::names::Names;
use super::{Comparison, Finish, Task};

/// A comparison and what follows from it.
pub(crate) struct Verdict<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) criterion: Criterion,
    pub(crate) points: Vec<Option<Tradeoff>>,
    pub(crate) on_front: Vec<bool>,
    /// The recommended runs, among the runs that are better than the constant.
    pub(crate) choice: Option<Choice>,
    /// Cost of the constant.
    pub(crate) constant: Option<f64>,
    /// The command that trains each run alone.
    pub(crate) commands: Vec<String>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn new(task: &Task<'_>, comparison: &'a Comparison) -> Self {
        let criterion = Criterion::of(comparison);
        let points = points(comparison, criterion);
        let commands = comparison.finishes.iter().map(|f| command(task, &f.run)).collect();
        let constant = comparison.constant.as_ref().and_then(|c| c.cost(criterion));
        let is_better = |point: &Tradeoff| constant.is_none_or(|constant| point.cost < constant);
        let better: Vec<_> = points.iter().map(|point| point.filter(is_better)).collect();
        let (on_front, choice) = (front(&points), Choice::of(&better));
        Self { comparison, criterion, points, on_front, choice, constant, commands }
    }

    /// The run of lowest cost, recommended or not.
    pub(crate) fn lowest(&self) -> Option<usize> {
        Choice::of(&self.points).map(|choice| choice.best)
    }

    /// Whether a run is better than the constant, as far as both have a cost.
    pub(crate) fn is_better_than_constant(&self, i: usize) -> bool {
        self.points[i].is_some_and(|point| self.constant.is_none_or(|c| point.cost < c))
    }

    /// Message if no run is better than the constant.
    pub(crate) fn nothing_beats_the_constant(&self) -> Option<String> {
        let (constant, lowest) = (self.constant?, self.lowest()?);
        let name = &self.comparison.finishes[lowest].run.name;
        self.choice.is_none().then(|| {
            format!(
                "nothing beats the constant, whose {} is {}; the lowest is {name} with {}",
                self.criterion_name(),
                maybe(Some(constant), 4),
                maybe(self.points[lowest].map(|point| point.cost), 4),
            )
        })
    }

    pub(crate) fn has_test(&self) -> bool {
        let mut scores = self.comparison.finishes.iter().filter_map(|f| f.result.as_ref().ok());
        scores.any(|score| score.test.is_some())
    }

    /// "test" or "progressive" before the criterion's name.
    pub(crate) fn criterion_name(&self) -> String {
        let on = if self.has_test() { "test" } else { "progressive" };
        format!("{on} {}", self.criterion.name())
    }

    /// The column of the table with the metric that ranks the runs.
    pub(crate) fn column(&self) -> String {
        let prefix = if self.has_test() { "test " } else { "" };
        format!("{prefix}{}", self.criterion.column())
    }

    /// The runs by cost, the lowest first; those without a cost last, in their order.
    pub(crate) fn ranking(&self) -> Vec<usize> {
        let cost = |i: &usize| self.points[*i].map_or(f64::INFINITY, |point| point.cost);
        let is_stopped = |i: &usize| self.comparison.finishes[*i].result.is_err();
        let mut runs: Vec<usize> = (0..self.points.len()).collect();
        runs.sort_by(|a, b| is_stopped(a).cmp(&is_stopped(b)).then(cost(a).total_cmp(&cost(b))));
        runs
    }

    /// The methods without the swept settings, in the order of their runs.
    pub(crate) fn families(&self) -> Vec<&'a str> {
        let mut families: Vec<&str> = Vec::new();
        for finish in &self.comparison.finishes {
            if !families.contains(&finish.run.family.as_str()) {
                families.push(&finish.run.family);
            }
        }
        families
    }

    /// Short names for charts.
    pub(crate) fn names(&self) -> Names<'a> {
        Names::of(&self.families())
    }

    /// The best run of a method.
    pub(crate) fn best_of(&self, family: &str) -> Option<usize> {
        let of = |i: &usize| self.comparison.finishes[*i].run.family == family;
        let cost = |i: usize| Some((i, self.points[i]?.cost));
        let costs = (0..self.points.len()).filter(of).filter_map(cost);
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    /// The recommended runs, with why; one if the best is the sparsest as well.
    pub(crate) fn recommended(&self) -> Vec<(&'static str, usize)> {
        match self.choice {
            None => Vec::new(),
            Some(c) if c.best == c.sparsest => {
                vec![("lowest, and the sparsest within 1% of it", c.best)]
            }
            Some(c) => vec![("lowest", c.best), ("the sparsest within 1% of it", c.sparsest)],
        }
    }

    /// The settings a run has at an end of their sweep: beyond it there may be better ones.
    pub(crate) fn at_the_end(&self, i: usize) -> Vec<&'a str> {
        let run = &self.comparison.finishes[i].run;
        let of_family = self.comparison.finishes.iter().filter(|f| f.run.family == run.family);
        let values = |name: &str| -> Vec<f64> {
            let all = of_family.clone().flat_map(|f| &f.run.swept).filter(|(n, _)| n == name);
            let mut values: Vec<f64> = all.filter_map(|(_, value)| value.as_f64()).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let is_at_end = |(name, value): &&(String, Value)| {
            let (values, own) = (values(name), value.as_f64());
            // Zero can be the end of the grid: no smaller value exists.
            let ends = [values.first().filter(|low| **low != 0.0), values.last()];
            values.first() < values.last() && own.is_some_and(|v| ends.contains(&Some(&v)))
        };
        run.swept.iter().filter(is_at_end).map(|(name, _)| name.as_str()).collect()
    }

    /// A remark on a recommended run whose sweep may have been too narrow.
    pub(crate) fn remark(&self, i: usize) -> Option<String> {
        let names = self.at_the_end(i).join(" and this ");
        let remark = "a wider one may find a better setting";
        (!names.is_empty()).then(|| format!("the sweep ends at this {names}: {remark}"))
    }

    /// Mark of a run in tables.
    pub(crate) fn mark(&self, i: usize) -> &'static str {
        match self.choice {
            Some(c) if c.best == i => "best",
            Some(c) if c.sparsest == i => "sparse",
            _ if self.on_front[i] => "front",
            _ => "",
        }
    }

    /// Everything, as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let methods: Vec<Value> = (0..self.commands.len()).map(|i| self.run_to_json(i)).collect();
        let recommended = |i: usize| {
            let name = &self.comparison.finishes[i].run.name;
            json!({"run": i, "method": name, "command": self.commands[i], "at_the_end_of_the_sweep": self.at_the_end(i)})
        };
        json!({
            "rows": self.comparison.rows,
            "criterion": self.criterion_name(),
            "recommended": self.choice.map(|c| {
                json!({"best": recommended(c.best), "sparsest_within_1_percent": recommended(c.sparsest)})
            }),
            "constant": self.comparison.constant.as_ref().map(|c| c.to_json(self.criterion)),
            "methods": methods,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn run_to_json(&self, i: usize) -> Value {
        let Finish { run, settings, time, result } = &self.comparison.finishes[i];
        let swept: Map<String, Value> = run.swept.iter().cloned().collect();
        let mut object = json!({
            "method": run.name,
            "family": run.family,
            "swept": swept,
            "settings": settings.completed(&self.comparison.schema.found),
            "command": self.commands[i],
            "on_front": self.on_front[i],
            "cost": self.criterion.cost_of(&self.comparison.finishes[i]),
        });
        let own = match result {
            Err(Stopped::Failed(why)) => json!({"failure": why}),
            Err(Stopped::GivenUp { rows, why }) => json!({"given_up": {"rows": rows, "why": why}}),
            Ok(score) => json!({
                "progressive_loss": score.loss,
                "progressive": score.progressive,
                "test": score.test,
                "nonzeros": score.nonzeros,
                "curve": score.curve,
            }),
        };
        let is_mse = Measure::of(settings.loss()).is_mse() && !settings.is_multiclass();
        if let (Ok(score), true) = (result, is_mse) {
            object["progressive_mse"] = json!(2.0 * score.loss);
        }
        if let (Value::Object(object), Value::Object(own)) = (&mut object, own) {
            object.extend(time.map(|time| ("seconds".to_owned(), time.as_secs_f64().into())));
            object.extend(own);
        }
        object
    }
}

/// With a capital.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
}
