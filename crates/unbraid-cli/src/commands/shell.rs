//! `unbraid completions` and `unbraid man`: what shells and `man` know of the command, from its own definitions.

use crate::error::Outcome;
use crate::format::print;
use crate::terminal::log_line;
use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::aot;
use clap_mangen::Man;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbraid::files::{self, Existing};

/// Arguments of `unbraid completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid completions bash > ~/.local/share/bash-completion/completions/unbraid
  unbraid completions zsh > ~/.zfunc/_unbraid
  unbraid completions fish > ~/.config/fish/completions/unbraid.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Arguments of `unbraid man`.
#[derive(Args, Debug)]
#[command(after_help = "Example: unbraid man -o ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for every command into this directory (default: the main page on standard output)
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// Overwrite existing pages
    #[arg(long)]
    overwrite: bool,
}

/// The name of the program that is completed.
const PROGRAM: &str = "unbraid";

/// Prints the completions of a shell.
///
/// # Errors
/// If standard output cannot be written to.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Outcome {
    let shell = match args.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut script = Vec::new();
    aot::generate(shell, &mut command, PROGRAM, &mut script);
    print(&String::from_utf8(script).context("cannot write completions")?)
}

/// Prints the main page, or writes all pages.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn man(args: &ManArgs, command: Command) -> Outcome {
    let mut command = command.disable_help_subcommand(true);
    // Sub-commands then know by which words they are called.
    command.build();
    let Some(directory) = &args.output else {
        return print(&String::from_utf8(page(&command)?.1).context("cannot write the page")?);
    };
    std::fs::create_dir_all(directory).map_err(unbraid::Error::io(directory, "create the directory"))?;
    let pages = write_pages(&command, directory, Existing::from_flag(args.overwrite))?;
    log_line(&format!("wrote {pages} pages to {}", directory.display()));
    Ok(())
}

/// The name of the file of a command's page, and its content.
fn page(command: &Command) -> Outcome<(String, Vec<u8>)> {
    let manual = Man::new(command.clone()).source(concat!("unbraid ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    manual.render(&mut page).context("cannot write the page")?;
    Ok((manual.get_filename(), page))
}

/// Writes the pages of a command and of everything below it; returns how many there are.
fn write_pages(command: &Command, directory: &Path, existing: Existing) -> Outcome<usize> {
    let (name, bytes) = page(command)?;
    files::write(&directory.join(name), existing, |file| file.write_all(&bytes))?;
    let mut pages = 1;
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        pages += write_pages(below, directory, existing)?;
    }
    Ok(pages)
}
