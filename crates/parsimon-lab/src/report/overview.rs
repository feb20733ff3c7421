//! The top of the page: how much reproduces, every claim in a line, and what could not be run.

use maud::{Markup, html};
use parsimon::eval::number::significant;
use parsimon_page::{table, with_code};

use super::{anchor, class, pair};
use crate::paper::papers;
use crate::runner::Outcome;
use crate::summary::{Finding, Verdict};

/// How much reproduces, in a sentence.
pub fn tally(outcomes: &[Outcome]) -> String {
    let count = |verdict| outcomes.iter().filter(|o| o.verdict == verdict).count();
    let parts: Vec<String> =
        [Verdict::Reproduces, Verdict::InPart, Verdict::NotAsPrinted, Verdict::NotRun]
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", count(verdict), verdict.words_for(count(verdict))))
            .collect();
    let printed = || outcomes.iter().filter_map(|o| o.variants.first());
    let findings: Vec<&Finding> = printed().flat_map(|v| &v.findings).collect();
    let held = findings.iter().filter(|f| f.holds == Some(true)).count();
    let known = findings.iter().filter(|f| f.holds.is_some()).count();
    format!(
        "{}: {}; with the printed settings {held} of the {known} things expected hold",
        many(outcomes.len(), "claim"),
        parts.join(", ")
    )
}

fn many(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Heading, tally, table and gaps.
pub(crate) fn overview(outcomes: &[Outcome], how: &str) -> Markup {
    html! {
        h1 { "What reproduces" } "\n"
        p { (tally(outcomes)) "." } "\n"
        p class="how" { (with_code(how)) } "\n"
        (claims(outcomes))
        p {
            small {
                "The verdict is on the settings as printed: " em { "reproduces" } " if all that is expected holds for the \
                 means over the trials, " em { "in part" } " if some of it. Other settings are run beside them and have \
                 verdicts of their own below. All numbers: " a href="results.json" { "results.json" } "."
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
            td class=(class(outcome.verdict)) { (outcome.verdict.words()) }
        }
        "\n"
    }
}

/// What is compared, the printed number and the measured one: of the last expectation with a printed number, or of the first.
fn headline(outcome: &Outcome) -> (String, String, String) {
    let findings = outcome.variants.first().map_or(&[][..], |v| &v.findings);
    let found = findings.iter().rfind(|f| f.paper.is_some()).or(findings.first());
    let Some(finding) = found.filter(|f| f.measured.is_some()) else {
        return Default::default();
    };
    let paper = finding.paper.map_or(String::new(), |x| significant(x, 4));
    (finding.says.clone(), paper, pair(finding.measured))
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
                " and " code { "--out" } "; what is finished is kept. Nothing is put in the place of data that is not there."
            }
            "\n"
        }
        "\n"
    }
}
