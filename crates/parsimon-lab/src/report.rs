//! The report: one page that opens offline, the numbers as JSON, every curve as CSV.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use parsimon::eval::chart::{Figure, Panel, Series};
use parsimon::eval::number::significant;

use crate::experiment::{Drawn, Experiment};
use crate::page::{escape, page};
use crate::runner::{Outcome, VariantOutcome};
use crate::summary::{Finding, Mean, Verdict};

/// Writes `index.html`, `results.json` and `curves/*.csv` into a folder.
pub fn write(folder: &Path, outcomes: &[Outcome], how: &str) -> std::io::Result<()> {
    let curves = folder.join("curves");
    std::fs::create_dir_all(&curves)?;
    for outcome in outcomes {
        for (k, variant) in outcome.variants.iter().enumerate() {
            let name = format!("{}-{k}.csv", outcome.id.replace('/', "-"));
            whole(&curves.join(name), &csv(variant))?;
        }
    }
    whole(&folder.join("results.json"), &(serde_json::to_string_pretty(outcomes)? + "\n"))?;
    whole(&folder.join("index.html"), &index(outcomes, how))
}

/// A file that is whole or not there.
fn whole(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    std::fs::write(&temporary, text)?;
    std::fs::rename(temporary, path)
}

/// Every point of every curve: method, measure, round, mean, spread.
fn csv(variant: &VariantOutcome) -> String {
    let mut text = String::from("method,measure,round,mean,standard_deviation\n");
    for (method, measures) in &variant.means {
        for (measure, mean) in measures {
            for (x, y, spread) in &mean.points {
                let _ = writeln!(
                    text,
                    "\"{}\",{measure},{x},{y},{spread}",
                    method.replace('"', "\"\"")
                );
            }
        }
    }
    text
}

fn index(outcomes: &[Outcome], how: &str) -> String {
    let mut html = format!("<h1>What reproduces</h1>\n<p class=\"how\">{}</p>\n", escape(how));
    html.push_str(
        "<table class=\"index\">\n<tr><th>experiment</th><th>verdict</th><th>claim</th><th>paper</th><th>measured</th></tr>\n",
    );
    for outcome in outcomes {
        let (paper, measured) = headline(outcome);
        let _ = writeln!(
            html,
            "<tr><td><a href=\"#{}\">{}</a><br><small>{}, {}</small></td><td class=\"{}\">{}</td><td>{}</td>\
             <td>{paper}</td><td>{measured}</td></tr>",
            anchor(&outcome.id),
            escape(&outcome.title),
            escape(&outcome.id),
            escape(&outcome.printed),
            class(outcome.verdict),
            outcome.verdict.words(),
            escape(&outcome.claim)
        );
    }
    html.push_str("</table>\n");
    for outcome in outcomes {
        section(&mut html, outcome);
    }
    page("parsimon reproduce", &html)
}

/// The numbers of the last expectation with a printed number, or of the first.
fn headline(outcome: &Outcome) -> (String, String) {
    let findings = outcome.variants.first().map_or(&[][..], |v| &v.findings);
    let Some(finding) = findings.iter().rfind(|f| f.paper.is_some()).or(findings.first()) else {
        return ("-".into(), "-".into());
    };
    (finding.paper.map_or("-".into(), |x| significant(x, 4)), pair(finding.measured))
}

fn section(html: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        html,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p><small>{}, {}</small></p>\n<blockquote>{}</blockquote>",
        anchor(&outcome.id),
        escape(&outcome.title),
        escape(&outcome.id),
        escape(&outcome.printed),
        escape(&outcome.claim)
    );
    if let Some(note) = &outcome.note {
        let _ = writeln!(html, "<p>{}</p>", escape(note));
    }
    for variant in &outcome.variants {
        let _ = writeln!(
            html,
            "<h3>{} <span class=\"{}\">{}</span></h3>\n<p><small>{} trials</small></p>",
            escape(&variant.name),
            class(variant.verdict),
            variant.verdict.words(),
            variant.trials
        );
        if let Some(failure) = &variant.failure {
            let _ = writeln!(html, "<p class=\"not-as-printed\">{}</p>", escape(failure));
        }
        table(html, &variant.findings);
        if !variant.chosen.is_empty() {
            let _ = writeln!(html, "<p><small>{}</small></p>", escape(&variant.chosen.join("; ")));
        }
        for figure in figures(outcome, variant) {
            let _ = writeln!(html, "<figure>{}</figure>", figure.to_svg());
        }
    }
    html.push_str("</section>\n");
}

