//! The comparison as one HTML page that opens offline.

use std::fs::Metadata;

use maud::{Markup, html};
use parsimon::data::Input;
use parsimon::eval::Evaluation;
use parsimon::workspace::Stopped;
use parsimon::workspace::{number::bytes, number::maybe, number::thousands};
use parsimon_data::listed;
use parsimon_page::chart::Figure;
use parsimon_page::{breakable, document, facts, figure};

use super::charts;
use super::choice::{Criterion, metric};
use super::table::Cells;
use super::verdict::{Verdict, sentence};
use super::{Comparison, Finish, Score, Task};
use crate::cmd::columns;
use crate::provenance;

/// The whole page; `more` are figures that go with the paths.
pub(crate) fn html(verdict: &Verdict<'_>, task: &Task<'_>, title: &str, more: &[Figure]) -> String {
    document(
        &format!("{title}: {}", names(&task.data.inputs())),
        html! {
            h1 { (names(&task.data.inputs())) } "\n"
            (origin(verdict, task))
            (recommended(verdict))
            (runs(verdict))
            (section("What zeros cost", &[charts::front(verdict)]))
            (section("Learning", &[charts::curves(verdict)]))
            (section("Paths", &[charts::paths(verdict), more.to_vec()].concat()))
            (judged(verdict))
        },
    )
}

