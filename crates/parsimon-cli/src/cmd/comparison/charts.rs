//! The charts of a comparison.

use parsimon::eval::Evaluation;
use parsimon::workspace::CurvePoint;
use parsimon_page::chart::{Better, Figure, Panel, Series, reliability_of, settled};
use serde_json::Value;

use super::choice::metric;
use super::verdict::{Verdict, sentence};
use super::{Finish, Score};

/// Losses that span more than this are drawn on a logarithmic axis.
const WIDE: f64 = 30.0;
/// Largest number of curves of one method that can be distinguished.
const MOST_CURVES: usize = 8;

/// The runs that came to their end, with their place.
fn scored<'a>(verdict: &'a Verdict<'_>) -> impl Iterator<Item = (usize, &'a Finish, &'a Score)> {
    let finishes = verdict.comparison.finishes.iter().enumerate();
    finishes.filter_map(|(i, f)| Some((i, f, f.result.as_ref().ok()?)))
}

/// Loss, and AUC or accuracy where there is one, against nonzero weights.
pub(crate) fn front(verdict: &Verdict<'_>) -> Figure {
    let on = if verdict.has_test() { "on the test data" } else { "progressive" };
    let criterion = verdict.criterion;
    let mut upper = Panel::new("nonzero weights", criterion.name()).log_x();
    let mut hidden = String::new();
    if let Some((low, high, above)) = close_up(verdict) {
        upper = upper.limit_y(low, high);
        hidden = format!("; runs above the chart: {above}");
    }
    let figure = Figure::new(format!("{} against sparsity", sentence(criterion.name())))
        .subtitle(format!("{on}; each method's best run is named{hidden}"))
        .panel(cloud(verdict, upper, Better::Low, Named::Best, |score| criterion.cost(score)));
    let of = |name: &'static str| move |score: &Score| metric(score.evaluation()?, name);
    let lower = ["AUC", "accuracy"]
        .into_iter()
        .find(|name| scored(verdict).all(|(_, _, score)| of(name)(score).is_some()));
    match lower {
        Some(name) => figure.panel(cloud(
            verdict,
            Panel::new("nonzero weights", name).log_x().height(200),
            Better::High,
            Named::None,
            of(name),
        )),
        None => figure,
    }
}

/// The range of costs worth looking at, when a few poor runs would squeeze all the others into a line; and how many
/// runs are above it.
fn close_up(verdict: &Verdict<'_>) -> Option<(f64, f64, usize)> {
    let mut costs: Vec<f64> = verdict.points.iter().flatten().map(|p| p.cost).collect();
    costs.sort_by(f64::total_cmp);
    let (best, median, worst) = (*costs.first()?, costs[costs.len() / 2], *costs.last()?);
    let spread = median - best;
    let high = best + 3.0 * spread;
    let above = costs.iter().filter(|cost| **cost > high).count();
    (spread > 0.0 && worst > best + 6.0 * spread).then_some((best - 0.2 * spread, high, above))
}

/// Points that carry a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Best,
    None,
}

/// All runs as points, a color for each method, and the front of all of them.
fn cloud(
    verdict: &Verdict<'_>,
    mut panel: Panel,
    better: Better,
    named: Named,
    y: impl Fn(&Score) -> Option<f64>,
) -> Panel {
    // A logarithm has no place for a model without weights.
    let at = |score: &Score| Some((score.nonzeros.max(1) as f64, y(score)?));
    let names = verdict.names();
    for family in verdict.families() {
        let best = verdict.best_of(family);
        let of = |is_best: bool| {
            scored(verdict)
                .filter(move |(i, f, _)| f.run.family == family && (Some(*i) == best) == is_best)
                .filter_map(|(_, f, score)| Some((at(score)?, names.run(&f.run))))
                .collect::<Vec<_>>()
        };
        let (others, best) = (of(false), of(true));
        let family = names.family(family);
        panel = panel.series(Series::points(&family, others.iter().map(|p| p.0)));
        let best = match named {
            Named::Best => Series::points(&family, best.iter().map(|p| p.0))
                .labels(best.iter().map(|p| p.1.clone())),
            Named::None => Series::points(&family, best.iter().map(|p| p.0)),
        };
        panel = panel.series(best);
    }
    let all: Vec<(f64, f64)> = scored(verdict).filter_map(|(_, _, score)| at(score)).collect();
    panel.series(Series::reference("front", steps(all, better)))
}

/// The front as steps: the best loss with at most this number of weights.
fn steps(mut points: Vec<(f64, f64)>, better: Better) -> Vec<(f64, f64)> {
    let cost = |y: f64| if better == Better::Low { y } else { -y };
    points.sort_by(|p, q| p.0.total_cmp(&q.0).then(cost(p.1).total_cmp(&cost(q.1))));
    let end = points.last().map(|p| p.0);
    let mut stairs: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        match stairs.last() {
            Some(&(_, level)) if cost(level) <= cost(y) => {}
            Some(&(_, level)) => stairs.extend([(x, level), (x, y)]),
            None => stairs.push((x, y)),
        }
    }
    let level = stairs.last().map(|p| p.1);
    stairs.extend(end.zip(level));
    stairs
}

/// The runs whose learning is shown: each method's best, or several of one method.
fn shown(verdict: &Verdict<'_>) -> Vec<usize> {
    let families = verdict.families();
    if families.len() > 1 {
        return families.into_iter().filter_map(|family| verdict.best_of(family)).collect();
    }
    let costs = verdict.points.iter().enumerate().filter_map(|(i, p)| Some((i, p.as_ref()?.cost)));
    let mut costs: Vec<(usize, f64)> = costs.collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    costs.iter().take(MOST_CURVES).map(|(i, _)| *i).collect()
}

