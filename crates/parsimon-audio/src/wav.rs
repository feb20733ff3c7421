//! WAV and FLAC files in, WAV files out.
//!
//! Read are integers of 8, 16, 24 and 32 bits, floats of 32 and 64 bits, mu-law and A-law, in plain and in extensible headers
//! (`WAVE_FORMAT_EXTENSIBLE`), files beyond 4 GiB (RF64, BW64), and FLAC. Samples are scaled to full scale 1. Whatever the bytes are, the answer is a
//! [`Signal`] or an [`AudioError`] that says what was found; nothing panics.
//!
//! Programs that are stopped leave headers with a length of zero or with a length that is not that of the samples. The samples that are there are read,
//! and [`Signal::remark`] says what was wrong. Other compressed formats are not read.
//!
//! The well-known `hound` refuses two kinds of files that programs do write: those with a chunk of odd length before
//! the samples (a title, say), and those written into a pipe, whose header promises all there can be. It is the twin
//! in the tests.

use std::path::Path;

use crate::AudioError;
use crate::flac;
pub use crate::pcm::SampleFormat;
use crate::pcm::{Clipping, choose};

/// One channel of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Full scale is 1; every sample is finite.
    pub samples: Vec<f32>,
    /// Samples per second.
    pub rate: u32,
    /// Channels of the file.
    pub channels: u16,
    /// Sample format of the file.
    pub format: SampleFormat,
    /// Samples in runs of three or more equal ones at or beyond full scale: what the recording could not hold.
    pub clipped: u64,
    /// Faults of a file whose samples could still be read.
    pub remark: Option<String>,
}

/// Mean power below which a signal counts as silent (-90 dB of full scale).
const SILENT: f64 = 1e-9;

impl Signal {
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate)
    }

    /// Whether there is nothing to hear: mean power below -90 dB of full scale.
    pub fn is_silent(&self) -> bool {
        let power: f64 = self.samples.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        power < SILENT * self.samples.len() as f64
    }
}

/// Reads a channel, counted from 1, of the file at `path`. Without a choice the file must have one.
///
/// ```
/// use parsimon_audio::wav::{self, SampleFormat};
///
/// let folder = std::env::temp_dir().join("parsimon-wav-example.wav");
/// let written = wav::write(&folder, &[0.0, 0.5, -2.0], 16_000, SampleFormat::Int16).unwrap();
/// assert_eq!(written.clipped, 1);
/// let signal = wav::read(&folder, None).unwrap();
/// assert_eq!((signal.rate, &signal.samples[..]), (16_000, &[0.0, 0.5, -1.0][..]));
/// # std::fs::remove_file(folder).unwrap();
/// ```
pub fn read(path: &Path, channel: Option<usize>) -> Result<Signal, AudioError> {
    let cannot =
        |e: parsimon_files::Error| AudioError::Io { path: path.into(), source: e.into_io_error() };
    let bytes = parsimon_files::read_file(path).map_err(cannot)?;
    read_bytes(path, &bytes, channel)
}

/// Reads a channel of a file in memory; errors use `name`.
pub fn read_bytes(name: &Path, bytes: &[u8], channel: Option<usize>) -> Result<Signal, AudioError> {
    let signal = match bytes.starts_with(flac::MAGIC) {
        true => flac::decode(bytes, channel).map(|file| Signal {
            samples: file.samples,
            rate: file.rate,
            channels: file.channels,
            format: file.format,
            clipped: file.clipped,
            remark: file.remark,
        }),
        false => decode(bytes, channel),
    };
    signal.map_err(|message| AudioError::Wav { path: name.into(), message })
}

/// Returns the bytes of a file of one channel.
pub fn to_bytes(samples: &[f32], rate: u32, format: SampleFormat) -> Result<Vec<u8>, AudioError> {
    let (bytes, _) = encode(&[samples], rate, format)
        .map_err(|message| AudioError::Wav { path: "samples".into(), message })?;
    Ok(bytes)
}

/// Result of [`write()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Samples beyond full scale, stored as the nearest value there is.
    pub clipped: u64,
}

/// Writes one channel to `path`, whole or not at all.
pub fn write(
    path: &Path,
    samples: &[f32],
    rate: u32,
    format: SampleFormat,
) -> Result<Written, AudioError> {
    write_channels(path, &[samples], rate, format)
}

/// Writes several channels of one length to `path`, whole or not at all.
pub fn write_channels(
    path: &Path,
    channels: &[&[f32]],
    rate: u32,
    format: SampleFormat,
) -> Result<Written, AudioError> {
    let (bytes, written) = encode(channels, rate, format)
        .map_err(|message| AudioError::Wav { path: path.into(), message })?;
    let cannot =
        |e: parsimon_files::Error| AudioError::Io { path: path.into(), source: e.into_io_error() };
    parsimon_files::write_file(path, &bytes).map_err(cannot)?;
    Ok(written)
}

