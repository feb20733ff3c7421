//! Tests of streams: a delay found while running, drifting clocks, hum.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{add, convolve, energy, gain, noise, room, speech};
use parsimon_audio::{Alignment, Canceller, Config, Status, cancel};

const RATE: usize = 16_000;

fn later(x: &[f32], by: usize) -> Vec<f32> {
    [vec![0.0; by], x[..x.len() - by].to_vec()].concat()
}

/// What a loudspeaker plays whose clock is `ppm` millionths fast.
fn drifted(x: &[f32], ppm: f64) -> Vec<f32> {
    let half = 24i64;
    (0..x.len())
        .map(|t| {
            let at = t as f64 * (1.0 + ppm * 1e-6);
            let whole = at.floor() as i64;
            (whole - half + 1..=whole + half)
                .filter_map(|i| {
                    let u = std::f64::consts::PI * (at - i as f64);
                    let sinc = if u.abs() < 1e-12 { 1.0 } else { u.sin() / u };
                    let window = (u / (2 * half + 1) as f64).cos().powi(2);
                    let sample = x.get(usize::try_from(i).ok()?)?;
                    Some(f64::from(*sample) * sinc * window)
                })
                .sum::<f64>() as f32
        })
        .collect()
}

fn live() -> Config {
    Config { taps: 512, search: 0.25, delay: 40, ..Config::at(RATE as u32) }
}

/// A scene with a late echo and a drift.
fn scene(seconds: usize) -> (Vec<f32>, Vec<f32>) {
    let far = speech(seconds * RATE, RATE, 1);
    let echo = convolve(&later(&drifted(&far, 100.0), 2500), &room(200, 20, 2));
    let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 1e-3).collect();
    (far, add(&echo, &hiss))
}

#[test]
fn a_late_echo_is_found_while_the_stream_runs() {
    let (far, near) = scene(14);
    let mut canceller = Canceller::new(live()).unwrap();
    let out = canceller.push(&far, &near).to_vec();
    assert_eq!(canceller.status().realignments, 1, "{:?}", canceller.status());
    assert!((2400.0..2550.0).contains(&canceller.delay()), "{}", canceller.delay());
    let end = 13 * RATE..14 * RATE - 64;
    let left = gain(&near[end.clone()], &out[end.start + 64..end.end + 64]);
    assert!(left > 15.0, "{left} dB");
}

#[test]
fn pieces_and_resuming_change_nothing_in_a_live_stream() {
    let (far, near) = scene(6);
    let mut whole = Canceller::new(live()).unwrap();
    let expected = whole.push(&far, &near).to_vec();
    for pieces in [&[1usize, 63, 64, 65, 700][..], &[4096], &[480, 160]] {
        let mut canceller = Canceller::new(live()).unwrap();
        let (mut at, mut out) = (0, Vec::new());
        for (i, piece) in pieces.iter().cycle().enumerate() {
            let end = far.len().min(at + piece);
            out.extend_from_slice(canceller.push(&far[at..end], &near[at..end]));
            at = end;
            if i % 97 == 20 {
                canceller = Canceller::restore(&canceller.save()).unwrap();
            }
            if at == far.len() {
                break;
            }
        }
        assert!(out.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(canceller.status(), whole.status());
        assert_eq!(canceller.drift_ppm().to_bits(), whole.drift_ppm().to_bits());
    }
}

#[test]
fn drift_is_followed_either_way() {
    let far = speech(24 * RATE, RATE, 4);
    let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 1e-3).collect();
    for ppm in [200.0, -200.0] {
        let near = add(&convolve(&drifted(&far, ppm), &room(300, 40, 5)), &hiss);
        let erle = |drift: bool| {
            let config = Config { taps: 1024, drift, ..Config::at(RATE as u32) };
            let done = cancel(&far, &near, config, Alignment::Known(0)).unwrap();
            let end = 16 * RATE..23 * RATE;
            (gain(&near[end.clone()], &done.clean[end]), done.report.drift_ppm)
        };
        let ((with, found), (without, none)) = (erle(true), erle(false));
        assert_eq!(none, 0.0);
        assert!(found * ppm.signum() > 20.0, "{found} ppm for {ppm}");
        assert!(with > without, "{ppm} ppm: {with} dB, {without} dB without");
    }
}

#[test]
fn far_end_alone_is_no_double_talk() {
    let far = speech(20 * RATE, RATE, 14);
    let echo = convolve(&far, &room(200, 20, 15));
    let mut talk = speech(20 * RATE, RATE, 18);
    talk[..14 * RATE].fill(0.0);
    let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| v * 1e-3).collect();
    let mut canceller = Canceller::new(Config { taps: 512, ..Config::at(RATE as u32) }).unwrap();
    let near = add(&add(&echo, &talk), &hiss);
    canceller.push(&far[..4 * RATE], &near[..4 * RATE]);
    let start = canceller.status();
    canceller.push(&far[4 * RATE..14 * RATE], &near[4 * RATE..14 * RATE]);
    let single = canceller.status();
    canceller.push(&far[14 * RATE..], &near[14 * RATE..]);
    let both = canceller.status();
    let share = |a: Status, b: Status| {
        (b.double_talk - a.double_talk) as f64 / (b.active - a.active) as f64
    };
    assert!(share(start, single) < 0.1, "{} false", share(start, single));
    assert!(share(single, both) > 0.4, "{} of double talk", share(single, both));
}

#[test]
fn hum_goes_and_a_voice_keeps_its_waveform() {
    let seconds = 16;
    let silence = vec![0.0f32; seconds * RATE];
    let hum: Vec<f32> = (0..seconds * RATE)
        .map(|i| 0.1 * (std::f32::consts::TAU * 50.0 * i as f32 / RATE as f32).sin())
        .collect();
    let clean = |near: &[f32]| {
        cancel(&silence, near, Config::at(RATE as u32), Alignment::Known(0)).unwrap().clean
    };
    let left = gain(&hum[13 * RATE..], &clean(&hum)[13 * RATE..]);
    assert!(left > 10.0, "{left} dB of hum are gone");
    let voice = speech(seconds * RATE, RATE, 7);
    let off: Vec<f32> = clean(&voice).iter().zip(&voice).map(|(a, b)| a - b).collect();
    assert!(energy(&off) < 0.08 * energy(&voice), "{} dB", gain(&voice, &off));
}
