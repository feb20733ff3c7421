//! The report: one page that opens offline, the numbers as JSON, every curve as CSV.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use parsimon::eval::chart::{Figure, Panel, Series};
use parsimon::eval::number::significant;

use crate::experiment::{Drawn, Experiment};
use crate::overview::{headings, overview};
use crate::page::{code, escape, page};
use crate::runner::{Outcome, VariantOutcome};
use crate::summary::{Finding, Mean, Verdict};
use crate::theorems;

/// Writes `index.html`, `results.json` and `curves/*.csv` into a folder.
pub fn write(folder: &Path, outcomes: &[Outcome], how: &str) -> std::io::Result<()> {
    let curves = folder.join("curves");
    std::fs::create_dir_all(&curves)?;
    for outcome in outcomes {
        for (k, variant) in outcome.variants.iter().enumerate() {
            whole(&curves.join(csv_name(&outcome.id, k)), &csv(variant))?;
        }
    }
    whole(&folder.join("results.json"), &(serde_json::to_string_pretty(outcomes)? + "\n"))?;
    whole(&folder.join("index.html"), &index(outcomes, how))
}

/// A file that is whole or not there.
fn whole(path: &Path, text: &str) -> std::io::Result<()> {
    Ok(parsimon_files::write_file(path, text.as_bytes())?)
}

fn csv_name(id: &str, variant: usize) -> String {
    format!("{}-{variant}.csv", anchor(id))
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
    let mut html = format!("<main>\n{}", overview(outcomes, how));
    for (paper, _) in headings(outcomes) {
        outcomes.iter().filter(|o| o.paper() == paper).for_each(|o| section(&mut html, o));
    }
    html.push_str("</main>\n");
    page("parsimon reproduce", &html)
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
    for (k, variant) in outcome.variants.iter().enumerate() {
        let _ = writeln!(
            html,
            "<h3>{} <span class=\"{}\">{}</span></h3>",
            escape(&variant.name),
            class(variant.verdict),
            variant.verdict.words()
        );
        if let Some(failure) = &variant.failure {
            let _ = writeln!(html, "<p class=\"not-as-printed\">{}</p>", code(failure));
        }
        if variant.trials > 0 {
            measured(html, outcome, variant, k);
        }
    }
    settings(html, outcome);
    html.push_str("</section>\n");
}

/// What was measured in one variant: numbers, then figures.
fn measured(html: &mut String, outcome: &Outcome, variant: &VariantOutcome, k: usize) {
    let _ = writeln!(
        html,
        "<p><small>{}; expectations that hold: {}; <a href=\"curves/{}\">all points as CSV</a></small></p>",
        trials(variant),
        variant.count(),
        csv_name(&outcome.id, k)
    );
    table(html, &variant.findings);
    if !variant.chosen.is_empty() {
        let chosen = escape(&variant.chosen.join("; "));
        let _ = writeln!(html, "<p><small>Chosen by search: {chosen}</small></p>");
    }
    if let Some(experiment) = &outcome.experiment {
        theorems::table(html, experiment, variant);
    }
    for figure in figures(outcome, variant) {
        let _ = writeln!(
            html,
            "<figure>{}<figcaption>{}: {}; {}{}</figcaption></figure>",
            figure.svg,
            escape(&outcome.printed),
            escape(&variant.name),
            trials(variant),
            if figure.has_bands { ", mean and one standard deviation" } else { "" }
        );
    }
    pictures(html, variant);
}

fn trials(variant: &VariantOutcome) -> String {
    format!("{} trial{}", variant.trials, if variant.trials == 1 { "" } else { "s" })
}

