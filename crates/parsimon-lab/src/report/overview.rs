//! The top of the page: how much reproduces, every claim in a line, and what could not be run.

use maud::{Markup, html};
use parsimon::eval::number::significant;
use parsimon_page::{table, with_code};

use super::{anchor, class, pair};
use crate::experiment::Category;
use crate::paper::papers;
use crate::runner::Outcome;
use crate::verdict::Verdict;

/// How much holds, a line for each sort of claim: theorems checked, the papers' experiments, our own.
pub fn tally(outcomes: &[Outcome]) -> Vec<String> {
    let sorts = [
        (Category::Theorem, "theorem checked", "theorems checked"),
        (Category::Experiment, "experiment of a paper", "experiments of the papers"),
        (Category::Own, "comparison of our own", "comparisons of our own"),
    ];
    let line = |(category, one, many): (Category, &str, &str)| {
        let of: Vec<&Outcome> = outcomes.iter().filter(|o| o.category == category).collect();
        if of.is_empty() {
            return None;
        }
        let count = |verdict| of.iter().filter(|o| o.verdict == verdict).count();
        let parts = Verdict::ALL.into_iter().filter(|v| count(*v) > 0);
        let parts: Vec<String> =
            parts.map(|v| format!("{} {}", count(v), words(v, category, count(v)))).collect();
        let what = if of.len() == 1 { one } else { many };
        Some(format!("{} {what}: {}", of.len(), parts.join(", ")))
    };
    sorts.into_iter().filter_map(line).collect()
}

/// A theorem holds or is refuted; an experiment reproduces or does not.
fn words(verdict: Verdict, category: Category, n: usize) -> &'static str {
    match (verdict, category, n) {
        (Verdict::Reproduces, Category::Theorem, n) if n != 1 => "hold",
        (Verdict::Reproduces, _, n) if n != 1 => "reproduce",
        (Verdict::Preview, _, n) if n != 1 => "previews",
        _ => verdict.said_of(category),
    }
}

/// Heading, tally, table and gaps.
pub(crate) fn overview(outcomes: &[Outcome], how: &str) -> Markup {
    html! {
        h1 { "What reproduces" } "\n"
        ul class="tally" { @for line in tally(outcomes) { li { (line) } } } "\n"
        p class="how" { (with_code(how)) } "\n"
        (claims(outcomes))
        p {
            small {
                "The verdict is on the core claim with the settings as printed. " em { "reproduces" }
                ": the whole 99% interval of the paired differences is on the side expected (on the logarithmic scale where the figure has \
                 one; after Holm's correction for all comparisons of the experiment; at least ten trials, their number fixed \
                 beforehand). " em { "refuted" } ": the whole interval is on the other side, or one trial breaks what is claimed of \
                 every run. " em { "undecided" } ": the interval does not separate. A quick run gives a " em { "preview" }
                " and no verdict. Other settings are run beside the printed ones and have verdicts of their own below. All numbers: "
                a href="results.json" { "results.json" } "."
            }
        }
        "\n"
        (gaps(outcomes))
    }
}

/// Every claim in a line, by paper.
fn claims(outcomes: &[Outcome]) -> Markup {
    let headings = headings(outcomes);
    let bodies = headings.iter().map(|(name, heading)| {
        html! {
            tr class="paper" { th scope="rowgroup" colspan="5" { (heading) } } "\n"
            @for outcome in outcomes.iter().filter(|o| o.paper() == name) { (row(outcome)) }
        }
    });
    table(Some("index"), &["experiment", "claim", "printed", "measured", "verdict"], bodies)
}

/// The papers that have outcomes, in the order of the list; what is in no list comes last.
pub(crate) fn headings(outcomes: &[Outcome]) -> Vec<(String, Markup)> {
    let papers = papers();
    let mut headings: Vec<(String, Markup)> = papers
        .iter()
        .filter(|p| outcomes.iter().any(|o| o.paper() == p.name))
        .map(|p| (p.name.clone(), html! { (p.title) " " small { (p.from) } }))
        .collect();
    for outcome in outcomes {
        if !headings.iter().any(|(name, _)| name == outcome.paper()) {
            headings.push((outcome.paper().to_owned(), html! { (outcome.paper()) }));
        }
    }
    headings
}

fn row(outcome: &Outcome) -> Markup {
    let (says, paper, measured) = headline(outcome);
    html! {
        tr {
            td { a href={ "#" (anchor(&outcome.id)) } { (outcome.title) } br; small { (outcome.printed) } }
            td { (outcome.claim) br; small { (says) } }
            td class="printed" { (paper) }
            td class="measured" { (measured) }
            td class=(class(outcome.verdict)) {
                (outcome.verdict.said_of(outcome.category))
                @if let Some(variant) = outcome.variants.first().filter(|v| v.trials > 0) {
                    br; small {
                        (variant.count())
                        @if let Some(horizon) = &variant.horizon { "; at " (horizon) }
                        @if variant.stand_in.is_some() { "; on generated rows" }
                    }
                }
            }
        }
        "\n"
    }
}

/// What is compared, the printed number and the measured one: of the last expectation with a printed number, or of the core claim.
fn headline(outcome: &Outcome) -> (String, String, String) {
    let findings = outcome.variants.first().map_or(&[][..], |v| &v.findings);
    let core = findings.iter().find(|f| f.core).or(findings.first());
    let found = findings.iter().rfind(|f| f.paper.is_some()).or(core);
    let Some(finding) = found.filter(|f| f.measured.is_some()) else {
        return Default::default();
    };
    let paper = finding.paper.map_or(String::new(), |x| significant(x, 4));
    (finding.quantity.clone(), paper, pair(finding.measured))
}

/// What was not run, why, and what to do about it.
fn gaps(outcomes: &[Outcome]) -> Markup {
    let reasons = Outcome::gaps(outcomes);
    if reasons.is_empty() {
        return Markup::default();
    }
    let mut all: Vec<&str> = Vec::new();
    for id in reasons.iter().flat_map(|(_, ids)| ids) {
        if !all.contains(id) {
            all.push(id);
        }
    }
    html! {
        section id="gaps" {
            "\n"
            h2 { "Not run" } "\n"
            ul {
                "\n"
                @for (why, ids) in &reasons {
                    li {
                        (with_code(why)) br;
                        small {
                            @for (k, id) in ids.iter().enumerate() {
                                @if k > 0 { ", " }
                                a href={ "#" (anchor(id)) } { (id) }
                            }
                        }
                    }
                    "\n"
                }
            }
            "\n"
            p {
                "Then " code { "parsimon reproduce " (all.join(" ")) } " runs them, with the same " code { "--data" }
                " and " code { "--out" } "; what is finished is kept."
            }
            "\n"
        }
        "\n"
    }
}
