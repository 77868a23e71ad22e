//! The command line of the shell.

use sh_exec::state::options::{SetOpt, ShOpt, option_from_letter, set_option, shopt_option};

/// The source of the commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ScriptSource {
    /// The argument of `-c`.
    Command(Vec<u8>),
    File(Vec<u8>),
    #[default]
    Stdin,
}

/// The parsed command line.
#[derive(Debug, Default)]
pub struct Invocation {
    pub source: ScriptSource,
    /// `$0`, if it is given after `-c`.
    pub name: Option<Vec<u8>>,
    pub positional: Vec<Vec<u8>>,
    pub set: Vec<(SetOpt, bool)>,
    pub shopt: Vec<(ShOpt, bool)>,
    pub interactive: bool,
    pub login: bool,
    pub posix: bool,
    /// `-o`, `+o`, `-O` or `+O` without a name: the shell lists the options and exits.
    pub list: Option<OptionList>,
    pub help: bool,
    pub version: bool,
    pub rcfile: Option<Vec<u8>>,
    pub norc: bool,
    /// `--budget`, for example `strict,commands=5000`: see
    /// [`sh_exec::budget::ScriptLimits::parse`].
    pub budget: Option<Vec<u8>>,
    /// `--session`: continues from the state that the last call of the session has left.
    pub session: bool,
    /// `--noediting`: lines are read as the terminal delivers them.
    pub noediting: bool,
    /// `--analyze`: reports the possible effects of the script instead of running it.
    pub analyze: bool,
}

/// Options to list instead of running commands: as a table, or as commands that set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionList {
    Set { table: bool },
    Shopt { table: bool },
}

/// The error for a wrong option: the message after the name of the shell, whether the usage
/// follows, and the status.
#[derive(Debug)]
pub struct ShellUsageError {
    pub message: Vec<u8>,
    pub usage: bool,
    pub status: u8,
}

impl ShellUsageError {
    /// Returns an error without the usage behind it.
    pub fn new(message: Vec<u8>) -> ShellUsageError {
        ShellUsageError { message, usage: false, status: 2 }
    }

    /// Returns the error as it is after the options so far: `-e` makes bash end at its first
    /// message, with status 1 and without the usage.
    fn after(self, inv: &Invocation) -> ShellUsageError {
        let errexit = inv.set.iter().rfind(|(option, _)| *option == SetOpt::ErrExit);
        match errexit {
            Some((_, true)) => ShellUsageError { usage: false, status: 1, ..self },
            _ => self,
        }
    }
}

/// Parses the command line after the name.
///
/// # Errors
/// Fails at the first option that is unknown or lacks its argument.
pub fn parse(args: &[Vec<u8>]) -> Result<Invocation, ShellUsageError> {
    let mut inv = Invocation::default();
    let mut rest = args;
    // Whether `-c` and `-s` were given.
    let (mut command, mut stdin) = (false, false);
    while let Some((arg, after)) = rest.split_first()
        && let Some((sign @ (b'-' | b'+'), letters)) = arg.split_first()
    {
        rest = after;
        // A lone dash ends the options, as two dashes do.
        if letters.is_empty() || arg == b"--" {
            break;
        }
        if arg.starts_with(b"--") {
            let used = long_option(&mut inv, arg, rest.first())?;
            rest = rest.get(used..).unwrap_or_default();
            continue;
        }
        let on = *sign == b'-';
        for c in letters {
            match c {
                b'c' => command = true,
                b's' => stdin = true,
                b'i' => inv.interactive = true,
                b'l' => inv.login = true,
                b'r' | b'D' => {}
                b'o' | b'O' => {
                    let used = named_option(&mut inv, *c == b'o', on, rest.first())?;
                    rest = rest.get(used..).unwrap_or_default();
                }
                _ => match option_from_letter(*c) {
                    Some(o) => inv.set.push((o, on)),
                    None => {
                        let message = [&[*sign, *c], b": invalid option".as_slice()].concat();
                        let error = ShellUsageError { message, usage: true, status: 2 };
                        return Err(error.after(&inv));
                    }
                },
            }
        }
    }
    let mut rest = rest.iter().cloned();
    if command {
        let Some(text) = rest.next() else {
            let message = b"-c: option requires an argument".to_vec();
            return Err(ShellUsageError::new(message).after(&inv));
        };
        inv.source = ScriptSource::Command(text);
        inv.name = rest.next();
    } else if !stdin && let Some(file) = rest.next() {
        inv.source = ScriptSource::File(file);
    }
    inv.positional = rest.collect();
    Ok(inv)
}

/// Parses `-o`, or `-O` of `shopt`, with the name after it, or without one: then the options are
/// listed. Returns the number of further arguments used.
fn named_option(
    inv: &mut Invocation,
    of_set: bool,
    on: bool,
    next: Option<&Vec<u8>>,
) -> Result<usize, ShellUsageError> {
    let Some(name) = next.filter(|a| !a.starts_with(b"-") && !a.starts_with(b"+")) else {
        inv.list = Some(if of_set {
            OptionList::Set { table: on }
        } else {
            OptionList::Shopt { table: on }
        });
        return Ok(0);
    };
    let wrong = |what: &[u8]| ShellUsageError::new([name.as_slice(), what].concat());
    if of_set {
        let option = set_option(name).ok_or_else(|| wrong(b": invalid option name"))?;
        inv.set.push((option, on));
    } else {
        let option = shopt_option(name).ok_or_else(|| wrong(b": invalid shell option name"))?;
        inv.shopt.push((option, on));
    }
    Ok(1)
}

/// Parses a long option, for example `--posix`, and returns the number of further arguments used.
fn long_option(
    inv: &mut Invocation,
    arg: &[u8],
    next: Option<&Vec<u8>>,
) -> Result<usize, ShellUsageError> {
    match arg {
        b"--posix" => inv.posix = true,
        b"--login" => inv.login = true,
        b"--norc" => inv.norc = true,
        b"--noediting" => inv.noediting = true,
        b"--noprofile" | b"--restricted" | b"--debugger" => {}
        b"--verbose" => inv.set.push((SetOpt::Verbose, true)),
        b"--help" => inv.help = true,
        b"--version" => inv.version = true,
        b"--session" => inv.session = true,
        b"--analyze" => inv.analyze = true,
        _ if arg.starts_with(b"--budget=") => {
            inv.budget = arg.get(b"--budget=".len()..).map(<[u8]>::to_vec);
        }
        b"--rcfile" | b"--init-file" | b"--budget" => {
            let Some(file) = next else {
                let message = [arg, b": option requires an argument"].concat();
                return Err(ShellUsageError::new(message));
            };
            let option = if arg == b"--budget" { &mut inv.budget } else { &mut inv.rcfile };
            *option = Some(file.clone());
            return Ok(1);
        }
        b"--dump-strings" | b"--dump-po-strings" | b"--pretty-print" => {}
        _ => {
            let message = [arg, b": invalid option"].concat();
            return Err(ShellUsageError { message, usage: true, status: 2 });
        }
    }
    Ok(0)
}
