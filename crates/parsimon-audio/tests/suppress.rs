//! The residual suppressor: what it takes, what it must leave, and that nothing else changes its output.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{add, convolve, gain, noise, room, speech};
use parsimon_audio::{Alignment, Canceller, Config, cancel};
use proptest::prelude::*;

const RATE: usize = 16_000;

fn config(suppress: bool) -> Config {
    Config { taps: 256, suppress, ..Config::at(RATE as u32) }
}

fn run(far: &[f32], near: &[f32], suppress: bool) -> Vec<f32> {
    cancel(far, near, config(suppress), Alignment::Known(0)).unwrap().clean
}

/// The echo of a loudspeaker that distorts.
fn distorted(far: &[f32], seed: u32) -> Vec<f32> {
    let played: Vec<f32> = far.iter().map(|v| (2.0 * v).tanh() / 2.0).collect();
    convolve(&played, &room(200, 20, seed))
}

#[test]
fn what_no_linear_filter_predicts_is_attenuated() {
    for seed in 0..3 {
        let far: Vec<f32> = speech(8 * RATE, RATE, 40 + seed).iter().map(|v| 3.0 * v).collect();
        let echo = distorted(&far, 50 + seed);
        let half = 4 * RATE..8 * RATE;
        let loss = |suppress| gain(&echo[half.clone()], &run(&far, &echo, suppress)[half.clone()]);
        let (linear, suppressed) = (loss(false), loss(true));
        assert!(suppressed > linear + 8.0, "seed {seed}: {linear} dB, then {suppressed} dB");
    }
}

#[test]
fn near_end_speech_in_double_talk_stays() {
    let far = speech(10 * RATE, RATE, 5);
    let echo = convolve(&far, &room(200, 20, 6));
    // Syllables of another length than the far end's, or the two would be loud at the same times.
    let mut talk = speech(10 * RATE, 23_000, 8);
    talk[..4 * RATE].fill(0.0);
    let clean = run(&far, &add(&echo, &talk), true);
    let during = 5 * RATE..10 * RATE;
    // The part of the output that is the talker's.
    let (mut cross, mut square) = (0.0f64, 0.0f64);
    for (e, s) in clean[during.clone()].iter().zip(&talk[during]) {
        cross += f64::from(*e) * f64::from(*s);
        square += f64::from(*s) * f64::from(*s);
    }
    let lost = -20.0 * (cross / square).log10();
    assert!(lost < 4.0, "{lost} dB of the near end are lost");
}

#[test]
fn with_a_silent_far_end_the_microphone_passes() {
    for rate in [8_000u32, 16_000, 44_100, 48_000, 96_000] {
        let near = speech(2 * rate as usize, rate as usize, 9);
        let config = Config { taps: 256, suppress: true, high_pass: false, ..Config::at(rate) };
        let silence = vec![0.0; near.len()];
        let done = cancel(&silence, &near, config, Alignment::Known(0)).unwrap();
        let left: Vec<f32> = done.clean.iter().zip(&near).map(|(a, b)| a - b).collect();
        let off = gain(&near, &left);
        assert!(off > 100.0, "{rate} Hz: only {off} dB between microphone and difference");
    }
}

#[test]
fn at_most_16_milliseconds_are_added() {
    for rate in [4_000, 8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000] {
        let latency = |suppress| {
            let config = Config { taps: 64, suppress, ..Config::at(rate) };
            Canceller::new(config).unwrap().latency()
        };
        let added = latency(true) - latency(false);
        assert!(added > 0 && 1000 * added <= 16 * rate as usize, "{rate} Hz: {added} samples");
    }
    let config = Config { suppress: true, ..Config::at(3_000) };
    assert!(config.check().unwrap_err().to_string().contains("at least 4000"));
}

#[test]
fn the_output_is_finite_for_any_finite_input() {
    for loud in [1.0f32, 1e5, 1e20, 3e38] {
        let far: Vec<f32> = noise(RATE, 1).iter().map(|v| v * loud).collect();
        let near: Vec<f32> = noise(RATE, 2).iter().map(|v| v * loud).collect();
        let mut canceller = Canceller::new(config(true)).unwrap();
        for (x, d) in far.chunks(500).zip(near.chunks(500)) {
            assert!(canceller.push(x, d).iter().all(|v| v.is_finite()), "at {loud}");
        }
        // It recovers: sound of the usual loudness follows.
        let (far, near) = (speech(RATE, RATE, 3), speech(RATE, RATE, 4));
        let out = canceller.push(&far, &near);
        assert!(out.iter().all(|v| v.is_finite()));
        assert!(out[RATE / 2..].iter().any(|v| *v != 0.0));
        assert!(Canceller::restore(&canceller.save()).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_resuming_change_nothing(
        lengths in prop::collection::vec(1usize..700, 1..12),
        stop in 1usize..12_000,
    ) {
        let far = speech(12_000, RATE, 11);
        let near = add(&distorted(&far, 12), &speech(12_000, RATE, 13));
        let whole = Canceller::new(config(true)).unwrap().push(&far, &near).to_vec();
        let mut one = Canceller::new(config(true)).unwrap();
        let mut out = Vec::new();
        let (mut at, mut saved) = (0, false);
        for n in lengths.iter().cycle() {
            let mut end = (at + n).min(12_000);
            if !saved && end >= stop {
                end = stop.max(at);
            }
            out.extend_from_slice(one.push(&far[at..end], &near[at..end]));
            at = end;
            if !saved && at >= stop {
                one = Canceller::restore(&one.save()).unwrap();
                saved = true;
            }
            if at == 12_000 {
                break;
            }
        }
        prop_assert_eq!(out, whole);
    }
}

#[test]
fn a_verdict_stands_for_every_block() {
    let far = speech(RATE + 100, RATE, 80);
    let echo = convolve(&far, &room(200, 20, 81));
    for suppress in [false, true] {
        let done = cancel(&far, &echo, config(suppress), Alignment::Known(0)).unwrap();
        assert_eq!(done.double_talk.len(), far.len().div_ceil(config(suppress).block()));
    }
}
