//! The canceller on generated echoes: how well, how soon, and that nothing else changes its output.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{add, convolve, energy, gain, noise, room, speech};
use parsimon_audio::{Alignment, Canceller, Config, Detection, OnDoubleTalk, cancel};
use proptest::prelude::*;

const RATE: usize = 16_000;

fn config() -> Config {
    Config { taps: 256, ..Config::at(RATE as u32) }
}

/// The aligned output for aligned input.
fn run(far: &[f32], near: &[f32]) -> Vec<f32> {
    cancel(far, near, config(), Alignment::Known(0)).unwrap().clean
}

#[test]
fn an_echo_of_speech_loses_20_db() {
    let far = speech(6 * RATE, RATE, 1);
    let echo = convolve(&far, &room(200, 20, 2));
    let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 2e-4).collect();
    let near = add(&echo, &hiss);
    let done = cancel(&far, &near, config(), Alignment::Known(0)).unwrap();
    let erle = done.report.erle.second_half.unwrap();
    assert!(erle > 20.0, "{erle} dB");
    let path = room(200, 20, 2);
    let error: f64 =
        path.iter().zip(&done.echo_path).map(|(a, b)| f64::from((a - b) * (a - b))).sum();
    assert!(error < 0.01 * energy(&path), "misalignment {error}");
    assert_eq!(done.report.status.resets + done.report.status.fallbacks, 0);
}

#[test]
fn a_changed_path_is_found_within_two_seconds() {
    for seed in 0..3 {
        let far = speech(12 * RATE, RATE, 10 + seed);
        let (a, b) = (room(200, 20, 20 + seed), room(200, 35, 30 + seed));
        let change = 6 * RATE;
        let (before, after) = (convolve(&far, &a), convolve(&far, &b));
        let echo = [&before[..change], &after[change..]].concat();
        let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 1e-3).collect();
        let clean = run(&far, &add(&echo, &hiss));
        let tail = change + 2 * RATE;
        let left: Vec<f32> = clean.iter().zip(&hiss).map(|(e, v)| e - v).collect();
        let settled = gain(&echo[change - RATE..change], &left[change - RATE..change]);
        let found = gain(&echo[tail..tail + RATE], &left[tail..tail + RATE]);
        assert!(settled > 25.0, "seed {seed}: {settled} dB before the change");
        assert!(found > 25.0, "seed {seed}: {settled} dB before, {found} after");
    }
}

#[test]
fn a_changed_path_is_no_double_talk() {
    let mut verdicts = vec![];
    for seed in 0..2 {
        let far = speech(10 * RATE, RATE, 40 + seed);
        let (a, b) = (room(1500, 20, 50 + seed), room(1500, 20, 60 + seed));
        let change = 8 * RATE;
        let echo = [&convolve(&far, &a)[..change], &convolve(&far, &b)[change..]].concat();
        let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 1e-2).collect();
        let config = Config { taps: 1536, ..Config::default() };
        let done = cancel(&far, &add(&echo, &hiss), config, Alignment::Known(0)).unwrap();
        verdicts.extend_from_slice(&done.double_talk[change / config.block()..]);
    }
    let share = verdicts.iter().filter(|&&v| v).count() as f64 / verdicts.len() as f64;
    assert!(share < 0.25, "{share} of the two seconds after the change");
}

#[test]
fn double_talk_leaves_the_filter_and_the_near_end_alone() {
    let far = speech(12 * RATE, RATE, 5);
    let echo = convolve(&far, &room(200, 20, 6));
    let mut talk = speech(12 * RATE, RATE, 8);
    talk[..5 * RATE].fill(0.0);
    talk[9 * RATE..].fill(0.0);
    let clean = run(&far, &add(&echo, &talk));
    let left: Vec<f32> = clean.iter().zip(&talk).map(|(e, s)| e - s).collect();
    let during = gain(&echo[5 * RATE..9 * RATE], &left[5 * RATE..9 * RATE]);
    let behind = gain(&echo[9 * RATE..10 * RATE], &left[9 * RATE..10 * RATE]);
    assert!(during > 9.0, "{during} dB of echo gone during double talk");
    assert!(behind > 15.0, "{behind} dB right after it");
}

#[test]
fn a_silent_reference_passes_the_microphone_bit_for_bit() {
    let near = noise(5000, 1);
    let config = Config { high_pass: false, ..config() };
    let done = cancel(&vec![0.0; 5000], &near, config, Alignment::Known(0)).unwrap();
    assert_eq!(done.clean, near);
}

