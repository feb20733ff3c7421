//! Makes the data of the benchmarks.
//!
//! ```text
//! cargo run --release -p parsimon --example generate -- clicks 1000000 1 svm=clicks.svm vw=clicks.vw tokens=tokens.vw
//! cargo run --release -p parsimon --example generate -- documents 100000 1 svm=d.svm vw=d.vw svm-exponents=e.svm vw-exponents=e.vw
//! cargo run --release -p parsimon --example generate -- uniform:24 100000000 1 svm=- | parsimon train -
//! ```
//!
//! `clicks` is a click log: 13 numbers and 27 one-hot fields, Zipf ids below 2^20. `documents` has some 76 weighted words of
//! 47,236 to a row, each row of length one. `uniform:BITS` is the click log with ids drawn evenly below 2^BITS, for tables that
//! must grow. Labels follow a logistic truth. `svm` is svmlight; `vw` is VW text with one namespace and values of 1 left out;
//! `tokens` is VW text with a namespace per field and hexadecimal words; `svm-exponents` and `vw-exponents` write numbers as
//! `6.27e-02`. A row depends on shape, seed and its number alone; the truth is shared by all seeds, so that another seed makes a
//! holdout.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};

const USAGE: &str = "usage: generate clicks|documents|uniform:BITS ROWS SEED FORM=FILE ...
forms: svm, vw, tokens, svm-exponents, vw-exponents; - is standard output";

const CATEGORIES: [u32; 27] = [
    8, 12, 20, 27, 40, 60, 100, 150, 300, 600, 600, 1_000, 1_500, 2_000, 3_200, 5_700, 10_000,
    12_500, 15_000, 25_000, 40_000, 60_000, 90_000, 120_000, 150_000, 200_000, 290_000,
];
const NUMBERS: u32 = 13;
const BITS: u32 = 20;
const WORDS: u32 = 47_236;
const NAMESPACES: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn";
/// Values are counted in millionths.
const ONE: u32 = 1_000_000;

/// splitmix64: a counter in, 64 well-mixed bits out.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A normal number that belongs to `key`.
fn normal(key: u64) -> f64 {
    let (u, v) = (1.0 - unit(mix(key)), unit(mix(key ^ 0xAB_CDEF)));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A bijection of the ids: they carry no locality, as after hashing.
fn scramble(id: u32) -> u32 {
    let mask = (1 << BITS) - 1;
    let x = id.wrapping_mul(0x9_E375) & mask;
    let x = (x ^ (x >> 9)).wrapping_mul(0x5_D2B1) & mask;
    (x ^ (x >> 11)) & mask
}

/// Random numbers of one row.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    fn unit(&mut self) -> f64 {
        unit(self.bits())
    }
}

/// Ranks below `n` with probability falling as `rank^-s`: the inverse of the distribution by knots, for a power per draw
/// would make the generator slower than the learner.
struct Zipf(Vec<f32>);

impl Zipf {
    const KNOTS: usize = 1 << 12;

    fn new(n: u32, s: f64) -> Self {
        let a = 1.0 - s;
        let rank = |k: usize| {
            let u = k as f64 / Self::KNOTS as f64;
            (1.0 + u * ((f64::from(n) + 1.0).powf(a) - 1.0)).powf(1.0 / a) - 1.0
        };
        let below = f64::from(n) - 0.5;
        Self((0..=Self::KNOTS).map(|k| rank(k).min(below) as f32).collect())
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let u = random.unit() * Self::KNOTS as f64;
        let k = u as usize;
        let part = (u - k as f64) as f32;
        (self.0[k] + part * (self.0[k + 1] - self.0[k])) as u32
    }
}

#[derive(Clone, Copy)]
struct Feature {
    id: u32,
    field: u32,
    /// In millionths.
    value: u32,
}

enum Shape {
    /// The ids are below `2^bits`; `None`: those of the fields.
    Clicks {
        bits: Option<u32>,
    },
    Documents,
}

impl Shape {
    fn parse(word: &str) -> Result<Self, Box<dyn Error>> {
        Ok(match word.split_once(':') {
            None if word == "clicks" => Shape::Clicks { bits: None },
            None if word == "documents" => Shape::Documents,
            Some(("uniform", bits)) => match bits.parse() {
                Ok(bits @ 4..=30) => Shape::Clicks { bits: Some(bits) },
                _ => return Err(format!("bits must be 4 to 30, got {bits}").into()),
            },
            _ => return Err(format!("there is no shape {word}\n{USAGE}").into()),
        })
    }
}

struct Generator {
    shape: Shape,
    seed: u64,
    ranks: Vec<Zipf>,
    /// What an id does to the margin.
    effects: Vec<f32>,
    /// What a number does to it, per unit.
    slopes: Vec<f64>,
    /// The values that counts become.
    counts: Vec<u32>,
}

