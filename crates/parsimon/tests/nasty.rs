//! Data and settings at the edges of the numbers, for every algorithm: weights and predictions are finite, or learning stops with
//! `Diverged` and the state of before can be restored.

use parsimon::algorithm::{ALGORITHMS, Algorithm};
use parsimon::data::{Input, Labels, Options, Reading, Space};
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::{LabelDomain, Precision};
use parsimon::survey::Found;
use parsimon::train::Stretch;
use parsimon::workspace::SettingKind as Kind;
use parsimon::{Error, InputSchema, LearnerOptions, Model, Plan, Settings, Spec, Trainer, run};
use parsimon_testing::SplitMix64;
use serde_json::{Value, json};

/// Runs per algorithm. The seed of a run that fails is printed, and is all that it takes to run it again.
const RUNS: u64 = 120;

const VALUES: [f64; 16] = [
    1.0, -1.0, 0.5, 1e-3, 1e3, 1e10, -1e10, 1e-10, 1e100, -1e100, 1e-100, 1e300, -1e300, 1e-300,
    5e-324, -2e-310,
];

const SETTINGS: [f64; 14] =
    [0.0, 5e-324, 1e-300, 1e-20, 1e-3, 0.5, 0.999, 1.0, 2.0, 100.0, 1e10, 1e100, 1e300, -1.0];

fn pick<T: Copy>(random: &mut SplitMix64, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

/// A value for a setting: of its kind, at the edges. Sizes stay small: memory has tests of its own.
fn edge(random: &mut SplitMix64, kind: Kind) -> Value {
    match kind {
        Kind::Flag => json!(random.chance(0.5)),
        Kind::Choice(words) => json!(pick(random, words)),
        Kind::Words(words) => json!([pick(random, words)]),
        Kind::Natural | Kind::NaturalOrNone | Kind::Order => json!(1 + random.below(6)),
        Kind::Dimension => json!(12),
        Kind::Positives => json!([pick(random, &SETTINGS), 1.0]),
        Kind::Naturals => json!([1 + random.below(3)]),
        Kind::Factors => json!({"1": pick(random, &SETTINGS), "3": 0}),
        Kind::Groups => json!([[1, 2, 3], [4, 5], [6, 7, 8, 9]]),
        _ => json!(pick(random, &SETTINGS)),
    }
}

/// Settings that are accepted, most of them defaults.
fn settings(random: &mut SplitMix64, algorithm: &Algorithm) -> Settings {
    let mut spec = Spec::new(algorithm.name);
    for parameter in algorithm.parameters() {
        let is_class = ["classes", "class_weight", "multiclass"].contains(&parameter.name);
        let is_size = parameter.kind == Kind::Dimension;
        if is_class || !(is_size || random.chance(0.2)) {
            continue;
        }
        let tried = spec.clone().set(parameter.name, edge(random, parameter.kind));
        if tried.resolve().is_ok() {
            spec = tried;
        }
    }
    if random.chance(0.3) {
        let several = spec.clone().set("multiclass", true);
        spec = if several.resolve().is_ok() { several } else { spec };
    }
    spec.resolve().unwrap_or_else(|_| Spec::new(algorithm.name).resolve().unwrap())
}

/// How nasty a stream is: the values it draws from.
struct Palette {
    values: Vec<f64>,
    weights: Vec<f64>,
    labels: Vec<f64>,
}

impl Palette {
    fn new(random: &mut SplitMix64, settings: &Settings) -> Self {
        let some = |random: &mut SplitMix64| match random.below(4) {
            0 => vec![pick(random, &VALUES)],
            1 => vec![1.0, pick(random, &VALUES)],
            2 => VALUES[..8].to_vec(),
            _ => VALUES.to_vec(),
        };
        let values = some(random);
        let weights = match random.below(3) {
            0 => vec![1.0],
            1 => vec![0.0, 1.0, 0.5],
            _ => vec![5e-324, 1e-300, 1.0, 1e10, 1e300],
        };
        let domain = settings.loss().domain();
        let labels = match random.below(3) {
            _ if settings.is_multiclass() => vec![0.0, 1.0, 2.0],
            0 => vec![1.0],
            _ if domain == LabelDomain::Real => some(random),
            _ if domain == LabelDomain::NonNegative => vec![0.0, 1.0, 7.0, 1e10],
            _ => vec![-1.0, 1.0],
        };
        Self { values, weights, labels }
    }

    /// A chunk of a few rows; a row that chunks refuse is left out.
    fn chunk(&self, random: &mut SplitMix64) -> Chunk {
        let mut chunk = Chunk::new();
        for _ in 0..=random.below(5) {
            for j in 1..=12 {
                if random.chance(0.4) {
                    chunk.push_feature(j, pick(random, &self.values));
                }
            }
            let label = random.chance(0.95).then(|| pick(random, &self.labels));
            let weight = pick(random, &self.weights);
            if chunk.finish_row(label, weight, Repeats::Refuse).is_err() {
                chunk.abandon_row();
            }
        }
        chunk
    }
}

fn trainer(settings: &Settings, precision: Precision) -> Option<Trainer> {
    let classes = match settings.is_multiclass() {
        true => ["a", "b", "c"].map(str::to_owned).to_vec(),
        false => Vec::new(),
    };
    let found = Found { classes, dimension: Some(12), rows: Some(100), ..Found::default() };
    let schema = InputSchema { found, ..InputSchema::default() };
    let options = LearnerOptions { precision, ..LearnerOptions::default() };
    Trainer::new(settings.clone(), options, schema).ok()
}

/// Learns a chunk. Gives whether the learner goes on.
fn learns(trainer: &mut Trainer, chunk: &Chunk) -> Result<bool, String> {
    let rows = trainer.progressive().rows();
    let before = trainer.checkpoint();
    let mut is_finite = true;
    let mut watch = |stretch: &Stretch<'_>| {
        is_finite &= stretch.rows().all(|row| stretch.margins(row).iter().all(|p| p.is_finite()));
    };
    let learned = trainer.learn_watched(chunk, &mut |_| {}, &mut watch);
    if learned.is_ok() && !is_finite {
        return Err("learned, and a prediction was not finite".into());
    }
    match learned.and_then(|()| trainer.check_finite()) {
        Ok(()) => Ok(true),
        Err(Error::Diverged { row }) => {
            let most = rows + chunk.len() as u64;
            if !(rows..=most + 1).contains(&row) {
                return Err(format!("diverged at row {row}, of rows {rows} to {most}"));
            }
            let restored = Trainer::from_checkpoint(&before)
                .map_err(|e| format!("the state of before cannot be restored: {e}"))?;
            restored.check_finite().map_err(|e| format!("the state of before: {e}"))?;
            Model::from_bytes(&restored.model().to_bytes())
                .map_err(|e| format!("the model of before: {e}"))?;
            Ok(false)
        }
        // A setting that the data contradicts, such as too many features.
        Err(_) => Ok(false),
    }
}

