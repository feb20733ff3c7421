//! Files come back as they were written, and bytes that are no file are refused in words.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use std::path::Path;

use parsimon_audio::wav::{self, SampleFormat, Signal};
use proptest::prelude::*;

const FORMATS: [SampleFormat; 5] = [
    SampleFormat::Int8,
    SampleFormat::Int16,
    SampleFormat::Int24,
    SampleFormat::Int32,
    SampleFormat::Float32,
];

fn bytes_of(samples: &[f32], format: SampleFormat) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wav");
    wav::write(&path, samples, 16_000, format).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    std::fs::read(path).unwrap()
}

fn parse(bytes: &[u8], channel: Option<usize>) -> Result<Signal, String> {
    wav::read_bytes(Path::new("a.wav"), bytes, channel).map_err(|e| e.to_string())
}

/// A header of `channels` channels around `data`, extensible or not.
fn file(tag: u16, channels: u16, bits: u16, data: &[u8], extensible: bool) -> Vec<u8> {
    let mut fmt = Vec::new();
    fmt.extend_from_slice(&(if extensible { 0xfffe } else { tag }).to_le_bytes());
    fmt.extend_from_slice(&channels.to_le_bytes());
    fmt.extend_from_slice(&16_000u32.to_le_bytes());
    let frame = channels * bits / 8;
    fmt.extend_from_slice(&(16_000 * u32::from(frame)).to_le_bytes());
    fmt.extend_from_slice(&frame.to_le_bytes());
    fmt.extend_from_slice(&bits.to_le_bytes());
    if extensible {
        fmt.extend_from_slice(&[22, 0]);
        fmt.extend_from_slice(&bits.to_le_bytes());
        fmt.extend_from_slice(&[0; 4]);
        fmt.extend_from_slice(&tag.to_le_bytes());
        fmt.extend_from_slice(&[0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]);
    }
    let mut bytes = b"RIFF\0\0\0\0WAVE".to_vec();
    for (name, body) in [(b"LIST", &b"odd"[..]), (b"fmt ", &fmt[..]), (b"data", data)] {
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(body);
        if body.len() % 2 == 1 {
            bytes.push(0);
        }
    }
    bytes
}

proptest! {
    // Every case syncs five files.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_was_read_is_written_back(levels in prop::collection::vec(-128i32..128, 1..50)) {
        let samples: Vec<f32> = levels.iter().map(|&v| v as f32 / 128.0).collect();
        for format in FORMATS {
            let signal = parse(&bytes_of(&samples, format), None).unwrap();
            prop_assert_eq!(&signal.samples, &samples);
            prop_assert_eq!((signal.format, signal.rate, signal.channels), (format, 16_000, 1));
        }
    }

}

#[test]
fn channels_are_chosen_and_extensible_headers_read() {
    let data: Vec<u8> = [100i16, -100, 200, -200].iter().flat_map(|v| v.to_le_bytes()).collect();
    for extensible in [false, true] {
        let bytes = file(1, 2, 16, &data, extensible);
        assert_eq!(
            parse(&bytes, None).unwrap_err(),
            "a.wav: has 2 channels; choose one, counted from 1, with --reference-channel and --microphone-channel, or --channel"
        );
        for channel in [0, 3] {
            let words = format!("there is no channel {channel}");
            assert!(parse(&bytes, Some(channel)).unwrap_err().contains(&words));
        }
        let left = parse(&bytes, Some(1)).unwrap();
        let right = parse(&bytes, Some(2)).unwrap();
        assert_eq!(left.samples, [100.0 / 32768.0, 200.0 / 32768.0]);
        assert_eq!(right.samples, [-100.0 / 32768.0, -200.0 / 32768.0]);
    }
}

