//! A table of equivalent methods: the theorem, both sides, and their largest difference.

use maud::{Markup, html};
use parsimon::workspace::number::significant;
use parsimon_page::{table, wide};

use crate::experiment::Experiment;
use crate::report::listed;
use crate::runner::VariantOutcome;
use crate::summary::Round;

const HEADER: [&str; 6] =
    ["theorem", "a", "b", "losses", "largest difference of a weight", "largest weight"];

/// The table of an experiment's pairs; nothing for an experiment without any.
pub(crate) fn theorems(experiment: &Experiment, variant: &VariantOutcome) -> Markup {
    if experiment.pairs.is_empty() {
        return Markup::default();
    }
    let rows = html! {
        @for pair in &experiment.pairs {
            @let end = |measure: &str| {
                let mean = variant.means.get(&pair.name).and_then(|m| m.get(measure)?.at(Round::End));
                mean.map_or("-".into(), |(mean, _)| significant(mean, 3))
            };
            tr {
                td { (pair.name) }
                td { (side(&pair.a)) }
                td { (side(&pair.b)) }
                td { (pair.losses.join(", ")) }
                td { (end("difference")) }
                td { (end("largest")) }
            }
            "\n"
        }
    };
    html! {
        (wide(table(None, &HEADER, [rows])))
        p { small { "Over all weights, rounds and losses of a trial; the mean of the trials." } }
        "\n"
    }
}

/// A method's name and settings in a line.
fn side(spec: &toml::Table) -> Markup {
    let name = spec.get("algorithm").and_then(toml::Value::as_str).unwrap_or_default();
    let others = spec.iter().filter(|(k, _)| *k != "algorithm");
    html! { b { (name) } " " small { (listed(others)) } }
}
