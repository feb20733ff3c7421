//! The flags of `parsimon reproduce`.

use std::path::PathBuf;

use clap::Args;

use super::number;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// A paper, an experiment, a file of one's own (.toml), or all
    #[arg(value_name = "WHAT")]
    pub(crate) what: Vec<String>,
    /// List the experiments with their claims
    #[arg(long)]
    pub(crate) list: bool,
    /// A few trials: everything in minutes
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// The papers' own numbers of trials
    #[arg(long)]
    pub(crate) full: bool,
    /// So many trials of each experiment
    #[arg(long, value_name = "N", value_parser = number::positive::<u64>)]
    pub(crate) trials: Option<u64>,
    /// All that is drawn follows from it
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
    /// Trials side by side; it changes no number [default: all cores]
    #[arg(long, value_name = "N", value_parser = number::positive::<u32>)]
    pub(crate) threads: Option<u32>,
    /// Where real data is; `parsimon data` tells what there is and how to get it
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Where the report goes; finished trials are kept there, and a run that was interrupted goes on
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    pub(crate) out: PathBuf,
}
