//! Reading of an experiment, and the checks of a file before anything runs.

use super::{Category, Experiment, Must, Variant};
use crate::kind;
use crate::place::Place;

impl Experiment {
    /// Reads an experiment; an error names the fault and its line.
    pub fn parse(id: &str, text: &str) -> Result<Self, String> {
        let mut experiment: Self = toml::from_str(text).map_err(|e| format!("{id}: {e}"))?;
        id.clone_into(&mut experiment.id);
        text.clone_into(&mut experiment.text);
        if experiment.category == Category::Experiment
            && ["own", "ours"].contains(&experiment.paper())
        {
            experiment.category = Category::Own;
        }
        if experiment.variants.is_empty() {
            experiment.variants.push(Variant { name: "as printed".into(), ..Variant::default() });
        }
        experiment.check().map_err(|(place, e)| match line_of(text, &place) {
            Some(line) => format!("{id}: line {line}: {e}"),
            None => format!("{id}: {e}"),
        })?;
        Ok(experiment)
    }

    /// Checks that the names in figures and expectations exist. An error has the words of the file that it is about.
    fn check(&self) -> Result<(), (String, String)> {
        let is_measured = |measure: &str| match self.axes.contains_key(measure) {
            true => Ok(()),
            false => Err(format!("axes has no measure {measure:?}")),
        };
        for drawn in &self.figures {
            let at = |e: String| (drawn.y.clone(), e);
            is_measured(&drawn.y).map_err(at)?;
            drawn.x.as_deref().map_or(Ok(()), is_measured).map_err(at)?;
            drawn.also.as_deref().map_or(Ok(()), is_measured).map_err(at)?;
        }
        for search in &self.searches {
            search.check().map_err(|e| (search.statement.clone(), e))?;
        }
        if self.searches.is_empty() && self.expectations.is_empty() {
            let why = "a file needs an [[expect]], or a [[search]] of a theorem";
            return Err((String::new(), why.into()));
        }
        for expectation in &self.expectations {
            let says = &expectation.says;
            let named = |e: String| (says.clone(), format!("{says:?}: {e}"));
            if expectation.paper.is_some() && self.printed.trim_matches(['-', ' ']).is_empty() {
                return Err(named(
                    "a number of the paper needs its place in the paper: printed = \"Table 2\""
                        .into(),
                ));
            }
            for side in [Some(&expectation.left), expectation.right.as_ref()].into_iter().flatten()
            {
                let place = Place::parse(side).map_err(named)?;
                is_measured(&place.measure).map_err(named)?;
                let has = |v: &Variant| self.names_of(&v.name).contains(&place.method.as_str());
                if !self.variants.iter().all(has) {
                    return Err(named(format!(
                        "not every variant has a method {:?}",
                        place.method
                    )));
                }
            }
            let sides = [
                expectation.right.is_some(),
                expectation.paper.is_some(),
                expectation.bound.is_some(),
            ];
            if sides.iter().filter(|there| **there).count() != 1 {
                return Err(named("one of right, paper and bound is to be given".into()));
            }
            expectation.check_tolerance().map_err(named)?;
            if let Must::In(name) = &expectation.must
                && !self.variants.iter().any(|v| v.name == *name)
            {
                return Err(named(format!("there is no variant {name:?}")));
            }
        }
        Ok(())
    }

    /// The line of some words of its file.
    pub(crate) fn line_of(&self, words: &str) -> Option<usize> {
        line_of(&self.text, words)
    }

    /// Refuses settings that the loop or a method does not know, before anything runs. The error names the line.
    pub fn check_settings(&self) -> Result<(), String> {
        let at = |place: &str, why: &str| {
            let known = line_of(&self.text, place).or_else(|| line_of(&self.text, "settings"));
            let line = known.unwrap_or(1);
            format!("{}: line {line}: {}", self.id, why.trim())
        };
        for variant in &self.variants {
            kind::Run::check_settings(self, variant).map_err(|e| at(&quoted(&e), &e))?;
            for method in self.methods_of(variant).iter().filter(|_| self.kind.has_learners()) {
                let resolved = kind::complete(method).resolve();
                resolved.map_err(|e| at(&method.name, &format!("{}: {e}", method.name)))?;
            }
        }
        Ok(())
    }
}

/// The name that an error of the reader quotes, as it stands before its value.
fn quoted(error: &str) -> String {
    let name = error.split('`').nth(1).unwrap_or_default();
    if name.is_empty() { String::new() } else { format!("{name} =") }
}

/// The line of a file that has these words, counted from 1.
fn line_of(text: &str, words: &str) -> Option<usize> {
    if words.is_empty() {
        return None;
    }
    let is_whole =
        |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    let whole = || text.match_indices(words).map(|(at, _)| at).find(is_whole);
    let place = text.find(&format!("= {words:?}")).or_else(whole);
    place.map(|at| text[..at].matches('\n').count() + 1)
}