impl Generator {
    fn new(shape: Shape, seed: u64) -> Self {
        let fields = (0u32..).zip(CATEGORIES);
        let (ranks, effects) = match shape {
            Shape::Clicks { .. } => (
                fields.map(|(i, n)| Zipf::new(n, 1.05 + 0.01 * f64::from(i % 10))).collect(),
                (0..1 << BITS).map(|id| effect(id * 31 + 5, id + 1_000, 40, 0.55)).collect(),
            ),
            Shape::Documents => (
                vec![Zipf::new(WORDS, 1.0001)],
                (0..u64::from(WORDS)).map(|w| effect(w * 17 + 3, w + 5_000_000, 30, 9.0)).collect(),
            ),
        };
        let counts = (0..=10 << 7).map(|c| (f64::from(c).ln_1p() / 4.0 * 1e6).round() as u32);
        let slopes = (0..u64::from(NUMBERS)).map(|i| 0.35 * normal(i + 1)).collect();
        Self { shape, seed, ranks, effects, slopes, counts: counts.collect() }
    }

    /// Fills in a row, fields in order, and tells its label.
    fn row(&self, number: u64, features: &mut Vec<Feature>) -> bool {
        let mut random = Random(mix(self.seed.wrapping_mul(0x123_4567).wrapping_add(2 * number)));
        features.clear();
        let margin = match self.shape {
            Shape::Clicks { bits } => self.click(bits, &mut random, features),
            Shape::Documents => self.document(&mut random, features),
        };
        random.unit() < 1.0 / (1.0 + (-margin).exp())
    }

    fn click(&self, bits: Option<u32>, random: &mut Random, features: &mut Vec<Feature>) -> f64 {
        let mut margin = -2.35;
        for i in 0..NUMBERS {
            let count = 1 + (random.unit().powi(3) * f64::from(10u32 << (i % 8))) as usize;
            let value = self.counts[count];
            features.push(Feature { id: scramble(i) + 1, field: i, value });
            margin += f64::from(value) * 1e-6 * self.slopes[i as usize];
        }
        let mut first = NUMBERS;
        for (i, size) in (0u32..).zip(CATEGORIES) {
            let (effect, id) = match bits {
                None => {
                    let id = first + self.ranks[i as usize].draw(random);
                    (id, scramble(id) + 1)
                }
                Some(bits) => {
                    let id = (random.bits() >> (64 - bits)) as u32;
                    (id & ((1 << BITS) - 1), id + (1 << BITS))
                }
            };
            features.push(Feature { id, field: NUMBERS + i, value: ONE });
            margin += f64::from(self.effects[effect as usize]);
            first += size;
        }
        margin
    }

    fn document(&self, random: &mut Random, features: &mut Vec<Feature>) -> f64 {
        let length = (38.0 - 62.0 * (1.0 - random.unit() * 0.98).ln()).min(200.0) as usize;
        let mut words: Vec<(u32, f64)> = Vec::with_capacity(length);
        for _ in 0..length {
            let word = self.ranks[0].draw(random);
            let often = if random.unit() < 0.3 { (random.unit() * 5.0).ln_1p() } else { 0.0 };
            let rare = (f64::from(word + 1) / 3.0).ln_1p();
            words.push((word, (1.0 + often) * rare));
        }
        words.sort_unstable_by_key(|w| w.0);
        words.dedup_by_key(|w| w.0);
        let norm = words.iter().map(|w| w.1 * w.1).sum::<f64>().sqrt();
        let mut margin = 0.0;
        for (word, value) in words {
            let id = (u64::from(word) * 2_654_435_761 % u64::from(WORDS)) as u32 + 1;
            let value = ((value / norm * 1e6).round() as u32).max(1);
            features.push(Feature { id, field: 0, value });
            margin += f64::from(value) * 1e-6 * f64::from(self.effects[word as usize]);
        }
        margin
    }
}

/// Returns the effect of a key: zero unless the key is among `percent` in a hundred, else normal with scale `size`.
fn effect(key: u64, size_key: u64, percent: u64, size: f64) -> f32 {
    if mix(key) % 100 < percent { (size * normal(size_key)) as f32 } else { 0.0 }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Svm,
    Vw,
    Tokens,
    SvmExponents,
    VwExponents,
}

impl Form {
    fn parse(word: &str) -> Result<Self, Box<dyn Error>> {
        Ok(match word {
            "svm" => Form::Svm,
            "vw" => Form::Vw,
            "tokens" => Form::Tokens,
            "svm-exponents" => Form::SvmExponents,
            "vw-exponents" => Form::VwExponents,
            _ => return Err(format!("there is no form {word}\n{USAGE}").into()),
        })
    }