struct Header {
    format: SampleFormat,
    channels: u16,
    rate: u32,
}

fn decode(bytes: &[u8], channel: Option<usize>) -> Result<Signal, String> {
    let (header, data, mut remark) = chunks(bytes)?;
    let channels = usize::from(header.channels);
    let channel = choose(channel, channels)?;
    let (width, frame) = (header.format.bytes(), header.format.bytes() * channels);
    let rest = data.len() % frame;
    if rest != 0 && remark.is_none() {
        remark = Some(format!(
            "ends inside a frame of {frame} bytes; the last {rest} bytes are not used"
        ));
    }
    if data.len() < frame {
        return Err("holds no samples".into());
    }
    let mut samples = Vec::with_capacity(data.len() / frame);
    let mut clipping = Clipping::default();
    for (i, frame) in data.chunks_exact(frame).enumerate() {
        let (v, full) = header.format.decode(&frame[channel * width..(channel + 1) * width]);
        if !v.is_finite() {
            let at = i as f64 / f64::from(header.rate);
            return Err(format!("sample {i} ({at:.3} s) is {v}, not a finite number"));
        }
        clipping.observe(v, full);
        samples.push(v);
    }
    let Header { format, channels, rate } = header;
    Ok(Signal { samples, rate, channels, format, clipped: clipping.samples, remark })
}

/// A length in a header of 32 bits that stands for a length elsewhere, or for none.
const UNKNOWN: u64 = u32::MAX as u64;

/// Whether `bytes` are whole chunks up to their end.
fn are_chunks(mut bytes: &[u8]) -> bool {
    while let Some((head, body)) = bytes.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if !head[..4].iter().all(|b| b.is_ascii_graphic() || *b == b' ') || length > body.len() {
            return false;
        }
        bytes = body.get(length + length % 2..).unwrap_or(&[]);
    }
    bytes.is_empty()
}

/// The header, the bytes of the samples, and what is wrong with their length.
fn chunks(bytes: &[u8]) -> Result<(Header, &[u8], Option<String>), String> {
    let found = |b: &[u8]| String::from_utf8_lossy(b).escape_debug().to_string();
    let Some((start, mut rest)) = bytes.split_first_chunk::<12>() else {
        return Err(format!("is no WAV file: {} bytes are too few", bytes.len()));
    };
    let long = matches!(&start[..4], b"RF64" | b"BW64");
    if !(long || &start[..4] == b"RIFF") || &start[8..] != b"WAVE" {
        return Err(format!(
            "is no WAV file: begins with \"{}...{}\" instead of \"RIFF...WAVE\"",
            found(&start[..4]),
            found(&start[8..])
        ));
    }
    let (mut header, mut promised) = (None, None);
    while !rest.is_empty() {
        let Some((head, body)) = rest.split_first_chunk::<8>() else {
            return Err(format!("is cut short: {} bytes where a chunk should begin", rest.len()));
        };
        let size = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        match &head[..4] {
            b"data" => {
                let header =
                    header.ok_or("has samples before a \"fmt \" chunk that would explain them")?;
                let length = match promised {
                    Some(length) if u64::from(size) == UNKNOWN => length,
                    _ => u64::from(size),
                };
                // Programs that write into a pipe cannot know the length.
                if length == UNKNOWN || length == u64::MAX {
                    return Ok((header, body, None));
                }
                if length == 0 && !body.is_empty() && !are_chunks(body) {
                    let remark = "has a header that promises no samples, as of a recording that was not finished; what follows is read as samples";
                    return Ok((header, body, Some(remark.into())));
                }
                let data = usize::try_from(length).ok().and_then(|length| body.get(..length));
                return Ok(match data {
                    Some(data) => (header, data, None),
                    None => {
                        let remark = format!(
                            "is cut short: {length} bytes of samples promised, {} found; what is there is read",
                            body.len()
                        );
                        (header, body, Some(remark))
                    }
                });
            }
            name => {
                let chunk = body.get(..length).ok_or_else(|| {
                    format!(
                        "is cut short: chunk \"{}\" of {length} bytes, {} found",
                        found(name),
                        body.len()
                    )
                })?;
                if name == b"fmt " {
                    header = Some(format_chunk(chunk)?);
                }
                if name == b"ds64"
                    && long
                    && let Some(length) = chunk.get(8..).and_then(<[u8]>::first_chunk)
                {
                    promised = Some(u64::from_le_bytes(*length));
                }
                // Chunks begin at even places; the byte between may be missing at the end.
                rest = body.get(length + length % 2..).unwrap_or(&[]);
            }
        }
    }
    Err(match header {
        None => "has neither a \"fmt \" nor a \"data\" chunk".into(),
        Some(_) => "has no \"data\" chunk".into(),
    })
}