fn table(html: &mut String, findings: &[Finding]) {
    html.push_str(
        "<div class=\"wide\"><table>\n<tr><th>expected</th><th>paper</th><th>measured</th><th>against</th><th></th></tr>\n",
    );
    for finding in findings {
        let mark = match finding.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not measured",
        };
        let style = if finding.holds == Some(true) { "reproduces" } else { "not-as-printed" };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{style}\">{mark}</td></tr>",
            escape(&finding.says),
            finding.paper.map_or("-".into(), |x| significant(x, 4)),
            pair(finding.measured),
            pair(finding.against)
        );
    }
    html.push_str("</table></div>\n");
}

/// The figures an experiment asks for, or every measure against the rounds.
fn figures(outcome: &Outcome, variant: &VariantOutcome) -> Vec<Figure> {
    let Some(experiment) = &outcome.experiment else { return Vec::new() };
    let every = |measure: &String| Drawn { y: measure.clone(), ..Drawn::default() };
    let drawn = match experiment.figures.is_empty() {
        true => experiment.axes.keys().map(every).collect(),
        false => experiment.figures.clone(),
    };
    // One point is a number, not a curve.
    let is_curve = |d: &Drawn| {
        let of = |m: &BTreeMap<String, Mean>| m.get(&d.y).is_some_and(|y| y.points.len() > 1);
        d.ends || variant.means.is_empty() || variant.means.values().any(of)
    };
    drawn.iter().filter(|d| is_curve(d)).map(|d| figure(experiment, variant, d)).collect()
}

fn figure(experiment: &Experiment, variant: &VariantOutcome, drawn: &Drawn) -> Figure {
    let axis = |measure| experiment.axes.get(measure).map_or("", String::as_str);
    let across = drawn.x.as_ref().map_or("rounds", axis);
    let mut panel = Panel::new(across, axis(&drawn.y));
    if drawn.log.contains('x') {
        panel = panel.log_x();
    }
    if drawn.log.contains('y') {
        panel = panel.log_y();
    }
    for method in experiment.names_of(&variant.name) {
        let Some(measures) = variant.means.get(method) else { continue };
        let Some(y) = measures.get(&drawn.y) else { continue };
        let x: Vec<f64> = match &drawn.x {
            None => y.points.iter().map(|p| p.0).collect(),
            Some(x) => match measures.get(x) {
                Some(x) => x.points.iter().map(|p| p.1).collect(),
                None => continue,
            },
        };
        let skipped = if drawn.ends { y.points.len().saturating_sub(1) } else { 0 };
        let points = || x.iter().zip(&y.points).skip(skipped);
        // A band needs a spread, and an axis on which it cannot reach zero.
        if y.trials > 1 && !drawn.ends && !drawn.log.contains('y') && drawn.x.is_none() {
            let edges = points().map(|(x, p)| (*x, p.1 - p.2, p.1 + p.2));
            panel = panel.series(Series::band(method, edges));
        }
        let line = points().map(|(x, p)| (*x, p.1));
        panel = panel.series(match drawn.ends {
            true => Series::points(method, line),
            false => Series::line(method, line),
        });
    }
    let title = match &drawn.x {
        None => axis(&drawn.y).to_owned(),
        Some(_) => format!("{} against {across}", axis(&drawn.y)),
    };
    Figure::new(title).subtitle(variant.name.clone()).panel(panel)
}

fn pair(value: Option<(f64, f64)>) -> String {
    match value {
        Some((mean, 0.0)) => significant(mean, 4),
        Some((mean, spread)) => format!("{} ± {}", significant(mean, 4), significant(spread, 2)),
        None => "-".into(),
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduces => "reproduces",
        Verdict::InPart => "in-part",
        Verdict::NotAsPrinted => "not-as-printed",
        Verdict::NotRun => "not-run",
    }
}

fn anchor(id: &str) -> String {
    id.replace('/', "-")
}
