//! An experiment is data: what is run, what the paper claims, and what would count as the claim holding.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kind;
use crate::kind::search::{FEWEST, Search};
use crate::place::Place;

/// The experiments that come with the program, by id, as TOML.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// Effort of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Minutes for everything.
    Quick,
    /// Enough trials for a spread.
    Standard,
    /// The papers' own numbers of trials.
    Full,
}

/// A number that depends on the effort.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PerEffort {
    /// For [`Effort::Quick`].
    pub quick: u64,
    /// For [`Effort::Standard`].
    pub standard: u64,
    /// For [`Effort::Full`].
    pub full: u64,
}

impl PerEffort {
    /// The number for an effort.
    pub fn at(&self, effort: Effort) -> u64 {
        match effort {
            Effort::Quick => self.quick,
            Effort::Standard => self.standard,
            Effort::Full => self.full,
        }
    }
}

/// One experiment of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// `paper/name`.
    #[serde(skip)]
    pub id: String,
    /// Its file.
    #[serde(skip)]
    pub(crate) text: String,
    /// Title.
    pub title: String,
    /// Place in the paper.
    pub printed: String,
    /// Claim of the paper in one sentence.
    pub claim: String,
    /// Loop that runs it.
    pub kind: Kind,
    /// Sort of the claim. Default: an experiment of a paper.
    #[serde(default)]
    pub category: Category,
    /// Whether the rows are those of the paper, or made as the paper says; a variant may differ.
    #[serde(default)]
    pub data: Origin,
    /// Information that the claim depends on and the paper does not give: the verdict is undecided for every measurement.
    #[serde(default)]
    pub open: Option<String>,
    /// Changes after a result was seen, with the verdict before.
    #[serde(default)]
    pub changed: Option<Changed>,
    /// The measures and what their axes are called.
    #[serde(default)]
    pub axes: BTreeMap<String, String>,
    /// Remarks on the settings.
    #[serde(default)]
    pub note: Option<String>,
    /// How many trials.
    pub trials: PerEffort,
    /// Settings of the loop; they differ by kind.
    #[serde(default)]
    pub settings: toml::Table,
    /// Figures. Default: every measure against the rounds.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Drawn>,
    /// The methods; a variant may replace them.
    #[serde(default, rename = "method")]
    pub methods: Vec<Method>,
    /// Methods that should be one another.
    #[serde(default, rename = "pair")]
    pub pairs: Vec<Pair>,
    /// Ways to run it; the first is the paper's.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// The statements whose counterexamples are searched for.
    #[serde(default, rename = "search")]
    pub searches: Vec<Search>,
    /// Core of the claim.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expectation>,
}

/// Sorts of claims. The headline counts each sort separately.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A theorem: checked, because a proof may be wrong and a program even more so.
    Theorem,
    /// An experiment that the paper describes.
    #[default]
    Experiment,
    /// A comparison of ours.
    Own,
}

/// Origin of the rows of an experiment. A claim on the paper's rows is judged on these only.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The paper's own data, or its construction.
    #[default]
    Paper,
    /// Other rows: what agrees with the paper and what differs is shown, without a verdict on the paper.
    Other,
}

/// A change of a file after its result was seen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The change.
    pub what: String,
    /// The verdict before.
    pub earlier: String,
}

/// The scale on which two numbers are compared.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By their difference.
    Linear,
    /// By their ratio.
    Log,
}

