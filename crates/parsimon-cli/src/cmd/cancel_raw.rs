//! `parsimon cancel --raw`: samples without a header, in and out as they arrive.
//!
//! The available input is read and every whole frame is answered at once, so that the program can run in a
//! pipe between a sound card and a call. The first samples of the output, the delay of the canceller, are left out and
//! as many follow at the end: the output has the length and the timing of the microphone.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use parsimon::data::Input;
use parsimon::workspace::{number::significant, number::thousands};
use parsimon_audio::wav::SampleFormat;
use parsimon_audio::{Adaptive, Canceller, Config};
use parsimon_files::InputFile;

use crate::args::{CancelArgs, FormatArg, RawArg};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output};
use crate::signal;

/// Frames that are read at once, at most.
const FRAMES: usize = 4096;
/// Longest delay of a stream in seconds, which equals that of the search in files.
const LONGEST: u64 = 60;

/// Streams through a filter, with the settings of the parts around it.
pub(super) fn run(
    args: &CancelArgs,
    samples: RawArg,
    (config, filter): (Config, Box<dyn Adaptive>),
) -> Result<(), Fault> {
    check_files(args)?;
    let rate = config.rate;
    let format = match samples {
        RawArg::U8 => SampleFormat::Int8,
        RawArg::S16le => SampleFormat::Int16,
        RawArg::S24le => SampleFormat::Int24,
        RawArg::S32le => SampleFormat::Int32,
        RawArg::F32le => SampleFormat::Float32,
    };
    let both = args.reference.is_none();
    let channels = usize::from(args.channels.unwrap_or(if both { 2 } else { 1 }));
    let (far, near) = places(args, channels, both)?;
    let shift = delay(args, rate)?;
    let mut canceller = Canceller::with(filter, config)?;
    let mut reference = match both {
        true => None,
        false => Some(Frames::open(args.far(), format, channels)?),
    };
    let mut microphone = Frames::open(args.near(), format, channels)?;
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let mut out = Sink {
        output: Output::open(Some(path))?,
        format: sample_format(args.format, format),
        late: canceller.latency(),
        bytes: Vec::new(),
        clipped: 0,
        written: 0,
    };

    let mut waiting: VecDeque<f32> = std::iter::repeat_n(0.0, shift).collect();
    let (mut x, mut d) = (Vec::with_capacity(FRAMES), Vec::with_capacity(FRAMES));
    let mut missing = 0u64;
    loop {
        let n = microphone.fill(1)?;
        if n == 0 {
            break;
        }
        x.clear();
        d.clear();
        microphone.channel(near, n, &mut d);
        match &mut reference {
            None => microphone.channel(far, n, &mut x),
            Some(reference) => {
                let m = reference.fill(n)?.min(n);
                reference.channel(far, m, &mut x);
                reference.take(m);
                x.resize(n, 0.0);
                missing += (n - m) as u64;
            }
        }
        microphone.take(n);
        for v in &mut x {
            waiting.push_back(*v);
            *v = waiting.pop_front().unwrap_or(0.0);
        }
        out.write(canceller.push(&x, &d))?;
    }
    let silence = vec![0.0; canceller.latency()];
    out.write(canceller.push(&silence, &silence))?;
    let (clipped, total) = (out.clipped, out.written);
    out.output.finish()?;

    if let Some(path) = &args.echo_path {
        let taps: Vec<f64> = canceller.echo_path().iter().map(|&w| f64::from(w)).collect();
        signal::write(path, &taps, rate)?;
    }
    warn_of(&microphone, args.near(), missing, clipped, &canceller);
    if !args.quiet {
        let ms = 1000.0 * canceller.latency() as f64 / f64::from(rate);
        let status = canceller.status();
        note(&format!(
            "{} samples ({} s) at {} Hz, each written {} ms after it was read; double talk {:.0}% of the active time",
            thousands(total),
            significant(total as f64 / f64::from(rate), 4),
            thousands(rate.into()),
            significant(ms, 3),
            100.0 * status.double_talk_share(),
        ));
    }
    Ok(())
}

/// Returns the output format for samples that were read as `read`.
pub(super) fn sample_format(asked: FormatArg, read: SampleFormat) -> SampleFormat {
    match asked {
        FormatArg::Same => read,
        FormatArg::Int16 => SampleFormat::Int16,
        FormatArg::Int24 => SampleFormat::Int24,
        FormatArg::Int32 => SampleFormat::Int32,
        FormatArg::Float32 => SampleFormat::Float32,
    }
}

fn check_files(args: &CancelArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    let inputs = [("--reference", args.reference.as_deref()), ("--microphone", Some(args.near()))];
    let mut from_standard_input = 0;
    for (argument, path) in inputs.into_iter().filter_map(|(a, path)| Some((a, path?))) {
        if path == Path::new("-") {
            files.read(argument, &[Input::Stdin]);
            from_standard_input += 1;
        } else {
            files.read_path(argument, path);
        }
    }
    if from_standard_input == 2 {
        return Err(Fault::Usage(
            "--reference and --microphone cannot both be standard input; leave out --reference if the input holds both \
             as channels"
                .into(),
        ));
    }
    files.read("--spec", &args.spec.inputs());
    let to_standard_output = args.output.as_deref().is_none_or(|path| path == Path::new("-"));
    if to_standard_output && io::stdout().is_terminal() {
        return Err(Fault::Usage(
            "samples are not written to a terminal; pass -o FILE or pipe the output into a program"
                .into(),
        ));
    }
    files.write("--output", Some(args.output.as_deref().unwrap_or(Path::new("-"))))?;
    files.write("--echo-path", args.echo_path.as_deref())?;
    signal::check_ending(args.echo_path.as_ref())
}

