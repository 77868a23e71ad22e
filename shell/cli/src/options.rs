//! The command line of the shell.

use sh_exec::state::options::{SetOpt, ShOpt, letter, set_option, shopt_option};

/// Where commands come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `-c`
    Command(Vec<u8>),
    File(Vec<u8>),
    Stdin,
}

/// What the command line says.
#[derive(Debug)]
pub struct Invocation {
    pub source: Source,
    /// `$0` if given after `-c`.
    pub name: Option<Vec<u8>>,
    pub positional: Vec<Vec<u8>>,
    pub set: Vec<(SetOpt, bool)>,
    pub shopt: Vec<(ShOpt, bool)>,
    pub interactive: bool,
    pub login: bool,
    pub posix: bool,
    /// `-o` or `+o`/`-O`/`+O` without a name: list options and end.
    pub list: Option<List>,
    pub help: bool,
    pub version: bool,
    pub rcfile: Option<Vec<u8>>,
    pub norc: bool,
    /// `--budget`: see [`sh_exec::budget::Limits::parse`].
    pub budget: Option<Vec<u8>>,
    /// `--session`: goes on from what the last call of the session has left.
    pub session: bool,
    /// Tell what the script may do instead of running it.
    pub analyze: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Set { table: bool },
    Shopt { table: bool },
}

/// A wrong option: the message after the name of the shell, and whether the usage follows.
#[derive(Debug)]
pub struct Wrong {
    pub message: Vec<u8>,
    pub usage: bool,
}

pub fn parse(args: &[Vec<u8>]) -> Result<Invocation, Wrong> {
    let mut inv = Invocation {
        source: Source::Stdin,
        name: None,
        positional: Vec::new(),
        set: Vec::new(),
        shopt: Vec::new(),
        interactive: false,
        login: false,
        posix: false,
        list: None,
        help: false,
        version: false,
        rcfile: None,
        norc: false,
        budget: None,
        session: false,
        analyze: false,
    };
    let mut i = 0;
    let mut command = false;
    let mut stdin = false;
    while let Some(arg) = args.get(i) {
        let Some((sign @ (b'-' | b'+'), rest)) = arg.split_first() else { break };
        if rest.is_empty() {
            // A lone dash ends the options.
            i += 1;
            break;
        }
        i += 1;
        if *sign == b'-' && rest == b"-" {
            break;
        }
        if arg.starts_with(b"--") {
            i += long_option(&mut inv, arg, args.get(i))?;
            continue;
        }
        let on = *sign == b'-';
        for c in rest {
            match c {
                b'c' => command = true,
                b's' => stdin = true,
                b'i' => inv.interactive = true,
                b'l' => inv.login = true,
                b'r' | b'D' => {}
                b'o' | b'O' => {
                    let name = args.get(i).filter(|a| !a.starts_with(b"-") && !a.starts_with(b"+"));
                    match (c, name) {
                        (b'o', Some(n)) => {
                            let o = set_option(n).ok_or_else(|| Wrong {
                                message: [n.as_slice(), b": invalid option name"].concat(),
                                usage: false,
                            })?;
                            inv.set.push((o, on));
                            i += 1;
                        }
                        (_, Some(n)) => {
                            let o = shopt_option(n).ok_or_else(|| Wrong {
                                message: [n.as_slice(), b": invalid shell option name"].concat(),
                                usage: false,
                            })?;
                            inv.shopt.push((o, on));
                            i += 1;
                        }
                        (b'o', None) => inv.list = Some(List::Set { table: on }),
                        (_, None) => inv.list = Some(List::Shopt { table: on }),
                    }
                }
                _ => match letter(*c) {
                    Some(o) => inv.set.push((o, on)),
                    None => {
                        let message = [&[*sign, *c], b": invalid option".as_slice()].concat();
                        return Err(Wrong { message, usage: true });
                    }
                },
            }
        }
    }
    let mut rest = args.get(i..).unwrap_or_default().iter().cloned();
    if command {
        let Some(text) = rest.next() else {
            return Err(Wrong {
                message: b"-c: option requires an argument".to_vec(),
                usage: false,
            });
        };
        inv.source = Source::Command(text);
        inv.name = rest.next();
    } else if !stdin && let Some(file) = rest.next() {
        inv.source = Source::File(file);
    }
    inv.positional = rest.collect();
    Ok(inv)
}

/// A long option; how many further arguments it used.
fn long_option(inv: &mut Invocation, arg: &[u8], next: Option<&Vec<u8>>) -> Result<usize, Wrong> {
    match arg {
        b"--posix" => inv.posix = true,
        b"--login" => inv.login = true,
        b"--norc" => inv.norc = true,
        b"--noprofile" | b"--noediting" | b"--restricted" | b"--debugger" => {}
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
                return Err(Wrong { message, usage: false });
            };
            let option = if arg == b"--budget" { &mut inv.budget } else { &mut inv.rcfile };
            *option = Some(file.clone());
            return Ok(1);
        }
        b"--dump-strings" | b"--dump-po-strings" | b"--pretty-print" => {}
        _ => {
            let message = [arg, b": invalid option"].concat();
            return Err(Wrong { message, usage: true });
        }
    }
    Ok(0)
}