/// Loops that run experiments.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Batch methods and their distance from the certified minimum.
    Batch,
    /// The theorems on CSGD, round by round.
    Constrained,
    /// Cost of an update by the number of features.
    Cost,
    /// MNIST, one against all.
    Digits,
    /// Speech through an echo path.
    Echo,
    /// Two methods that should be one.
    Equivalence,
    /// Held-out AUC against the nonzeros, over strengths of the penalty.
    Front,
    /// One step, as figures illustrate it.
    Geometry,
    /// Growth of the regret with the rounds.
    Growth,
    /// A synthetic sparse system, row by row.
    Identification,
    /// A row of large weight, learned at once or bit by bit.
    Importance,
    /// Linear losses that turn against the leader.
    Leader,
    /// Generated least squares, rows drawn with replacement.
    LeastSquares,
    /// A nonlinear function by multikernel filters.
    Multikernel,
    /// Steps of a penalty one by one and put together.
    Proximal,
    /// Regret against the best fixed weights, and its bound.
    Regret,
    /// Only the search for counterexamples.
    Search,
    /// Online prediction on a real set.
    Stream,
    /// Passes over the rows of a real set.
    Table,
    /// Documents with topics, one against all.
    Topics,
}

/// A method under a name of the paper's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Its name in figures.
    pub name: String,
    /// Its settings.
    pub spec: toml::Table,
}

/// A figure: a measure against the rounds or against another measure, a curve for every method.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// Name in the paper: `Figure 4.4, left`.
    #[serde(default)]
    pub number: Option<String>,
    /// The measure along the vertical axis.
    pub y: String,
    /// The measure along the horizontal axis; the rounds, if absent.
    #[serde(default)]
    pub x: Option<String>,
    /// Title of the horizontal axis, if it is neither the rounds nor a measure.
    #[serde(default)]
    pub across: Option<String>,
    /// A measure drawn beside it, dashed: a bound.
    #[serde(default)]
    pub also: Option<String>,
    /// Logarithmic axes: `x`, `y` or `xy`.
    #[serde(default)]
    pub log: String,
    /// Marks where the measures end, instead of curves.
    #[serde(default)]
    pub ends: bool,
}

/// Two methods that should be one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The theorem.
    pub name: String,
    /// The losses it holds for; the methods' own, if there are none.
    #[serde(default)]
    pub losses: Vec<String>,
    /// Whether the rows have a bias.
    #[serde(default)]
    pub bias: bool,
    /// One side.
    pub a: toml::Table,
    /// The other.
    pub b: toml::Table,
}

/// One way to run an experiment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Difference from the experiment.
    pub name: String,
    /// Origin of its rows, if it differs from that of the experiment.
    #[serde(default)]
    pub data: Option<Origin>,
    /// Settings over those of the experiment.
    #[serde(default)]
    pub settings: toml::Table,
    /// Its own methods.
    #[serde(default)]
    pub methods: Vec<Method>,
}

/// One thing that must be so for the claim to hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// In words.
    pub says: String,
    /// Whether it is part of the core claim, which decides; in a file that marks none, all are.
    #[serde(default)]
    pub core: bool,
    /// Whether it is about every run, so that one trial refutes it, and not about the mean.
    #[serde(default)]
    pub every: bool,
    /// The scale of the comparison, if not that of the figure.
    #[serde(default)]
    pub scale: Option<Scale>,
    /// Upper limit of the right side for a meaningful comparison: a rival must have learned something.
    #[serde(default)]
    pub rival_below: Option<f64>,
    /// The measured value: `method.measure@place`, where the place is a number of rounds or `end`.
    pub left: String,
    /// Comparison.
    pub is: Relation,
    /// Right side, if it is not the paper's number.
    #[serde(default)]
    pub right: Option<String>,
    /// The number the paper prints.
    #[serde(default)]
    pub paper: Option<f64>,
    /// A bound of ours, where the paper prints no number.
    #[serde(default)]
    pub bound: Option<f64>,
    /// By how much at least (below, above), or at most (near).
    #[serde(default)]
    pub margin: f64,
    /// Tolerance relative to the paper's number.
    #[serde(default)]
    pub within: Option<f64>,
    /// Why so far: the spread of the paper's own rows, its rounding, its trials.
    #[serde(default)]
    pub reason: Option<String>,
    /// A factor on the right side.
    #[serde(default)]
    pub factor: Option<f64>,
    /// Whether it has to hold in every run; the tests see to it.
    #[serde(default)]
    pub must: Must,
}

