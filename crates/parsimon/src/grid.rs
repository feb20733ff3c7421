//! Grids: settings with several values each.
//!
//! A sweep is written `name=low..high:count` or `name=a,b,c`. A range is cut evenly in the logarithm when both ends are
//! positive, as strengths and rates want it, and evenly otherwise. Values are rounded to four digits, so that a command
//! with them can be read, typed and run again with the same result; the ends are kept unchanged.
//!
//! A sweep can also be drawn from: anywhere within a range, uniformly in the logarithm when both ends are positive, or one of
//! a list.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::Value;

use crate::algorithm::setting::{Parameter, scalar};
use crate::algorithm::{ALGORITHMS, Algorithm, find};
use crate::error::BuildError;
use crate::settings::{Spec, alias};
use crate::suggestion::did_you_mean;

/// Default number of values of a range.
const USUAL: usize = 5;
/// More values than this in one sweep are a typing error.
const MOST: usize = 10_000;
/// After this many draws of known points the grid counts as exhausted.
const PATIENCE: usize = 1_000;

/// A grid of settings: the product of several sweeps.
///
/// ```
/// use parsimon::Spec;
/// use parsimon::tune::Grid;
///
/// let grid = Grid::parse(["l1=1e-4..1:5", "rate=0.1,0.5"])?;
/// let specs = grid.expand(&Spec::new("ftrl"))?;
/// assert_eq!(specs.len(), 10);
/// assert_eq!(specs[2].get("l1"), Some(&0.01.into()));
/// assert_eq!(specs[2].get("rate"), Some(&0.1.into()));
/// // A sweep is for the methods that have the setting: sgd has no l1.
/// assert_eq!(grid.expand(&Spec::new("sgd"))?.len(), 2);
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    sweeps: Vec<Swept>,
}

/// One setting and its values.
#[derive(Clone, Debug, PartialEq)]
struct Swept {
    name: String,
    values: Vec<Value>,
    /// The values of a range are rounded where the setting is a whole number; those of a list stay unchanged.
    is_range: bool,
}

impl Grid {
    /// Reads sweeps. Each must be of a different setting, and some algorithm must have the setting.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, BuildError> {
        let mut grid = Self::default();
        for text in texts {
            let sweep = Swept::parse(text.as_ref())?;
            if grid.sweeps.iter().any(|other| other.name == sweep.name) {
                let message = format!("there are two sweeps of {}", sweep.name);
                return Err(BuildError::new(sweep.name, message));
            }
            grid.sweeps.push(sweep);
        }
        Ok(grid)
    }

    /// Whether there is no sweep.
    pub fn is_empty(&self) -> bool {
        self.sweeps.is_empty()
    }

    /// The names of the swept settings, in the given order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sweeps.iter().map(|sweep| sweep.name.as_str())
    }

    /// An upper bound of the number of specs that [`expand`](Grid::expand) returns.
    pub fn count(&self, spec: &Spec) -> usize {
        let of =
            |sweep: &Swept| if sweep.parameter(spec).is_some() { sweep.values.len() } else { 1 };
        self.sweeps.iter().map(of).fold(1, usize::saturating_mul)
    }

    /// One spec for every point of the grid; the first sweep varies fastest. Sweeps of settings that the algorithm does not have
    /// are skipped. A swept value replaces the value in the spec. Values out of range are an error: `l1=-1..1:3` is refused.
    pub fn expand(&self, spec: &Spec) -> Result<Vec<Spec>, BuildError> {
        let mut specs = vec![spec.clone()];
        for sweep in self.sweeps.iter().rev() {
            let Some(parameter) = sweep.parameter(spec) else { continue };
            let values = sweep.values_for(parameter)?;
            let at = |spec: &Spec| {
                let at = |value: &Value| spec.clone().set(&sweep.name, value.clone());
                values.iter().map(at).collect::<Vec<_>>()
            };
            specs = specs.iter().flat_map(at).collect();
        }
        Ok(specs)
    }

    /// Draws specs at random. The same seed gives the same specs, and a larger `count` only appends. All specs are different, so
    /// that fewer than `count` are returned if the sweeps have no more.
    pub fn draw(&self, spec: &Spec, count: usize, seed: u64) -> Result<Vec<Spec>, BuildError> {
        // Checked first, so that an invalid end is refused for every seed.
        let own = self.sweeps.iter().filter_map(|s| Some((s, s.parameter(spec)?)));
        let own: Vec<(&Swept, &Parameter)> = own.collect();
        own.iter().try_for_each(|(sweep, parameter)| sweep.values_for(parameter).map(|_| ()))?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut specs, mut in_vain) = (Vec::new(), 0);
        while specs.len() < count && in_vain < PATIENCE {
            let at = |spec: Spec, (sweep, parameter): &(&Swept, &Parameter)| {
                spec.set(&sweep.name, sweep.draw(parameter, random.random::<f64>()))
            };
            let drawn = own.iter().fold(spec.clone(), at);
            if specs.contains(&drawn) {
                in_vain += 1;
            } else {
                specs.push(drawn);
                in_vain = 0;
            }
        }
        Ok(specs)
    }
}

