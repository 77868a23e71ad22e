//! The command line's grammar, as clap derives it from these types.
//!
//! | file | contents |
//! |---|---|
//! | `grants` | the rights of a guest: mounts, limits, policy; the same for all commands that run one |
//! | `exec` | `exec`, `describe`, `inspect`, `compile` |
//! | `session` | `session ...` |
//! | `fs` | `fs ...` |
//! | `image` | `image ...` |
//! | `door` | `mcp`, `serve` |
//! | `stored` | `snapshot ...`, `kv ...`; the options for store and image |
//! | `tools` | `tools ...`; the option for the file of settings |
//! | `wrong` | clap's messages about a wrong command line, in our words |
//!
//! Only the command in use is built, because building a table of all of them takes longer than a
//! call.

pub mod chat;
pub mod door;
pub mod exec;
pub mod fs;
pub mod grants;
pub mod image;
pub mod session;
pub mod stored;
pub mod tools;
mod wrong;

use crate::CliFailure;
use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs the shell, the tools and Python of an image in a sandbox.
#[derive(Parser)]
#[command(
    name = "runner",
    version,
    args_override_self = true,
    after_help = exec::EXAMPLES,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The user's command.
#[derive(Subcommand)]
pub enum CliCommand {
    /// Run a command in a sandbox of its own
    Exec(Box<exec::ExecArgs>),
    /// Make, use and look at sessions that are kept in a store
    #[command(subcommand)]
    Session(Box<session::SessionCommand>),
    /// Export a session to one file, or import one
    #[command(subcommand)]
    Snapshot(stored::SnapshotCommand),
    /// A session's files
    #[command(subcommand)]
    Fs(Box<fs::FsCommand>),
    /// Key-values of a session
    #[command(subcommand)]
    Kv(stored::KvCommand),
    /// A shell for a person at a terminal
    Shell(Box<session::ShellArgs>),
    /// Chat with a language model that works on a session
    Chat(Box<chat::ChatArgs>),
    /// Serve sessions to a chat client by the Model Context Protocol
    Mcp(Box<door::McpArgs>),
    /// Serve sessions by HTTP
    Serve(Box<door::ServeArgs>),
    /// Switch tools on and off, and change their settings
    #[command(subcommand)]
    Tools(Box<tools::ToolsCommand>),
    /// Answer one request on standard input: a zip, a program in it
    RunJson(Box<exec::RunJsonArgs>),
    /// Describe the machine for a model: a system prompt
    Describe(Box<exec::DescribeArgs>),
    /// Show the contents of an image
    Inspect(exec::InspectArgs),
    /// Take an image apart, or add programs to one
    #[command(subcommand)]
    Image(image::ImageCommand),
    /// Compile an image for this machine
    Compile(exec::CompileArgs),
    /// Show which walls this host has
    Doctor,
    /// Check that the program and its image work on this machine
    SelfTest(stored::ImageArg),
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Write the manual's pages into a folder
    Man {
        /// The folder, which is made if it is not there
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// The result of parsing: a command, or a text to print.
pub enum CliRequest {
    Command(CliCommand),
    Text(StyledStr),
}

/// Returns all commands, for lists of them.
pub fn whole_command() -> clap::Command {
    Cli::command()
}

/// Reads the command line, without the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<CliRequest, CliFailure> {
    let args: Vec<OsString> = args.into_iter().collect();
    // `exec` is called for every small thing, and parsing it alone is 1 ms faster than parsing all
    // commands.
    let parsed = match args.first().and_then(|a| a.to_str()) {
        Some("exec") => exec::read(args[1..].iter().cloned()).map(CliCommand::Exec),
        _ => read(args.clone()),
    };
    match parsed {
        Ok(command) => Ok(CliRequest::Command(command)),
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(CliRequest::Text(e.render()))
        }
        Err(e) => Err(wrong::failure_from_clap(&e, &args)),
    }
}

