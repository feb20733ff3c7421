//! Adaptive filters for signals: sample by sample, with the residual as the output.
//!
//! [`Settings::filter`](crate::Settings::filter) builds a [`Filter`] with a number of taps from the settings of any algorithm
//! that filters, such as `nlms`, `apa` or `ipnlms`. [`Filter::push`] takes samples of the reference
//! and of the observed signal, and returns the residual: what the reference does not explain. Blocks of any size give the same
//! bits.
//!
//! [`identify`] runs a filter over two whole signals and returns the impulse response with its learning curve. The acoustic echo
//! canceller, with delay search and double-talk detection, is the crate `parsimon-audio`.
//!
//! ```
//! use parsimon::Spec;
//! use parsimon::filter::{Filter, Regularization, mismatch_db};
//!
//! // Noise, and the same noise behind a path with two taps.
//! let mut state = 1u32;
//! let mut noise = || {
//!     state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//!     f64::from(state >> 8) / f64::from(1 << 23) - 1.0
//! };
//! let reference: Vec<f64> = (0..2000).map(|_| noise()).collect();
//! let path = [0.0, 0.8, 0.0, -0.3];
//! let echo = |t: usize| (0..4).filter(|&k| k <= t).map(|k| path[k] * reference[t - k]).sum();
//! let observed: Vec<f64> = (0..2000).map(echo).collect();
//!
//! let settings = Spec::new("nlms").resolve()?;
//! let mut filter = settings.filter::<f64>(8, Regularization { relative: 0.01 })?;
//! let residual = filter.push(&reference, &observed);
//! assert!(residual[1999].abs() < 0.01);
//! assert!(mismatch_db(&path, filter.taps()).unwrap() < -30.0);
//! # Ok::<(), parsimon::BuildError>(())
//! ```

pub use crate::identify::{Identified, identify, mismatch_db};
#[doc(hidden)]
pub use crate::settings::FilterPrecision;
pub use crate::settings::Regularization;
#[doc(inline)]
pub use parsimon_core::filter::Filter;
