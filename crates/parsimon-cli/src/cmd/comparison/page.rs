//! The comparison as one HTML page that opens offline.

use maud::{Markup, html};
use parsimon::Stopped;
use parsimon::data::Input;
use parsimon::eval::Evaluation;
use parsimon::eval::number::{maybe, thousands};
use parsimon_page::chart::Figure;
use parsimon_page::{document, figure, table, wide};

use super::charts;
use super::choice::{Criterion, metric};
use super::table::Cells;
use super::verdict::{Verdict, sentence};
use super::{Finish, Score};

/// The whole page; `more` are figures that go with the paths.
pub(crate) fn html(
    verdict: &Verdict<'_>,
    title: &str,
    inputs: &[Input],
    tests: &[Input],
    more: &[Figure],
) -> String {
    document(
        &format!("{title}: {}", names(inputs)),
        html! {
            (head(verdict, inputs, tests))
            (recommended(verdict))
            (runs(verdict))
            (section("What zeros cost", &[charts::front(verdict)]))
            (section("Learning", &[charts::curves(verdict)]))
            (section("Paths", &[charts::paths(verdict), more.to_vec()].concat()))
            (judged(verdict))
        },
    )
}

fn names(inputs: &[Input]) -> String {
    inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
}

fn head(verdict: &Verdict<'_>, inputs: &[Input], tests: &[Input]) -> Markup {
    let runs = match verdict.comparison.finishes.len() {
        1 => "One run".to_owned(),
        n => format!("{} runs", thousands(n as u64)),
    };
    html! {
        h1 { (names(inputs)) } "\n"
        p class="how" {
            (runs) " over " (thousands(verdict.comparison.rows)) " rows in one pass"
            @if !tests.is_empty() { ", judged on " (names(tests)) }
            "; parsimon " (env!("CARGO_PKG_VERSION")) "."
        }
        "\n"
    }
}

fn recommended(verdict: &Verdict<'_>) -> Markup {
    let by = match verdict.criterion {
        Criterion::Loss => "the mean of the loss that is trained",
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
            h3 { (verdict.comparison.finishes[i].run.name) } "\n"
            p { (sentence(why)) ": " (facts(verdict, i)) } "\n"
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
fn facts(verdict: &Verdict<'_>, i: usize) -> String {
    let Ok(score) = &verdict.comparison.finishes[i].result else { return String::new() };
    let mut facts = vec![format!(
        "{} {}",
        verdict.criterion_name(),
        maybe(verdict.points[i].map(|p| p.cost), 4)
    )];
    for name in ["AUC", "accuracy", "R2"] {
        if let Some(value) = score.evaluation().and_then(|e| metric(e, name)) {
            facts.push(format!("{name} {}", maybe(Some(value), 4)));
        }
    }
    facts.push(format!("{} nonzero weights", thousands(score.nonzeros as u64)));
    facts.join(", ")
}

fn runs(verdict: &Verdict<'_>) -> Markup {
    let cells = Cells::of(verdict);
    let finishes = &verdict.comparison.finishes;
    let rows = html! {
        @for row in &cells.rows {
            // "given up at ..." is three classes too many.
            @let mark = row.last().and_then(|mark| mark.split(' ').next()).unwrap_or_default();
            tr class=(mark) { @for cell in row { td { (cell) } } } "\n"
        }
    };
    let mut scores = finishes.iter().filter_map(|f| f.result.as_ref().ok());
    let judged = scores.find_map(|score| Some(score.progressive.as_ref()?.rows()));
    html! {
        h2 { "All runs" } "\n"
        (wide(table(Some("runs"), &cells.header, [rows])))
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
                " The mean loss is of all rows with a label, the other progressive metrics of the last "
                (thousands(judged)) "."
            }
        }
        "\n"
        @for (name, why) in finishes.iter().filter_map(stopped) {
            p { code { (name) } " " (why) } "\n"
        }
    }
}

/// A run that did not come to its end, and why.
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
        h2 { (finish.run.name) " in full" } "\n"
        pre { (evaluation.to_string()) } "\n"
    }
}
