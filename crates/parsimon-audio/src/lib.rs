//! tmp
mod adaptive; mod canceller; mod config; mod detector; mod error; mod fft; mod guard; mod kalman; pub mod state;
pub use adaptive::{Adaptive, Learning}; pub use canceller::{Canceller, Status}; pub use config::{Config, Detection, OnDoubleTalk}; pub use detector::{Detector, FarEnd}; pub use error::AudioError; pub use guard::{Advice, Guard}; pub use kalman::Kalman;
