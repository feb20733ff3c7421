//! Other programs, run beside ours if they are installed: Vowpal Wabbit, LIBLINEAR, scikit-learn.
//!
//! Each is a child process that reads rows from a file in a temporary folder and leaves weights in another; what the weights predict is
//! computed here, so that all are judged alike. Programs are controlled by arguments and files, never through a shell.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parsimon::rows::Chunk;
use serde::Deserialize;

use crate::experiment::Experiment;

/// Time limit of a program.
const PATIENCE: Duration = Duration::from_secs(600);

/// A program of others that is installed.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    name: &'static str,
    version: String,
    command: Vec<&'static str>,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    VowpalWabbit,
    Liblinear,
    /// With this learner.
    Scikit(&'static str),
}

/// Description of a program: name in reports, command, and arguments that print its version.
type Known = (&'static str, &'static [&'static str], &'static [&'static str], How);

const SKLEARN: &[&str] = &["-c", "import sklearn; print(sklearn.__version__)"];

const KNOWN: &[Known] = &[
    ("Vowpal Wabbit", &["vw"], &["--version"], How::VowpalWabbit),
    ("Vowpal Wabbit", &["python3", "-m", "vowpalwabbit"], &["--version"], How::VowpalWabbit),
    ("LIBLINEAR", &["liblinear-train"], &[], How::Liblinear),
    ("LIBLINEAR", &["train"], &[], How::Liblinear),
    ("scikit-learn SGD", &["python3"], SKLEARN, How::Scikit("sgd")),
    ("scikit-learn liblinear", &["python3"], SKLEARN, How::Scikit("liblinear")),
];

static INSTALLED: LazyLock<Vec<Peer>> = LazyLock::new(|| {
    let mut found: Vec<Peer> = Vec::new();
    for &(name, command, question, how) in KNOWN {
        if found.iter().any(|peer| peer.name == name) {
            continue;
        }
        let output = Command::new(command[0])
            .args(&command[1..])
            .args(question)
            .stdin(Stdio::null())
            .output();
        let Ok(output) = output else { continue };
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        // LIBLINEAR has no option for its version: without arguments it says how it is used, and fails.
        let is_it = match how {
            How::Liblinear => said.starts_with("Usage: train"),
            _ => output.status.success(),
        };
        if is_it {
            let version = said.lines().next().unwrap_or_default().to_owned();
            found.push(Peer { name, version, command: command.to_vec(), how });
        }
    }
    found
});

/// The program of that name, if it is installed.
pub(crate) fn installed(name: &str) -> Option<&'static Peer> {
    INSTALLED.iter().find(|peer| peer.name == name)
}

/// Returns the installed programs of an experiment with their versions, on which a trial depends.
pub(crate) fn fingerprint(experiment: &Experiment) -> String {
    let words = |peer: &Peer| format!("{} {};", peer.name, peer.version);
    experiment.peers().filter_map(installed).map(words).collect()
}

/// Result of a program.
pub(crate) struct Candidate {
    pub(crate) weights: Weights,
    /// Predictions before learning each row, if the program prints them.
    pub(crate) on_the_way: Option<Vec<f64>>,
}

/// Weights by feature, and the bias.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Weights {
    bias: f64,
    weights: BTreeMap<u32, f64>,
}

impl Weights {
    pub(crate) fn nonzeros(&self) -> usize {
        self.weights.values().filter(|w| **w != 0.0).count()
    }

    pub(crate) fn margins(&self, rows: &Chunk) -> Vec<f64> {
        let product = |i: usize| {
            let row = rows.row(i);
            let terms = row.indices().iter().zip(row.values());
            let of = |j: &u32| self.weights.get(j).copied().unwrap_or(0.0);
            self.bias + terms.map(|(j, x)| of(j) * x).sum::<f64>()
        };
        (0..rows.len()).map(product).collect()
    }
}

impl Peer {
    /// Name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Weights for every strength, and for every rate if it has one to choose.
    pub(crate) fn learn(
        &self,
        rows: &Chunk,
        features: usize,
        strengths: &[f64],
        rates: &[f64],
    ) -> Result<Vec<(f64, Vec<Candidate>)>, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let train = folder.path().join("train.txt");
        let text = match self.how {
            How::VowpalWabbit => written(rows, " |"),
            _ => written(rows, ""),
        };
        std::fs::write(&train, text).map_err(|e| e.to_string())?;
        match self.how {
            How::VowpalWabbit => {
                let one = |&strength: &f64| {
                    let all = rates.iter().map(|&rate| self.vw(folder.path(), strength, rate));
                    Ok((strength, all.collect::<Result<_, String>>()?))
                };
                strengths.iter().map(one).collect()
            }
            How::Liblinear => {
                let one = |&strength: &f64| {
                    let weights = self.liblinear(folder.path(), strength)?;
                    Ok((strength, vec![Candidate { weights, on_the_way: None }]))
                };
                strengths.iter().map(one).collect()
            }
            How::Scikit(learner) => {
                let all = self.scikit(folder.path(), learner, features, strengths)?;
                let one = |weights| vec![Candidate { weights, on_the_way: None }];
                Ok(strengths.iter().copied().zip(all.into_iter().map(one)).collect())
            }
        }
    }

    fn vw(&self, folder: &Path, strength: f64, rate: f64) -> Result<Candidate, String> {
        let (model, guesses) = (folder.join("model.txt"), folder.join("guesses.txt"));
        let _ = std::fs::remove_file(&guesses);
        let numbers = [("--l1", strength), ("--learning_rate", rate)];
        let mut command = self.command();
        command.args(["--quiet", "--loss_function", "logistic", "--bit_precision", "24"]);
        for (flag, value) in numbers {
            command.args([flag, &value.to_string()]);
        }
        command.arg("--data").arg(folder.join("train.txt"));
        command.arg("--readable_model").arg(&model).arg("--predictions").arg(&guesses);
        finish(command, folder)?;
        let guesses = read(&guesses)?;
        let margin = |line: &str| line.split_whitespace().next()?.parse().ok();
        let on_the_way = guesses.lines().map(margin).collect::<Option<Vec<f64>>>();
        Ok(Candidate { weights: of_vw(&read(&model)?), on_the_way })
    }

    fn liblinear(&self, folder: &Path, strength: f64) -> Result<Weights, String> {
        let model = folder.join("model.txt");
        let mut command = self.command();
        // -s 6 is the logistic loss with l1; its C weighs the losses.
        command.args(["-q", "-s", "6", "-B", "1", "-c", &(1.0 / strength).to_string()]);
        command.arg(folder.join("train.txt")).arg(&model);
        finish(command, folder)?;
        of_liblinear(&read(&model)?).ok_or_else(|| "its model cannot be read".to_owned())
    }

    fn scikit(
        &self,
        folder: &Path,
        learner: &str,
        features: usize,
        strengths: &[f64],
    ) -> Result<Vec<Weights>, String> {
        #[derive(Deserialize)]
        struct Line {
            bias: f64,
            weights: Vec<(u32, f64)>,
        }
        let out = folder.join("out.jsonl");
        let task = serde_json::json!({
            "train": folder.join("train.txt"), "out": out, "learner": learner,
            "features": features, "strengths": strengths,
        });
        let (script, file) = (folder.join("peers.py"), folder.join("task.json"));
        std::fs::write(&script, include_str!("peers.py")).map_err(|e| e.to_string())?;
        std::fs::write(&file, task.to_string()).map_err(|e| e.to_string())?;
        let mut command = self.command();
        command.arg(script).arg(file);
        finish(command, folder)?;
        let read = read(&out)?;
        let weights = |line: &str| {
            let line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
            Ok(Weights { bias: line.bias, weights: line.weights.into_iter().collect() })
        };
        read.lines().map(weights).collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.command[0]);
        command.args(&self.command[1..]);
        command
    }
}

