//! Echo, made and unmade: a generated voice through a generated room, with somebody speaking over it for a while.
//!
//! `cargo run --release -p parsimon-audio --example echo` writes `far.wav` and `near.wav` to the current folder, cancels
//! the echo in pieces of 10 ms as a telephone would, and writes `clean.wav`. The same from the command line:
//! `parsimon cancel --reference far.wav --microphone near.wav -o clean.wav --plot echo.svg`.

#![allow(clippy::print_stdout, reason = "an example talks")]

use std::path::Path;

use parsimon_audio::wav::{self, SampleFormat};
use parsimon_audio::{AudioError, Canceller, Config, erle};

const RATE: u32 = 16_000;
const SECONDS: usize = 12;

/// A small generator of noise.
struct Noise(u64);

impl Noise {
    /// Uniform in [-1, 1).
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Something like speech: pulses of a changing pitch and a little breath, through two formants, in syllables.
fn voice(pitch: f32, seed: u64) -> Vec<f32> {
    let (mut noise, mut phase) = (Noise(seed), 0.0f32);
    let mut formants = [[0.0f32; 2]; 2];
    let sample = |t: usize| {
        let seconds = t as f32 / RATE as f32;
        phase += pitch * (1.0 + 0.15 * (3.0 * seconds).sin()) / RATE as f32;
        let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
        phase -= phase.floor();
        let syllable =
            (std::f32::consts::PI * 2.1 * seconds + (0.7 * seconds).sin()).sin().max(0.0);
        let mut x = (pulse + 0.02 * noise.next()) * syllable;
        for (k, state) in formants.iter_mut().enumerate() {
            let hertz = [600.0, 1400.0][k] * (1.0 + 0.3 * ((1.3 + k as f32) * seconds).sin());
            let (r, angle) = (0.97f32, std::f32::consts::TAU * hertz / RATE as f32);
            let y = x + 2.0 * r * angle.cos() * state[0] - r * r * state[1];
            *state = [y, state[0]];
            x = y * 0.12;
        }
        x
    };
    (0..SECONDS * RATE as usize).map(sample).collect()
}

/// A room: a direct path after 9 ms, a few reflections, a tail that dies away.
fn room(seed: u64) -> Vec<f32> {
    let mut noise = Noise(seed);
    let mut path = vec![0.0f32; 900];
    for (lag, tap) in path.iter_mut().enumerate().skip(144) {
        *tap = 0.08 * noise.next() * (-((lag - 144) as f32) / 160.0).exp();
    }
    for (lag, tap) in [(144, 0.6), (201, -0.25), (290, 0.15), (402, 0.1)] {
        path[lag] += tap;
    }
    path
}

fn main() -> Result<(), AudioError> {
    let (far, speech, path) = (voice(120.0, 1), voice(190.0, 2), room(3));
    let mut noise = Noise(4);
    let near: Vec<f32> = (0..far.len())
        .map(|t| {
            let echo: f32 =
                path.iter().take(t + 1).zip(far[..=t].iter().rev()).map(|(h, x)| h * x).sum();
            // Somebody speaks from the sixth to the eighth second.
            let talks = (6 * RATE as usize..8 * RATE as usize).contains(&t);
            echo + if talks { 0.5 * speech[t] } else { 0.0 } + 1e-4 * noise.next()
        })
        .collect();
    wav::write(Path::new("far.wav"), &far, RATE, SampleFormat::Int16)?;
    wav::write(Path::new("near.wav"), &near, RATE, SampleFormat::Int16)?;

    let mut canceller = Canceller::new(Config::at(RATE))?;
    let mut clean = Vec::with_capacity(far.len());
    for (far, near) in far.chunks(160).zip(near.chunks(160)) {
        clean.extend_from_slice(canceller.push(far, near));
    }
    // The output is one block late.
    clean.drain(..canceller.latency());
    wav::write(Path::new("clean.wav"), &clean, RATE, SampleFormat::Int16)?;

    let heard = &near[..clean.len()];
    let report = erle::measure(&far[..clean.len()], heard, &clean, RATE, 1.0);
    println!("second  ERLE, dB");
    for (second, db) in report.over_time.iter().enumerate() {
        let talks = if (6..8).contains(&second) {
            "  somebody speaks: what is left is their voice"
        } else {
            ""
        };
        println!("{second:6}  {:8.1}{talks}", db.unwrap_or(0.0));
    }
    println!("wrote far.wav, near.wav and clean.wav");
    Ok(())
}
