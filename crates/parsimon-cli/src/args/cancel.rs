//! The flags of `parsimon cancel`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::number;
use super::spec::SpecArgs;

/// How near-end speech and echo are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetectorArg {
    /// What the predicted echo does not explain of the residual, in bands of frequency
    Leakage,
    /// The correlation of predicted echo and microphone (Benesty, Morgan and Cho 2000)
    Correlation,
    /// The peaks of microphone and reference (Geigel; Duttweiler 1978)
    Geigel,
    /// None
    Off,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct CancelArgs {
    /// What the loudspeaker played: a WAV or FLAC file, or with --raw a file or pipe of samples
    #[arg(long, value_name = "FAR.wav", alias = "far", required_unless_present_any = ["raw", "stereo"])]
    pub(crate) reference: Option<PathBuf>,
    /// What the microphone heard: a WAV or FLAC file of the same rate, or with --raw a file or pipe of samples [default with --raw:
    /// standard input]. Without --microphone-channel the echo is removed from every channel
    #[arg(long, value_name = "NEAR.wav", aliases = ["mic", "near"], required_unless_present_any = ["raw", "stereo"])]
    pub(crate) microphone: Option<PathBuf>,
    /// One recording of both: a WAV or FLAC file with the loudspeaker on the left (channel 1) and the microphone on the right (channel 2)
    #[arg(long, value_name = "CALL.wav", conflicts_with_all = ["reference", "microphone", "raw"])]
    pub(crate) stereo: Option<PathBuf>,
    /// File to write the microphone signal without echo to: a WAV file, or with --raw a file or pipe of samples [default with --raw: standard
    /// output]
    #[arg(short = 'o', long = "output", value_name = "CLEAN.wav")]
    pub(crate) output: Option<PathBuf>,
    /// Also attenuate the echo that remains after the linear filter; the output is then not a linear function of the input
    #[arg(long)]
    pub(crate) suppress: bool,
    /// Read and write samples without a header, as they arrive. Without --reference the input holds both signals, sample by
    /// sample: the reference is channel 1 and the microphone channel 2
    #[arg(
        long,
        value_enum,
        value_name = "SAMPLES",
        requires = "sample_rate",
        conflicts_with_all = ["json", "plot", "spectrogram", "page"],
        help_heading = "Pipes"
    )]
    pub(crate) raw: Option<RawArg>,
    /// Samples per second
    #[arg(
        long,
        value_name = "HZ",
        requires = "raw",
        value_parser = number::positive::<u32>,
        help_heading = "Pipes"
    )]
    pub(crate) sample_rate: Option<u32>,
    /// Number of channels of each input [default: 2 without --reference, 1 with it]
    #[arg(
        long,
        value_name = "N",
        requires = "raw",
        value_parser = number::positive::<u16>,
        help_heading = "Pipes"
    )]
    pub(crate) channels: Option<u16>,
    /// Channel of the reference if it has several, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) reference_channel: Option<usize>,
    /// Channel of the microphone if it has several, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) microphone_channel: Option<usize>,
    /// Length of the echo path in samples [default: 256 ms, and up to 512 ms if the echo lasts longer]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>)]
    pub(crate) taps: Option<usize>,
    /// Delay of the echo in samples [default: estimated]
    #[arg(long, value_name = "SAMPLES", allow_hyphen_values = true)]
    pub(crate) delay: Option<i64>,
    /// Longest delay to search for
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.5,
        conflicts_with = "delay",
        allow_negative_numbers = true
    )]
    pub(crate) max_delay: f64,
    /// Keep hum, rumble and offsets below 100 Hz [default: what lasts of them is removed from the output]
    #[arg(long)]
    pub(crate) no_high_pass: bool,
    /// Assume that loudspeaker and microphone share one clock [default: a drift of up to 600 ppm is detected and
    /// compensated]
    #[arg(long)]
    pub(crate) no_drift: bool,
    /// How near-end speech and echo are kept apart [default: leakage for kalman, correlation for other filters]
    #[arg(long, value_enum)]
    pub(crate) detector: Option<DetectorArg>,
    /// The detector's threshold [default: 8 for leakage, 0.7 for correlation, 0.5 for geigel]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f32>,
    /// Time constant in seconds with which the kalman filter forgets an echo path that it predicts well [default: 24]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) memory_seconds: Option<f32>,
    /// Regularization of the other filters, as a share of the mean energy of the reference [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) regularization: Option<f64>,
    /// Sample format of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "same")]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    /// File to write the echo path to: WAV or CSV
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) echo_path: Option<PathBuf>,
    /// Write a report as JSON (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the levels before and after, and ERLE over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw the spectrograms before and after
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) spectrogram: Option<PathBuf>,
    /// Write an HTML page with both sounds to play, their levels and their spectrograms
    #[arg(long, value_name = "FILE.html", help_heading = "Report")]
    pub(crate) page: Option<PathBuf>,
    /// Print errors only
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl CancelArgs {
    /// The file of the reference; - for standard input.
    pub(crate) fn far(&self) -> &Path {
        self.stereo.as_deref().or(self.reference.as_deref()).unwrap_or(Path::new("-"))
    }

    /// The file of the microphone; - for standard input.
    pub(crate) fn near(&self) -> &Path {
        self.stereo.as_deref().or(self.microphone.as_deref()).unwrap_or(Path::new("-"))
    }

    /// The channels of reference and microphone that were chosen.
    pub(crate) fn places(&self) -> [Option<usize>; 2] {
        let of_stereo = |channel| self.stereo.as_ref().map(|_| channel);
        [
            self.reference_channel.or_else(|| of_stereo(1)),
            self.microphone_channel.or_else(|| of_stereo(2)),
        ]
    }
}

/// How samples without a header are stored, little-endian, by the names of ffmpeg and of arecord.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawArg {
    #[value(alias = "U8")]
    U8,
    #[value(alias = "S16_LE")]
    S16le,
    #[value(alias = "S24_3LE")]
    S24le,
    #[value(alias = "S32_LE")]
    S32le,
    #[value(alias = "FLOAT_LE")]
    F32le,
}

/// How samples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// As the microphone's
    Same,
    Int16,
    Int24,
    Int32,
    Float32,
}