/// Rows as text: the label, what follows it, and `feature:value`.
fn written(rows: &Chunk, after_label: &str) -> String {
    let mut text = String::new();
    for i in 0..rows.len() {
        let label = if rows.label(i).unwrap_or(-1.0) > 0.0 { "1" } else { "-1" };
        let _ = write!(text, "{label}{after_label}");
        let row = rows.row(i);
        for (j, x) in row.indices().iter().zip(row.values()) {
            let _ = write!(text, " {j}:{x}");
        }
        text.push('\n');
    }
    text
}

/// Runs a program to its end; the error has the output of a program that fails.
fn finish(mut command: Command, folder: &Path) -> Result<(), String> {
    let words = folder.join("words.txt");
    let file = std::fs::File::create(&words).map_err(|e| e.to_string())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    // Several threads in each of several parallel trials would slow all of them.
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
        command.env(OsStr::new(name), "1");
    }
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            let last = || {
                let words = std::fs::read_to_string(&words).unwrap_or_default();
                words.trim().lines().last().unwrap_or_default().to_owned()
            };
            return if status.success() { Ok(()) } else { Err(format!("{status}: {}", last())) };
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("not done after {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Lines of `slot:weight ...` after a head; the slot of a feature that is a number is the number. What the weights still owe to the
/// penalty, of which small ones die, stands in the head.
fn of_vw(text: &str) -> Weights {
    // The slot of the constant, below 2^24.
    const CONSTANT: u32 = 11_650_396;
    let state = |name: &str| -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    let (owed, scale) = (state("l1_state").unwrap_or(0.0), state("l2_state").unwrap_or(1.0));
    let pair = |line: &str| {
        let (slot, rest) = line.split_once(':')?;
        let weight: f64 = rest.split_whitespace().next()?.parse().ok()?;
        let paid = weight.signum() * (weight.abs() - owed).max(0.0) * scale;
        Some((slot.parse::<u32>().ok()?, paid))
    };
    let mut weights: BTreeMap<u32, f64> = text.lines().filter_map(pair).collect();
    Weights { bias: weights.remove(&CONSTANT).unwrap_or(0.0), weights }
}

/// Names and values, `w`, and a weight a line, the bias last; positive for the label named first.
fn of_liblinear(text: &str) -> Option<Weights> {
    let (head, body) = text.split_once("\nw\n")?;
    let labels = head.lines().find_map(|line| line.strip_prefix("label "))?;
    let sign = if labels.trim_start().starts_with("-1") { -1.0 } else { 1.0 };
    let mut all = body.lines().map(|line| line.trim().parse::<f64>().map(|w| sign * w));
    let mut all = all.by_ref().collect::<Result<Vec<f64>, _>>().ok()?;
    let bias = all.pop()?;
    let weights = (1..).zip(all).filter(|(_, w)| *w != 0.0).collect();
    Some(Weights { bias, weights })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon::rows::Repeats;

    #[test]
    fn models_are_read() {
        let vw = "Version 8\nbits:24\n:0\n3:0.5\n11650396:-1\n7:0.25\n";
        let weights = of_vw(vw);
        assert_eq!((weights.bias, weights.nonzeros()), (-1.0, 2));
        let vw =
            "bits:24\n:1\nl1_state 0.25\nl2_state 1\n3:0.5 2 1\n11650396:-1 3 1\n7:0.125 1 1\n";
        let weights = of_vw(vw);
        assert_eq!((weights.bias, weights.nonzeros()), (-0.75, 1));
        assert_eq!(weights.weights[&3], 0.25);
        let liblinear = "solver_type L1R_LR\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 1\nw\n0.5 \n0 \n-2 \n1 \n";
        let weights = of_liblinear(liblinear).unwrap();
        assert_eq!(weights.weights, BTreeMap::from([(1, -0.5), (3, 2.0)]));
        assert_eq!(weights.bias, -1.0);
        assert!(of_liblinear("w").is_none());
    }

    #[test]
    fn rows_are_written_and_margins_are_products() {
        let mut chunk = Chunk::new();
        chunk.push_feature(3, 2.0);
        chunk.finish_row(Some(-1.0), 1.0, Repeats::Refuse).unwrap();
        assert_eq!(
            (written(&chunk, ""), written(&chunk, " |")),
            ("-1 3:2\n".into(), "-1 | 3:2\n".into())
        );
        let weights = Weights { bias: 0.5, weights: BTreeMap::from([(3, 2.0)]) };
        assert_eq!(weights.margins(&chunk), [4.5]);
    }

    /// Those that are here agree with each other about rows that one feature decides.
    #[test]
    fn whoever_is_installed_learns() {
        let mut chunk = Chunk::new();
        for i in 0..200_u32 {
            let positive = i % 3 == 0;
            chunk.push_feature(if positive { 1 } else { 2 }, 1.0);
            chunk.push_feature(3 + i % 5, 1.0);
            let label = if positive { 1.0 } else { -1.0 };
            chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
        }
        for peer in INSTALLED.iter() {
            let strength = match peer.how {
                How::VowpalWabbit | How::Scikit("sgd") => 1e-4,
                _ => 1.0,
            };
            let learned = peer.learn(&chunk, 7, &[strength], &[0.5]).unwrap();
            let weights = &learned[0].1[0].weights;
            let of = |j: u32| weights.weights.get(&j).copied().unwrap_or(0.0);
            assert!(of(1) > of(2), "{}: {weights:?}", peer.name);
        }
    }
}
