//! The table at the end of a run: what ran, how long it took, and what did not run and why.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// The parts of a step that did not run: reasons, with how many tests each concerns.
pub(crate) type LeftOut = BTreeMap<String, usize>;

enum Outcome {
    Passed,
    Failed(String),
    NotRun(String),
}

impl Outcome {
    fn words(&self) -> String {
        match self {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed(why) => format!("FAILED: {why}"),
            Outcome::NotRun(why) => format!("not run: {why}"),
        }
    }
}

/// Steps as they are run. A step that fails is written down; the next one runs all the same.
pub(crate) struct Table {
    start: Instant,
    lines: Vec<(String, Option<Duration>, Outcome)>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), lines: Vec::new() }
    }

    /// Runs a step. Returns its value if it passed.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("== {name}");
        let start = Instant::now();
        let result = work();
        let time = Some(start.elapsed());
        match result {
            Ok(value) => {
                self.lines.push((name.to_owned(), time, Outcome::Passed));
                Some(value)
            }
            Err(e) => {
                println!("   failed: {e:#}");
                self.lines.push((name.to_owned(), time, Outcome::Failed(first_line(&e))));
                None
            }
        }
    }

    /// Runs a step that can do nothing but prepare later ones: where it fails, those are not run, and nothing is wrong
    /// with the code.
    pub(crate) fn preparation<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T, String> {
        println!("== {name}");
        let start = Instant::now();
        let result = work();
        let outcome = match &result {
            Ok(_) => Outcome::Passed,
            Err(e) => Outcome::NotRun(first_line(e)),
        };
        self.lines.push((name.to_owned(), Some(start.elapsed()), outcome));
        result.map_err(|e| {
            println!("   {e:#}");
            format!("the step {name:?} did not succeed")
        })
    }

    /// A step that runs tests, some of which may be left out.
    pub(crate) fn tests(&mut self, name: &str, work: impl FnOnce(&mut LeftOut) -> Result<()>) {
        let mut left_out = LeftOut::new();
        self.step(name, || work(&mut left_out));
        for (reason, count) in left_out {
            let tests = if count == 1 { "test" } else { "tests" };
            self.not_run(&format!("{name}: {count} {tests}"), &reason);
        }
    }

    /// Something that was not run.
    pub(crate) fn not_run(&mut self, name: &str, reason: &str) {
        self.lines.push((name.to_owned(), None, Outcome::NotRun(reason.to_owned())));
    }

    /// Returns the table as lines of Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut lines =
            vec!["| step | time | result |".to_owned(), "| --- | --- | --- |".to_owned()];
        for (name, time, outcome) in &self.lines {
            let (time, result) = (time.map_or_else(String::new, minutes), outcome.words());
            lines.push(format!("| {name} | {time} | {} |", result.replace('|', "\\|")));
        }
        lines.push(format!("| all | {} | |", minutes(self.start.elapsed())));
        lines.join("\n") + "\n"
    }

    /// Prints the table; an error if a step failed.
    pub(crate) fn finish(self) -> Result<()> {
        let width = self.lines.iter().map(|line| line.0.chars().count()).max().unwrap_or(0);
        println!("\n{:width$}  {:>5}  result", "step", "time");
        for (name, time, outcome) in &self.lines {
            let time = time.map_or_else(String::new, minutes);
            println!("{name:width$}  {time:>5}  {}", outcome.words());
        }
        println!("{:width$}  {:>5}", "all", minutes(self.start.elapsed()));
        let failed = self.lines.iter().filter(|line| matches!(line.2, Outcome::Failed(_)));
        let names: Vec<&str> = failed.map(|line| line.0.as_str()).collect();
        if !names.is_empty() {
            bail!("failed: {}", names.join(", "));
        }
        Ok(())
    }
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failure_is_remembered_and_hides_no_later_step() {
        let mut table = Table::new();
        assert_eq!(table.step("one", || -> Result<u8> { bail!("broken") }), None);
        assert_eq!(table.step("two", || Ok(2)), Some(2));
        table.not_run("three", "no browser");
        assert_eq!(table.lines.len(), 3);
        let lines = table.markdown();
        assert!(lines.contains("| one | 0:00 | FAILED: broken |"), "{lines}");
        assert!(lines.contains("| three |  | not run: no browser |"), "{lines}");
        assert_eq!(table.finish().unwrap_err().to_string(), "failed: one");
    }

    #[test]
    fn what_is_left_out_is_no_failure() {
        let mut table = Table::new();
        table.tests("tests", |left_out| {
            left_out.insert("needs data".into(), 2);
            Ok(())
        });
        assert!(table.preparation("install", || -> Result<()> { bail!("no network") }).is_err());
        assert_eq!(table.lines[1].0, "tests: 2 tests");
        table.finish().unwrap();
    }

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(minutes(Duration::from_millis(59_700)), "1:00");
        assert_eq!(minutes(Duration::from_secs(3605)), "60:05");
    }
}
