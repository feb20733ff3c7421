//! Recordings of others, where they are at hand: the echo goes, the near end stays.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

mod common;

use std::path::PathBuf;

use common::{add, gain};
use parsimon_audio::wav::{self, SampleFormat};
use parsimon_audio::{Alignment, Config, Spectrogram, cancel};

fn shared(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/audio/real_aec"))
            .join(name);
    path.exists().then_some(path)
}

fn samples(name: &str) -> Option<Vec<f32>> {
    Some(wav::read(&shared(name)?, None).unwrap().samples)
}

#[test]
fn second_halves_lose_what_they_lost_when_this_was_written() {
    for (far, near, least) in [
        ("real_linear_far.wav", "real_linear_near.wav", 3.4),
        ("aecc_doubletalk_lpb.wav", "aecc_doubletalk_mic.wav", 13.4),
        ("aecc_doubletalk_movement_lpb.wav", "aecc_doubletalk_movement_mic.wav", 2.2),
        ("ms2_farend_simple_talk.wav", "ms2_echo_simple_talk.wav", 25.5),
        ("pyaec_x.wav", "pyaec_d.wav", 5.5),
    ] {
        let (Some(far), Some(path)) = (samples(far), shared(near)) else { return };
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

#[test]
fn the_near_end_survives_double_talk() {
    let (Some(far), Some(echo), Some(talk)) = (
        samples("ms2_farend_double_talk.wav"),
        samples("ms2_echo_double_talk.wav"),
        samples("ms2_nearend_double_talk.wav"),
    ) else {
        return;
    };
    let done = cancel(&far, &add(&echo, &talk), Config::default(), Alignment::default()).unwrap();
    let left: Vec<f32> = done.clean.iter().zip(&talk).map(|(e, s)| e - s).collect();
    let (sdr, erle) = (gain(&talk, &left), gain(&echo, &left));
    assert!(sdr > 14.0, "near end over everything else: {sdr} dB");
    assert!(erle > 16.0, "{erle} dB of the echo itself gone");
}
