//! WAV files and the state of an echo canceller.

use std::path::Path;
use std::sync::LazyLock;

use parsimon_audio::{Canceller, Config, wav};

use crate::{Outcome, repair};

/// A WAV file of some format code, with an odd chunk before its samples.
fn file(code: u16, channels: u16, bits: u16, data: &[u8]) -> Vec<u8> {
    let frame = channels * bits / 8;
    let mut format = Vec::new();
    format.extend(code.to_le_bytes());
    format.extend(channels.to_le_bytes());
    format.extend(16_000_u32.to_le_bytes());
    format.extend((16_000 * u32::from(frame)).to_le_bytes());
    format.extend(frame.to_le_bytes());
    format.extend(bits.to_le_bytes());
    let mut chunks = b"WAVE".to_vec();
    for (name, body) in [(b"fmt ", &format[..]), (b"LIST", b"odd"), (b"data", data)] {
        chunks.extend(name);
        chunks.extend((body.len() as u32).to_le_bytes());
        chunks.extend(body);
        chunks.extend(&[0][..body.len() % 2]);
    }
    [b"RIFF", &(chunks.len() as u32).to_le_bytes()[..], &chunks].concat()
}

pub(crate) fn wav_seeds() -> Vec<Vec<u8>> {
    let data: Vec<u8> = (0..48).collect();
    let floats: Vec<u8> = [0.0_f32, 0.5, -1.0, 0.25].iter().flat_map(|x| x.to_le_bytes()).collect();
    vec![
        file(1, 1, 16, &data),
        file(1, 2, 16, &data),
        file(1, 1, 8, &data),
        file(1, 1, 24, &data),
        file(1, 1, 32, &data),
        file(3, 1, 32, &floats),
    ]
}

pub(crate) fn wav(bytes: &[u8]) -> Outcome {
    let read = |channel| wav::read_bytes(Path::new("x.wav"), bytes, channel);
    for channel in [None, Some(1), Some(2)] {
        if let Ok(signal) = read(channel) {
            assert!(!signal.samples.is_empty() && signal.rate > 0);
            assert!(signal.samples.iter().all(|x| x.is_finite()));
        }
    }
    match read(Some(1)) {
        Ok(_) => Outcome::Accepted,
        Err(_) if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") => {
            Outcome::Refused
        }
        Err(_) => Outcome::Unrecognized,
    }
}

fn signals() -> (Vec<f32>, Vec<f32>) {
    let far: Vec<f32> = (0..700).map(|i| (i as f32 * 0.1).sin()).collect();
    let near = far.iter().map(|x| 0.3 * x).collect();
    (far, near)
}

pub(crate) fn canceller_seeds() -> Vec<Vec<u8>> {
    let (far, near) = signals();
    let seeds = |suppress| {
        let config = Config { taps: 64, suppress, ..Config::at(8000) };
        let mut canceller = Canceller::new(config).unwrap();
        let fresh = canceller.save();
        canceller.push(&far, &near);
        [fresh, canceller.save()]
    };
    [seeds(false), seeds(true)].concat()
}

/// What every saved state begins with.
static MAGIC: LazyLock<[u8; 8]> = LazyLock::new(|| {
    let saved = Canceller::new(Config::at(8000)).unwrap().save();
    *saved.first_chunk().unwrap()
});

pub(crate) fn canceller(bytes: &[u8]) -> Outcome {
    let bytes = repair::canceller(bytes);
    if !bytes.starts_with(&*MAGIC) || bytes.len() < 32 {
        assert!(Canceller::restore(&bytes).is_err());
        return Outcome::Unrecognized;
    }
    let Ok(mut canceller) = Canceller::restore(&bytes) else { return Outcome::Refused };
    let (far, near) = signals();
    assert!(canceller.push(&far, &near).iter().all(|x| x.is_finite()), "a sample is not finite");
    // A forged power may overflow later: such a state is not read back, and the samples stay finite.
    if let Ok(mut again) = Canceller::restore(&canceller.save()) {
        assert_eq!(
            again.push(&far, &near),
            canceller.push(&far, &near),
            "saved and read differently"
        );
    }
    Outcome::Accepted
}
