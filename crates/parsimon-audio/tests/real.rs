//! Recordings of others, where they are at hand: the echo goes, the near end stays.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

mod common;
#[path = "../../parsimon-data/tests/needs.rs"]
mod needs;

use common::{add, gain};
use needs::{shared, with_data};
use parsimon_audio::wav::{self, SampleFormat};
use parsimon_audio::{Alignment, Config, Spectrogram, cancel};

const RECORDINGS: &[&str] = &["audio/real_aec"];

fn main() {
    needs::run(vec![
        with_data(
            "second_halves_lose_what_they_lost_when_this_was_written",
            RECORDINGS,
            second_halves_lose_what_they_lost_when_this_was_written,
        ),
        with_data(
            "the_near_end_survives_double_talk",
            RECORDINGS,
            the_near_end_survives_double_talk,
        ),
    ]);
}

fn samples(name: &str) -> Vec<f32> {
    wav::read(&shared(RECORDINGS[0]).join(name), None).unwrap().samples
}

/// The high-pass of every measurement of `bench/echo.py`: Butterworth, order 4, 100 Hz, at 16 kHz.
fn measured(samples: &[f32]) -> Vec<f32> {
    let w = (std::f64::consts::PI * 100.0 / 16_000.0).tan();
    let mut out: Vec<f64> = samples.iter().map(|&v| v.into()).collect();
    for angle in [std::f64::consts::FRAC_PI_8, 3.0 * std::f64::consts::FRAC_PI_8] {
        let damping = 2.0 * angle.cos() * w;
        let norm = 1.0 / (1.0 + damping + w * w);
        let (a1, a2) = (2.0 * (w * w - 1.0) * norm, (1.0 - damping + w * w) * norm);
        let (mut m1, mut m2) = (0.0, 0.0);
        for v in &mut out {
            let x = norm * *v;
            let y = x + m1;
            m1 = -2.0 * x - a1 * y + m2;
            m2 = x - a2 * y;
            *v = y;
        }
    }
    out.into_iter().map(|v| v as f32).collect()
}

fn second_halves_lose_what_they_lost_when_this_was_written() {
    for (far, near, least) in [
        ("real_linear_far.wav", "real_linear_near.wav", 3.4),
        ("aecc_doubletalk_lpb.wav", "aecc_doubletalk_mic.wav", 13.4),
        ("aecc_doubletalk_movement_lpb.wav", "aecc_doubletalk_movement_mic.wav", 2.2),
        ("ms2_farend_simple_talk.wav", "ms2_echo_simple_talk.wav", 25.5),
        ("pyaec_x.wav", "pyaec_d.wav", 5.5),
    ] {
        let (far, path) = (samples(far), shared(RECORDINGS[0]).join(near));
        let near = wav::read(&path, None).unwrap();
        assert_eq!(near.format, SampleFormat::Int16);
        let done =
            cancel(&far, &near.samples, Config::at(near.rate), Alignment::default()).unwrap();
        let erle = done.report.erle.second_half.unwrap();
        assert!(erle >= least, "{}: {erle} dB", path.display());
        assert!(done.report.delay.unwrap().is_reliable());
        assert_eq!(done.report.status.resets, 0);
        serde_json::to_string(&done.report).unwrap();
        let picture = Spectrogram::of(&done.clean, near.rate, 400, 128);
        assert_eq!((picture.decibels.len(), picture.width), (400 * 128, 400));
    }
}

fn the_near_end_survives_double_talk() {
    let (far, echo, talk) = (
        samples("ms2_farend_double_talk.wav"),
        samples("ms2_echo_double_talk.wav"),
        samples("ms2_nearend_double_talk.wav"),
    );
    let done = cancel(&far, &add(&echo, &talk), Config::default(), Alignment::default()).unwrap();
    let left: Vec<f32> = done.clean.iter().zip(&talk).map(|(e, s)| e - s).collect();
    // An eighth of the near end's power is rumble below 100 Hz, which the canceller removes too.
    let (talk, echo, left) = (measured(&talk), measured(&echo), measured(&left));
    let (sdr, erle) = (gain(&talk, &left), gain(&echo, &left));
    assert!(sdr > 13.8, "near end over everything else: {sdr} dB");
    assert!(erle > 16.0, "{erle} dB of the echo itself gone");
}
