//! The comparison as one HTML page that opens offline.

use std::fmt::Write as _;

use parsimon::Stopped;
use parsimon::data::Input;
use parsimon::eval::Evaluation;
use parsimon::eval::chart::Figure;
use parsimon::eval::number::{maybe, thousands};
use parsimon_lab::page::{escape, page};

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
    let mut html = head(verdict, inputs, tests);
    recommended(&mut html, verdict);
    runs(&mut html, verdict);
    section(&mut html, "What zeros cost", &[charts::front(verdict)]);
    section(&mut html, "Learning", &[charts::curves(verdict)]);
    section(&mut html, "Paths", &[charts::paths(verdict), more.to_vec()].concat());
    judged(&mut html, verdict);
    page(&format!("{title}: {}", names(inputs)), &html)
}

fn names(inputs: &[Input]) -> String {
    inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
}

fn head(verdict: &Verdict<'_>, inputs: &[Input], tests: &[Input]) -> String {
    let test = match tests {
        [] => String::new(),
        tests => format!(", judged on {}", names(tests)),
    };
    let runs = match verdict.comparison.finishes.len() {
        1 => "One run".to_owned(),
        n => format!("{} runs", thousands(n as u64)),
    };
    format!(
        "<h1>{}</h1>\n<p class=\"how\">{runs} over {} rows in one pass{}; parsimon {}.</p>\n",
        escape(&names(inputs)),
        thousands(verdict.comparison.rows),
        escape(&test),
        env!("CARGO_PKG_VERSION")
    )
}

fn recommended(html: &mut String, verdict: &Verdict<'_>) {
    html.push_str("<h2>Recommended</h2>\n");
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
    let _ = writeln!(html, "<p>Runs are ranked by {by}, {on}.</p>");
    if verdict.choice.is_none() {
        html.push_str("<p>It is not defined for any run; nothing is recommended.</p>\n");
    }
    for (why, i) in verdict.recommended() {
        let finish = &verdict.comparison.finishes[i];
        let _ = writeln!(
            html,
            "<h3>{}</h3>\n<p>{}: {}</p>\n<pre class=\"command\">{}</pre>",
            escape(&finish.run.name),
            sentence(why),
            escape(&facts(verdict, i)),
            escape(&verdict.commands[i])
        );
        if let Some(remark) = verdict.remark(i) {
            let _ = writeln!(html, "<p>{}.</p>", escape(&sentence(&remark)));
        }
    }
    if verdict.has_test() && verdict.points.len() > 1 {
        html.push_str(
            "<p class=\"how\">The test data has chosen the winner, so the winner's number on it is flattering: \
             a fair one needs data that has not been used here.</p>\n",
        );
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

fn runs(html: &mut String, verdict: &Verdict<'_>) {
    let cells = Cells::of(verdict);
    html.push_str("<h2>All runs</h2>\n<div class=\"wide\"><table class=\"runs\">\n<tr>");
    cells.header.iter().for_each(|name| *html += &format!("<th>{}</th>", escape(name)));
    html.push_str("</tr>\n");
    for row in &cells.rows {
        // "given up at ..." is three classes too many.
        let mark = row.last().and_then(|mark| mark.split(' ').next()).unwrap_or_default();
        let _ = write!(html, "<tr class=\"{mark}\">");
        row.iter().for_each(|cell| *html += &format!("<td>{}</td>", escape(cell)));
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n<p class=\"how\">");
    html.push_str(
        "best: recommended, the lowest. sparse: recommended, the sparsest within 1% of it. front: no run is both better \
         and sparser.",
    );
    if verdict.comparison.finishes.iter().any(|f| f.time.is_some()) {
        html.push_str(" Times are for learning alone, with other runs at work beside it.");
    }
    let mut scores = verdict.comparison.finishes.iter().filter_map(|f| f.result.as_ref().ok());
    let judged = scores.find_map(|score| Some(score.progressive.as_ref()?.rows()));
    if let Some(judged) = judged.filter(|judged| *judged < verdict.comparison.rows) {
        let _ = write!(
            html,
            " The mean loss is of all rows with a label, the other progressive metrics of the last {}.",
            thousands(judged)
        );
    }
    html.push_str("</p>\n");
    let stopped = |f: &Finish| match f.result.as_ref().err()? {
        Stopped::Failed(why) => Some((f.run.name.clone(), format!("failed: {why}"))),
        given_up @ Stopped::GivenUp { .. } => Some((f.run.name.clone(), given_up.to_string())),
    };
    for (name, why) in verdict.comparison.finishes.iter().filter_map(stopped) {
        let _ = writeln!(html, "<p><code>{}</code> {}</p>", escape(&name), escape(&why));
    }
}

fn section(html: &mut String, title: &str, figures: &[Figure]) {
    if !figures.is_empty() {
        let _ = writeln!(html, "<h2>{title}</h2>");
    }
    for figure in figures {
        let _ = writeln!(html, "<figure>{}</figure>", figure.to_svg());
    }
}

/// The recommended run in full, with its calibration where it predicts probabilities.
fn judged(html: &mut String, verdict: &Verdict<'_>) {
    let Some(choice) = verdict.choice else { return };
    let finish = &verdict.comparison.finishes[choice.best];
    let Some(evaluation) = finish.result.as_ref().ok().and_then(Score::evaluation) else { return };
    match charts::calibration(finish) {
        Some(figure) => {
            html.push_str("<h2>Calibration</h2>\n<p>On the diagonal, what is predicted at 30% happens 30% of the time.</p>\n");
            let _ = writeln!(html, "<figure class=\"narrow\">{}</figure>", figure.to_svg());
        }
        None if matches!(evaluation, Evaluation::Binary(_)) => {
            let _ = writeln!(
                html,
                "<h2>Calibration</h2>\n<p>The loss {} gives margins and no probabilities: there is nothing to calibrate.</p>",
                escape(finish.settings.loss_name())
            );
        }
        None => {}
    }
    let _ = writeln!(
        html,
        "<h2>{} in full</h2>\n<pre>{}</pre>",
        escape(&finish.run.name),
        escape(&evaluation.to_string())
    );
}
