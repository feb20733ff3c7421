//! Makes a click log of the benchmark's shape: 13 numeric and 27 one-hot fields, Zipf ids over 2^20, logistic truth.
//!
//! `cargo run --release -p parsimon --example generate -- ROWS SEED clicks.svm [clicks.vw]`
//!
//! A row depends on the seed and its number alone; the truth is shared by all seeds, so that another seed makes a
//! holdout. The second file is the same data as VW text with one namespace, values of 1 left out.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

const CATEGORIES: [u32; 27] = [
    8, 12, 20, 27, 40, 60, 100, 150, 300, 600, 600, 1_000, 1_500, 2_000, 3_200, 5_700, 10_000,
    12_500, 15_000, 25_000, 40_000, 60_000, 90_000, 120_000, 150_000, 200_000, 290_000,
];
const BITS: u32 = 20;

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

/// A rank below `n` with probability falling as `rank^-s`.
fn zipf(u: f64, n: u32, s: f64) -> u32 {
    let a = 1.0 - s;
    let x = (1.0 + u * ((f64::from(n) + 1.0).powf(a) - 1.0)).powf(1.0 / a) - 1.0;
    (x as u32).min(n - 1)
}

/// A bijection of the ids: they carry no locality, as after hashing.
fn scramble(id: u32) -> u32 {
    let mask = (1 << BITS) - 1;
    let x = id.wrapping_mul(0x9_E375) & mask;
    let x = (x ^ (x >> 9)).wrapping_mul(0x5_D2B1) & mask;
    (x ^ (x >> 11)) & mask
}

fn row(seed: u64, number: u64) -> (bool, Vec<(u32, f64)>) {
    let mut state = mix(seed.wrapping_mul(0x123_4567).wrapping_add(2 * number));
    let mut random = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        unit(mix(state))
    };
    let (mut margin, mut features) = (-1.75, Vec::with_capacity(40));
    for i in 0..13u32 {
        let count = 1.0 + (random().powi(3) * f64::from(10u32 << (i % 8))).floor();
        let value = (count.ln_1p() / 4.0 * 1e6).round() / 1e6;
        features.push((scramble(i) + 1, value));
        margin += value * 0.35 * normal(u64::from(i) + 1);
    }
    let mut first = 13;
    for (i, size) in (0u32..).zip(CATEGORIES) {
        let id = first + zipf(random(), size, 1.05 + 0.01 * f64::from(i % 10));
        features.push((scramble(id) + 1, 1.0));
        if mix(u64::from(id) * 31 + 5) % 100 < 40 {
            margin += 0.55 * normal(u64::from(id) + 1_000);
        }
        first += size;
    }
    features.sort_by_key(|f| f.0);
    (random() < 1.0 / (1.0 + (-margin).exp()), features)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rows, seed, svm, rest @ ..] = &args[..] else {
        return Err("usage: generate ROWS SEED clicks.svm [clicks.vw]".into());
    };
    let (rows, seed): (u64, u64) = (rows.parse()?, seed.parse()?);
    let mut svm = BufWriter::new(File::create(svm)?);
    let mut vw = rest.first().map(|path| File::create(path).map(BufWriter::new)).transpose()?;
    for number in 0..rows {
        let (clicked, features) = row(seed, number);
        let label = if clicked { "1" } else { "-1" };
        write!(svm, "{label}")?;
        features.iter().try_for_each(|(id, v)| write!(svm, " {id}:{v}"))?;
        writeln!(svm)?;
        if let Some(vw) = &mut vw {
            write!(vw, "{label} |f")?;
            for (id, v) in &features {
                if *v == 1.0 { write!(vw, " {id}") } else { write!(vw, " {id}:{v}") }?;
            }
            writeln!(vw)?;
        }
    }
    Ok(())
}
