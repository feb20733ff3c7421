//! Log lines of the service on standard error.

use tracing_subscriber::fmt;

/// Levels of logging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Requests that failed by a fault of the service.
    Error,
    /// Trouble with snapshots, records that were skipped, requests that were answered with 5xx.
    Warn,
    /// Snapshots, pauses, versions, the start and the end.
    Info,
    /// Every request, with its id.
    Debug,
}

/// Writes events to standard error from now on. Only the first call of a process counts.
pub fn log_to_stderr(verbosity: Verbosity) {
    let level = match verbosity {
        Verbosity::Error => tracing::Level::ERROR,
        Verbosity::Warn => tracing::Level::WARN,
        Verbosity::Info => tracing::Level::INFO,
        Verbosity::Debug => tracing::Level::DEBUG,
    };
    let _ = fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .try_init();
}