/// The names of the files, without their folders.
fn names(inputs: &[Input]) -> String {
    let name = |input: &Input| match input {
        Input::Path(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
        _ => None,
    };
    inputs.iter().map(|i| name(i).unwrap_or_else(|| i.name())).collect::<Vec<_>>().join(", ")
}

/// Content of the page: the data, the runs, the command and the date.
fn origin(verdict: &Verdict<'_>, task: &Task<'_>) -> Markup {
    let Comparison { rows, schema, finishes, .. } = verdict.comparison;
    let mut data: Vec<Markup> = task.data.inputs().iter().map(file).collect();
    data.push(html! { (thousands(*rows)) " rows; feature space: " (schema.space().to_string()) });
    data.extend(columns::lines(schema).into_iter().map(|line| html! { (line) }));
    // A table's line of columns has the label.
    let labels = match (&schema.table, &schema.found.classes[..]) {
        (None, [_, ..]) => {
            vec![html! { (listed(schema.found.classes.iter(), 10)) }]
        }
        _ => Vec::new(),
    };
    let runs = match finishes.len() {
        1 => "one run in one pass".to_owned(),
        n => format!("{} runs in one pass", thousands(n as u64)),
    };
    facts([
        ("Data", data),
        ("Labels", labels),
        ("Test data", task.tests().iter().map(file).collect()),
        ("Runs", vec![html! { (runs) }]),
        ("Command", vec![html! { code { (provenance::command()) } }]),
        ("Written", vec![html! { (provenance::date()) ", parsimon " (env!("CARGO_PKG_VERSION")) }]),
    ])
}

/// A file with its size, where it has one.
fn file(input: &Input) -> Markup {
    let size = match input {
        Input::Path(path) => {
            std::fs::metadata(path).ok().filter(Metadata::is_file).map(|m| m.len())
        }
        _ => None,
    };
    html! { code { (input.name()) } @if let Some(size) = size { " (" (bytes(size)) ")" } }
}

fn recommended(verdict: &Verdict<'_>) -> Markup {
    let by = match verdict.criterion {
        Criterion::Loss => "the mean of the loss that is trained",
        Criterion::Mse => "the mean squared error",
        Criterion::Error => "the share of errors",
        Criterion::Auc => "1 - AUC, because the methods have different losses",
        Criterion::Rmse => "RMSE, because the methods have different losses",
    };
    let on = match verdict.has_test() {
        true => "on the test data",
        false => "of predictions made before each row was learned",
    };
    html! {
        h2 { "Recommended" } "\n"
        p { "Runs are ranked by " (by) ", " (on) "." } "\n"
        @if let Some(words) = verdict.nothing_beats_the_constant() {
            p { (sentence(&words)) "." } "\n"
        } @else if verdict.choice.is_none() {
            p { "It is not defined for any run; nothing is recommended." } "\n"
        }
        @for (why, i) in verdict.recommended() {
            h3 { (breakable(&verdict.comparison.finishes[i].run.name)) } "\n"
            p { (sentence(why)) ": " (numbers(verdict, i)) } "\n"
            pre class="command" { (verdict.commands[i]) } "\n"
            @if let Some(remark) = verdict.remark(i) { p { (sentence(&remark)) "." } "\n" }
        }
        @if verdict.has_test() && verdict.points.len() > 1 {
            p class="how" {
                "The test data has chosen the winner, so the winner's number on it is flattering: a fair one needs data that \
                 has not been used here."
            }
            "\n"
        }
    }
}

/// The numbers of a run in a line.
fn numbers(verdict: &Verdict<'_>, i: usize) -> String {
    let Ok(score) = &verdict.comparison.finishes[i].result else { return String::new() };
    let mut numbers = vec![format!(
        "{} {}",
        verdict.criterion_name(),
        maybe(verdict.points[i].map(|p| p.cost), 4)
    )];
    for name in ["AUC", "accuracy", "R2"] {
        if let Some(value) = score.evaluation().and_then(|e| metric(e, name)) {
            numbers.push(format!("{name} {}", maybe(Some(value), 4)));
        }
    }
    numbers.push(format!("{} nonzero weights", thousands(score.nonzeros as u64)));
    numbers.join(", ")
}

fn runs(verdict: &Verdict<'_>) -> Markup {
    let finishes = &verdict.comparison.finishes;
    let mut scores = finishes.iter().filter_map(|f| f.result.as_ref().ok());
    let judged = scores.find_map(|score| Some(score.progressive.as_ref()?.rows()));
    html! {
        h2 { "All runs" } "\n"
        p class="how" { "The best run is first. A click on a heading sorts by the column." } "\n"
        (Cells::of(verdict).sortable(verdict))
        p class="how" {
            "best: recommended, the lowest. sparse: recommended, the sparsest within 1% of it. front: no run is both \
             better and sparser."
            @if verdict.comparison.constant.is_some() {
                " constant: a prediction without features, each row from the labels before it; no run that is not better is \
                 recommended."
            }
            @if finishes.iter().any(|f| f.time.is_some()) {
                " Times are for learning alone, with other runs at work beside it."
            }
            @if let Some(judged) = judged.filter(|judged| *judged < verdict.comparison.rows) {
                " The mean loss or MSE is of all rows with a label, the other progressive metrics of the last "
                (thousands(judged)) "."
            }
        }
        "\n"
        @for (name, why) in finishes.iter().filter_map(stopped) {
            p { code { (name) } " " (why) } "\n"
        }
    }
}

/// A failed run, with the reason.
fn stopped(finish: &Finish) -> Option<(&str, String)> {
    let why = match finish.result.as_ref().err()? {
        Stopped::Failed(why) => format!("failed: {why}"),
        given_up @ Stopped::GivenUp { .. } => given_up.to_string(),
    };
    Some((&finish.run.name, why))
}

fn section(title: &str, figures: &[Figure]) -> Markup {
    html! {
        @if !figures.is_empty() { h2 { (title) } "\n" }
        @for chart in figures { (figure(chart, None)) }
    }
}

/// The recommended run in full, with its calibration where it predicts probabilities.
fn judged(verdict: &Verdict<'_>) -> Markup {
    let best = verdict.choice.map(|choice| &verdict.comparison.finishes[choice.best]);
    let evaluation = best.and_then(|f| f.result.as_ref().ok()).and_then(Score::evaluation);
    let (Some(finish), Some(evaluation)) = (best, evaluation) else { return Markup::default() };
    html! {
        @if let Some(chart) = charts::calibration(finish) {
            h2 { "Calibration" } "\n"
            p { "On the diagonal, what is predicted at 30% happens 30% of the time." } "\n"
            div class="narrow" { (figure(&chart, None)) } "\n"
        } @else if matches!(evaluation, Evaluation::Binary(_)) {
            h2 { "Calibration" } "\n"
            p {
                "The loss " (finish.settings.loss_name())
                " gives margins and no probabilities: there is nothing to calibrate."
            }
            "\n"
        }
        h2 { (breakable(&finish.run.name)) " in full" } "\n"
        pre { (evaluation.to_string()) } "\n"
    }
}
