//! Accuracy of one model learned in several places, simulated here: workers, rounds, ways to combine.
//!
//! ```text
//! cargo run --release -p parsimon --example cluster -- grid train.svm test.svm "ftrl:l1=1" "rda:l1=1e-4,rate=1"
//! cargo run --release -p parsimon --example cluster -- scale train.svm test.svm "ftrl:l1=1"
//! ```
//!
//! `compare` is 16 partitions with 1, 4 and 16 merges: what `scaled` and `damped` lose against one sequential pass, in percent.
//! `grid` is 1 to 16 partitions with 1, 4 and 16 merges in one epoch, beside averaging the weights of workers that never met.
//! `scale` is 10 to 10,000 workers, with states some merges old, and with partitions of very different sizes or labels. Every
//! worker is the library's own: it starts from the bytes of a state and gives the bytes of a delta.

use std::error::Error;
use std::path::Path;

use parsimon::data::{Ask, Input, Labels, Options, Reader, Reading};
use parsimon::merge::{Combine, Delta, merge_deltas};
use parsimon::rows::Chunk;
use parsimon::settings::Loss;
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str =
    "usage: cluster grid|compare|scale TRAIN TEST METHOD ...; a method is ftrl:l1=1,rate=0.1";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, train, test, methods @ ..] = &words[..] else { return Err(USAGE.into()) };
    let (train, test) = (read(train)?, read(test)?);
    for method in methods {
        let study = Study { method, settings: settings(method)?, train: &train, test: &test };
        match kind.as_str() {
            "grid" => study.grid()?,
            "compare" => study.compare()?,
            "scale" => study.scale()?,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(())
}

/// All rows of a file.
fn read(path: &str) -> Result<Chunk> {
    let options = Options {
        reading: Reading { labels: Labels::binary(), ..Reading::default() },
        ask: Ask { keep_names: false, ..Ask::default() },
        ..Options::default()
    };
    let mut reader = Reader::open(&[Input::Path(Path::new(path).into())], &options)?;
    let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
    while reader.read(&mut chunk)? {
        (0..chunk.len()).for_each(|i| all.copy_row(&chunk, i));
    }
    Ok(all)
}

fn settings(method: &str) -> Result<Settings> {
    let (name, rest) = method.split_once(':').unwrap_or((method, ""));
    let mut spec = Spec::new(name);
    for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(USAGE)?;
        spec = match (value.parse::<f64>(), value.parse::<bool>()) {
            (Ok(number), _) => spec.set(name, number),
            (_, Ok(flag)) => spec.set(name, flag),
            _ => spec.set(name, value),
        };
    }
    Ok(spec.resolve()?)
}

struct Study<'a> {
    method: &'a str,
    settings: Settings,
    train: &'a Chunk,
    test: &'a Chunk,
}

/// Which rows are whose: one list of rows per worker.
type Partitions = Vec<Vec<usize>>;

/// Rows that stay together, and which of these blocks are learned in a round, in cycles of `rounds` rounds; mirrors `python/parsimon/_worker.py`.
const BLOCK: usize = 4;
const MANY: usize = 8;

fn turns(merges: usize) -> (Vec<std::ops::Range<usize>>, usize) {
    let mut end = 0;
    let mut turns = Vec::with_capacity(merges);
    for t in 1..=merges {
        let start = end;
        end += if merges < MANY { 1 } else { t };
        turns.push(start..end);
    }
    (turns, end)
}

/// One epoch in a cluster.
struct Plan {
    partitions: Partitions,
    rounds: usize,
    combine: Combine,
    /// How many merges old the state is that a worker starts from.
    lag: usize,
}

