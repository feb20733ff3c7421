//! The report: one page that opens offline, the numbers as JSON, every curve as CSV.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use parsimon::eval::chart::{Figure, Panel, Series};
use parsimon::eval::number::significant;

use crate::runner::{Outcome, VariantOutcome};
use crate::summary::{Finding, Mean, Verdict};

const STYLE: &str = include_str!("report.css");

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
    whole(&folder.join("index.html"), &page(outcomes, how))
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

fn page(outcomes: &[Outcome], how: &str) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>parsimon reproduce</title>\n<style>\n{STYLE}</style>\n\
         <h1>What reproduces</h1>\n<p class=\"how\">{}</p>\n",
        escape(how)
    );
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
            escape(&outcome.figure),
            class(outcome.verdict),
            outcome.verdict.words(),
            escape(&outcome.claim)
        );
    }
    html.push_str("</table>\n");
    for outcome in outcomes {
        section(&mut html, outcome);
    }
    html.push_str("</html>\n");
    html
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
        escape(&outcome.figure),
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

/// One figure per measure, means with a band of one standard deviation.
fn figures(outcome: &Outcome, variant: &VariantOutcome) -> Vec<Figure> {
    let Some(experiment) = &outcome.experiment else { return Vec::new() };
    let figure = |(measure, axis): (&String, &String)| {
        let is_log = ["excess", "loss"].contains(&measure.as_str());
        let mut panel = Panel::new("rounds", axis.as_str());
        if is_log {
            panel = panel.log_x().log_y();
        }
        for method in experiment.names_of(&variant.name) {
            let Some(mean) = variant.means.get(method).and_then(|m| m.get(measure)) else {
                continue;
            };
            if mean.trials > 1 && !is_log {
                let edges = mean.points.iter().map(|p| (p.0, p.1 - p.2, p.1 + p.2));
                panel = panel.series(Series::band(method, edges));
            }
            let points = mean.points.iter().map(|p| (p.0, p.1));
            panel = panel.series(Series::line(method, points));
        }
        Figure::new(axis.clone()).subtitle(variant.name.clone()).panel(panel)
    };
    // One point is a number, not a curve.
    let is_curve = |(measure, _): &(&String, &String)| {
        let of =
            |m: &BTreeMap<String, Mean>| m.get(*measure).is_some_and(|mean| mean.points.len() > 1);
        variant.means.values().any(of)
    };
    let drawn = experiment.axes.iter().filter(|axis| variant.means.is_empty() || is_curve(axis));
    drawn.map(figure).collect()
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
