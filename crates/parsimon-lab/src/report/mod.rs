//! The report: one page that opens offline, the numbers as JSON, every curve as CSV.

mod findings;
mod keep;
mod overview;
mod theorems;

pub use keep::{Kept, merged};
pub use overview::tally;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use maud::{Markup, html};
use parsimon::workspace::number::significant;
use parsimon_page::chart::{Figure, Panel, Series};
use parsimon_page::{document, table, wide, with_code};

use crate::experiment::{Drawn, Experiment};
use crate::kind::search::GRID;
use crate::runner::{Outcome, VariantOutcome};
use crate::summary::Mean;
use crate::verdict::Verdict;
use findings::{findings, printed};
use overview::{headings, overview};
use theorems::theorems;

/// Writes `index.html`, `results.json` and `curves/*.csv` into a folder, with the outcomes that later runs into the folder keep.
pub fn write(folder: &Path, outcomes: &[Outcome], how: &str) -> std::io::Result<()> {
    keep::write(folder, outcomes)?;
    let curves = folder.join("curves");
    parsimon_files::create_folders(&curves)?;
    for outcome in outcomes {
        for (k, variant) in outcome.variants.iter().enumerate() {
            whole(&curves.join(csv_name(&outcome.id, k)), &csv(variant))?;
        }
    }
    whole(&folder.join("results.json"), &(serde_json::to_string_pretty(outcomes)? + "\n"))?;
    let drawings = Drawings::default();
    whole(&folder.join("index.html"), &index(outcomes, how, &drawings))?;
    parsimon_files::create_folders(&folder.join(FIGURES))?;
    let drawings = drawings.0.into_inner();
    drawings.iter().try_for_each(|(name, svg)| whole(&folder.join(FIGURES).join(name), svg))
}

/// The folder of the figures, which are files of their own: with all of them inside, the page would be many megabytes.
const FIGURES: &str = "figures";

/// The figures of a page, collected while it is written.
#[derive(Default)]
struct Drawings(RefCell<Vec<(String, String)>>);

impl Drawings {
    /// Keeps a figure in two widths, and refers to the files.
    fn add(&self, name: &str, svgs: [String; 2], caption: &Markup) -> Markup {
        let files = [format!("{name}.svg"), format!("{name}-phone.svg")];
        let [on_screen, on_phone] = [0, 1].map(|k| format!("{FIGURES}/{}", files[k]));
        self.0.borrow_mut().extend(files.into_iter().zip(svgs));
        html! {
            figure {
                picture {
                    source media="(max-width: 40rem)" srcset=(on_phone);
                    img src=(on_screen) alt="" loading="lazy";
                }
                figcaption { (caption) }
            }
            "\n"
        }
    }
}

/// Writes a file that is either whole or absent.
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

fn index(outcomes: &[Outcome], how: &str, drawings: &Drawings) -> String {
    let sections = headings(outcomes)
        .into_iter()
        .flat_map(|(paper, _)| outcomes.iter().filter(move |o| o.paper() == paper));
    document(
        "parsimon reproduce",
        html! {
            main {
                "\n"
                (overview(outcomes, how))
                @for outcome in sections { (section(outcome, drawings)) }
            }
            "\n"
        },
    )
}

