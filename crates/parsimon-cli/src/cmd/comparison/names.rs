//! Short names of methods and runs, for charts. The table has the full names.

use super::Run;
use super::run::plain;

/// Names of the methods of a comparison, each with the settings that distinguish it from others of its algorithm.
pub(crate) struct Names<'a>(Vec<(&'a str, String)>);

impl<'a> Names<'a> {
    pub(crate) fn of(families: &[&'a str]) -> Self {
        let short = |family: &&'a str| {
            let (algorithm, own) = parts(family);
            let same = families.iter().map(|f| parts(f)).filter(|(a, _)| *a == algorithm);
            let others: Vec<Vec<&str>> = same.map(|(_, settings)| settings).collect();
            let telling: Vec<&str> =
                own.into_iter().filter(|s| others.iter().any(|o| !o.contains(s))).collect();
            (*family, joined(algorithm, &telling))
        };
        Self(families.iter().map(short).collect())
    }

    /// A method.
    pub(crate) fn family(&self, family: &str) -> String {
        let known = self.0.iter().find(|(name, _)| *name == family);
        known.map_or(family, |(_, short)| short.as_str()).to_owned()
    }

    /// The name of a run: its method, if there are several, and the swept settings.
    pub(crate) fn run(&self, run: &Run) -> String {
        let swept: Vec<String> = run
            .swept
            .iter()
            .map(|(name, value)| match value.as_f64() {
                Some(number) => format!("{name}={}", short(number)),
                None => format!("{name}={}", plain(value)),
            })
            .collect();
        let swept: Vec<&str> = swept.iter().map(String::as_str).collect();
        match (&self.0[..], &swept[..]) {
            ([_], [_, ..]) => swept.join(", "),
            _ => joined(&self.family(&run.family), &swept),
        }
    }
}

/// A number to three digits, without zeros at its end.
fn short(number: f64) -> String {
    let rounded = format!("{number:.2e}").parse().unwrap_or(number);
    match rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) {
        true => rounded.to_string(),
        false => format!("{rounded:e}"),
    }
}

/// The algorithm and the settings of a method as `-m` reads it.
fn parts(family: &str) -> (&str, Vec<&str>) {
    let (algorithm, settings) = family.split_once(':').unwrap_or((family, ""));
    (algorithm, settings.split(',').filter(|setting| !setting.is_empty()).collect())
}

fn joined(name: &str, settings: &[&str]) -> String {
    match settings {
        [] => name.to_owned(),
        _ => format!("{name} {}", settings.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon::Spec;

    #[test]
    fn numbers_are_short() {
        let numbers = [1.0, 0.1, 0.003_162_277, 1e-5, 0.0, 1234.5, 2.5e9].map(short);
        assert_eq!(numbers, ["1", "0.1", "0.00316", "1e-5", "0", "1230", "2.5e9"]);
    }

    #[test]
    fn only_what_tells_methods_apart_is_named() {
        let families = ["ftrl:l1=1,rate=0.1", "ftrl:l1=5,rate=0.1", "sgd:rate=0.5", "auto"];
        let names = Names::of(&families);
        let short = families.map(|family| names.family(family));
        assert_eq!(short, ["ftrl l1=1", "ftrl l1=5", "sgd", "auto"]);
        let run = |family: &[(String, String)]| {
            Run::new("ftrl", family, &["beta"], Spec::new("ftrl").set("beta", 0.123_456))
        };
        let fixed = [("l1".to_owned(), "5".to_owned()), ("rate".to_owned(), "0.1".to_owned())];
        assert_eq!(names.run(&run(&fixed)), "ftrl l1=5 beta=0.123");
        assert_eq!(Names::of(&["ftrl"]).run(&run(&[])), "beta=0.123");
    }
}