/// What was run, as the file says it, and how to run it alone.
fn settings(html: &mut String, outcome: &Outcome) {
    let Some(experiment) = &outcome.experiment else { return };
    html.push_str("<details>\n<summary>Settings, and how to run it</summary>\n");
    let _ = writeln!(
        html,
        "<p><code>parsimon reproduce {}</code>, with <code>--quick</code> for a look or <code>--full</code> for the paper's number of \
         trials (quick {}, standard {}, full {}).</p>",
        escape(&experiment.id),
        experiment.trials.quick,
        experiment.trials.standard,
        experiment.trials.full
    );
    let listed = |table: &toml::Table| -> String {
        let fields: Vec<String> = table.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        escape(&fields.join(", "))
    };
    if !experiment.settings.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", listed(&experiment.settings));
    }
    let mut rows = String::new();
    let mut methods = |of: &str, methods: &[crate::experiment::Method]| {
        for method in methods {
            let (name, spec) = (escape(&method.name), listed(&method.spec));
            let _ =
                writeln!(rows, "<tr><td>{name}</td><td>{spec}</td><td>{}</td></tr>", escape(of));
        }
    };
    methods("", &experiment.methods);
    for variant in &experiment.variants {
        if !variant.settings.is_empty() {
            let (name, over) = (escape(&variant.name), listed(&variant.settings));
            let _ = writeln!(html, "<p>{name}: {over}</p>");
        }
        methods(&variant.name, &variant.methods);
    }
    for pair in &experiment.pairs {
        let (a, b) = (listed(&pair.a), listed(&pair.b));
        let _ = writeln!(rows, "<tr><td>{}</td><td>{a}</td><td>{b}</td></tr>", escape(&pair.name));
    }
    let _ = writeln!(
        html,
        "<div class=\"wide\" tabindex=\"0\"><table>\n<tr><th scope=\"col\">name</th><th scope=\"col\">settings</th><th scope=\"col\">{}</th></tr>\n{rows}</table></div>\n</details>",
        if experiment.pairs.is_empty() { "run" } else { "against" }
    );
}

/// What the first trial shows beside its curves.
fn pictures(html: &mut String, variant: &VariantOutcome) {
    for picture in &variant.pictures {
        let _ = writeln!(
            html,
            "<figure>{}<figcaption>From the first trial.</figcaption></figure>",
            picture.to_svg()
        );
    }
}

fn table(html: &mut String, findings: &[Finding]) {
    html.push_str(
        "<div class=\"wide\" tabindex=\"0\"><table>\n<tr><th scope=\"col\">expected</th><th scope=\"col\">printed</th>\
         <th scope=\"col\">measured</th><th scope=\"col\">to be</th><th scope=\"col\">finding</th></tr>\n",
    );
    for finding in findings {
        let (mark, style) = match finding.holds {
            Some(true) => ("holds", "reproduces"),
            Some(false) => ("does not hold", "not-as-printed"),
            None => ("not measured", "not-run"),
        };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{style}\">{mark}</td></tr>",
            escape(&finding.says),
            finding.paper.map_or("-".into(), |x| significant(x, 4)),
            pair(finding.measured),
            escape(&finding.wanted)
        );
    }
    html.push_str("</table></div>\n");
}

/// A figure as it stands on the page.
struct Shown {
    svg: String,
    has_bands: bool,
}

/// The figures an experiment asks for, or every measure against the rounds.
fn figures(outcome: &Outcome, variant: &VariantOutcome) -> Vec<Shown> {
    let Some(experiment) = &outcome.experiment else { return Vec::new() };
    // Pairs have a table; differences that are nothing make no curves.
    if !experiment.pairs.is_empty() {
        return Vec::new();
    }
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

fn figure(experiment: &Experiment, variant: &VariantOutcome, drawn: &Drawn) -> Shown {
    let axis = |measure| experiment.axes.get(measure).map_or("", String::as_str);
    let rounds = drawn.across.as_deref().unwrap_or("rounds");
    let across = drawn.x.as_ref().map_or(rounds, axis);
    let mut has_bands = false;
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
            has_bands = true;
        }
        let line = points().map(|(x, p)| (*x, p.1));
        panel = panel.series(match drawn.ends {
            true => Series::points(method, line),
            false => Series::line(method, line),
        });
        if let Some(also) = drawn.also.as_ref().and_then(|also| measures.get(also)) {
            let line = x.iter().zip(&also.points).map(|(x, p)| (*x, p.1));
            panel = panel.series(Series::reference(method, line));
        }
    }
    let title = match &drawn.x {
        None if drawn.also.is_some() => {
            let also = drawn.also.as_ref().map_or("", axis);
            format!("{}; dashed: {also}", axis(&drawn.y))
        }
        None => axis(&drawn.y).to_owned(),
        Some(_) => format!("{} against {across}", axis(&drawn.y)),
    };
    let svg = Figure::new(title).subtitle(variant.name.clone()).panel(panel).to_svg();
    Shown { svg, has_bands }
}

pub(crate) fn pair(value: Option<(f64, f64)>) -> String {
    match value {
        Some((mean, 0.0)) => significant(mean, 4),
        Some((mean, spread)) => format!("{} ± {}", significant(mean, 4), significant(spread, 2)),
        None => "-".into(),
    }
}

pub(crate) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduces => "reproduces",
        Verdict::InPart => "in-part",
        Verdict::NotAsPrinted => "not-as-printed",
        Verdict::NotRun => "not-run",
    }
}

pub(crate) fn anchor(id: &str) -> String {
    id.replace('/', "-")
}
