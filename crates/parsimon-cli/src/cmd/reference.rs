//! `parsimon completions` and `parsimon man`: generated from the one definition of the flags.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

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
            parsimon_files::create_folders(folder)?;
            let mut command = Cli::command().disable_help_subcommand(true);
            command.build();
            pages(command, folder)
        }
        None => {
            let mut out = crate::output::Output::open(None)?;
            Man::new(Cli::command()).render(&mut out)?;
            out.finish()
        }
    }
}

/// A page for a command, after those of its subcommands.
fn pages(command: Command, folder: &Path) -> Result<(), Fault> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        pages(inner.clone(), folder)?;
    }
    let page = Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(parsimon_files::write_file(&folder.join(page.get_filename()), &text)?)
}
