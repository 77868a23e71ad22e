//! `exec`, `inspect` and `compile`.

use super::grants::{CallArgs, GrantArgs};
use crate::Failure;
use crate::expose::Exposed;
use clap::{Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

/// What `--help` says below the options.
pub const EXAMPLES: &str = "\
The guest sees the image, its own files in memory, and what --mount and --input give; there
is no network but its own loopback. Standard input, output and error are passed through.

Status: the command's own; 124 after --timeout, 152 after --cpu, 125 if the sandbox
cannot be made, 126 if the command cannot be run, 127 if it is not found, 130 after Ctrl-C,
128+N if signal N ended it (134 aborted, 137 killed, 139 stack overflow).

Examples:
  runner exec image.webc -- echo hi
  runner exec image.webc -- sh -c 'seq 10 | sort -r | head -3'
  runner exec --mount .:/src --cwd /src image.webc -- grep -rn TODO .
  runner exec --mount out:/output:rw image.webc -- sh -c 'date > /output/now'
  runner exec --timeout 5 --memory 256M --json image.webc -- python3 -c 'print(6*7)'
  runner exec --limits strict --input data.csv image.webc -- head -3 /mnt/input/data.csv
  runner exec --expose 8000 image.webc -- python3 -m http.server 8000
  runner exec --workspace project --diff --apply image.webc -- sed -i s/a/b/ notes.txt
  runner exec --workspace project.zip image.webc -- python3 make.py
  echo '{\"a\":[1,2]}' | runner exec image.webc -- jq .a[1]
  runner session create --store work.wbx --image image.webc a
  runner session exec --store work.wbx a 'cd /tmp; echo hi > note'
  runner session undo --store work.wbx a
  runner shell --store work.wbx a";

/// Run a command in a sandbox of its own
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = "runner exec [OPTIONS] IMAGE [--] COMMAND [ARGS...]")]
pub struct ExecArgs {
    #[command(flatten)]
    pub grants: GrantArgs,
    #[command(flatten)]
    pub call: CallArgs,
    /// Print what the command has changed of the workspace's folder, as a diff
    #[arg(long, conflicts_with = "json")]
    pub diff: bool,
    /// Bring what the command has changed back to the workspace's folder
    #[arg(long)]
    pub apply: bool,
    /// Listen on 127.0.0.1 of the host, at HOSTPORT or the same number, and connect who comes to that port of the
    /// command's own loopback
    #[arg(long, value_name = "PORT[:HOSTPORT]")]
    pub expose: Vec<Exposed>,
    /// The image, and the command to run in it: everything after the image is the command's
    #[arg(value_name = "IMAGE", required = true, trailing_var_arg = true, num_args = 1..)]
    rest: Vec<OsString>,
}

impl ExecArgs {
    /// The image, and the command to run.
    ///
    /// # Errors
    /// If there is no command.
    pub fn image_and_command(&self) -> Result<(PathBuf, &[OsString]), Failure> {
        let (image, argv) = match self.rest.as_slice() {
            [image, dashes, argv @ ..] if dashes == "--" => (image, argv),
            [image, argv @ ..] => (image, argv),
            [] => return Err(Failure::usage("an image is missing")),
        };
        if argv.is_empty() {
            return Err(Failure::usage("a command to run is missing"));
        }
        Ok((image.into(), argv))
    }
}

/// The command `exec` alone.
pub fn command() -> Command {
    let command = Command::new("exec").bin_name("runner exec").args_override_self(true);
    ExecArgs::augment_args(command)
}

/// Reads the arguments of `exec`.
pub fn read(args: impl Iterator<Item = OsString>) -> Result<Box<ExecArgs>, clap::Error> {
    let mut command = command().no_binary_name(true);
    let matches = command.try_get_matches_from_mut(args)?;
    let args = ExecArgs::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    Ok(Box::new(args))
}

const RUN_JSON: &str = "\
The request is {\"zipBase64\", \"entryPath\", \"argv\", \"env\", \"timeoutMs\"}, of which only entryPath must be there; the answer
{\"ok\", \"stdout\", \"stderr\", \"exitCode\", \"zipBase64\"}. The zip is unpacked in /work, where the program begins; it
is a .sh or .py file of it. ok says whether its status was 0. Status 2 and {\"ok\": false, \"error\"} tell of a wrong request.

Example:
  echo '{\"zipBase64\": \"\", \"entryPath\": \"a.sh\"}' | runner run-json --image image.webc";

/// Answer one request on standard input: a zip, a program in it
#[derive(Args)]
#[command(after_help = RUN_JSON)]
pub struct RunJsonArgs {
    #[command(flatten)]
    pub image: super::stored::ImageArg,
    #[command(flatten)]
    pub grants: GrantArgs,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  runner inspect image.webc\n  runner inspect --json image.webc"
)]
pub struct InspectArgs {
    /// Print an object of JSON
    #[arg(long)]
    pub json: bool,
    /// The image
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
}

#[derive(Args)]
pub struct CompileArgs {
    /// The image
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Write image and machine code, compressed, into a folder that other programs unpack
    #[arg(long, value_name = "FOLDER")]
    pub bundle: Option<PathBuf>,
    /// Write the memory that each prepared program begins with into a folder, as NAME.memory
    #[arg(long, value_name = "FOLDER")]
    pub memories: Option<PathBuf>,
}
