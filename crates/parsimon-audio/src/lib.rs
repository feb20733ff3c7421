//! Acoustic echo cancellation: the loudspeaker's signal taken out of the microphone's.
//!
//! [`cancel`] cleans a whole recording; [`Canceller`] does the same piece by piece. Both are linear: what leaves is
//! the microphone minus a filtered reference, without suppression of what is left, so near-end speech passes
//! unchanged but for the filter's mistakes.
//!
//! | part | what it does |
//! | --- | --- |
//! | [`wav`] | files in and out |
//! | [`delay`] | by how much the echo is late |
//! | [`Kalman`] | the adaptive filter |
//! | [`Adaptive`] | what any other filter must do to take its place |
//! | [`Sampled`] | NLMS, APA, PDA and the rest of `parsimon-core`'s filters in that place |
//! | [`FarEnd`], [`Detector`] | is there anything to learn from, is someone speaking over it |
//! | [`Guard`] | what to do when a filter makes things worse |
//! | [`erle`], [`Spectrogram`] | what came of it |
//!
//! # Limits
//!
//! One reference, one microphone, the same clock: a drift between two sound cards is followed only as far as
//! a changing path is. Loudspeakers that distort leave what no linear filter can predict. An echo earlier than
//! the reference needs [`cancel`], which shifts, or a delayed microphone.
//!
//! # Example
//!
//! ```
//! use parsimon_audio::{Alignment, Config, cancel};
//!
//! let mut noise = 1u32;
//! let far: Vec<f32> = (0..32_000)
//!     .map(|_| {
//!         noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//!         (noise >> 8) as f32 / 16_777_216.0 - 0.5
//!     })
//!     .collect();
//! // The echo: 700 samples later, half as loud.
//! let near: Vec<f32> = (0..far.len()).map(|i| if i < 700 { 0.0 } else { 0.5 * far[i - 700] }).collect();
//! let done = cancel(&far, &near, Config::at(16_000), Alignment::default()).unwrap();
//! assert_eq!(done.clean.len(), near.len());
//! assert_eq!(done.report.delay.unwrap().samples, 700);
//! assert!(done.report.erle.second_half.unwrap() > 30.0);
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod adaptive;
mod cancel;
mod canceller;
mod config;
pub mod delay;
mod detector;
pub mod erle;
mod error;
mod fft;
mod guard;
mod kalman;
mod sampled;
mod spectrogram;
pub mod state;
pub mod wav;

pub use adaptive::{Adaptive, Learning};
pub use cancel::{Alignment, Canceled, Report, cancel, cancel_with};
pub use canceller::{Canceller, Status};
pub use config::{Config, Detection, OnDoubleTalk};
pub use delay::Delay;
pub use detector::{Detector, FarEnd};
pub use erle::Erle;
pub use error::AudioError;
pub use guard::{Advice, Guard};
pub use kalman::Kalman;
pub use sampled::Sampled;
pub use spectrogram::Spectrogram;