#[test]
fn the_detector_sees_double_talk_and_freezing_is_counted() {
    let far = speech(8 * RATE, RATE, 5);
    let echo = convolve(&far, &room(100, 10, 6));
    let mut talk: Vec<f32> = speech(8 * RATE, RATE, 8).iter().map(|v| 2.0 * v).collect();
    talk[..5 * RATE].fill(0.0);
    let near = add(&echo, &talk);
    for detection in
        [Detection::Correlation { threshold: 0.7 }, Detection::Geigel { threshold: 1.5 }]
    {
        let config = Config { detection, on_double_talk: OnDoubleTalk::Freeze, ..config() };
        let mut canceller = Canceller::new(config).unwrap();
        canceller.push(&far[..5 * RATE], &near[..5 * RATE]);
        let single = canceller.status();
        canceller.push(&far[5 * RATE..], &near[5 * RATE..]);
        let both = canceller.status();
        assert!(single.double_talk_share() < 0.25, "{detection:?}: {single:?}");
        let share =
            (both.double_talk - single.double_talk) as f64 / (both.active - single.active) as f64;
        assert!(share > 0.4, "{detection:?}: {share}");
        assert!(both.frozen_double_talk > single.frozen_double_talk);
    }
}

#[test]
fn what_is_not_finite_counts_as_zero_and_what_is_too_loud_passes() {
    let (mut far, mut near) = (noise(4096, 1), noise(4096, 2));
    far[100] = f32::NAN;
    near[200] = f32::INFINITY;
    near[3000] = 1e30;
    let mut canceller = Canceller::new(config()).unwrap();
    let latency = canceller.latency();
    let out = canceller.push(&far, &near).to_vec();
    assert!(out.iter().all(|v| v.is_finite()));
    assert_eq!(out[3000 + latency], 1e30);
    let status = canceller.status();
    assert_eq!((status.not_finite, status.frozen_too_loud), (2, 64));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for (config, word) in [
        (Config { taps: 0, ..config() }, "taps"),
        (Config { taps: usize::MAX, ..config() }, "taps"),
        (Config { growth: 0, ..config() }, "growth"),
        (Config { growth: usize::MAX, ..config() }, "growth"),
        (Config { rate: 0, ..config() }, "rate"),
        (Config { memory: f32::NAN, ..config() }, "memory"),
        (Config { memory: 0.0, ..config() }, "memory"),
        (Config { step: 2.0, ..config() }, "step"),
        (Config { floor: f32::INFINITY, ..config() }, "floor"),
        (Config { search: -1.0, ..config() }, "search"),
        (Config { delay: usize::MAX, ..config() }, "delay"),
        (Config { detection: Detection::Leakage { threshold: 1.0 }, ..config() }, "threshold"),
        (Config { detection: Detection::Correlation { threshold: 1.0 }, ..config() }, "threshold"),
        (Config { detection: Detection::Geigel { threshold: -1.0 }, ..config() }, "threshold"),
    ] {
        let error = Canceller::new(config).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn every_rate_and_length_works() {
    for (rate, taps) in
        [(8000, 1), (8000, 65), (16_000, 513), (44_100, 1000), (48_000, 3072), (96_000, 300)]
    {
        let config = Config { taps, ..Config::at(rate) };
        let far = noise(8000, 4);
        let near: Vec<f32> = far.iter().map(|v| 0.4 * v).collect();
        let done = cancel(&far, &near, config, Alignment::Known(0)).unwrap();
        let erle = done.report.erle.second_half.unwrap();
        // Partitions are made causal in turns, which takes a while where there are many.
        assert!(erle > 12.0, "{rate} Hz, {taps} taps: {erle} dB");
        assert_eq!(done.echo_path.len(), done.report.taps);
        assert!(done.report.taps >= taps);
    }
}

#[test]
fn a_path_longer_than_the_filter_makes_it_grow() {
    let far = speech(8 * RATE, RATE, 41);
    let hall = room(1500, 20, 42);
    let near = convolve(&far, &hall);
    let taps = 512;
    let run = |growth: usize| {
        let config = Config { taps, growth, ..Config::at(RATE as u32) };
        cancel(&far, &near, config, Alignment::Known(0)).unwrap()
    };
    let (fixed, grown) = (run(1), run(2));
    assert_eq!((fixed.report.taps, grown.report.taps), (taps, 2 * taps));
    assert_eq!(grown.echo_path.len(), 2 * taps);
    let [before, after] = [&fixed, &grown].map(|done| done.report.erle.second_half.unwrap());
    assert!(after > before + 6.0, "{before} dB fixed, {after} dB grown");

    let config = Config { taps, ..Config::at(RATE as u32) };
    let short = convolve(&far, &room(200, 20, 43));
    let done = cancel(&far, &short, config, Alignment::Known(0)).unwrap();
    assert_eq!(done.report.taps, taps, "a path that the filter holds does not make it grow");

    // Resumed in the middle of its growth it is the same canceller.
    let mut whole = Canceller::new(config).unwrap();
    let mut resumed = Canceller::new(config).unwrap();
    let mut lengths = vec![];
    for (x, d) in far.chunks(1000).zip(near.chunks(1000)) {
        assert_eq!(whole.push(x, d), resumed.push(x, d));
        resumed = Canceller::restore(&resumed.save()).unwrap();
        lengths.push(resumed.taps());
    }
    lengths.dedup();
    assert!(lengths.len() > 2 && lengths.is_sorted(), "{lengths:?}");
}

#[test]
fn damaged_states_are_refused() {
    let mut canceller = Canceller::new(config()).unwrap();
    canceller.push(&noise(1000, 1), &noise(1000, 2));
    let state = canceller.save();
    assert!(Canceller::restore(&state).is_ok());
    for cut in [0, 7, 8, 20, 100, state.len() - 1] {
        assert!(Canceller::restore(&state[..cut]).is_err());
    }
    for at in (0..state.len()).step_by(997) {
        let mut bytes = state.clone();
        bytes[at] ^= 0x41;
        assert!(Canceller::restore(&bytes).is_err(), "byte {at}");
    }
}

fn sample() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -1.0f32..1.0,
        2 => Just(0.0f32),
        1 => prop_oneof![Just(1e30f32), Just(-1e30), Just(f32::MAX), Just(f32::MIN_POSITIVE), Just(1e-42), Just(9e5)],
        1 => proptest::num::f32::NORMAL,
    ]
}

