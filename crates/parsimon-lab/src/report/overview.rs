//! The top of the page: how much reproduces, every claim in a line, and what could not be run.

use std::fmt::Write as _;

use parsimon::eval::number::significant;

use super::{anchor, class, pair};
use crate::page::{code, escape};
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
pub(crate) fn overview(outcomes: &[Outcome], how: &str) -> String {
    let mut html = format!(
        "<h1>What reproduces</h1>\n<p>{}.</p>\n<p class=\"how\">{}</p>\n",
        escape(&tally(outcomes)),
        escape(how)
    );
    table(&mut html, outcomes);
    html.push_str(
        "<p><small>The verdict is on the settings as printed: <em>reproduces</em> if all that is expected holds for the means over \
         the trials, <em>in part</em> if some of it. Other settings are run beside them and have verdicts of their own below. \
         All numbers: <a href=\"results.json\">results.json</a>.</small></p>\n",
    );
    gaps(&mut html, outcomes);
    html
}

fn table(html: &mut String, outcomes: &[Outcome]) {
    html.push_str(
        "<table class=\"index\">\n<thead><tr><th scope=\"col\">experiment</th><th scope=\"col\">claim</th>\
         <th scope=\"col\">printed</th><th scope=\"col\">measured</th><th scope=\"col\">verdict</th></tr></thead>\n",
    );
    for (name, heading) in headings(outcomes) {
        let _ = writeln!(
            html,
            "<tbody>\n<tr class=\"paper\"><th scope=\"rowgroup\" colspan=\"5\">{heading}</th></tr>"
        );
        outcomes.iter().filter(|o| o.paper() == name).for_each(|o| row(html, o));
        html.push_str("</tbody>\n");
    }
    html.push_str("</table>\n");
}

/// The papers that have outcomes, in the order of the list; what is in no list comes last.
pub(crate) fn headings(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let papers = papers();
    let mut headings: Vec<(String, String)> = papers
        .iter()
        .filter(|p| outcomes.iter().any(|o| o.paper() == p.name))
        .map(|p| {
            (p.name.clone(), format!("{} <small>{}</small>", escape(&p.title), escape(&p.from)))
        })
        .collect();
    for outcome in outcomes {
        if !headings.iter().any(|(name, _)| name == outcome.paper()) {
            headings.push((outcome.paper().to_owned(), escape(outcome.paper())));
        }
    }
    headings
}

fn row(html: &mut String, outcome: &Outcome) {
    let (says, paper, measured) = headline(outcome);
    let _ = writeln!(
        html,
        "<tr><td><a href=\"#{}\">{}</a><br><small>{}</small></td><td>{}<br><small>{}</small></td>\
         <td>{paper}</td><td>{measured}</td><td class=\"{}\">{}</td></tr>",
        anchor(&outcome.id),
        escape(&outcome.title),
        escape(&outcome.printed),
        escape(outcome.short_claim()),
        escape(&says),
        class(outcome.verdict),
        outcome.verdict.words(),
    );
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
fn gaps(html: &mut String, outcomes: &[Outcome]) {
    let reasons = Outcome::gaps(outcomes);
    if reasons.is_empty() {
        return;
    }
    html.push_str("<section id=\"gaps\">\n<h2>Not run</h2>\n<ul>\n");
    for (why, ids) in &reasons {
        let links: Vec<String> = ids
            .iter()
            .map(|id| format!("<a href=\"#{}\">{}</a>", anchor(id), escape(id)))
            .collect();
        let _ = writeln!(html, "<li>{}<br><small>{}</small></li>", code(why), links.join(", "));
    }
    html.push_str("</ul>\n");
    let mut ids: Vec<&str> = Vec::new();
    for id in reasons.iter().flat_map(|(_, ids)| ids) {
        if !ids.contains(id) {
            ids.push(id);
        }
    }
    let _ = writeln!(
        html,
        "<p>Then <code>parsimon reproduce {}</code> runs them, with the same <code>--data</code> and <code>--out</code>; \
         what is finished is kept. Nothing is put in the place of data that is not there.</p>\n</section>",
        escape(&ids.join(" "))
    );
}