    fn write(self, line: &mut Vec<u8>, label: bool, in_order: &[Feature], by_id: &[Feature]) {
        line.extend_from_slice(if label { b"1" } else { b"-1" });
        if matches!(self, Form::Vw | Form::VwExponents) {
            line.extend_from_slice(b" |f");
        }
        match self {
            Form::Tokens => in_order.iter().for_each(|f| token(line, f)),
            Form::Svm => by_id.iter().for_each(|f| {
                number(line, b' ', f.id);
                millionths(line, f.value);
            }),
            Form::Vw => by_id.iter().for_each(|f| {
                number(line, b' ', f.id);
                match f.value {
                    // A value of 1 goes without saying, and so does the colon.
                    ONE => line.truncate(line.len() - 1),
                    value => millionths(line, value),
                }
            }),
            Form::SvmExponents | Form::VwExponents => by_id.iter().for_each(|f| {
                number(line, b' ', f.id);
                exponent(line, f.value);
            }),
        }
        line.push(b'\n');
    }
}

/// ` |N 0123abcd`, or ` |N v:0.25` for a number.
fn token(line: &mut Vec<u8>, f: &Feature) {
    line.extend_from_slice(&[b' ', b'|', NAMESPACES[f.field as usize], b' ']);
    if f.value == ONE && f.field >= NUMBERS {
        let word = mix(u64::from(f.id) + 99) as u32;
        let digit = |k: u32| b"0123456789abcdef"[(word >> (28 - 4 * k) & 15) as usize];
        line.extend((0..8).map(digit));
    } else {
        line.extend_from_slice(b"v:");
        millionths(line, f.value);
    }
}

/// `before`, the number, a colon.
fn number(line: &mut Vec<u8>, before: u8, mut x: u32) {
    let (mut digits, mut k) = ([b':'; 11], 10);
    loop {
        k -= 1;
        digits[k] = b'0' + (x % 10) as u8;
        x /= 10;
        if x == 0 {
            break;
        }
    }
    line.push(before);
    line.extend_from_slice(&digits[k..]);
}

/// `0.25`, `1`, `1.386294`.
fn millionths(line: &mut Vec<u8>, value: u32) {
    let (whole, mut rest) = (value / ONE, value % ONE);
    line.push(b'0' + (whole % 10) as u8);
    if rest == 0 {
        return;
    }
    let mut digits = *b".000000";
    for k in (1..7).rev() {
        digits[k] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let last = digits.iter().rposition(|&d| d != b'0').unwrap_or(0);
    line.extend_from_slice(&digits[..=last]);
}

/// `6.27e-02`, as C prints it.
fn exponent(line: &mut Vec<u8>, value: u32) {
    let text = format!("{:.2e}", f64::from(value) * 1e-6);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |p| ('-', p));
    line.extend_from_slice(format!("{digits}e{sign}{power:0>2}").as_bytes());
}

fn output(argument: &str) -> Result<(Form, Box<dyn Write>), Box<dyn Error>> {
    let Some((form, path)) = argument.split_once('=') else { return Err(USAGE.into()) };
    let file: Box<dyn Write> = match path {
        "-" => Box::new(std::io::stdout().lock()),
        _ => Box::new(File::create(path).map_err(|e| format!("{path}: {e}"))?),
    };
    Ok((Form::parse(form)?, Box::new(BufWriter::with_capacity(1 << 18, file))))
}

fn generate(args: &[String]) -> Result<(), Box<dyn Error>> {
    let [shape, rows, seed, outputs @ ..] = args else { return Err(USAGE.into()) };
    let (rows, seed): (u64, u64) = (rows.parse()?, seed.parse()?);
    let generator = Generator::new(Shape::parse(shape)?, seed);
    let mut outputs = outputs.iter().map(|o| output(o)).collect::<Result<Vec<_>, _>>()?;
    if matches!(generator.shape, Shape::Documents) && outputs.iter().any(|o| o.0 == Form::Tokens) {
        return Err("documents have no fields to make tokens of".into());
    }
    let (mut in_order, mut by_id, mut line) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..rows {
        let label = generator.row(number, &mut in_order);
        by_id.clone_from(&in_order);
        by_id.sort_unstable_by_key(|f| f.id);
        by_id.dedup_by_key(|f| f.id);
        for (form, file) in &mut outputs {
            line.clear();
            form.write(&mut line, label, &in_order, &by_id);
            file.write_all(&line)?;
        }
    }
    outputs.iter_mut().try_for_each(|(_, file)| file.flush())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match generate(&args) {
        // Who reads may stop whenever they have enough.
        Err(e) if is_broken_pipe(&*e) => Ok(()),
        result => result,
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}