impl Swept {
    fn parse(text: &str) -> Result<Self, BuildError> {
        let fail = |name: &str, message: String| Err(BuildError::new(name, message));
        let Some((name, values)) = text.split_once('=') else {
            let forms = "l1=1e-8..1e-2:12 or l1=0,0.1,1";
            return fail("sweep", format!("a sweep reads {forms}, got {text:?}"));
        };
        let name = alias::synonym(name);
        let all = ALGORITHMS.iter().flat_map(Algorithm::parameters);
        let known: Vec<&str> = all.map(|p| p.name).collect();
        // A name of a paper, such as the alpha of FTRL.
        let of_paper = || ALGORITHMS.iter().find_map(|method| method.alias(&name));
        let name = match known.contains(&name.as_str()) {
            true => name,
            false => of_paper().map_or_else(|| name.clone(), str::to_owned),
        };
        if !known.contains(&name.as_str()) {
            let near = did_you_mean(&name, known.into_iter());
            return fail(&name, format!("no algorithm has a setting {name:?}{near}"));
        }
        let is_range = values.contains("..");
        let values = if is_range { range(values) } else { list(values) };
        match values {
            Ok(values) => Ok(Self { name, values, is_range }),
            Err(message) => fail(&name, format!("the sweep of {name}: {message}")),
        }
    }

    /// The setting as the spec's algorithm has it.
    fn parameter(&self, spec: &Spec) -> Option<&'static Parameter> {
        find(spec.get("algorithm")?.as_str()?)?.parameter(&self.name)
    }

    /// The value at a share of the way, which is at least 0 and less than 1.
    fn draw(&self, parameter: &Parameter, share: f64) -> Value {
        let end = |value: Option<&Value>| value.and_then(Value::as_f64);
        let (low, high) = match (end(self.values.first()), end(self.values.last())) {
            (Some(low), Some(high)) if self.is_range => (low, high),
            _ => {
                let place = (share * self.values.len() as f64) as usize;
                return self.values[place.min(self.values.len() - 1)].clone();
            }
        };
        let x = between(low, high, share);
        let scale = if low > 0.0 { x } else { high - low };
        let x = if parameter.kind.is_whole() { x.round() } else { rounded(x, scale) };
        number(x.clamp(low, high))
    }

    fn values_for(&self, parameter: &Parameter) -> Result<Vec<Value>, BuildError> {
        let mut values = self.values.clone();
        if parameter.kind.is_whole() && self.is_range {
            let whole = |value: &Value| number(value.as_f64().unwrap_or(0.0).round());
            values = values.iter().map(whole).collect();
            values.dedup();
        }
        values.iter().try_for_each(|value| parameter.check(value))?;
        Ok(values)
    }
}

fn list(text: &str) -> Result<Vec<Value>, String> {
    let values: Vec<Value> = text.split(',').map(|item| scalar(item.trim())).collect();
    for (i, value) in values.iter().enumerate() {
        if value == "" {
            return Err(format!("a value is missing in {text:?}"));
        }
        if values[..i].contains(value) {
            return Err(format!("{value} is there twice"));
        }
    }
    Ok(values)
}

