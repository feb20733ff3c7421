//! What went wrong with a file, a setting or a saved state, in one line.

use std::path::PathBuf;

/// Why audio could not be read, written, configured or resumed.
///
/// ```
/// use parsimon_audio::Config;
///
/// let error = Config { taps: 0, ..Config::default() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "taps must be between 1 and 1048576, got 0");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioError {
    /// The file could not be opened, read, written or renamed.
    #[error("{}: {}", path.display(), parsimon_files::in_words(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are no WAV file this crate reads, or its samples cannot be used.
    #[error("{}: {message}", path.display())]
    Wav {
        /// The file.
        path: PathBuf,
        /// What was found, and what was expected.
        message: String,
    },
    /// A setting is outside of its range, or two of them do not fit each other.
    #[error("{0}")]
    Setting(String),
    /// Saved bytes cannot be resumed from.
    #[error("saved state: {0}")]
    State(String),
}
