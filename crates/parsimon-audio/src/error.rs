//! Errors of files, settings and saved states, as one-line messages.

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
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The bytes are not a supported WAV file, or the samples cannot be used.
    #[error("{}: {message}", path.display())]
    Wav {
        /// The file.
        path: PathBuf,
        /// The found and the expected value.
        message: String,
    },
    /// A setting is out of range, or two settings contradict each other.
    #[error("{0}")]
    Setting(String),
    /// The bytes of a saved state are invalid.
    #[error("saved state: {0}")]
    State(String),
}
