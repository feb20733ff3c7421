//! The flags of `parsimon reproduce`.

use std::path::PathBuf;

use clap::Args;

use super::number;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// Papers, experiments or experiment files (.toml) to run, or all [default: all]
    #[arg(value_name = "WHAT")]
    pub(crate) what: Vec<String>,
    /// Take WHAT as numbers of this paper, such as "Table 2", "(9)" or "Theorem 4.1", and run the experiments that test them
    #[arg(long, value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    /// List the experiments with their claims, in full; with --paper, the statements of the paper
    #[arg(long)]
    pub(crate) list: bool,
    /// Run a few trials of each experiment, in minutes: gives previews, no verdicts
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Run as many trials as the papers [default: at least ten trials]
    #[arg(long)]
    pub(crate) full: bool,
    /// Number of trials of each experiment, instead of the number in its file: gives previews, no verdicts
    #[arg(long, value_name = "N", value_parser = number::positive::<u64>)]
    pub(crate) trials: Option<u64>,
    /// CPU time after which no trials are begun but the ten of each experiment that a verdict needs, in hours; the page shows how many of the
    /// trials were run [default with --full: 12]
    #[arg(long, value_name = "H", value_parser = number::real)]
    pub(crate) hours: Option<f64>,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = number::whole::<u64>)]
    pub(crate) seed: u64,
    /// Number of trials that run at the same time (does not change the result) [default: all cores]
    #[arg(long, value_name = "N", value_parser = number::positive::<u32>)]
    pub(crate) threads: Option<u32>,
    /// Folder of real data (`parsimon data get lab` downloads it in part); for some data sets that are missing, rows are generated, and the report
    /// marks them
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Folder of the report. Finished trials are kept in it, so an interrupted run continues; the page keeps experiments of earlier runs
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    pub(crate) out: PathBuf,
}