fn read(args: Vec<OsString>) -> Result<CliCommand, clap::Error> {
    let mut command = Cli::command();
    let args = std::iter::once("runner".into()).chain(args);
    let matches = command.try_get_matches_from_mut(args)?;
    Ok(Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<CliRequest, CliFailure> {
        parse(args.iter().map(OsString::from))
    }

    #[test]
    fn the_grammar_is_sound() {
        whole_command().debug_assert();
        exec::exec_command().debug_assert();
    }

    #[test]
    fn the_command_is_everything_after_the_image() {
        for args in [
            &["exec", "--json", "i.webc", "--", "ls", "--json", "--", "-x"][..],
            &["exec", "--json", "i.webc", "ls", "--json", "--", "-x"],
        ] {
            let Ok(CliRequest::Command(CliCommand::Exec(e))) = parsed(args) else {
                panic!("{args:?}")
            };
            let (image, argv) = e.image_and_command().ok().unwrap();
            assert_eq!(argv, ["ls", "--json", "--", "-x"]);
            assert!(e.call.json && image == *"i.webc");
        }
        for args in [
            &["exec", "--json", "--", "ls", "--json", "--", "-x"][..],
            &["exec", "--json", "--image", "i.webc", "--", "ls", "--json", "--", "-x"],
            &["exec", "--json", "--image", "i.webc", "ls", "--json", "--", "-x"],
            &["exec", "--image=i.webc", "--json", "ls", "--json", "--", "-x"],
        ] {
            let Ok(CliRequest::Command(CliCommand::Exec(e))) = parsed(args) else {
                panic!("{args:?}")
            };
            assert!(e.call.json && e.is_command, "{args:?}");
            assert_eq!(e.rest, ["ls", "--json", "--", "-x"], "{args:?}");
        }
        // The value of an option may equal the name of a command.
        let e = parsed(&["exec", "i.webc", "--json", "x"]);
        let Ok(CliRequest::Command(CliCommand::Exec(e))) = e else { panic!() };
        assert_eq!(e.image_and_command().ok().unwrap().1, ["--json", "x"]);
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for args in [
            &[][..],
            &["frob"],
            &["exec"],
            &["exec", "--frob", "i.webc", "x"],
            &["exec", "--mount", "nocolon", "i.webc", "x"],
            &["exec", "--memory", "lots", "i.webc", "x"],
            &["exec", "--limits", "lax", "i.webc", "x"],
            &["exec", "--timeout"],
            &["exec", "--cwd", "rel", "i.webc", "x"],
            &["inspect", "a", "b"],
            &["describe", "a", "b"],
            &["describe", "--limits", "lax"],
            &["compile", "--json", "a"],
            &["image", "extract"],
            &["image", "pack", "new.webc"],
            &["image", "pack", "--add", "a/b=c", "new.webc"],
            &["session"],
            &["session", "frob"],
            &["session", "undo", "--store", "s"],
            &["session", "diff", "--store", "s", "a", "1", "x"],
            &["kv", "set", "--store", "s", "a", "k"],
            &["snapshot", "export", "--store", "s", "a"],
            &["completions", "csh"],
            &["session", "python", "--store", "s"],
            &["fs"],
            &["mcp", "--http", "nowhere"],
            &["serve", "--listen", "127.0.0.1:0"],
            &["fs", "read", "--store", "s", "a"],
            &["fs", "read", "--offset", "1", "--store", "s", "a", "f"],
            &["tools"],
            &["tools", "enable"],
            &["tools", "set"],
        ] {
            assert!(parsed(args).is_err_and(|f| f.status == 2), "{args:?}");
        }
    }

    #[test]
    fn mistakes_say_how_it_is_written() {
        for (args, text) in [
            (&["session", "exec", "a", "ls", "-la"][..], "runner session exec a -- ls -la"),
            (&["session", "exec", "a", "ls", "x", "y"], "runner session exec a -- ls x y"),
            (&["serve"], "--token-file FILE is missing"),
            (
                &["exec", "--mount", ".:src", "--", "x"],
                "'src' is not an absolute path of the guest",
            ),
        ] {
            let why = parsed(args).err().unwrap();
            assert!(why.status == 2 && why.text.contains(text), "{args:?}: {}", why.text);
        }
        let Ok(CliRequest::Command(CliCommand::Exec(e))) = parsed(&["exec", "echo", "hi"]) else {
            panic!()
        };
        assert!(e.image_and_command().err().unwrap().text.contains("runner exec -- echo"));
    }

    #[test]
    fn both_ways_to_exec_have_the_same_options() {
        let names = |c: &clap::Command| -> Vec<String> {
            c.get_arguments().map(|a| a.get_id().to_string()).collect()
        };
        let all = whole_command();
        let within = all.find_subcommand("exec").unwrap();
        assert_eq!(names(within), names(&exec::exec_command()));
    }

    /// Every command and every option has a help text.
    #[test]
    fn everything_has_a_help() {
        fn check(c: &clap::Command) {
            assert!(c.get_about().is_some(), "{}", c.get_name());
            for a in c.get_arguments() {
                let is_ours = !["help", "version"].contains(&a.get_id().as_str());
                assert!(!is_ours || a.get_help().is_some(), "{} {}", c.get_name(), a.get_id());
            }
            c.get_subcommands().for_each(check);
        }
        check(&whole_command());
    }
}
