//! The command line: converts arguments to actions on sessions and stores.
//!
//! | file | contents |
//! |---|---|
//! | `args` | the grammar, by clap's derive; messages about mistakes |
//! | `values` | sizes, times, mounts, variables |
//! | `exec` | `runner exec`: one command in this process, with a jail around it |
//! | `run_json` | `runner run-json`: a zip and a program in it, as one request |
//! | `call` | the parts shared by all commands that run something: engine, signals, messages about limits and errors |
//! | `session` | `runner session ...`, a file for each kind of command |
//! | `door` | `runner mcp`, `runner serve` |
//! | `chat` | `runner chat`: a language model that works on a session |
//! | `snapshot`, `kv`, `fs` | `runner snapshot ...`, `runner kv ...`, `runner fs ...` |
//! | `shell` | `runner shell` |
//! | `describe`, `inspect`, `doctor` | `runner describe`, `runner inspect` and `runner compile`, `runner doctor` |
//! | `image` | `runner image extract`, `runner image pack` |
//! | `self_test` | `runner self-test` |
//! | `installed` | the program as part of a package: its name, its image |
//! | `manual` | `runner completions` and `runner man` |
//! | `tool_settings` | `runner tools ...`: which built-in tools are on, and their settings |
//! | `tools` | tools of other servers for guests |
//! | `message`, `table` | the runner's own messages, and the format of names and times in them |
//! | `progress` | progress of long operations, on a terminal |
//!
//! The program's own exit statuses are 2 for a wrong command line, 125 if the sandbox cannot be
//! made or a store cannot be used, 126 for a command that cannot be run, 127 for one that is not
//! found, 124 after the time limit, 130 after Ctrl-C; 1 for something missing or damaged. Any other
//! status is the command's.
#![forbid(unsafe_code)]

mod args;
mod call;
mod chat;
mod describe;
mod doctor;
mod door;
mod exec;
mod expose;
mod fs;
mod image;
mod inspect;
mod installed;
mod kv;
mod manual;
mod message;
mod progress;
mod run_json;
mod self_test;
mod session;
mod shell;
mod snapshot;
mod table;
mod terminal;
mod tool_settings;
mod tools;
mod values;

use args::{CliCommand, CliRequest};
use std::process::ExitCode;

/// A message for the user, and its exit status.
#[derive(Debug)]
struct CliFailure {
    status: u8,
    text: String,
    is_usage: bool,
}

impl CliFailure {
    fn new(status: u8, text: impl std::fmt::Display) -> CliFailure {
        CliFailure { status, text: text.to_string(), is_usage: false }
    }

    /// Makes the failure for a wrong command line.
    fn usage(text: impl std::fmt::Display) -> CliFailure {
        CliFailure { is_usage: true, ..CliFailure::new(2, text) }
    }
}

impl From<wasibox::Error> for CliFailure {
    fn from(e: wasibox::Error) -> CliFailure {
        call::failure_from(e)
    }
}

impl From<wasibox::store::StoreError> for CliFailure {
    fn from(e: wasibox::store::StoreError) -> CliFailure {
        call::failure_from(e.into())
    }
}

impl From<std::io::Error> for CliFailure {
    fn from(e: std::io::Error) -> CliFailure {
        CliFailure::new(125, e)
    }
}

/// The longest time for which the program waits at its end for a store's collection of garbage.
const COLLECTION: std::time::Duration = std::time::Duration::from_secs(5);

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == wasibox::WORKER_ARGUMENT) {
        std::panic::set_hook(Box::new(|_| {}));
        return wasibox::worker_main();
    }
    wasibox::use_huge_pages();
    // Panics are silent, so that the user gets one line instead of Rust's report if a damaged image
    // makes a reader panic.
    std::panic::set_hook(Box::new(|_| {}));
    wasibox::ignore_file_size_signal();
    let done = args::parse(std::env::args_os().skip(1)).and_then(run);
    // A call may have begun to remove what its session no longer needs.
    wasibox::store::wait_for_collections(COLLECTION);
    match done {
        Ok(status) => ExitCode::from(status),
        Err(f) => {
            message::say_message(&f.text);
            if f.is_usage {
                let name = installed::name();
                message::print_hint(&format!("Try '{name} --help' for more information."));
            }
            ExitCode::from(f.status)
        }
    }
}

fn run(parsed: CliRequest) -> Result<u8, CliFailure> {
    let command = match parsed {
        CliRequest::Text(text) => {
            return print_text(&installed::with_program_name(&text.to_string())).map(|()| 0);
        }
        CliRequest::Command(command) => command,
    };
    match command {
        CliCommand::Exec(args) => exec::run(*args),
        CliCommand::Session(command) => session::run(*command),
        CliCommand::Snapshot(command) => snapshot::run(command),
        CliCommand::Fs(command) => fs::run(*command),
        CliCommand::Kv(command) => kv::run(command),
        CliCommand::Shell(args) => shell::run(&args),
        CliCommand::Chat(args) => chat::run(&args),
        CliCommand::Mcp(args) => door::run_mcp(&args),
        CliCommand::Serve(args) => door::run_serve(&args),
        CliCommand::Tools(command) => tool_settings::run(*command),
        CliCommand::RunJson(args) => run_json::run(&args),
        CliCommand::Describe(args) => describe::run(&args),
        CliCommand::Inspect(args) => inspect::inspect_image(&args.image.path()?, args.json),
        CliCommand::Image(command) => image::run(command),
        CliCommand::Compile(args) => inspect::compile_image(&args),
        CliCommand::SelfTest(image) => self_test::run(&image),
        CliCommand::Doctor => doctor::run(),
        CliCommand::Completions { shell } => manual::print_completions(shell),
        CliCommand::Man { dir } => manual::write_man_pages(&dir),
    }
}

/// Writes to standard output; a closed pipe is not an error.
fn print_text(text: &str) -> Result<(), CliFailure> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), CliFailure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(CliFailure::new(125, e)),
        _ => Ok(()),
    }
}