fn one_run(algorithm: &Algorithm, seed: u64) -> Result<bool, String> {
    let random = &mut SplitMix64::new(seed);
    let settings = settings(random, algorithm);
    let palette = Palette::new(random, &settings);
    let precision = pick(random, &[Precision::F32, Precision::F64]);
    let about = |words: String| {
        let spec = serde_json::to_string(settings.to_json()).unwrap();
        format!(
            "{words}\n    {spec} {precision}, values {:?}, weights {:?}, labels {:?}",
            palette.values, palette.weights, palette.labels
        )
    };
    let Some(mut trainer) = trainer(&settings, precision) else { return Ok(false) };
    for _ in 0..12 {
        let chunk = palette.chunk(random);
        if !learns(&mut trainer, &chunk).map_err(about)? {
            return Ok(false);
        }
        Model::from_bytes(&trainer.model().to_bytes())
            .map_err(|e| about(format!("a model that is not read back: {e}")))?;
        let mut margins = Vec::new();
        trainer.online().predict(&chunk, &mut margins);
        // Weights that are finite, and a product that is not: learning the row notices it.
        let is_finite = margins.iter().all(|p| p.is_finite());
        if !is_finite && learns(&mut trainer, &chunk).map_err(about)? {
            return Err(about("a prediction is not finite, and learning goes on".into()));
        }
        if !is_finite {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn every_algorithm_is_finite_or_stops() {
    let mut failures = Vec::new();
    let (mut whole, mut stopped) = (0, 0);
    for algorithm in ALGORITHMS.iter() {
        for k in 0..RUNS {
            let seed =
                k.wrapping_mul(0x9E37_79B9) ^ parsimon_files::checksum(algorithm.name.as_bytes());
            match one_run(algorithm, seed) {
                Ok(true) => whole += 1,
                Ok(false) => stopped += 1,
                Err(words) => {
                    failures.push(format!("{} seed {seed}: {words}", algorithm.name));
                    break;
                }
            }
        }
    }
    println!("{whole} streams learned to their end, {stopped} stopped");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(whole > 1000 && stopped > 200, "{whole} {stopped}");
}

/// Repeats the check through the program: an existing model is kept, and the output can be read.
#[test]
fn a_run_that_diverges_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.ckpt");
    std::fs::write(&path, b"of before").unwrap();
    // The last row alone has feature 3: no later row shows that its weight is infinite.
    let input =
        Input::Bytes { name: "x.svm".into(), bytes: b"1 1:1\n2 2:1\n1e90 3:1e90\n".to_vec() };
    let options = Options::from(Reading {
        labels: Labels::Real,
        space: Some(Space::Ids),
        ..Reading::default()
    });
    let settings = Spec::new("sgd").set("loss", "squared").set("rate", 1e200).resolve().unwrap();
    let mut trainer =
        Trainer::new(settings, LearnerOptions::default(), InputSchema::default()).unwrap();
    let plan = Plan { checkpoint: Some((path.clone(), None)), ..Plan::new(vec![input], options) };
    let error = run(&mut trainer, &plan, &mut ()).err().unwrap();
    assert!(matches!(error, Error::Diverged { row: 1..=3 }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"of before");
}
