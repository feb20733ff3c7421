//! The flags of `parsimon cancel`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::number;
use super::spec::SpecArgs;

/// How near-end speech and echo are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetectorArg {
    /// The correlation of predicted echo and microphone (Benesty, Morgan and Cho 2000)
    Correlation,
    /// The peaks of microphone and reference (Geigel; Duttweiler 1978)
    Geigel,
    /// None
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// What the loudspeaker played: a WAV file
    #[arg(long, value_name = "FAR.wav", alias = "far")]
    pub(crate) reference: PathBuf,
    /// What the microphone heard: a WAV file of the same rate
    #[arg(long, value_name = "NEAR.wav", aliases = ["mic", "near"])]
    pub(crate) microphone: PathBuf,
    /// Where the microphone without echo goes: a WAV file
    #[arg(short = 'o', long = "output", value_name = "CLEAN.wav")]
    pub(crate) output: Option<PathBuf>,
    /// The reference's channel, counted from 1, when it has several
    #[arg(long, value_name = "N")]
    pub(crate) reference_channel: Option<usize>,
    /// The microphone's channel, counted from 1, when it has several
    #[arg(long, value_name = "N")]
    pub(crate) microphone_channel: Option<usize>,
    /// The length of the echo path in samples [default: 64 ms]
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>)]
    pub(crate) taps: Option<usize>,
    /// The echo's delay in samples, when it is known; it is searched for otherwise
    #[arg(long, value_name = "SAMPLES", allow_hyphen_values = true)]
    pub(crate) delay: Option<i64>,
    /// The longest delay to search for
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.5,
        conflicts_with = "delay",
        allow_negative_numbers = true
    )]
    pub(crate) max_delay: f64,
    /// How near-end speech and echo are kept apart
    #[arg(long, value_enum, default_value = "correlation")]
    pub(crate) detector: DetectorArg,
    /// The detector's threshold [default: 0.7 for correlation, 0.5 for geigel]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f32>,
    /// Seconds after which the kalman filter takes the echo path for forgotten
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) memory_seconds: Option<f32>,
    /// Of the other filters: a share of the reference's usual energy that is added to the normalizer
    /// [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) regularization: Option<f64>,
    /// How samples are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "same")]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    /// Where the echo path goes: a WAV or CSV file
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) echo_path: Option<PathBuf>,
    /// Write a report as JSON; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the levels before and after, and ERLE over time
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw the spectrograms before and after
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    pub(crate) spectrogram: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, help_heading = "Report")]
    pub(crate) quiet: bool,
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