fn section(outcome: &Outcome, drawings: &Drawings) -> Markup {
    html! {
        section id=(anchor(&outcome.id)) {
            "\n"
            h2 { (outcome.title) } "\n"
            p { small { (outcome.id) ", " (outcome.printed) } } "\n"
            @if !outcome.how.is_empty() { p class="how" { small { (with_code(&outcome.how)) } } "\n" }
            blockquote { (outcome.claim) } "\n"
            @if let Some(note) = &outcome.note { p { (note) } "\n" }
            @if let Some(open) = &outcome.open { p class="undecided" { "Undecided, whatever is measured: " (open) } "\n" }
            @if let Some(changed) = &outcome.changed {
                p class="undecided" {
                    "Changed after its result was seen: " (changed.what) " The verdict before: " (changed.earlier) "."
                }
                "\n"
            }
            @for (k, variant) in outcome.variants.iter().enumerate() {
                h3 {
                    (variant.name) " " span class=(class(variant.verdict)) { (variant.verdict.said_of(outcome.category)) }
                    @if let Some(horizon) = &variant.horizon { " " small { "at " (horizon) } }
                }
                "\n"
                @if let Some(stand_in) = &variant.stand_in { p class="undecided" { (stand_in) "." } "\n" }
                @if let Some(failure) = &variant.failure {
                    p class="refuted" { (with_code(failure)) } "\n"
                }
                @if variant.trials > 0 { (measured(outcome, variant, k, drawings)) }
            }
            @if let Some(experiment) = &outcome.experiment { (settings(experiment)) }
        }
        "\n"
    }
}

/// Results of one variant: numbers, then figures.
fn measured(outcome: &Outcome, variant: &VariantOutcome, k: usize, drawings: &Drawings) -> Markup {
    let name = |kind: &str, j: usize| format!("{}-{k}-{kind}{j}", anchor(&outcome.id));
    let csv = format!("curves/{}", csv_name(&outcome.id, k));
    html! {
        p {
            small {
                (trials(variant)) ", which differ " (variant.trials_differ) "; expectations: " (variant.count()) "; "
                a href=(csv) { "all points as CSV" }
            }
        }
        "\n"
        @if variant.verdict == Verdict::OtherData { (agreement(variant)) }
        (findings(&variant.findings))
        @if variant.findings.iter().any(|f| f.configurations.is_some()) { p { small { "The search: " (GRID) "." } } "\n" }
        (printed(&variant.findings))
        @if !variant.chosen.is_empty() {
            p { small { "Chosen by search: " (variant.chosen.join("; ")) } } "\n"
        }
        @if let Some(experiment) = &outcome.experiment { (theorems(experiment, variant)) }
        @for (j, drawn) in figures(outcome, variant).iter().enumerate() {
            @let caption = html! {
                (drawn.number.as_deref().unwrap_or(&outcome.printed)) ": " (variant.name) "; " (trials(variant))
                @match drawn.band {
                    Band::None => {},
                    Band::Linear => ", mean and one standard deviation",
                    Band::Log => ", geometric mean and one standard deviation of the logarithms where all trials are positive",
                }
            };
            (drawings.add(&name("", j), [drawn.figure.to_svg(), drawn.figure.to_phone_svg()], &caption))
        }
        @for (j, picture) in variant.pictures.iter().enumerate() {
            (drawings.add(&name("picture", j), picture.to_svgs(), &html! { "From the first trial." }))
        }
    }
}

/// Agreement with the paper and differences, if the rows are not the paper's.
fn agreement(variant: &VariantOutcome) -> Markup {
    html! {
        ul {
            @for (what, says) in variant.agreement() {
                @if !says.is_empty() { li { (what) ": " (says.join("; ")) } }
            }
        }
        "\n"
    }
}

fn trials(variant: &VariantOutcome) -> String {
    match &variant.stopped {
        Some(why) => format!("{} of {} trials ({why})", variant.trials, variant.planned),
        None => format!("{} trial{}", variant.trials, if variant.trials == 1 { "" } else { "s" }),
    }
}

/// Settings in a line.
pub(crate) fn listed<'a>(
    fields: impl IntoIterator<Item = (&'a String, &'a toml::Value)>,
) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(k, v)| format!("{k} = {v}")).collect();
    fields.join(", ")
}

