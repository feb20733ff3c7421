//! `parsimon completions` and `parsimon man`: generated from the one definition of the flags.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::fault::Fault;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Fault> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "parsimon", &mut text);
    let mut out = crate::output::Output::open(None)?;
    std::io::Write::write_all(&mut out, &text)?;
    out.finish()
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Fault> {
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| Fault::file(folder, &e))?;
            clap_mangen::generate_to(Cli::command(), folder).map_err(|e| Fault::file(folder, &e))
        }
        None => {
            let mut out = crate::output::Output::open(None)?;
            clap_mangen::Man::new(Cli::command()).render(&mut out)?;
            out.finish()
        }
    }
}
