//! Methods that should be one another, as a table: the theorem, both sides, how far they came apart.

use std::fmt::Write as _;

use parsimon::eval::number::significant;

use crate::experiment::Experiment;
use crate::page::escape;
use crate::runner::VariantOutcome;
use crate::summary::Round;

/// The table of an experiment's pairs; nothing for an experiment without any.
pub(crate) fn table(html: &mut String, experiment: &Experiment, variant: &VariantOutcome) {
    if experiment.pairs.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"wide\" tabindex=\"0\"><table>\n<tr><th scope=\"col\">theorem</th><th scope=\"col\">a</th><th scope=\"col\">b</th>\
         <th scope=\"col\">losses</th><th scope=\"col\">largest difference of a weight</th><th scope=\"col\">largest weight</th></tr>\n",
    );
    for pair in &experiment.pairs {
        let measures = variant.means.get(&pair.name);
        let end = |measure: &str| {
            let mean = measures.and_then(|m| m.get(measure)?.at(Round::End));
            mean.map_or("-".into(), |(mean, _)| significant(mean, 3))
        };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&pair.name),
            side(&pair.a),
            side(&pair.b),
            escape(&pair.losses.join(", ")),
            end("difference"),
            end("largest")
        );
    }
    html.push_str("</table></div>\n");
    html.push_str("<p><small>Over all weights, rounds and losses of a trial; the mean of the trials.</small></p>\n");
}

/// A method's name and settings in a line.
fn side(spec: &toml::Table) -> String {
    let name = spec.get("algorithm").and_then(toml::Value::as_str).unwrap_or_default();
    let others = spec.iter().filter(|(k, _)| *k != "algorithm");
    let others: Vec<String> = others.map(|(k, v)| format!("{k} = {v}")).collect();
    format!("<b>{}</b> <small>{}</small>", escape(name), escape(&others.join(", ")))
}
