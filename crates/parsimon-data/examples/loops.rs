//! The hot loops, each by itself, as often as asked: what `cargo xtask instructions` counts.
//!
//! `loops` lists them with the features one round meets; `loops NAME ROUNDS` runs one. What a round costs is the difference
//! between runs of different lengths, so the set-up does not count.

#![allow(clippy::print_stdout, reason = "the list is the output")]

use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;

use parsimon_core::metric::{AdaGrad, Global, Pace};
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::adam::Adam;
use parsimon_core::rule::leader::{Accrual, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{HalfStep, Scheduled};
use parsimon_core::{
    Chunk, Lane, Lanes, Learner, Loss, Online, Packed, Precision, Repeats, Schedule, State, Table,
};
use parsimon_data::cache::Writer;
use parsimon_data::{Ask, Format, Input, Options, Reader, Reading, Space};

const ROWS: u64 = 2_000;
const BITS: u8 = 18;
const LOOPS: [&str; 12] = [
    "parse-svmlight",
    "parse-svmlight-exponents",
    "parse-vw",
    "parse-vw-names",
    "read-cache",
    "learn-ftrl",
    "learn-fobos",
    "learn-rda",
    "learn-adagrad-rda",
    "learn-adam",
    "learn-16-lanes",
    "predict",
];

/// A feature of a field.
struct Feature {
    field: u8,
    id: u32,
    value: f64,
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A row of a click log: 13 numbers, 27 one-hot fields of skewed ids; sorted by id.
fn row(number: u64) -> (f64, Vec<Feature>) {
    let draw = |k: u8| mix(number * 64 + u64::from(k));
    let feature = |field: u8| {
        let bits = draw(field);
        if field < 13 {
            let millionths = bits % 1_700_000 + 1;
            return Feature { field, id: u32::from(field) + 1, value: millionths as f64 / 1e6 };
        }
        let size = 1u64 << (field - 12).min(13);
        let rank = (bits % size).min((bits >> 32) % size);
        Feature { field, id: 14 + u32::from(field) * 8192 + rank as u32, value: 1.0 }
    };
    let label = if draw(63) % 6 == 0 { 1.0 } else { -1.0 };
    (label, (0..40).map(feature).collect())
}

fn chunk() -> Result<Chunk, Box<dyn Error>> {
    let mut chunk = Chunk::new();
    for number in 0..ROWS {
        let (label, features) = row(number);
        // Into the order of a hashed space: no locality.
        let slot = |id: u32| id.wrapping_mul(0x9E37_79B1) >> (32 - BITS);
        features.iter().for_each(|f| chunk.push_feature(slot(f.id), f.value));
        chunk.finish_row(Some(label), 1.0, Repeats::Add)?;
    }
    Ok(chunk)
}

fn text(write: impl Fn(&mut String, &Feature)) -> Vec<u8> {
    let mut text = String::new();
    for number in 0..ROWS {
        let (label, features) = row(number);
        text.push_str(if label > 0.0 { "1" } else { "-1" });
        features.iter().for_each(|f| write(&mut text, f));
        text.push('\n');
    }
    text.into_bytes()
}

fn svmlight() -> Vec<u8> {
    text(|out, f| write!(out, " {}:{}", f.id, f.value).expect("strings grow"))
}

fn exponents() -> Vec<u8> {
    text(|out, f| {
        let value = format!("{:.2e}", f.value / 128.0).replace("e-", "e-0");
        write!(out, " {}:{value}", f.id).expect("strings grow");
    })
}

/// A namespace per field, hexadecimal words.
fn vw() -> Vec<u8> {
    text(|out, f| {
        let namespace =
            char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"[usize::from(f.field)]);
        if f.field < 13 {
            write!(out, " |{namespace} v:{}", f.value)
        } else {
            write!(out, " |{namespace} {:08x}", mix(u64::from(f.id)) as u32)
        }
        .expect("strings grow");
    })
}

/// Reads text so often; tells the features of one round.
fn parse(
    text: &[u8],
    format: Format,
    keep_names: bool,
    rounds: usize,
) -> Result<usize, Box<dyn Error>> {
    let space = (format == Format::Vw).then_some(Space::Hashed { bits: BITS });
    let options = Options {
        reading: Reading { format: Some(format), space, ..Reading::default() },
        ask: Ask { keep_names, ..Ask::default() },
        ..Options::default()
    };
    let (mut chunk, mut features) = (Chunk::new(), 0);
    for _ in 0..rounds {
        features = 0;
        let input = Input::Bytes { name: "text".into(), bytes: text.to_vec() };
        let mut reader = Reader::open(&[input], &options)?;
        while reader.read(&mut chunk)? {
            features += black_box(&chunk).nonzeros();
        }
    }
    Ok(features)
}

/// Reads a cache so often; tells the features of one round.
fn read_cache(rounds: usize) -> Result<usize, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rows.psc");
    let mut writer = Writer::create(&path, Space::Hashed { bits: BITS })?;
    let mut chunk = chunk()?;
    writer.write(&chunk)?;
    writer.finish()?;
    let mut features = 0;
    for _ in 0..rounds {
        features = 0;
        let mut reader = Reader::open(&[path.clone().into()], &Options::default())?;
        while reader.read(&mut chunk)? {
            features += black_box(&chunk).nonzeros();
        }
    }
    Ok(features)
}

fn learn(mut learner: impl Online, rounds: usize) -> Result<usize, Box<dyn Error>> {
    let (chunk, mut margins) = (chunk()?, Vec::new());
    for _ in 0..rounds {
        margins.clear();
        learner.learn(black_box(&chunk), &mut margins);
    }
    black_box(margins);
    Ok(chunk.nonzeros())
}

fn table<C: State + Copy>() -> Table<C> {
    Table::dense(1 << BITS)
}

fn ftrl() -> impl Online {
    let metric = AdaGrad { rate: 0.1, delta: 1.0 };
    let rule = |l1, l2| Leader {
        penalty: ElasticNet { l1, l2 },
        accrual: Accrual::Once,
        center: Iterate,
        metric,
    };
    Learner::<f32, _>::new(rule(1.0, 1.0), Some(rule(0.0, 0.0)), Loss::Logistic, table())
}

fn fobos() -> impl Online {
    let (schedule, half_step) = (Schedule::Sqrt { rate: 0.1 }, HalfStep::Same);
    let rule = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
    Learner::<f32, _>::new(rule(1e-4), Some(rule(0.0)), Loss::Logistic, table())
}

fn rda() -> impl Online {
    let rule = |l1| Leader {
        penalty: ElasticNet { l1, l2: 0.0 },
        accrual: Accrual::EveryRound,
        center: Origin,
        metric: Global(Pace::Sqrt { rate: 0.1 }),
    };
    Learner::<f32, _>::new(rule(1e-4), Some(rule(0.0)), Loss::Logistic, table())
}

fn adagrad_rda() -> impl Online {
    let metric = AdaGrad { rate: 0.1, delta: 1.0 };
    let rule = |l1| Leader {
        penalty: ElasticNet { l1, l2: 0.0 },
        accrual: Accrual::EveryRound,
        center: Origin,
        metric,
    };
    Learner::<f32, _>::new(rule(1e-4), Some(rule(0.0)), Loss::Logistic, table())
}

fn adam() -> impl Online {
    let rule = Adam::new(0.001, 0.9, 0.999, 1e-8);
    Learner::<f32, _>::new(rule, Some(rule), Loss::Logistic, table())
}

fn sixteen() -> impl Online {
    let lane = |k| Lane { l1: 0.125 * k as f64, l2: 1.0, rate: 0.1, delta: 1.0 };
    let lanes: [Lane; 16] = std::array::from_fn(lane);
    let store = Packed::dense(1 << 20);
    Lanes::<f32, _, 16>::new(lanes, Accrual::Once, Iterate, true, Loss::Logistic, store)
}

fn predict(rounds: usize) -> Result<usize, Box<dyn Error>> {
    let (chunk, mut learner, mut margins) = (chunk()?, ftrl(), Vec::new());
    learner.learn(&chunk, &mut margins);
    let scorer = learner.freeze().scorer(Precision::F32);
    for _ in 0..rounds {
        margins.clear();
        scorer.margins(black_box(&chunk), &mut margins);
    }
    black_box(margins);
    Ok(chunk.nonzeros())
}

fn run(name: &str, rounds: usize) -> Result<usize, Box<dyn Error>> {
    match name {
        "parse-svmlight" => parse(&svmlight(), Format::Svmlight, false, rounds),
        "parse-svmlight-exponents" => parse(&exponents(), Format::Svmlight, false, rounds),
        "parse-vw" => parse(&vw(), Format::Vw, false, rounds),
        "parse-vw-names" => parse(&vw(), Format::Vw, true, rounds),
        "read-cache" => read_cache(rounds),
        "learn-ftrl" => learn(ftrl(), rounds),
        "learn-fobos" => learn(fobos(), rounds),
        "learn-rda" => learn(rda(), rounds),
        "learn-adagrad-rda" => learn(adagrad_rda(), rounds),
        "learn-adam" => learn(adam(), rounds),
        "learn-16-lanes" => learn(sixteen(), rounds),
        "predict" => predict(rounds),
        _ => Err(format!("there is no loop {name}").into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            for name in LOOPS {
                println!("{name} {}", run(name, 1)?);
            }
        }
        [name, rounds] => {
            black_box(run(name, rounds.parse()?)?);
        }
        _ => return Err("usage: loops [NAME ROUNDS]".into()),
    }
    Ok(())
}