#[test]
fn refusals_say_what_was_found() {
    let float = |v: f32| file(3, 1, 32, &[0.5f32.to_le_bytes(), v.to_le_bytes()].concat(), false);
    let whole = bytes_of(&[0.1; 100], SampleFormat::Int16);
    for (bytes, words) in [
        (b"".to_vec(), "0 bytes are too few"),
        (b"ID3\x04 and then some music".to_vec(), "begins with \"ID3"),
        (b"RF64\0\0\0\0WAVE".to_vec(), "neither a \"fmt \" nor a \"data\" chunk"),
        (b"RIFF\0\0\0\0WAVE".to_vec(), "neither a \"fmt \" nor a \"data\" chunk"),
        (whole[..36].to_vec(), "no \"data\" chunk"),
        (whole[..40].to_vec(), "4 bytes where a chunk should begin"),
        (whole[..44].to_vec(), "holds no samples"),
        (b"fLaC and then nothing".to_vec(), "is no valid FLAC file"),
        (file(1, 1, 16, &[], false), "holds no samples"),
        (file(1, 1, 16, &[1], false), "holds no samples"),
        (file(1, 1, 12, &[1, 2], false), "integers of 12 bits"),
        (file(3, 1, 16, &[0; 8], false), "floats of 16 bits"),
        (file(0x55, 1, 16, &[0; 8], false), "compressed (format 0x0055)"),
        (file(1, 0, 16, &[0; 8], false), "0 channels"),
        (float(f32::NAN), "sample 1 (0.000 s) is NaN"),
        (float(f32::INFINITY), "sample 1 (0.000 s) is inf"),
    ] {
        let error = parse(&bytes, None).unwrap_err();
        assert!(error.contains(words), "{error:?} does not say {words:?}");
    }
    assert!(
        wav::read(Path::new("/no/such.wav"), None)
            .unwrap_err()
            .to_string()
            .contains("/no/such.wav")
    );
}

/// `hound` is another reader and writer of the same files.
#[test]
fn hound_reads_what_is_written_and_writes_what_is_read() {
    let samples: Vec<f32> = (0..200).map(|t| (t as f32 * 0.1).sin() * 0.9).collect();
    for format in FORMATS {
        let bytes = bytes_of(&samples, format);
        let signal = parse(&bytes, None).unwrap();
        let reader = hound::WavReader::new(&bytes[..]).unwrap();
        let spec = reader.spec();
        assert_eq!((spec.sample_rate, spec.channels), (16_000, 1));
        let theirs: Vec<f32> = match spec.sample_format {
            hound::SampleFormat::Float => {
                reader.into_samples::<f32>().map(|v| v.unwrap()).collect()
            }
            hound::SampleFormat::Int => {
                let scale = f64::from(1u32 << (spec.bits_per_sample - 1));
                let all =
                    reader.into_samples::<i32>().map(|v| (f64::from(v.unwrap()) / scale) as f32);
                all.collect()
            }
        };
        assert_eq!(theirs, signal.samples, "{format:?}");
        // Back through hound's writer, two channels with the same samples; beyond 16 bits its header is extensible.
        let mut file = std::io::Cursor::new(Vec::new());
        let mut writer =
            hound::WavWriter::new(&mut file, hound::WavSpec { channels: 2, ..spec }).unwrap();
        let scale = f64::from(1u32 << (spec.bits_per_sample - 1));
        for &v in &signal.samples {
            for _ in 0..2 {
                match spec.sample_format {
                    hound::SampleFormat::Float => writer.write_sample(v).unwrap(),
                    hound::SampleFormat::Int => {
                        writer.write_sample((f64::from(v) * scale).round() as i32).unwrap();
                    }
                }
            }
        }
        writer.finalize().unwrap();
        let again = parse(&file.into_inner(), Some(2)).unwrap();
        assert_eq!((again.samples, again.format), (signal.samples, format));
    }
}

#[test]
fn a_length_that_a_pipe_could_not_know_is_until_the_end() {
    let mut bytes = bytes_of(&[0.5; 3], SampleFormat::Int16);
    bytes[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(parse(&bytes, None).unwrap().samples, [0.5; 3]);
}

#[test]
fn samples_behind_wrong_lengths_are_read_with_a_remark() {
    let whole = bytes_of(&[0.5; 3], SampleFormat::Int16);
    for (length, words) in [
        (0u32, "promises no samples"),
        (100, "100 bytes of samples promised, 6 found"),
        (u32::MAX - 1, "promised, 6 found"),
    ] {
        let mut bytes = whole.clone();
        bytes[4..8].copy_from_slice(&0u32.to_le_bytes());
        bytes[40..44].copy_from_slice(&length.to_le_bytes());
        let signal = parse(&bytes, None).unwrap();
        assert_eq!(signal.samples, [0.5; 3]);
        let remark = signal.remark.unwrap();
        assert!(remark.contains(words), "{remark:?} does not say {words:?}");
    }
    let odd = parse(&file(1, 1, 16, &[0, 64, 3], false), None).unwrap();
    assert_eq!((odd.samples, odd.remark.is_some()), (vec![0.5], true));
    // No samples, and a title behind them.
    let mut empty = file(1, 1, 16, &[], false);
    empty.extend_from_slice(b"LIST\x04\0\0\0name");
    assert!(parse(&empty, None).unwrap_err().contains("holds no samples"));
    assert!(parse(&whole, None).unwrap().remark.is_none());
}

#[test]
fn files_beyond_four_gigabytes_have_their_length_elsewhere() {
    for name in [b"RF64", b"BW64"] {
        let plain = bytes_of(&[0.5; 3], SampleFormat::Int16);
        let mut bytes = name.to_vec();
        bytes.extend_from_slice(b"\xff\xff\xff\xffWAVEds64\x1c\0\0\0");
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&4u64.to_le_bytes());
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(&plain[12..40]);
        bytes.extend_from_slice(b"\xff\xff\xff\xff");
        bytes.extend_from_slice(&plain[44..]);
        let signal = parse(&bytes, None).unwrap();
        assert_eq!((signal.samples, signal.remark), (vec![0.5; 2], None), "the length of ds64");
    }
}