/// In which variants an expectation has to hold: `true` for all, or a variant's name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Must {
    /// In all of them, or in none.
    All(bool),
    /// In the variant of this name.
    In(String),
}

impl Default for Must {
    fn default() -> Self {
        Must::All(false)
    }
}

impl Must {
    /// Whether it has to hold in the variant of that name.
    pub fn covers(&self, variant: &str) -> bool {
        match self {
            Must::All(all) => *all,
            Must::In(name) => name == variant,
        }
    }
}

/// Comparisons of two numbers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Smaller, by the margin.
    Below,
    /// Larger, by the margin.
    Above,
    /// Within the margin.
    Near,
}

impl Expectation {
    /// A number printed in the paper has a relative tolerance and a reason.
    fn check_tolerance(&self) -> Result<(), String> {
        let is_printed = self.paper.is_some_and(|p| p != 0.0);
        if let (Some(within), false) = (self.within, is_printed) {
            return Err(format!(
                "within = {within} is a part of a number that the paper prints; there is none, or it is 0"
            ));
        }
        if self.is != Relation::Near || self.every {
            return Ok(());
        }
        if is_printed && (self.margin != 0.0 || self.within.is_none()) {
            return Err(
                "near a number that the paper prints needs a relative tolerance: within = 0.1"
                    .into(),
            );
        }
        if is_printed && self.reason.is_none() {
            return Err("a tolerance needs a reason: the spread of the paper's rows, its rounding, its trials".into());
        }
        if !is_printed && self.margin == 0.0 {
            return Err("near needs a margin, stated before: margin = 0.5; or every = true".into());
        }
        Ok(())
    }

    /// Largest deviation, or least difference.
    pub(crate) fn tolerance(&self) -> f64 {
        match (self.within, self.paper) {
            (Some(within), Some(paper)) => within * paper.abs(),
            _ => self.margin,
        }
    }
}

impl Kind {
    /// Whether the settings of a method are those of `parsimon train`, and not of the loop.
    pub(crate) fn has_learners(self) -> bool {
        !matches!(
            self,
            Kind::Batch
                | Kind::Constrained
                | Kind::Cost
                | Kind::Geometry
                | Kind::Proximal
                | Kind::Search
        )
    }
}

impl Experiment {
    /// Reads one; the error says what is wrong and where.
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

    /// Number of configurations that a trial searches, so that all trials together search enough.
    pub(crate) fn configurations(&self, effort: Effort) -> usize {
        let all = match effort {
            Effort::Quick => FEWEST / 50,
            Effort::Standard => FEWEST,
            Effort::Full => 2 * FEWEST,
        };
        all.div_ceil(self.trials.at(effort).max(1)) as usize
    }

    /// Whether an expectation of it is part of the core claim.
    pub(crate) fn is_core(&self, expectation: &Expectation) -> bool {
        expectation.core || !self.expectations.iter().any(|e| e.core)
    }

    /// The scale on which figures draw a measure.
    pub(crate) fn scale_of(&self, measure: &str) -> Scale {
        let draws = |d: &Drawn| d.y == measure || d.also.as_deref() == Some(measure);
        match self.figures.iter().any(|d| draws(d) && d.log.contains('y')) {
            true => Scale::Log,
            false => Scale::Linear,
        }
    }

    /// What the effort decides about a variant, if efforts differ in it: `rounds 16384`. A verdict is at this horizon.
    pub fn horizon(&self, variant: &Variant, effort: Effort) -> Option<String> {
        let mut settings = self.settings.clone();
        settings.extend(variant.settings.clone());
        let differing = |(name, value): (String, toml::Value)| {
            let per: PerEffort = value.try_into().ok()?;
            let is_one = per.quick == per.standard && per.standard == per.full;
            (!is_one).then(|| format!("{name} {}", per.at(effort)))
        };
        let parts: Vec<String> = settings.into_iter().filter_map(differing).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Origin of the rows of a variant.
    pub fn origin(&self, variant: &Variant) -> Origin {
        variant.data.unwrap_or(self.data)
    }

    /// In which respect the trials of a variant differ, and so what their spread measures.
    pub fn trials_differ_in(&self, variant: &Variant) -> &'static str {
        let has_set = |table: &toml::Table| table.contains_key("set");
        match self.kind {
            Kind::Stream | Kind::Table => ORDER,
            Kind::Digits | Kind::Front | Kind::Topics => SPLIT,
            Kind::Regret if has_set(&self.settings) || has_set(&variant.settings) => ORDER,
            Kind::Echo => "in the stretch of one recording, the echo path and the noise",
            _ => "in everything that is drawn",
        }
    }