fn range(text: &str) -> Result<Vec<Value>, String> {
    let (ends, count) = text.split_once(':').unwrap_or((text, ""));
    let count = match count.trim() {
        "" => USUAL,
        digits => digits.parse().map_err(|_| format!("{digits:?} is no number of values"))?,
    };
    if !(2..=MOST).contains(&count) {
        return Err(format!("a range has 2 to {MOST} values, got {count}"));
    }
    let (low, high) = ends.split_once("..").unwrap_or((ends, ""));
    let end = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| format!("an end of the range must be a finite number, got {text:?}"))
    };
    let (low, high) = (end(low)?, end(high)?);
    if low >= high {
        return Err(format!("a range goes upwards, got {low}..{high}"));
    }
    let exact = spaced(low, high, count);
    let step = |i: usize| if low > 0.0 { exact[i] } else { (high - low) / (count - 1) as f64 };
    let mut round: Vec<f64> = (0..count).map(|i| rounded(exact[i], step(i))).collect();
    (round[0], round[count - 1]) = (low, high);
    // Values that four digits do not distinguish are not rounded.
    let values = if round.windows(2).all(|w| w[0] < w[1]) { round } else { exact };
    Ok(values.into_iter().map(number).collect())
}

/// Spaces values evenly in the logarithm, or evenly.
fn spaced(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| between(low, high, i as f64 / (count - 1) as f64)).collect()
}

/// Returns the value at a share of the way from one end to the other.
fn between(low: f64, high: f64, share: f64) -> f64 {
    match low > 0.0 {
        true => (low.ln() + share * (high.ln() - low.ln())).exp(),
        false => low + share * (high - low),
    }
}

/// Rounds to four digits of `scale`: of the value itself, or of the step between values.
fn rounded(x: f64, scale: f64) -> f64 {
    let digits = 3 - scale.abs().log10().floor() as i32;
    // NUMERICS: through text, because x * 1e-8 is not the number that "1e-8" reads as.
    let text = match digits {
        0.. => format!("{x:.*}", digits as usize),
        _ => format!("{}", (x * 10f64.powi(digits)).round() * 10f64.powi(-digits)),
    };
    text.parse().unwrap_or(x)
}