/// The experiment's file, and the command that runs it alone.
fn settings(experiment: &Experiment) -> Markup {
    let against = if experiment.pairs.is_empty() { "run" } else { "against" };
    let common = experiment.methods.iter().map(|method| ("", method));
    let variants = &experiment.variants;
    let own = variants.iter().flat_map(|v| v.methods.iter().map(|m| (v.name.as_str(), m)));
    let rows = html! {
        @for (run, method) in common.chain(own) {
            tr { td { (method.name) } td { (listed(&method.spec)) } td { (run) } } "\n"
        }
        @for pair in &experiment.pairs {
            tr { td { (pair.name) } td { (listed(&pair.a)) } td { (listed(&pair.b)) } } "\n"
        }
    };
    html! {
        details {
            "\n"
            summary { "Settings, and how to run it" } "\n"
            p {
                code { "parsimon reproduce " (experiment.id) } ", with " code { "--quick" } " for a look or "
                code { "--full" } " for the paper's number of trials (quick " (experiment.trials.quick)
                ", standard " (experiment.trials.standard) ", full " (experiment.trials.full) ")."
            }
            "\n"
            @if !experiment.settings.is_empty() { p { (listed(&experiment.settings)) } "\n" }
            @for variant in variants.iter().filter(|v| !v.settings.is_empty()) {
                p { (variant.name) ": " (listed(&variant.settings)) } "\n"
            }
            (wide(table(None, &["name", "settings", against], [rows])))
        }
        "\n"
    }
}

/// A figure as it stands on the page.
struct ShownFigure {
    figure: Figure,
    /// The paper's own number of it.
    number: Option<String>,
    band: Band,
}

/// Meaning of the shaded band of a figure.
#[derive(Clone, Copy, PartialEq)]
enum Band {
    None,
    Linear,
    Log,
}

/// The figures an experiment asks for, or every measure against the rounds.
fn figures(outcome: &Outcome, variant: &VariantOutcome) -> Vec<ShownFigure> {
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
    drawn.iter().filter(|d| is_curve(d)).map(|d| drawn_figure(experiment, variant, d)).collect()
}

fn drawn_figure(experiment: &Experiment, variant: &VariantOutcome, drawn: &Drawn) -> ShownFigure {
    let axis = |measure| experiment.axes.get(measure).map_or("", String::as_str);
    let rounds = drawn.across.as_deref().unwrap_or("rounds");
    let across = drawn.x.as_ref().map_or(rounds, axis);
    let mut band = Band::None;
    let is_log = drawn.log.contains('y');
    // If the title of the figure names the y axis, the axis needs no title.
    let has_title = drawn.x.is_some() || drawn.also.is_some();
    let mut panel = Panel::new(across, if has_title { axis(&drawn.y) } else { "" });
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
        // On a logarithmic axis the middle and the band are those of the logarithms.
        let at = |k: usize| match y.log_band(k).filter(|_| is_log) {
            Some(band) => band,
            None => {
                let (_, mean, spread) = y.points[k];
                (mean, mean - spread, mean + spread)
            }
        };
        let places = || x.iter().copied().zip(0..y.points.len()).skip(skipped);
        // A band needs a spread.
        if y.trials > 1 && !drawn.ends {
            let edges = places().map(|(x, k)| (x, at(k).1, at(k).2));
            panel = panel.series(Series::band(method, edges));
            band = if is_log { Band::Log } else { Band::Linear };
        }
        let line = places().map(|(x, k)| (x, at(k).0));
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
    let numbered = drawn.number.as_ref().map(|n| format!("{n}, {}", variant.name));
    let subtitle = numbered.unwrap_or_else(|| variant.name.clone());
    let figure = Figure::new(capitalized(&title)).subtitle(subtitle).panel(panel);
    ShownFigure { figure, number: drawn.number.clone(), band }
}

/// With a capital, unless the first word is a symbol such as `dB`.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
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
        Verdict::Refuted => "refuted",
        Verdict::Undecided | Verdict::OtherData => "undecided",
        Verdict::Preview | Verdict::NotRun => "not-run",
    }
}

pub(crate) fn anchor(id: &str) -> String {
    id.replace('/', "-")
}
