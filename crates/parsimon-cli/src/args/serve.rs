//! Flags of `parsimon serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::number;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A model to serve, as NAME=FILE (may be repeated). A model file answers scores and cannot learn
    #[arg(long = "model", value_name = "NAME=FILE", required = true)]
    pub(crate) models: Vec<String>,
    /// The address to listen at. Port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", help_heading = "Network")]
    pub(crate) listen: SocketAddr,
    /// The most bytes of a request's body
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_body: usize,
    /// The most rows of a request
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_rows: usize,
    /// The most features of a row
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_features: usize,
    /// The most connections at a time; more wait
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = number::positive::<usize>, help_heading = "Network")]
    pub(crate) max_connections: usize,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A model as the command line has it.
pub(crate) struct NamedModel {
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
}

impl NamedModel {
    /// `NAME=FILE`, or `NAME` for a model without a file.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        parsimon_serve::check_name(name)?;
        Ok(Self { name: name.to_owned(), file })
    }
}
