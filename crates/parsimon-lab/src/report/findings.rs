//! The tables of one run: expectations with findings, and printed numbers beside measured ones.

use maud::{Markup, html};
use parsimon::workspace::number::significant;
use parsimon_page::{table, wide};

use super::pair;
use crate::experiment::Scale;
use crate::verdict::{Finding, Interval, Status};

const HEADER: [&str; 5] =
    ["expected", "measured", "to be", "difference and its interval", "finding"];

/// The expectations of one variant, the core claim first.
pub(super) fn findings(findings: &[Finding]) -> Markup {
    let (core, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|f| f.core);
    let rows = html! { @for finding in core.iter().chain(&others) { (row(finding)) } };
    wide(table(Some("findings"), &HEADER, [rows]))
}

fn row(finding: &Finding) -> Markup {
    html! {
        tr {
            td {
                @if finding.core { b { "core: " } }
                (finding.says) br; small { (finding.quantity) }
            }
            td class="measured" { (pair(finding.measured)) }
            td class="wanted" { (finding.wanted) }
            td class="interval" { (finding.interval.as_ref().map_or(String::new(), interval)) }
            td class=(class(finding.status)) { (finding.status.words(finding.leans)) }
        }
        "\n"
    }
}

/// The interval in signs; on a logarithmic scale it is one of ratios.
fn interval(interval: &Interval) -> String {
    let name = if interval.scale == Scale::Log { "ratio " } else { "" };
    let [mean, low, high] = [interval.mean, interval.low, interval.high].map(|v| significant(v, 3));
    format!("{name}{mean} [{low}, {high}] at {}%", significant(100.0 * interval.level, 5))
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Holds => "reproduces",
        Status::Refuted => "refuted",
        Status::Undecided | Status::Empty => "undecided",
        Status::Preview | Status::NotMeasured => "not-run",
    }
}

/// Every number the paper prints, beside ours; nothing where it prints none.
pub(super) fn printed(findings: &[Finding]) -> Markup {
    let with_paper: Vec<(&Finding, f64)> =
        findings.iter().filter_map(|f| Some((f, f.paper?))).collect();
    if with_paper.is_empty() {
        return Markup::default();
    }
    let rows = html! {
        @for (finding, paper) in with_paper {
            tr {
                td { (finding.quantity) }
                td class="printed" { (significant(paper, 4)) }
                td class="measured" { (pair(finding.measured)) }
                td { (finding.measured.map_or("-".into(), |m| significant(m.0 - paper, 3))) }
            }
            "\n"
        }
    };
    wide(table(Some("findings"), &["what", "printed", "measured", "measured less printed"], [rows]))
}
