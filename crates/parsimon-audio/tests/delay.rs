//! Known delays are found, on noise and on what is like speech, whichever signal comes first.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{add, convolve, gain, noise, room, speech};
use parsimon_audio::{Alignment, Config, cancel, delay};

fn later(x: &[f32], by: i64) -> Vec<f32> {
    (0..x.len() as i64)
        .map(|i| usize::try_from(i - by).ok().and_then(|i| x.get(i)).copied().unwrap_or(0.0))
        .collect()
}

#[test]
fn delays_are_found() {
    for (name, far) in [("noise", noise(60_000, 1)), ("speech", speech(60_000, 16_000, 2))] {
        for by in [-3000, -1, 0, 1, 33, 462, 5000] {
            let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| 0.01 * v).collect();
            let near = add(&later(&far, by), &hiss);
            let found = delay::search(&far, &near, 8000, 480).unwrap();
            assert_eq!(found.samples, by, "{name}");
            assert!(found.is_reliable(), "{name} by {by}: {found:?}");
        }
    }
}

#[test]
fn a_room_and_a_second_voice_do_not_hide_the_direct_sound() {
    let far = speech(100_000, 16_000, 2);
    let near = add(&convolve(&later(&far, 900), &room(300, 0, 4)), &speech(100_000, 16_000, 9));
    let found = delay::search(&far, &near, 8000, 480).unwrap();
    assert!((900..960).contains(&found.samples), "{found:?}");
}

#[test]
fn strangers_and_silence_are_not_believed() {
    let found = delay::search(&noise(60_000, 1), &noise(60_000, 2), 8000, 480).unwrap();
    assert!(!found.is_reliable(), "{found:?}");
    assert_eq!(delay::search(&vec![0.0; 1000], &noise(1000, 1), 100, 10), None);
    assert_eq!(delay::search(&[], &[], 100, 10), None);
    assert!(
        delay::search(&[1e30; 100], &[1e-30; 100], 10, 5).is_some_and(|d| d.confidence.is_finite())
    );
}

#[test]
fn late_and_early_echoes_are_canceled_alike() {
    let far = noise(48_000, 1);
    for by in [-2000, -3, 100, 4000] {
        let near: Vec<f32> = later(&far, by).iter().map(|v| 0.5 * v).collect();
        let done =
            cancel(&far, &near, Config { taps: 256, ..Config::default() }, Alignment::default())
                .unwrap();
        assert_eq!(done.report.delay.unwrap().samples, by);
        let half = 24_000..44_000;
        let left = gain(&near[half.clone()], &done.clean[half]);
        assert!(left > 25.0, "by {by}: {left} dB");
    }
}

#[test]
fn a_reference_of_another_length_is_padded_or_cut() {
    let far = noise(20_000, 1);
    let near: Vec<f32> = far.iter().map(|v| 0.5 * v).collect();
    for n in [0, 1, 5000, 20_000] {
        for (x, d) in [(&far[..n], &near[..]), (&far[..], &near[..n])] {
            let done = cancel(x, d, Config::default(), Alignment::default()).unwrap();
            assert_eq!(done.clean.len(), d.len());
            assert!(done.clean.iter().all(|v| v.is_finite()));
        }
    }
    assert!(
        cancel(&far, &near, Config::default(), Alignment::Search { seconds: f64::NAN }).is_err()
    );
    assert!(cancel(&far, &near, Config::default(), Alignment::Known(i64::MIN)).is_ok());
}

#[test]
fn swapped_signals_are_named_and_a_negative_delay_needs_proof() {
    let far = speech(12 * 16_000, 16_000, 2);
    let hiss: Vec<f32> = noise(far.len(), 3).iter().map(|v| 1e-3 * v).collect();
    let near = add(&convolve(&later(&far, 900), &room(900, 10, 4)), &hiss);
    let right = cancel(&far, &near, Config::default(), Alignment::default()).unwrap();
    assert_eq!(right.report.warning, None);
    let swapped = cancel(&near, &far, Config::default(), Alignment::default()).unwrap();
    let words = swapped.report.warning.unwrap();
    assert!(words.contains("swapped"), "{words}");
    assert_eq!(swapped.report.shift, 0);
    // A recorder of the loudspeaker that started late: the delay is negative and pays.
    let late = later(&far, 2000);
    let early = cancel(&late, &near, Config::default(), Alignment::default()).unwrap();
    let words = early.report.warning.unwrap();
    assert!(words.contains("ms later than its echo; it was shifted"), "{words}");
    assert!(early.report.shift < -1000);
    let half = far.len() / 2;
    assert!(gain(&near[half..], &early.clean[half..]) > 15.0);
}
