//! The program `parsimon`: sparse online learning from the command line.
//!
//! Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad input, 2 usage, 130 and
//! 143 ended by Ctrl-C and by SIGTERM.

// Printing by macros panics where standard error or output is full or broken; `console.rs` and `output.rs` write instead.
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(debug_assertions)]
mod allocation;
mod args;
mod cmd;
mod console;
mod escape;
mod fault;
mod features;
mod flags;
mod interrupt;
mod output;
mod provenance;
mod signal;
mod wrap;

use std::process::ExitCode;

use args::{Cli, Command};
use fault::Fault;

fn main() -> ExitCode {
    #[cfg(debug_assertions)]
    allocation::limit();
    interrupt::watch();
    match args::parse().and_then(dispatch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}

fn dispatch(cli: Cli) -> Result<(), Fault> {
    if let Some(bytes) = cli.memory {
        parsimon::memory::set_budget(bytes);
    }
    match cli.command {
        Command::Train(args) => cmd::train::run(&args),
        Command::Predict(args) => cmd::predict::run(&args),
        Command::Evaluate(args) => cmd::evaluate::run(&args),
        Command::Calibrate(args) => cmd::calibrate::run(&args),
        Command::Inspect(args) => cmd::inspect::run(&args),
        Command::Merge(args) => cmd::merge::run(&args),
        Command::Compare(args) => cmd::compare::run(&args),
        Command::Tune(args) => cmd::tune::run(&args),
        Command::Identify(args) => cmd::identify::run(&args),
        #[cfg(feature = "audio")]
        Command::Cancel(args) => cmd::cancel::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => cmd::serve::run(&args),
        #[cfg(feature = "serve")]
        Command::Log(args) => cmd::log::run(&args),
        #[cfg(feature = "serve")]
        Command::Client(args) => cmd::client::run(&args),
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => cmd::reproduce::run(&args),
        #[cfg(feature = "lab")]
        Command::Data(args) => cmd::data::run(&args),
        Command::Algorithms(args) => cmd::algorithms::run(&args),
        Command::Schema(args) => cmd::schema::run(&args),
        Command::Convert(args) => cmd::convert::run(&args),
        Command::Vw(args) => cmd::vw::run(&args),
        Command::Quickstart(args) => cmd::quickstart::run(&args),
        Command::Completions(args) => cmd::reference::completions(&args),
        Command::Man(args) => cmd::reference::man(&args),
        Command::Complete(args) => cmd::complete::run(&args),
    }
}