fn format_chunk(chunk: &[u8]) -> Result<Header, String> {
    let short = |at: usize| chunk.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let missing = || format!("has a \"fmt \" chunk of only {} bytes", chunk.len());
    let rate = chunk.get(4..8).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (Some(mut tag), Some(channels), Some(rate), Some(align), Some(bits)) =
        (short(0), short(2), rate, short(12), short(14))
    else {
        return Err(missing());
    };
    if tag == 0xfffe {
        // The first two bytes of the subformat are the plain tag, the rest is always the same.
        const TAIL: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
        let guid = chunk.get(24..40).ok_or_else(missing)?;
        if guid[2..] != TAIL {
            return Err("has an extensible header of a subformat that is not known".into());
        }
        tag = u16::from_le_bytes([guid[0], guid[1]]);
    }
    let format = match (tag, bits) {
        (1, 8) => SampleFormat::Int8,
        (1, 16) => SampleFormat::Int16,
        (1, 24) => SampleFormat::Int24,
        (1, 32) => SampleFormat::Int32,
        (3, 32) => SampleFormat::Float32,
        (3, 64) => SampleFormat::Float64,
        (6, 8) => SampleFormat::ALaw,
        (7, 8) => SampleFormat::MuLaw,
        (1, _) => return Err(format!("has integers of {bits} bits; 8, 16, 24 and 32 are read")),
        (3, _) => return Err(format!("has floats of {bits} bits; 32 and 64 are read")),
        _ => {
            return Err(format!(
                "is compressed (format {tag:#06x}); integers, floats, mu-law and A-law are read; convert it, for example with ffmpeg"
            ));
        }
    };
    if channels == 0 || rate == 0 {
        return Err(format!("promises {channels} channels at {rate} samples per second"));
    }
    let frame = format.bytes() * usize::from(channels);
    if usize::from(align) != frame {
        return Err(format!(
            "has frames of {align} bytes for {channels} channels of {} bytes each",
            format.bytes()
        ));
    }
    Ok(Header { format, channels, rate })
}

fn encode(
    channels: &[&[f32]],
    rate: u32,
    format: SampleFormat,
) -> Result<(Vec<u8>, Written), String> {
    for samples in channels {
        if let Some(i) = samples.iter().position(|v| !v.is_finite()) {
            return Err(format!("sample {i} is {} and was not written", samples[i]));
        }
    }
    let count = channels.len();
    let (Ok(few), Some(frames)) = (u16::try_from(count), channels.iter().map(|c| c.len()).min())
    else {
        return Err(format!("a file of {count} channels cannot be written"));
    };
    let frame = format.bytes() * count;
    let length = (frames as u64) * frame as u64;
    let Some(size) = u32::try_from(length).ok().filter(|&n| n < u32::MAX - 64) else {
        return Err(format!("{length} bytes of samples do not fit a WAV file"));
    };
    let tag = match format {
        SampleFormat::Float32 | SampleFormat::Float64 => 3u16,
        SampleFormat::ALaw => 6,
        SampleFormat::MuLaw => 7,
        _ => 1,
    };
    let mut bytes = Vec::with_capacity(46 + size as usize);
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&(36 + size + size % 2).to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt ");
    bytes.extend_from_slice(&16u32.to_le_bytes());
    bytes.extend_from_slice(&tag.to_le_bytes());
    bytes.extend_from_slice(&few.to_le_bytes());
    bytes.extend_from_slice(&rate.to_le_bytes());
    bytes.extend_from_slice(&rate.saturating_mul(frame as u32).to_le_bytes());
    bytes.extend_from_slice(&(frame as u16).to_le_bytes());
    bytes.extend_from_slice(&(8 * format.bytes() as u16).to_le_bytes());
    bytes.extend_from_slice(b"data");
    bytes.extend_from_slice(&size.to_le_bytes());
    let clipped = match channels {
        [samples] => format.encode(samples, &mut bytes),
        _ => {
            let frames = (0..frames).flat_map(|i| channels.iter().map(move |c| c[i]));
            format.encode(&frames.collect::<Vec<f32>>(), &mut bytes)
        }
    };
    if size % 2 == 1 {
        bytes.push(0);
    }
    Ok((bytes, Written { clipped }))
}
