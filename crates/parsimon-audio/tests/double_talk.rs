//! Near-end speech over the echo, and near-end speech where there is no echo.

use crate::common;

use common::{add, convolve, energy, gain, noise, room, speech};
use parsimon_audio::{Canceller, Config};

const RATE: usize = 16_000;

/// The output of a running canceller, aligned with the microphone.
fn canceled(far: &[f32], near: &[f32], config: Config) -> Vec<f32> {
    let mut canceller = Canceller::new(config).expect("the settings are right");
    let late = vec![0.0; canceller.latency()];
    let out = canceller.push(&[far, &late].concat(), &[near, &late].concat()).to_vec();
    out[late.len()..].to_vec()
}

/// By how many dB the echo is reduced in the samples from `start` to `end` seconds, with near end and noise known.
fn true_reduction(out: &[f32], echo: &[f32], rest: &[f32], start: usize, end: usize) -> f64 {
    let left = add(out, &rest.iter().map(|v| -v).collect::<Vec<_>>());
    gain(&echo[start * RATE..end * RATE], &left[start * RATE..end * RATE])
}

#[test]
fn the_path_is_held_while_both_talk() {
    let far = speech(18 * RATE, RATE, 3);
    let echo = convolve(&far, &room(900, 20, 5));
    let mut talk = vec![0.0; 10 * RATE];
    talk.extend(speech(8 * RATE, RATE, 8));
    let level = (energy(&echo[10 * RATE..]) / energy(&talk)).sqrt() as f32;
    let hiss = noise(far.len(), 6);
    // 30 dB below the echo.
    let quiet = (1e-3 * energy(&echo) / energy(&hiss)).sqrt() as f32;
    for (ratio, least) in [(0.32f32, 25.0), (1.0, 20.0), (3.2, 13.0)] {
        let rest: Vec<f32> =
            talk.iter().zip(&hiss).map(|(t, v)| ratio * level * t + quiet * v).collect();
        let out = canceled(&far, &add(&echo, &rest), Config::default());
        let single = true_reduction(&out, &echo, &rest, 7, 10);
        let double = true_reduction(&out, &echo, &rest, 10, 18);
        assert!(single > 25.0, "{single:.1} dB before the near end speaks");
        assert!(double > least, "{double:.1} dB in double talk, {single:.1} dB before");
    }
}

#[test]
fn a_path_that_changes_in_double_talk_is_found_again() {
    let far = speech(22 * RATE, RATE, 3);
    let (a, b) = (convolve(&far, &room(900, 20, 5)), convolve(&far, &room(900, 20, 15)));
    let echo = [&a[..11 * RATE], &b[11 * RATE..]].concat();
    let mut rest = vec![0.0; 8 * RATE];
    rest.extend(speech(6 * RATE, RATE, 8).iter().map(|v| 0.7 * v));
    rest.resize(far.len(), 0.0);
    let rest = add(&rest, &noise(far.len(), 6).iter().map(|v| 0.001 * v).collect::<Vec<_>>());
    let out = canceled(&far, &add(&echo, &rest), Config::default());
    let soon = true_reduction(&out, &echo, &rest, 17, 19);
    let last = true_reduction(&out, &echo, &rest, 20, 22);
    assert!(soon > last - 6.0, "{soon:.1} dB 3 s after the near end, {last:.1} dB in the end");
    assert!(last > 20.0, "{last:.1} dB in the end");
}

#[test]
fn without_an_echo_the_microphone_passes() {
    let (far, near) = (speech(12 * RATE, RATE, 3), speech(12 * RATE, RATE, 8));
    for suppress in [false, true] {
        let config = Config { suppress, high_pass: false, ..Config::default() };
        let out = canceled(&far, &near, config);
        let off = add(&out, &near.iter().map(|v| -v).collect::<Vec<_>>());
        let kept = gain(&near[4 * RATE..], &off[4 * RATE..]);
        assert!(kept > 25.0, "the output differs from the microphone by {kept:.1} dB less");
    }
}
