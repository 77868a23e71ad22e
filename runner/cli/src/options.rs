//! The command line's grammar. Each option is declared once, in [`EXEC`]; the parser
//! looks it up there and `--help` prints it from there.

use crate::{Failure, values};
use lexopt::Arg;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wasibox::MountSpec;

/// What the user asked for.
pub enum Command {
    Exec(Box<ExecOptions>),
    Inspect {
        image: PathBuf,
        json: bool,
    },
    Compile {
        image: PathBuf,
    },
    Doctor,
    /// Help or version.
    Print(String),
}

/// Options of `runner exec`.
#[derive(Default)]
pub struct ExecOptions {
    pub image: PathBuf,
    pub argv: Vec<OsString>,
    pub mounts: Vec<MountSpec>,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub cwd: Option<String>,
    /// `Some(None)`: no limit.
    pub timeout: Option<Option<Duration>>,
    /// `Some(None)`: no limit.
    pub cpu: Option<Option<Duration>>,
    pub memory: Option<u64>,
    pub disk: Option<u64>,
    pub output_limit: Option<u64>,
    pub processes: Option<u64>,
    pub json: bool,
    pub no_stdin: bool,
    pub raw: bool,
    pub fresh_programs: bool,
    pub require_walls: bool,
}

struct Opt {
    long: &'static str,
    /// Name of the value; empty if there is none.
    value: &'static str,
    help: &'static str,
    set: fn(&mut ExecOptions, OsString) -> Option<()>,
}

fn text(v: OsString) -> Option<String> {
    v.into_string().ok()
}

const EXEC: &[Opt] = &[
    Opt {
        long: "mount",
        value: "HOST:GUEST[:ro|rw[,quota=SIZE]]",
        help: "let the guest see a host directory or file; read-only unless rw; SIZE bounds what it adds",
        set: |o, v| values::mount(&v).map(|m| o.mounts.push(m)),
    },
    Opt {
        long: "env",
        value: "NAME=VALUE",
        help: "set an environment variable",
        set: |o, v| values::variable(&v).map(|m| o.env.push(m)),
    },
    Opt {
        long: "cwd",
        value: "DIR",
        help: "start in this directory of the guest (default /home/user)",
        set: |o, v| text(v).filter(|d| d.starts_with('/')).map(|d| o.cwd = Some(d)),
    },
    Opt {
        long: "timeout",
        value: "SECONDS",
        help: "end the command after this time, status 124 (default 3600, 0 for never)",
        set: |o, v| values::seconds(&text(v)?).map(|t| o.timeout = Some(t)),
    },
    Opt {
        long: "cpu",
        value: "SECONDS",
        help: "end the command after this CPU time of all processes, status 152 (default none)",
        set: |o, v| values::seconds(&text(v)?).map(|t| o.cpu = Some(t)),
    },
    Opt {
        long: "memory",
        value: "SIZE",
        help: "memory of all processes together (default 2G)",
        set: |o, v| values::size(&text(v)?).map(|n| o.memory = Some(n)),
    },
    Opt {
        long: "disk",
        value: "SIZE",
        help: "what the guest's own files may hold (default 512M)",
        set: |o, v| values::size(&text(v)?).map(|n| o.disk = Some(n)),
    },
    Opt {
        long: "output-limit",
        value: "SIZE",
        help: "end the command when it has written more (default none, 16M with --json)",
        set: |o, v| values::size(&text(v)?).map(|n| o.output_limit = Some(n)),
    },
    Opt {
        long: "processes",
        value: "N",
        help: "processes alive at once (default 128)",
        set: |o, v| text(v)?.parse().ok().filter(|n| *n > 0).map(|n| o.processes = Some(n)),
    },
    Opt {
        long: "no-stdin",
        value: "",
        help: "give the command an empty standard input",
        set: |o, _| {
            o.no_stdin = true;
            Some(())
        },
    },
    Opt {
        long: "fresh-python",
        value: "",
        help: "begin Python at its beginning, not from what all processes share: slower",
        set: |o, _| {
            o.fresh_programs = true;
            Some(())
        },
    },
    Opt {
        long: "require-walls",
        value: "",
        help: "refuse to run on a host that lacks a wall (see runner doctor)",
        set: |o, _| {
            o.require_walls = true;
            Some(())
        },
    },
    Opt {
        long: "raw",
        value: "",
        help: "let the command tell a terminal everything, not text and colours only",
        set: |o, _| {
            o.raw = true;
            Some(())
        },
    },
    Opt {
        long: "json",
        value: "",
        help: "print a JSON outcome: exit_code, stdout, stderr, times, limits, changed files",
        set: |o, _| {
            o.json = true;
            Some(())
        },
    },
];

const HEAD: &str = "\
Runs shell, tools and Python of an image in a sandbox.

Usage:
  runner exec [OPTIONS] IMAGE -- COMMAND [ARGS...]   run a command
  runner inspect [--json] IMAGE                      show what is in an image
  runner compile IMAGE                               compile an image for this machine
  runner doctor                                      tell which walls this host has
  runner --help | --version

Options of exec:
";

const TAIL: &str = "
The guest sees the image, its own files in memory, and what --mount gives; there
is no network. Standard input, output and error are passed through.

Status: the command's own; 124 after --timeout, 152 after --cpu, 125 if the sandbox
cannot be made, 126 if the command cannot be run, 127 if it is not found, 130 after Ctrl-C,
128+N if signal N ended it (134 aborted, 137 killed, 139 stack overflow).

