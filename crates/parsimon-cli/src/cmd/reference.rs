//! `parsimon completions` and `parsimon man`: generated from the one definition of the flags.

use std::io::Write;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{self, Cli, CompletionsArgs, Detail, ManArgs};
use crate::fault::Fault;
use crate::output::Output;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Fault> {
    let mut out = Output::open(None)?;
    match args.shell {
        Shell::Bash => out.write_all(include_bytes!("complete/parsimon.bash"))?,
        Shell::Zsh => out.write_all(include_bytes!("complete/parsimon.zsh"))?,
        Shell::Fish => out.write_all(include_bytes!("complete/parsimon.fish"))?,
        other => {
            let mut text = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "parsimon", &mut text);
            out.write_all(&text)?;
        }
    }
    out.finish()
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Fault> {
    let root = args::command(Detail::Full, None);
    if let Some(folder) = &args.out {
        parsimon_files::create_folders(folder)?;
        return pages(root, folder);
    }
    let mut command = &root;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let near =
                parsimon_data::did_you_mean(name, command.get_subcommands().map(Command::get_name));
            Fault::Usage(format!("there is no command {name:?}{near}"))
        })?;
    }
    let mut out = Output::open(None)?;
    Man::new(command.clone()).render(&mut out)?;
    out.finish()
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
