#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! [`cancel`] cleans a whole recording; [`Canceller`] does the same piece by piece. Both are linear unless
//! [`Config::suppress`] is set: the output is the microphone minus a filtered reference, so near-end speech passes
//! unchanged except for errors of the filter.
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Duplex`] | the canceller behind two callbacks, one that plays and one that records; several loudspeakers and microphones |
//! | [`Warning`] | what is wrong with the signals |
//! | [`wav`] | files in and out |
//! | [`delay`] | by how much the echo is late |
//! | [`Kalman`] | the adaptive filter |
//! | [`Adaptive`] | what any other filter must do to take its place |
//! | [`BlockNlms`] | NLMS in the frequency domain |
//! | [`Sampled`] | NLMS, APA, PDA and the rest of `parsimon-core`'s filters in that place |
//! | [`FarEnd`], [`Detector`] | is there anything to learn from, is someone speaking over it |
//! | [`Guard`] | what to do when a filter makes things worse |
//! | [`Config::suppress`] | what the filter left of the echo, attenuated frequency by frequency; off by default |
//! | [`erle`], [`Spectrogram`] | what came of it |
//!
//! # Limits
//!
//! Loudspeakers that distort leave what no linear filter can predict. An echo earlier than
//! the reference needs [`cancel`], which shifts, or a delayed microphone.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod adaptive;
mod block_nlms;
mod cancel;
mod canceller;
mod clock;
mod config;
pub mod delay;
mod detector;
mod drift;
mod duplex;
pub mod erle;
mod error;
mod fft;
mod flac;
mod guard;
mod high_pass;
mod kalman;
mod leakage;
mod level;
mod pcm;
mod sampled;
mod seek;
mod spectrogram;
pub mod state;
mod suppress;
pub mod wav;

pub use adaptive::{Adaptive, Learning};
pub use block_nlms::BlockNlms;
pub use cancel::{Alignment, Canceled, Report, cancel, cancel_with};
pub use canceller::{Canceller, Status, Warning};
pub use config::{Config, Detection, OnDoubleTalk};
pub use delay::Delay;
pub use detector::{Detector, FarEnd};
pub use duplex::Duplex;
pub use erle::Erle;
pub use error::AudioError;
pub use guard::{Advice, Guard};
pub use kalman::Kalman;
pub use sampled::Sampled;
pub use spectrogram::Spectrogram;