impl Study<'_> {
    fn print_heading(&self) -> Result<()> {
        let (loss, nonzeros) = self.sequential()?;
        println!("\n### `{}`\n", self.method);
        println!("One sequential pass: test loss {loss:.4}, {nonzeros} nonzeros.\n");
        Ok(())
    }

    fn grid(&self) -> Result<()> {
        self.print_heading()?;
        println!(
            "| partitions | merges per epoch | scaled: loss | nonzeros | damped: loss | nonzeros | sum: loss | nonzeros | mean: loss | nonzeros | averaged weights: loss | nonzeros |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for workers in [1, 2, 4, 8, 16] {
            for rounds in [1, 4, 16] {
                let run = |combine| {
                    let partitions = self.even(workers);
                    self.run(&Plan { partitions, rounds, combine, lag: 0 })
                };
                let scaled = run(Combine::Scaled(workers as u32))?;
                let damped = run(Combine::Damped)?;
                let (sum, mean) = (run(Combine::Shares)?, run(Combine::Mean)?);
                // Workers that never met have no rounds.
                let apart = if rounds == 1 { cells(&self.averaged(workers)?) } else { "|".into() };
                println!(
                    "| {workers} | {rounds} | {} | {} | {} | {} | {apart} |",
                    cells(&scaled),
                    cells(&damped),
                    cells(&sum),
                    cells(&mean)
                );
            }
        }
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        let (loss, nonzeros) = self.sequential()?;
        println!("`{}`: sequential {loss:.4}, {nonzeros} nonzeros", self.method);
        for rounds in [16, 4, 1] {
            print!("  {rounds} merges:");
            for combine in [Combine::Scaled(16), Combine::Damped] {
                let score =
                    self.run(&Plan { partitions: self.even(16), rounds, combine, lag: 0 })?;
                let Some((l, n)) = score else {
                    print!("  {} diverged", combine.name());
                    continue;
                };
                let lost = 100.0 * (l / loss - 1.0);
                let more = 100.0 * (n as f64 / nonzeros as f64 - 1.0);
                print!("  {} {l:.4} {n} ({lost:+.2}%, {more:+.1}%)", combine.name());
            }
            println!();
        }
        Ok(())
    }

    fn scale(&self) -> Result<()> {
        self.print_heading()?;
        println!(
            "| workers | merges | rows per worker and merge | partitions | states | scaled: loss | nonzeros | damped: loss | nonzeros | mean: loss | nonzeros |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        let rows = self.train.len();
        for workers in [10, 100, 1_000, 10_000] {
            let mut cases = vec![("even", "fresh", self.even(workers), 0)];
            if workers <= 100 {
                cases.push(("even", "1 merge old", self.even(workers), 1));
                cases.push(("even", "4 merges old", self.even(workers), 4));
                cases.push(("skewed sizes", "fresh", self.skewed(workers), 0));
                cases.push(("sorted by label", "fresh", self.sorted(workers), 0));
            }
            for (name, states, partitions, lag) in cases {
                for rounds in if lag == 0 { vec![1, 16] } else { vec![16] } {
                    if workers * rounds > 40_000 {
                        continue;
                    }
                    let run = |combine| {
                        self.run(&Plan { partitions: partitions.clone(), rounds, combine, lag })
                    };
                    let scaled = run(Combine::Scaled(workers as u32))?;
                    let (damped, mean) = (run(Combine::Damped)?, run(Combine::Mean)?);
                    let each = rows / workers / rounds;
                    println!(
                        "| {workers} | {rounds} | {each} | {name} | {states} | {} | {} | {} |",
                        cells(&scaled),
                        cells(&damped),
                        cells(&mean)
                    );
                }
            }
        }
        Ok(())
    }

    fn trainer(&self) -> Result<Trainer> {
        Ok(Trainer::new(self.settings.clone(), LearnerOptions::default(), InputSchema::default())?)
    }

    fn even(&self, workers: usize) -> Partitions {
        let n = self.train.len();
        (0..workers).map(|k| (k * n / workers..(k + 1) * n / workers).collect()).collect()
    }

    /// The largest partition has as many rows as there are in all, divided by some 2 ln(workers).
    fn skewed(&self, workers: usize) -> Partitions {
        let shares: Vec<f64> = (1..=workers).map(|k| 1.0 / k as f64).collect();
        let (total, n) = (shares.iter().sum::<f64>(), self.train.len());
        let mut ends = vec![0];
        let mut sum = 0.0;
        for share in shares {
            sum += share;
            ends.push(((sum / total) * n as f64).round() as usize);
        }
        ends.windows(2).map(|e| (e[0]..e[1].min(n)).collect()).collect()
    }

    /// Rows in order of their labels: most workers see one label only.
    fn sorted(&self, workers: usize) -> Partitions {
        let mut rows: Vec<usize> = (0..self.train.len()).collect();
        rows.sort_by(|&a, &b| self.train.labels()[a].total_cmp(&self.train.labels()[b]));
        let n = rows.len();
        (0..workers).map(|k| rows[k * n / workers..(k + 1) * n / workers].to_vec()).collect()
    }

    fn learned(
        &self,
        start: &[u8],
        rows: &[usize],
        combine: Combine,
    ) -> std::result::Result<Trainer, parsimon::Error> {
        let (mut trainer, mut chunk) = (Trainer::from_checkpoint(start)?, Chunk::new());
        trainer.count_rows_for(combine)?;
        rows.iter().for_each(|&i| chunk.copy_row(self.train, i));
        trainer.learn(&chunk, &mut |_| {})?;
        Ok(trainer)
    }

    fn run(&self, plan: &Plan) -> Result<Score> {
        let mut states = vec![self.trainer()?.checkpoint()];
        let (turns, period) = turns(plan.rounds);
        for turn in turns {
            let old = &states[states.len().saturating_sub(1 + plan.lag)];
            let (start, mut state) = (
                Trainer::from_checkpoint(old)?,
                Trainer::from_checkpoint(&states[states.len() - 1])?,
            );
            let mut sum: Vec<Delta> = Vec::new();
            for rows in &plan.partitions {
                let n = rows.len();
                let own: Vec<usize> = (0..n)
                    .filter(|&i| turn.contains(&(i / BLOCK % period)))
                    .map(|i| rows[i])
                    .collect();
                if own.is_empty() {
                    continue;
                }
                let end = match self.learned(old, &own, plan.combine) {
                    Err(parsimon::Error::Diverged { .. }) => return Ok(None),
                    end => end?,
                };
                sum.extend(Delta::between(&start, &end, plan.combine, 1)?);
                // Sums of many are kept small: the order is that of the workers all the same.
                if sum.len() == 64 {
                    sum = vec![merge_deltas(sum)?];
                }
            }
            // Of very small partitions a round may have no row.
            if sum.is_empty() {
                continue;
            }
            let delta = merge_deltas(sum)?.taken_for(&state);
            state.absorb([delta])?;
            states.push(state.checkpoint());
            if states.len() > plan.lag + 1 {
                states.remove(0);
            }
        }
        let state = Trainer::from_checkpoint(&states[states.len() - 1])?;
        Ok(Some(self.judged(&state)))
    }

    /// Workers that learn alone, and the average of their weights.
    fn averaged(&self, workers: usize) -> Result<Score> {
        let start = self.trainer()?.checkpoint();
        let mut weights = std::collections::BTreeMap::new();
        let mut bias = 0.0;
        for rows in self.even(workers) {
            let model = self.learned(&start, &rows, Combine::Shares)?.model();
            let share = rows.len() as f64 / self.train.len() as f64;
            bias += share * model.heads()[0].bias();
            for (j, w) in model.heads()[0].iter() {
                *weights.entry(j).or_insert(0.0) += share * w;
            }
        }
        weights.retain(|_, w| *w != 0.0);
        let nonzeros = weights.len();
        let margin = |i: usize| {
            let row = self.test.row(i);
            bias + row.iter().map(|(j, v)| weights.get(&j).copied().unwrap_or(0.0) * v).sum::<f64>()
        };
        Ok(Some((self.loss((0..self.test.len()).map(margin)), nonzeros)))
    }

    fn sequential(&self) -> Result<(f64, usize)> {
        let mut trainer = self.trainer()?;
        trainer.learn(self.train, &mut |_| {})?;
        Ok(self.judged(&trainer))
    }

    fn judged(&self, trainer: &Trainer) -> (f64, usize) {
        let mut margins = Vec::new();
        trainer.online().predict(self.test, &mut margins);
        (self.loss(margins.into_iter()), trainer.online().nonzeros())
    }

    fn loss(&self, margins: impl Iterator<Item = f64>) -> f64 {
        let loss: Loss = self.settings.loss();
        let losses = margins.zip(self.test.labels()).map(|(p, &y)| loss.value(p, y));
        losses.sum::<f64>() / self.test.len() as f64
    }
}

/// Test loss and nonzeros; nothing where the weights grew beyond all bounds.
type Score = Option<(f64, usize)>;

fn cells(score: &Score) -> String {
    match score {
        Some((loss, nonzeros)) => format!("{loss:.4} | {nonzeros}"),
        None => "diverged | ".into(),
    }
}