Examples:
  runner exec image.webc -- echo hi
  runner exec image.webc -- sh -c 'seq 10 | sort -r | head -3'
  runner exec --mount .:/src --cwd /src image.webc -- grep -rn TODO .
  runner exec --mount out:/output:rw image.webc -- sh -c 'date > /output/now'
  runner exec --timeout 5 --memory 256M --json image.webc -- python3 -c 'print(6*7)'
  echo '{\"a\":[1,2]}' | runner exec image.webc -- jq .a[1]
";

fn help() -> String {
    let mut out = HEAD.to_owned();
    for o in EXEC {
        let left = format!("--{} {}", o.long, o.value);
        out.push_str(&format!("  {left:<28} {}\n", o.help));
    }
    out.push_str(TAIL);
    out
}

/// Reads the command line.
pub fn parse(mut p: lexopt::Parser) -> Result<Command, Failure> {
    let verb = match p.next().map_err(Failure::usage)? {
        None => return Err(Failure::usage("a command is missing")),
        Some(Arg::Long("help") | Arg::Short('h')) => return Ok(Command::Print(help())),
        Some(Arg::Long("version") | Arg::Short('V')) => {
            return Ok(Command::Print(concat!("runner ", env!("CARGO_PKG_VERSION"), "\n").into()));
        }
        Some(Arg::Value(v)) => v,
        Some(other) => return Err(Failure::usage(other.unexpected())),
    };
    match verb.to_str() {
        Some("exec") => exec(p),
        Some("inspect") => image_only(p, true),
        Some("compile") => image_only(p, false),
        Some("doctor") => match p.next().map_err(Failure::usage)? {
            None => Ok(Command::Doctor),
            Some(arg) => Err(Failure::usage(arg.unexpected())),
        },
        _ => Err(Failure::usage(format!("unknown command '{}'", verb.to_string_lossy()))),
    }
}

fn exec(mut p: lexopt::Parser) -> Result<Command, Failure> {
    let mut o = ExecOptions::default();
    let mut image = None;
    while let Some(arg) = p.next().map_err(Failure::usage)? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Print(help())),
            Arg::Long(name) => {
                let Some(opt) = EXEC.iter().find(|o| o.long == name) else {
                    return Err(Failure::usage(Arg::Long(name).unexpected()));
                };
                if opt.value.is_empty() {
                    (opt.set)(&mut o, OsString::new());
                    continue;
                }
                let v = p.value().map_err(Failure::usage)?;
                let shown = v.to_string_lossy().into_owned();
                (opt.set)(&mut o, v).ok_or_else(|| {
                    Failure::usage(format!("--{}: '{shown}' is not {}", opt.long, opt.value))
                })?;
            }
            Arg::Value(v) if image.is_none() => {
                image = Some(v);
                // Everything after the image is the command; a `--` before it is optional.
                let mut rest: Vec<OsString> = p.raw_args().map_err(Failure::usage)?.collect();
                if rest.first().is_some_and(|a| a == "--") {
                    rest.remove(0);
                }
                o.argv = rest;
                break;
            }
            other => return Err(Failure::usage(other.unexpected())),
        }
    }
    o.image = image.ok_or_else(|| Failure::usage("an image is missing"))?.into();
    if o.argv.is_empty() {
        return Err(Failure::usage("a command to run is missing"));
    }
    Ok(Command::Exec(Box::new(o)))
}

fn image_only(mut p: lexopt::Parser, has_json: bool) -> Result<Command, Failure> {
    let (mut image, mut json) = (None, false);
    while let Some(arg) = p.next().map_err(Failure::usage)? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Print(help())),
            Arg::Long("json") if has_json => json = true,
            Arg::Value(v) if image.is_none() => image = Some(PathBuf::from(v)),
            other => return Err(Failure::usage(other.unexpected())),
        }
    }
    let image = image.ok_or_else(|| Failure::usage("an image is missing"))?;
    Ok(if has_json { Command::Inspect { image, json } } else { Command::Compile { image } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Command, Failure> {
        parse(lexopt::Parser::from_args(args))
    }

    #[test]
    fn the_command_is_everything_after_the_image() {
        for args in [
            &["exec", "--json", "i.webc", "--", "ls", "--json", "--", "-x"][..],
            &["exec", "--json", "i.webc", "ls", "--json", "--", "-x"],
        ] {
            let Ok(Command::Exec(e)) = parsed(args) else { panic!("{args:?}") };
            assert_eq!(e.argv, ["ls", "--json", "--", "-x"]);
            assert!(e.json && e.image == *"i.webc");
        }
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for args in [
            &[][..],
            &["frob"],
            &["exec"],
            &["exec", "i.webc"],
            &["exec", "--frob", "i.webc", "x"],
            &["exec", "--mount", "nocolon", "i.webc", "x"],
            &["exec", "--memory", "lots", "i.webc", "x"],
            &["exec", "--timeout"],
            &["exec", "--cwd", "rel", "i.webc", "x"],
            &["inspect"],
            &["inspect", "a", "b"],
            &["compile", "--json", "a"],
        ] {
            assert!(parsed(args).is_err_and(|f| f.status == 2), "{args:?}");
        }
    }

    #[test]
    fn help_names_every_option() {
        let h = help();
        assert!(EXEC.iter().all(|o| h.contains(&format!("--{}", o.long))));
    }
}