/// Writes whole numbers without a point.
fn number(x: f64) -> Value {
    if x.fract() == 0.0 && (0.0..1e15).contains(&x) { (x as u64).into() } else { x.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let sweep = Swept::parse(text).unwrap();
        sweep.values.iter().map(|v| v.as_f64().unwrap()).collect()
    }

    fn message(text: &str) -> String {
        Swept::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn positive_ends_are_cut_in_the_logarithm_and_others_evenly() {
        assert_eq!(values("l1=1e-8..1e-2:4"), [1e-8, 1e-6, 1e-4, 1e-2]);
        assert_eq!(values("l1=0..1:5"), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(values("l1=0..1:11")[3], 0.3);
        assert_eq!(values("alpha=-1..1:5"), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        let twelve = values("l1=1e-8..1e-2:12");
        assert_eq!((twelve.len(), twelve[0], twelve[1], twelve[11]), (12, 1e-8, 3.511e-8, 1e-2));
        assert!(twelve.windows(2).all(|w| (w[1] / w[0] / 3.5112 - 1.0).abs() < 1e-3));
        assert_eq!(values("rate=10..100000:5")[1..4], [100.0, 1000.0, 10000.0]);
        assert_eq!(values("rate=0.1..10").len(), USUAL);
    }

    #[test]
    fn close_values_keep_all_their_digits() {
        let close = values("rate=1..1.0001:3");
        assert!(close.windows(2).all(|w| w[0] < w[1]), "{close:?}");
    }

    #[test]
    fn whole_numbers_are_rounded_once() {
        let grid = Grid::parse(["period=1..10:10"]).unwrap();
        let specs = grid.expand(&Spec::new("truncated-gradient")).unwrap();
        let periods: Vec<u64> =
            specs.iter().map(|s| s.get("period").unwrap().as_u64().unwrap()).collect();
        assert_eq!(periods, [1, 2, 3, 4, 5, 6, 8, 10]);
        let error = Grid::parse(["period=1,1.5"]).unwrap();
        let error = error.expand(&Spec::new("truncated-gradient")).unwrap_err().to_string();
        assert_eq!(error, "period must be a whole number >= 1, got 1.5");
    }

    #[test]
    fn lists_may_be_words() {
        let grid = Grid::parse(["schedule=sqrt,inverse", "l1=0,0.1,1"]).unwrap();
        let specs = grid.expand(&Spec::new("fobos")).unwrap();
        assert_eq!((specs.len(), grid.count(&Spec::new("fobos"))), (6, 6));
        assert_eq!(specs[1].get("schedule"), Some(&"inverse".into()));
        assert_eq!(specs[1].get("l1"), Some(&0.into()));
        assert!(specs.iter().all(|spec| spec.resolve().is_ok()));
    }

    #[test]
    fn a_sweep_takes_the_place_of_the_specs_own_value() {
        let grid = Grid::parse(["l1=1,2"]).unwrap();
        let specs = grid.expand(&Spec::new("ftrl").set("l1", 5).set("rate", 0.3)).unwrap();
        assert_eq!(specs[1], Spec::new("ftrl").set("rate", 0.3).set("l1", 2));
        assert_eq!(Grid::default().expand(&Spec::new("ftrl")).unwrap(), [Spec::new("ftrl")]);
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let cases = [
            ("l1", "a sweep reads l1=1e-8..1e-2:12 or l1=0,0.1,1, got \"l1\""),
            ("l3=1,2", "no algorithm has a setting \"l3\""),
            ("l1=1..0.1:3", "the sweep of l1: a range goes upwards, got 1..0.1"),
            ("l1=0.1..1:x", "the sweep of l1: \"x\" is no number of values"),
            ("l1=0.1..1:1", "the sweep of l1: a range has 2 to 10000 values, got 1"),
            ("l1=a..1", "the sweep of l1: an end of the range must be a finite number, got \"a\""),
            ("l1=1,,2", "the sweep of l1: a value is missing in \"1,,2\""),
            ("l1=1,1", "the sweep of l1: 1 is there twice"),
        ];
        for (text, expected) in cases {
            assert_eq!(message(text), expected);
        }
        let twice = Grid::parse(["l1=1,2", "l1=3,4"]).unwrap_err().to_string();
        assert_eq!(twice, "there are two sweeps of l1");
        let negative = Grid::parse(["l1=-1..1:3"]).unwrap().expand(&Spec::new("ftrl"));
        assert_eq!(negative.unwrap_err().to_string(), "l1 must be a finite number >= 0, got -1.0");
    }

    #[test]
    fn draws_follow_from_the_seed_and_stay_within_the_ends() {
        let texts = ["l1=1e-4..1:5", "l2=0..2", "schedule=sqrt,inverse", "period=1..3"];
        let (grid, spec) = (Grid::parse(texts).unwrap(), Spec::new("ftrl"));
        let drawn = grid.draw(&spec, 200, 7).unwrap();
        assert_eq!(drawn.len(), 200);
        assert_eq!(grid.draw(&spec, 20, 7).unwrap(), drawn[..20]);
        assert_ne!(grid.draw(&spec, 20, 8).unwrap(), drawn[..20]);
        let of = |name: &str| -> Vec<f64> {
            drawn.iter().map(|s| s.get(name).unwrap().as_f64().unwrap()).collect()
        };
        assert!(of("l1").iter().all(|v| (1e-4..=1.0).contains(v)));
        assert!(of("l2").iter().all(|v| (0.0..=2.0).contains(v)));
        // Half of them below the geometric mean of the ends.
        let below = of("l1").iter().filter(|v| **v < 1e-2).count();
        assert!((70..130).contains(&below), "{below}");
        // ftrl has neither a schedule nor a period.
        assert_eq!(drawn[0].get("schedule"), None);
        assert!(drawn.iter().all(|spec| spec.resolve().is_ok()));
    }

    #[test]
    fn what_is_drawn_is_drawn_once() {
        let grid = Grid::parse(["schedule=sqrt,inverse", "period=1..3"]).unwrap();
        let spec = Spec::new("truncated-gradient");
        let drawn = grid.draw(&spec, 50, 1).unwrap();
        assert_eq!(drawn.len(), 6);
        assert!(drawn.iter().all(|spec| spec.resolve().is_ok()));
        let negative = Grid::parse(["l1=-1..1:3"]).unwrap().draw(&Spec::new("ftrl"), 1, 1);
        assert_eq!(negative.unwrap_err().to_string(), "l1 must be a finite number >= 0, got -1.0");
    }

    #[test]
    fn a_grid_too_large_to_make_is_counted() {
        let texts = ["l1=0..1:10000", "l2=0..1:10000", "rate=1..2:10000", "beta=0..1:10000"];
        let grid = Grid::parse(texts).unwrap();
        assert_eq!(grid.count(&Spec::new("ftrl")), 10_000_000_000_000_000);
    }
}