/// Stretches of noise, silence, impulses and constants, each of its own amplitude.
fn signal() -> impl Strategy<Value = Vec<f32>> {
    let stretch = (1usize..700, 0u32..4, sample(), any::<u32>()).prop_map(
        |(n, kind, scale, seed)| match kind {
            0 => noise(n, seed).iter().map(|v| v * scale).collect(),
            1 => vec![0.0; n],
            2 => (0..n).map(|i| if i == n / 2 { scale } else { 0.0 }).collect(),
            _ => vec![scale; n],
        },
    );
    prop::collection::vec(stretch, 1..12).prop_map(|v: Vec<Vec<f32>>| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_output_is_finite_for_any_finite_input(far in signal(), near in signal()) {
        let n = far.len().min(near.len());
        let mut canceller = Canceller::new(config()).unwrap();
        let out = canceller.push(&far[..n], &near[..n]);
        prop_assert!(out.iter().all(|v| v.is_finite()));
        prop_assert!(canceller.echo_path().iter().all(|v| v.is_finite()));
        prop_assert!(Canceller::restore(&canceller.save()).is_ok());
    }

    #[test]
    fn pieces_and_resuming_change_nothing(
        far in signal(), near in signal(), cuts in prop::collection::vec(1usize..400, 1..20), stop in any::<prop::sample::Index>(),
    ) {
        let n = far.len().min(near.len());
        let mut whole = Canceller::new(config()).unwrap();
        let expected = whole.push(&far[..n], &near[..n]).to_vec();
        let mut pieces = Canceller::new(config()).unwrap();
        let (mut out, mut at, stop) = (Vec::new(), 0, stop.index(cuts.len()));
        for (i, cut) in cuts.iter().cycle().enumerate() {
            if at == n {
                break;
            }
            let end = n.min(at + cut);
            out.extend_from_slice(pieces.push(&far[at..end], &near[at..end]));
            at = end;
            if i == stop {
                pieces = Canceller::restore(&pieces.save()).unwrap();
            }
        }
        let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&out), bits(&expected));
        prop_assert_eq!(pieces.status(), whole.status());
    }
}