#[test]
fn telephone_codes_and_doubles_are_read_and_written() {
    // Values from ITU-T G.711: the loudest, the quietest and one between.
    let mu = parse(&file(7, 1, 8, &[0x80, 0xff, 0xef], false), None).unwrap();
    assert_eq!(mu.samples, [32_124.0, 0.0, 132.0].map(|v: f32| v / 32_768.0));
    let a = parse(&file(6, 1, 8, &[0xaa, 0xd5, 0x55], true), None).unwrap();
    assert_eq!(a.samples, [32_256.0, 8.0, -8.0].map(|v: f32| v / 32_768.0));
    let doubles: Vec<u8> = [0.25f64, -1.5].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(parse(&file(3, 1, 64, &doubles, false), None).unwrap().samples, [0.25, -1.5]);
    for (signal, format) in [(mu, SampleFormat::MuLaw), (a, SampleFormat::ALaw)] {
        assert_eq!(signal.format, format);
        assert_eq!(
            parse(&bytes_of(&signal.samples, format), None).unwrap().samples,
            signal.samples
        );
    }
}

#[test]
fn several_channels_are_written_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.wav");
    wav::write_channels(&path, &[&[0.5, 0.25], &[-0.5, -0.25]], 8000, SampleFormat::Int16).unwrap();
    assert_eq!(wav::read(&path, Some(1)).unwrap().samples, [0.5, 0.25]);
    assert_eq!(wav::read(&path, Some(2)).unwrap().samples, [-0.5, -0.25]);
}

#[test]
fn clipping_is_counted_in_and_out() {
    let data: Vec<u8> = [32767i16, 32767, 5, 32767, 32767, 32767, 32767, -32768, -32768, -32768, 0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let signal = parse(&file(1, 1, 16, &data, false), None).unwrap();
    assert_eq!(signal.clipped, 7);
    assert!(!signal.is_silent());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wav");
    let written =
        wav::write(&path, &[1.0, 0.0, -1.0, -1.1, 3.0], 8000, SampleFormat::Int24).unwrap();
    assert_eq!(written.clipped, 3); // 1 itself is one step too high for an integer
    assert!(
        wav::write(&path, &[f32::NAN], 8000, SampleFormat::Int24)
            .unwrap_err()
            .to_string()
            .contains("sample 0 is NaN")
    );
    assert_eq!(
        wav::read(&path, None).unwrap().samples.len(),
        5,
        "a refused write leaves the old file"
    );
    assert!(parse(&bytes_of(&[1e-6; 10], SampleFormat::Float32), None).unwrap().is_silent());
}

#[test]
fn flac_is_read_whole_and_up_to_damage() {
    // Written by libsndfile: 16 bits, two channels, the right one minus half of the left one.
    let bytes = include_bytes!("two.flac");
    let left =
        [0, 8192, -8192, 16384, -32768, 32767, 100, -100].map(|v: i16| f32::from(v) / 32_768.0);
    let first = parse(bytes, Some(1)).unwrap();
    assert_eq!(first.samples, left.repeat(64));
    assert_eq!((first.rate, first.channels, first.format), (16_000, 2, SampleFormat::Int16));
    assert_eq!(parse(bytes, Some(2)).unwrap().samples[3], -0.25);
    assert!(parse(bytes, None).unwrap_err().contains("has 2 channels"));
    for end in 0..bytes.len() {
        // Never a panic, and no samples that are not there.
        if let Ok(signal) = parse(&bytes[..end], Some(1)) {
            assert!(signal.remark.is_some() && signal.samples.len() < 512, "cut at {end}");
        }
    }
}
