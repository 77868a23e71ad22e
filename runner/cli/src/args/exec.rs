//! `exec`, `describe`, `inspect` and `compile`.

use super::grants::{CallArgs, GrantArgs};
use super::stored::{ImageArg, ImageFileArg};
use crate::CliFailure;
use crate::expose::PortMapping;
use clap::parser::ValueSource;
use clap::{Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The text of `--help` below the options.
pub const EXAMPLES: &str = "\
The guest sees the image, its own files in memory, and what --mount and --input give; there
is no network but its own loopback. Standard input, output and error are passed through.

Status: the command's own; 124 after --timeout, 152 after --cpu, 125 if the sandbox
cannot be made, 126 if the command cannot be run, 127 if it is not found, 130 after Ctrl-C,
128+N if signal N ended it (134 aborted, 137 killed, 139 stack overflow).

Examples:
  runner exec -- echo hi
  runner exec image.webc -- echo hi
  runner exec image.webc -- sh -c 'seq 10 | sort -r | head -3'
  runner exec --mount .:/src --cwd /src image.webc -- grep -rn TODO .
  runner exec --mount out:/output:rw image.webc -- sh -c 'date > /output/now'
  runner exec --timeout 5 --memory 256M --json image.webc -- python3 -c 'print(6*7)'
  runner exec --limits strict --input data.csv image.webc -- head -3 /mnt/input/data.csv
  runner exec --expose 8000 image.webc -- python3 -m http.server 8000
  runner exec -t image.webc -- bash
  runner exec --workspace project --diff --apply image.webc -- sed -i s/a/b/ notes.txt
  runner exec --workspace project.zip image.webc -- python3 make.py
  echo '{\"a\":[1,2]}' | runner exec image.webc -- jq .a[1]
  runner session create --store work.wbx --image image.webc a
  runner session exec --store work.wbx a 'cd /tmp; echo hi > note'
  runner session undo --store work.wbx a
  runner shell --store work.wbx a";

/// Run a command in a sandbox of its own
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = "runner exec [OPTIONS] -- COMMAND [ARGS...]\n       runner exec [OPTIONS] --image FILE [--] COMMAND [ARGS...]\n       runner exec [OPTIONS] IMAGE [--] COMMAND [ARGS...]")]
pub struct ExecArgs {
    #[command(flatten)]
    pub grants: GrantArgs,
    #[command(flatten)]
    pub call: CallArgs,
    /// Print the command's changes to the workspace's folder, as a diff
    #[arg(long, conflicts_with = "json")]
    pub diff: bool,
    /// Apply the command's changes to the workspace's folder
    #[arg(long)]
    pub apply: bool,
    /// Run the command on a terminal of its own, for shells, editors and other programs that talk to
    /// a person; -i is accepted and means the same
    #[arg(
        short = 't',
        long = "tty",
        short_alias = 'i',
        conflicts_with_all = ["json", "diff", "apply", "no_stdin"]
    )]
    pub terminal: bool,
    /// Listen on the host's 127.0.0.1, at HOSTPORT (by default PORT), and connect clients to PORT on
    /// the command's own loopback
    #[arg(long, value_name = "PORT[:HOSTPORT]")]
    pub expose: Vec<PortMapping>,
    #[command(flatten)]
    pub image: ImageArg,
    /// The image, unless --image names it or -- comes first; then the command and its arguments
    #[arg(value_name = "IMAGE", required = true, trailing_var_arg = true, num_args = 1..)]
    pub(super) rest: Vec<OsString>,
    /// Whether `rest` is the command alone.
    #[arg(skip)]
    pub(super) is_command: bool,
}

