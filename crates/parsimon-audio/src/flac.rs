//! FLAC files, decoded by `claxon`.

use crate::pcm::{Clipping, SampleFormat, choose};

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8] = b"fLaC";

/// One channel of a file, in the terms of `wav::Signal`.
pub(crate) struct Flac {
    pub(crate) samples: Vec<f32>,
    pub(crate) rate: u32,
    pub(crate) channels: u16,
    /// The format that holds the bits of a sample.
    pub(crate) format: SampleFormat,
    pub(crate) clipped: u64,
    pub(crate) remark: Option<String>,
}

/// Decodes a channel, counted from 1.
pub(crate) fn decode(bytes: &[u8], channel: Option<usize>) -> Result<Flac, String> {
    let damaged = |e: claxon::Error| format!("is no valid FLAC file: {e}");
    let mut reader = claxon::FlacReader::new(bytes).map_err(damaged)?;
    let info = reader.streaminfo();
    let channels = info.channels as usize;
    let channel = choose(channel, channels)?;
    let scale = f64::from(1u32 << (info.bits_per_sample - 1).min(31));
    let (mut samples, mut clipping) = (Vec::new(), Clipping::default());
    let (mut frames, mut buffer, mut remark) = (reader.blocks(), Vec::new(), None);
    loop {
        let block = match frames.read_next_or_eof(std::mem::take(&mut buffer)) {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(e) if !samples.is_empty() => {
                remark = Some(format!(
                    "is damaged after {} samples ({e}); what comes before is read",
                    samples.len()
                ));
                break;
            }
            Err(e) => return Err(damaged(e)),
        };
        if channel as u32 >= block.channels() {
            return Err(format!(
                "has a block of {} channels, promised {channels}",
                block.channels()
            ));
        }
        for &v in block.channel(channel as u32) {
            let v = f64::from(v);
            let sample = (v / scale) as f32;
            clipping.observe(sample, v >= scale - 1.0 || v <= -scale);
            samples.push(sample);
        }
        buffer = block.into_buffer();
    }
    if samples.is_empty() {
        return Err("holds no samples".into());
    }
    let promised = info.samples.unwrap_or(samples.len() as u64);
    if promised > samples.len() as u64 && remark.is_none() {
        remark = Some(format!(
            "is cut short: {promised} samples promised, {} found; what is there is read",
            samples.len()
        ));
    }
    let format = match info.bits_per_sample {
        0..=8 => SampleFormat::Int8,
        9..=16 => SampleFormat::Int16,
        17..=24 => SampleFormat::Int24,
        _ => SampleFormat::Int32,
    };
    let channels = u16::try_from(info.channels).unwrap_or(u16::MAX);
    Ok(Flac {
        samples,
        rate: info.sample_rate,
        channels,
        format,
        clipped: clipping.samples,
        remark,
    })
}