/// The progressive loss of each method's best run, or of one method's best runs, against the rows.
pub(crate) fn curves(verdict: &Verdict<'_>) -> Figure {
    let best: Vec<(&Finish, &Score)> = shown(verdict)
        .into_iter()
        .filter_map(|i| verdict.comparison.finishes.get(i))
        .filter_map(|f| Some((f, f.result.as_ref().ok()?)))
        .collect();
    let mut losses: Vec<&str> = best.iter().map(|(_, score)| score.curve.loss.as_str()).collect();
    losses.dedup();
    let title = match &losses[..] {
        ["squared"] => "progressive loss (half the squared error)".to_owned(),
        [one] => format!("progressive loss ({one})"),
        _ => "progressive loss, each method's own".to_owned(),
    };
    let averages =
        best.iter().flat_map(|(_, s)| settled(&s.curve.points).filter_map(|p| p.average));
    let mut loss = Panel::new("rows", title).log_x();
    if is_wide(averages) {
        loss = loss.log_y();
    }
    let mut nonzeros = Panel::new("rows", "nonzero weights").log_x().show_y(0.0);
    let line = |score: &Score, y: fn(&CurvePoint) -> f64| {
        settled(&score.curve.points).map(|p| (p.rows as f64, y(p))).collect::<Vec<_>>()
    };
    let names = verdict.names();
    for (finish, score) in best {
        let name = names.run(&finish.run);
        let average = line(score, |p| p.average.unwrap_or(f64::NAN));
        loss = loss.series(Series::line(&name, average));
        let weights = line(score, |p| p.nonzeros as f64);
        nonzeros = nonzeros.series(Series::line(&name, weights));
    }
    let subtitle = "the average of all rows so far, each predicted before it was learned";
    Figure::new("Learning curves").subtitle(subtitle).panel(loss).panel(nonzeros)
}

fn is_wide(values: impl Iterator<Item = f64>) -> bool {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    low > 0.0 && high > WIDE * low
}

/// Cost and nonzeros against each setting that was swept over numbers.
pub(crate) fn paths(verdict: &Verdict<'_>) -> Vec<Figure> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in verdict.comparison.finishes.iter().flat_map(|f| &f.run.swept) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.iter().filter_map(|name| path(verdict, name, names.len() > 1)).collect()
}

fn path(verdict: &Verdict<'_>, name: &str, is_one_of_many: bool) -> Option<Figure> {
    let value = |f: &Finish| {
        f.run.swept.iter().find(|s| s.0 == name).and_then(|(_, v): &(String, Value)| v.as_f64())
    };
    let mut cost = Panel::new(name, verdict.criterion.name());
    let mut nonzeros = Panel::new(name, "nonzero weights").show_y(0.0);
    let all: Vec<f64> = verdict.comparison.finishes.iter().filter_map(value).collect();
    if all.iter().all(|v| *v > 0.0) {
        (cost, nonzeros) = (cost.log_x(), nonzeros.log_x());
    }
    if is_wide(scored(verdict).filter_map(|(_, _, score)| verdict.criterion.cost(score))) {
        cost = cost.log_y();
    }
    let mut lines = 0;
    let names = verdict.names();
    for family in verdict.families() {
        let line = best_at_each(verdict, family, value);
        if line.len() < 2 {
            continue;
        }
        lines += 1;
        let family = names.family(family);
        let costs = line.iter().map(|(x, cost, _)| (*x, *cost));
        cost = cost.series(Series::line(&family, costs).with_markers());
        let weights = line.iter().map(|(x, _, n)| (*x, *n as f64));
        nonzeros = nonzeros.series(Series::line(&family, weights).with_markers());
    }
    let subtitle = match is_one_of_many {
        true => "at each value the best over the other settings that were swept",
        false => "every run of the sweep",
    };
    let figure = Figure::new(format!("The path of {name}")).subtitle(subtitle);
    (lines > 0).then(|| figure.panel(cost).panel(nonzeros))
}

/// For every value of a setting the best run of a method, with its cost and nonzeros.
fn best_at_each(
    verdict: &Verdict<'_>,
    family: &str,
    value: impl Fn(&Finish) -> Option<f64>,
) -> Vec<(f64, f64, usize)> {
    let runs = scored(verdict).filter(|(_, f, _)| f.run.family == family);
    let mut line: Vec<(f64, f64, usize)> = runs
        .filter_map(|(_, f, s)| Some((value(f)?, verdict.criterion.cost(s)?, s.nonzeros)))
        .collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    line.dedup_by(|later, first| later.0 == first.0);
    line
}

/// The reliability diagram of a run that predicts probabilities.
pub(crate) fn calibration(finish: &Finish) -> Option<Figure> {
    match finish.result.as_ref().ok()?.evaluation()? {
        Evaluation::Binary(m) if !m.calibration.is_empty() => {
            Some(reliability_of(format!("Calibration of {}", finish.run.name), m))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_go_down_to_the_right() {
        let points = vec![(10.0, 0.5), (30.0, 0.45), (20.0, 0.4), (5.0, 0.6)];
        let expected =
            [(5.0, 0.6), (10.0, 0.6), (10.0, 0.5), (20.0, 0.5), (20.0, 0.4), (30.0, 0.4)];
        assert_eq!(steps(points, Better::Low), expected);
        assert!(steps(Vec::new(), Better::High).is_empty());
    }
}