impl ExecArgs {
    /// Returns the image and the command to run.
    ///
    /// # Errors
    /// If there is no command, or no image.
    pub fn image_and_command(&self) -> Result<(PathBuf, &[OsString]), CliFailure> {
        if self.is_command {
            return Ok((self.image.path()?, self.rest.as_slice()));
        }
        let (image, argv) = match self.rest.as_slice() {
            [image, dashes, argv @ ..] if dashes == "--" => (image, argv),
            [image, argv @ ..] => (image, argv),
            [] => return Err(CliFailure::usage("an image is missing")),
        };
        if argv.is_empty() {
            return Err(CliFailure::usage("a command to run is missing"));
        }
        // A word without '/' or '.' is more likely a command than an image.
        let is_name = image.to_str().is_some_and(|s| !s.contains(['/', '.']));
        if is_name && !Path::new(image).exists() {
            let name = image.to_string_lossy();
            return Err(CliFailure::usage(format!(
                "there is no image '{name}'; a command without an image goes after --: runner exec -- {name} ..."
            )));
        }
        Ok((image.into(), argv))
    }
}

/// Returns the command line of `exec` alone.
pub fn exec_command() -> Command {
    let command = Command::new("exec").bin_name("runner exec").args_override_self(true);
    ExecArgs::augment_args(command)
}

/// Reads the arguments of `exec`.
pub fn read(args: impl Iterator<Item = OsString>) -> Result<Box<ExecArgs>, clap::Error> {
    let mut command = exec_command().no_binary_name(true);
    let words: Vec<OsString> = args.collect();
    let matches = command.try_get_matches_from_mut(&words)?;
    let mut args = ExecArgs::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    // `rest` is the end of the line, and clap does not report whether a -- preceded it.
    let before = words.len().saturating_sub(args.rest.len() + 1);
    let is_after_dashes = words.len() > args.rest.len() && words[before] == "--";
    let is_named = matches.value_source("image") == Some(ValueSource::CommandLine);
    if is_named && !is_after_dashes && args.rest.first().is_some_and(|word| word == "--") {
        args.rest.remove(0);
    }
    args.is_command = is_named || is_after_dashes;
    Ok(Box::new(args))
}

const RUN_JSON: &str = "\
The request is {\"zipBase64\", \"entryPath\", \"argv\", \"env\", \"timeoutMs\"}, of which only entryPath must be there; the answer
{\"ok\", \"stdout\", \"stderr\", \"exitCode\", \"zipBase64\"}. The zip is unpacked in /work, where the program begins; it
is a .sh, .py, .js or .ts file of it, by its path there. ok says whether its status was 0. Status 2 and {\"ok\": false, \"error\"} tell of a wrong request.

Example:
  echo '{\"zipBase64\": \"\", \"entryPath\": \"a.sh\"}' | runner run-json --image image.webc";

/// Answer one request on standard input: a zip, a program in it
#[derive(Args)]
#[command(after_help = RUN_JSON)]
pub struct RunJsonArgs {
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub grants: GrantArgs,
}

const DESCRIBE: &str = "\
The text is for the system prompt of a model whose tools a program defines itself; clients of `runner mcp` get it
by themselves. It has what the image contains, and what these options grant: commands, Python packages, folders,
network, limits, what stays and what can be undone. It has no path of the host and no secret.

Examples:
  runner describe
  runner describe --limits strict --input data.csv --allow 'GET https://example.com/'
  runner describe --json image.webc";

/// Describe the machine for a model: a system prompt
#[derive(Args)]
#[command(after_help = DESCRIBE)]
pub struct DescribeArgs {
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub image: ImageFileArg,
    #[command(flatten)]
    pub grants: GrantArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  runner inspect\n  runner inspect --json image.webc")]
pub struct InspectArgs {
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub image: ImageFileArg,
}

#[derive(Args)]
pub struct CompileArgs {
    #[command(flatten)]
    pub image: ImageFileArg,
    /// Compile this program only, one of those that `inspect` shows
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bundle", "memories"])]
    pub program: Option<String>,
    /// End with status 124 if it takes longer (default none)
    #[arg(long, value_name = "SECONDS", value_parser = super::grants::text(crate::values::parse_seconds))]
    pub prepare_timeout: Option<super::grants::Time>,
    /// Write image and machine code, compressed, into a folder that other programs unpack
    #[arg(long, value_name = "FOLDER")]
    pub bundle: Option<PathBuf>,
    /// Write the memory that each prepared program begins with into a folder, as NAME.memory
    #[arg(long, value_name = "FOLDER")]
    pub memories: Option<PathBuf>,
}