    /// The paper's short name.
    pub fn paper(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }

    /// Names with a curve in the variant, in the order of the file.
    pub(crate) fn names_of(&self, variant: &str) -> Vec<&str> {
        let variant = self.variants.iter().find(|v| v.name == variant);
        let methods = variant.map_or(&self.methods[..], |v| self.methods_of(v));
        let pairs = self.pairs.iter().map(|p| p.name.as_str());
        methods.iter().map(|m| m.name.as_str()).chain(pairs).chain(self.peers()).collect()
    }

    /// The programs that are run beside.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &str> {
        let list = self.settings.get("peers").and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(toml::Value::as_str)
    }

    /// The methods of a variant.
    pub fn methods_of<'a>(&'a self, variant: &'a Variant) -> &'a [Method] {
        if variant.methods.is_empty() { &self.methods } else { &variant.methods }
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

const ORDER: &str = "in the order of the rows of one data set: the spread measures the order only, not what other data would give";
const SPLIT: &str = "in the order and the split of one data set: the spread measures these only, not what other data would give";

/// Every experiment that comes with the program.
///
/// ```
/// let all = parsimon_lab::experiments()?;
/// assert!(all.iter().any(|e| e.id == "pda-thesis/identification"));
/// # Ok::<(), String>(())
/// ```
pub fn experiments() -> Result<Vec<Experiment>, String> {
    FILES.iter().map(|(id, text)| Experiment::parse(id, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_read_and_every_method_built() {
        assert!(!FILES.is_empty());
        for (id, text) in FILES {
            let experiment = Experiment::parse(id, text).unwrap();
            for variant in &experiment.variants {
                let names = experiment.names_of(&variant.name);
                let needs_methods = experiment.kind != Kind::Search;
                assert_eq!(!names.is_empty(), needs_methods, "{id}: {}", variant.name);
                let methods = experiment.methods_of(variant).iter();
                for method in methods.filter(|_| experiment.kind.has_learners()) {
                    kind::complete(method)
                        .resolve()
                        .unwrap_or_else(|e| panic!("{id}: {}: {e}", method.name));
                }
            }
        }
    }

    /// What the loop or a method does not know is refused before anything runs, with its line.
    #[test]
    fn unknown_settings_are_refused_with_their_line() {
        let text = r#"title = "Small"
printed = "Table 1"
claim = "c"
kind = "identification"
axes = { zeros = "zeros, %" }
trials = { quick = 1, standard = 10, full = 10 }
settings = { n = 50, zeros = 0.9, m = 3, samples = { quick = 2, standard = 2, full = 2 } }
[[method]]
name = "PDA"
spec = { algorithm = "pda" }
[[expect]]
says = "zeros"
left = "PDA.zeros@end"
is = "above"
bound = 50.0
"#;
        let error =
            |text: &str| Experiment::parse("t", text).unwrap().check_settings().unwrap_err();
        let found = error(text);
        assert!(found.starts_with("t: line 7: settings: unknown field `m`"), "{found}");
        let good = text.replace("m = 3, ", "");
        Experiment::parse("t", &good).unwrap().check_settings().unwrap();
        let found = error(&good.replace("\"pda\"", "\"pda\", raet = 0.1"));
        assert!(found.starts_with("t: line 9: PDA: pda has no setting \"raet\""), "{found}");
    }

    #[test]
    fn verdicts_rest_on_ten_trials_and_a_core_claim() {
        for (id, text) in FILES {
            let experiment = Experiment::parse(id, text).unwrap();
            let trials = experiment.trials;
            let fewest = crate::verdict::FEWEST_TRIALS as u64;
            assert!(trials.standard >= fewest && trials.full >= fewest, "{id}: {trials:?}");
            let is_core = experiment.expectations.iter().any(|e| e.core)
                || experiment.searches.iter().any(|s| s.core);
            assert!(is_core, "{id} has no core claim");
            let is_searched = experiment.searches.iter().any(|s| s.core);
            let is_theorem = experiment.category == Category::Theorem;
            assert_eq!(is_searched, is_theorem, "{id}: a theorem needs a search");
            let is_own = experiment.paper() == "ours";
            assert_eq!(experiment.category == Category::Own, is_own, "{id}");
        }
    }

    #[test]
    fn the_horizon_is_said_where_efforts_differ() {
        let text = SMALL.replace("kind =", "settings = { n = 5, rounds = { quick = 1, standard = 20, full = 30 }, rows = { quick = 2, standard = 2, full = 2 } }\nkind =");
        let experiment = Experiment::parse("t", &text).unwrap();
        let at = |effort| experiment.horizon(&experiment.variants[0], effort);
        assert_eq!(at(Effort::Standard).as_deref(), Some("rounds 20"));
        let longer = "rounds = { quick = 7, standard = 8, full = 9 }".parse().unwrap();
        let variant = Variant { settings: longer, ..Variant::default() };
        assert_eq!(experiment.horizon(&variant, Effort::Full).as_deref(), Some("rounds 9"));
        let same = text
            .replace("quick = 1, standard = 20, full = 30", "quick = 9, standard = 9, full = 9");
        let same = Experiment::parse("t", &same).unwrap();
        assert_eq!(same.horizon(&same.variants[0], Effort::Quick), None);
    }

    const SMALL: &str = r#"
        title = "t"
        printed = "Table 1"
        claim = "A beats B; by far"
        kind = "identification"
        axes = { loss = "loss" }
        trials = { quick = 1, standard = 1, full = 1 }
        method = [{ name = "A", spec = {} }]
        expect = [{ says = "s", left = "A.loss@end", is = "below", bound = 1.0 }]
    "#;

    #[test]
    fn what_a_file_gets_wrong_is_said() {
        assert!(Experiment::parse("t", SMALL).is_ok());
        let refused = |from: &str, to: &str| {
            assert!(SMALL.contains(from));
            Experiment::parse("x/y", &SMALL.replace(from, to)).unwrap_err()
        };
        for (from, to, why) in [
            ("A.loss@end", "B.loss@end", "not every variant has a method \"B\""),
            ("A.loss@end", "A.gain@end", "axes has no measure \"gain\""),
            ("A.loss@end", "A.loss", "a place reads method.measure@round"),
            ("bound = 1.0", "bound = 1.0, paper = 1.0", "one of right, paper and bound"),
            ("bound = 1.0", "bound = 1.0, must = \"x\"", "there is no variant \"x\""),
            ("bound = 1.0", "bound = 1.0, most = 1", "most"),
            ("kind =", "lines = 3\n        kind =", "lines"),
            ("\"below\"", "\"near\"", "near needs a margin"),
            ("identification", "magic", "magic"),
        ] {
            let error = refused(from, to);
            assert!(error.starts_with("x/y: ") && error.contains(why), "{error}");
            let is_placed = error.contains("line ") || error.contains(" | ");
            assert!(is_placed, "the line is missing: {error}");
        }
        let text = SMALL.replace("Table 1", "-").replace("bound = 1.0", "paper = 1.0");
        let error = Experiment::parse("x/y", &text).unwrap_err();
        assert!(
            error.contains("line ") && error.contains("needs its place in the paper"),
            "{error}"
        );
    }
}
