//! The top of the page: the tally of verdicts, every claim in a line, and the experiments that could not be run.

use maud::{Markup, html};
use parsimon::workspace::number::significant;
use parsimon_page::{table, with_code};

use super::{anchor, class, pair};
use crate::experiment::Category;
use crate::kind::search::FEWEST;
use crate::paper::papers;
use crate::runner::Outcome;
use crate::verdict::{Finding, Status, Verdict};

/// Tally of the verdicts, a line for each sort of claim. Runs on other rows than the paper's have no verdict on the paper: the tally counts how many of them
/// expectations agree.
pub fn tally(outcomes: &[Outcome]) -> Vec<String> {
    let of = |category: Category, is_other: bool| -> Vec<&Outcome> {
        let is_asked = |o: &&Outcome| {
            o.category == category && (category != Category::Experiment || o.is_other == is_other)
        };
        outcomes.iter().filter(is_asked).collect()
    };
    let lines = [
        line(Category::Theorem, &of(Category::Theorem, false), "theorem", "theorems"),
        line(
            Category::Experiment,
            &of(Category::Experiment, false),
            "experiment on the paper's own data or construction",
            "experiments on the papers' own data or construction",
        ),
        other_data(&of(Category::Experiment, true)),
        line(Category::Own, &of(Category::Own, false), "comparison of ours", "comparisons of ours"),
    ];
    lines.into_iter().flatten().collect()
}

fn line(category: Category, of: &[&Outcome], one: &str, many: &str) -> Option<String> {
    if of.is_empty() {
        return None;
    }
    let count = |verdict| of.iter().filter(|o| o.verdict == verdict).count();
    let parts = Verdict::ALL.into_iter().filter(|v| count(*v) > 0);
    let parts: Vec<String> =
        parts.map(|v| format!("{} {}", count(v), words(v, category, count(v)))).collect();
    let what = if of.len() == 1 { one } else { many };
    Some(format!("{} {what}: {}", of.len(), parts.join(", ")))
}

fn other_data(of: &[&Outcome]) -> Option<String> {
    if of.is_empty() {
        return None;
    }
    let printed = of.iter().filter_map(|o| o.variants.first());
    let core: Vec<&Finding> = printed.flat_map(|v| &v.findings).filter(|f| f.core).collect();
    let count = |status| core.iter().filter(|f| f.status == status).count();
    let (holds, refuted) = (count(Status::Holds), count(Status::Refuted));
    let what = if of.len() == 1 { "experiment" } else { "experiments" };
    let rest = core.len() - holds - refuted;
    Some(format!(
        "{} {what} on other data, without a verdict on the paper: of {} core expectations {holds} agree, {refuted} differ, {rest} neither",
        of.len(),
        core.len()
    ))
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
        (on_one_screen(outcomes))
        p class="how" { (with_code(how)) } "\n"
        (claims(outcomes))
        p {
            small {
                "The verdict is on the core claim with the settings as printed. " em { "reproduces" }
                ": the whole 99% interval of the paired differences is on the side expected (on the logarithmic scale where the figure has \
                 one; after Holm's correction for all comparisons of the experiment; at least ten trials, their number fixed \
                 beforehand). " em { "refuted" } ": the whole interval is on the other side, or one trial breaks what is claimed of \
                 every run. " em { "undecided" } ": the interval does not separate. A quick run gives a " em { "preview" }
                " and no verdict. " em { "other data" } ": the rows are not the paper's, so the page shows what agrees and what differs and gives no verdict on the \
                 paper. A theorem " em { "holds" } " only where a stated search of at least " (FEWEST) " configurations has broken nothing. Other settings are run beside the printed ones and have verdicts of their own below. All numbers: "
                a href="results.json" { "results.json" } "."
            }
        }
        "\n"
        (gaps(outcomes))
    }
}

/// The claims that hold, those that do not, and those that cannot be judged, as links.
fn on_one_screen(outcomes: &[Outcome]) -> Markup {
    let groups = [
        ("Holds", &[Verdict::Reproduces][..]),
        ("Does not", &[Verdict::Refuted][..]),
        ("Cannot be judged", &[Verdict::Undecided, Verdict::OtherData][..]),
        ("Not measured", &[Verdict::Preview, Verdict::NotRun][..]),
    ];
    html! {
        @for (what, verdicts) in groups {
            @let of: Vec<&Outcome> = outcomes.iter().filter(|o| verdicts.contains(&o.verdict)).collect();
            @if !of.is_empty() {
                p {
                    b { (what) ": " }
                    @for (k, outcome) in of.iter().enumerate() {
                        @if k > 0 { "; " }
                        a href={ "#" (anchor(&outcome.id)) } { (outcome.title) }
                    }
                    "."
                }
                "\n"
            }
        }
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
                        @if variant.stopped.is_some() { "; " (variant.trials) " of " (variant.planned) " trials" }
                        @if let Some(horizon) = &variant.horizon { "; at " (horizon) }
                        @if variant.stand_in.is_some() { "; on generated rows" }
                    }
                }
            }
        }
        "\n"
    }
}

/// The comparison, the printed number and the measured one of the last expectation with a printed number, or of the core claim.
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

/// Experiments that were not run, with the reason and the remedy.
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