/// The channels of reference and microphone, from 0.
fn places(args: &CancelArgs, channels: usize, both: bool) -> Result<(usize, usize), Fault> {
    let place = |name: &str, asked: Option<usize>, default: usize| match asked {
        Some(c) if (1..=channels).contains(&c) => Ok(c - 1),
        Some(c) => Err(Fault::Usage(format!(
            "{name} {c}: the input has {channels} channels, counted from 1; set --channels"
        ))),
        None if default < channels => Ok(default),
        None => Err(Fault::Usage(format!(
            "--channels {channels}: without --reference the input needs at least 2 channels, the reference and the microphone"
        ))),
    };
    if !both && channels > 1 && (args.reference_channel, args.microphone_channel) == (None, None) {
        return Err(Fault::Usage(format!(
            "--channels {channels}: choose one of each input with --reference-channel and --microphone-channel"
        )));
    }
    let far = place("--reference-channel", args.reference_channel, 0)?;
    let near = place("--microphone-channel", args.microphone_channel, usize::from(both))?;
    if both && far == near {
        return Err(Fault::Usage(format!(
            "reference and microphone are both channel {}; choose two with --reference-channel and --microphone-channel",
            far + 1
        )));
    }
    Ok((far, near))
}

/// Delay of the reference in samples.
fn delay(args: &CancelArgs, rate: u32) -> Result<usize, Fault> {
    match args.delay {
        None => {
            if !args.quiet {
                note(&format!(
                    "the delay is searched for while the stream runs, up to {} s (--max-delay); pass --delay if it is known",
                    args.max_delay
                ));
            }
            Ok(0)
        }
        Some(samples) if (0..=(LONGEST * u64::from(rate)) as i64).contains(&samples) => {
            Ok(samples as usize)
        }
        Some(samples) => Err(Fault::Usage(format!(
            "--delay {samples}: a stream needs a delay between 0 and {LONGEST} seconds"
        ))),
    }
}

fn warn_of(microphone: &Frames, name: &Path, missing: u64, clipped: u64, canceller: &Canceller) {
    if microphone.held > 0 {
        note(&format!(
            "warning: {} ends inside a frame of {} bytes; the last {} bytes were left out",
            shown(name),
            microphone.width,
            microphone.held
        ));
    }
    if missing > 0 {
        note(&format!(
            "warning: the reference ended {} samples before the microphone; it counts as silent after its end",
            thousands(missing)
        ));
    }
    let status = canceller.status();
    if status.not_finite > 0 {
        note(&format!(
            "warning: {} samples were not finite and counted as zero",
            thousands(status.not_finite)
        ));
    }
    if clipped > 0 {
        note(&format!(
            "warning: {} samples of the output are beyond full scale",
            thousands(clipped)
        ));
    }
}

fn shown(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".into(),
        false => path.display().to_string(),
    }
}

/// Input of frames. A frame has one sample of every channel.
struct Frames {
    input: Box<dyn Read>,
    name: String,
    format: SampleFormat,
    /// Bytes of a frame.
    width: usize,
    bytes: Vec<u8>,
    /// Bytes that were read and not taken.
    held: usize,
    ended: bool,
}

impl Frames {
    fn open(path: &Path, format: SampleFormat, channels: usize) -> Result<Self, Fault> {
        let name = shown(path);
        let input: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(io::stdin()),
            false => {
                Box::new(InputFile::open(path).map_err(|e| Fault::Input(format!("{name}: {e}")))?)
            }
        };
        let width = format.bytes() * channels;
        let bytes = vec![0; FRAMES * width];
        Ok(Self { input, name, format, width, bytes, held: 0, ended: false })
    }

    /// Reads until there are `least` whole frames or the end; returns the number of frames.
    fn fill(&mut self, least: usize) -> Result<usize, Fault> {
        while self.held < least * self.width && !self.ended {
            match self.input.read(&mut self.bytes[self.held..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.held += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Fault::Input(format!("{}: {e}", self.name))),
            }
        }
        Ok(self.held / self.width)
    }

    /// Appends a channel of the first `n` frames.
    fn channel(&self, channel: usize, n: usize, to: &mut Vec<f32>) {
        let (size, from) = (self.format.bytes(), channel * self.format.bytes());
        let frames = self.bytes[..n * self.width].chunks_exact(self.width);
        to.extend(frames.map(|frame| self.format.decode(&frame[from..from + size]).0));
    }

    /// Forgets the first `n` frames.
    fn take(&mut self, n: usize) {
        self.bytes.copy_within(n * self.width..self.held, 0);
        self.held -= n * self.width;
    }
}

/// Outputs of samples.
struct Sink {
    output: Output,
    format: SampleFormat,
    /// Samples that are still left out.
    late: usize,
    bytes: Vec<u8>,
    clipped: u64,
    written: u64,
}

impl Sink {
    fn write(&mut self, samples: &[f32]) -> Result<(), Fault> {
        let skipped = self.late.min(samples.len());
        self.late -= skipped;
        self.written += (samples.len() - skipped) as u64;
        self.bytes.clear();
        self.clipped += self.format.encode(&samples[skipped..], &mut self.bytes);
        self.output.write_all(&self.bytes)?;
        // A listener waits for these.
        Ok(self.output.flush()?)
    }
}
