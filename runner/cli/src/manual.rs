//! `runner completions` and `runner man`, both generated from the grammar.

use crate::{CliFailure, args, installed, print_bytes};
use std::path::Path;

/// Prints completions for a shell.
pub fn print_completions(shell: clap_complete::Shell) -> Result<u8, CliFailure> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut args::whole_command(), installed::name(), &mut out);
    print_bytes(&out)?;
    Ok(0)
}

/// Writes a page for each command, for example `runner.1` and `runner-session-exec.1`. The names
/// begin with `wasibox` if the program was called by that name.
pub fn write_man_pages(dir: &Path) -> Result<u8, CliFailure> {
    let failed = |e| CliFailure::new(125, format!("{}: {e}", dir.display()));
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut command = args::whole_command();
    command.build();
    write_page(&command, installed::name(), dir).map_err(failed)?;
    Ok(0)
}

fn write_page(command: &clap::Command, name: &str, dir: &Path) -> std::io::Result<()> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut out)?;
    let text = installed::with_program_name(&String::from_utf8_lossy(&out));
    std::fs::write(dir.join(format!("{name}.1")), text)?;
    for sub in command.get_subcommands() {
        write_page(sub, &format!("{name}-{}", sub.get_name()), dir)?;
    }
    Ok(())
}
