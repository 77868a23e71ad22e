//! Starting a shell with an applet's arguments, environment and descriptors.

use std::io::{Read, Write};
use std::rc::Rc;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit, InputSource as Stream, OutStream, OutputSink, StdInput};
use box_sys::{error_text, path};
use sh_exec::budget::ScriptLimits;
use sh_exec::io::{DescriptorTarget, FdTable, MemoryInput, OpenFile};
use sh_exec::run::{SourceText, TextKind};
use sh_exec::state::options::{CommandSource, SetOpt, ShOpt};
use sh_exec::{STATE_OPTION, Shell, ShellStart};

use crate::edit::LineEditor;
use crate::options::{Invocation, OptionList, ScriptSource, ShellUsageError, parse};

/// Environment variable with the limits in the format of `--budget`, so that shells started by this
/// one get the same limits.
const BUDGET: &[u8] = b"BOX_BUDGET";

/// Runs the applet `bash`.
pub fn run_bash(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(run(ctx, args, false))
}

/// Runs the applet `sh`: bash in POSIX mode.
pub fn run_sh(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(run(ctx, args, true))
}

fn to_exit(status: i32) -> Exit {
    Exit((status & 0xff) as u8)
}

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>], posix: bool) -> Exit {
    if let Some(n) = args.first().and_then(|a| a.strip_prefix(STATE_OPTION.as_bytes())) {
        return resume_shell(ctx, n);
    }
    let mut inv = match parse(args) {
        Ok(inv) => inv,
        Err(w) => return report_usage(ctx, &w),
    };
    inv.posix |= posix;
    if let Some(budget) = &inv.budget {
        if let Err(part) = ScriptLimits::parse(budget) {
            let message = [b"--budget: ", part.as_slice(), b": invalid limit"].concat();
            return report_usage(ctx, &ShellUsageError::new(message));
        }
        ctx.env.set(BUDGET, budget);
    }
    let answer = match (inv.help, inv.version) {
        (true, _) => Some(HELP.text(&ctx.name)),
        (_, true) => {
            Some("Wasibox bash, compatible with GNU bash, version 5.2.15(1)-release\n".into())
        }
        _ => None,
    };
    if let Some(text) = answer {
        let _ = ctx.stdout.write_all(text.as_bytes());
        return Exit::SUCCESS;
    }
    let mut shell = start_shell(ctx, &inv);
    if let Some(list) = inv.list {
        let text: &[u8] = match list {
            OptionList::Set { table: true } => b"set -o",
            OptionList::Set { table: false } => b"set +o",
            OptionList::Shopt { table: true } => b"shopt",
            OptionList::Shopt { table: false } => b"shopt -p",
        };
        return to_exit(shell.run_main(SourceText { text, line: 1, kind: TextKind::Script }));
    }
    if inv.analyze {
        return match analyzed_text(&mut shell, &inv) {
            Ok(text) => crate::analyze::run(ctx, &inv, &text),
            Err(status) => to_exit(status),
        };
    }
    to_exit(run_source(&mut shell, &inv, &ctx.name))
}

/// Returns the shell that an invocation requests, before it has run anything.
fn start_shell<'a>(ctx: &mut Ctx<'a>, inv: &Invocation) -> Shell<'a> {
    let arg0 = match (&inv.source, &inv.name) {
        (ScriptSource::Command(_), Some(n)) => n.clone(),
        (ScriptSource::File(f), _) => f.clone(),
        _ => ctx.arg0.clone(),
    };
    let mut env = ctx.env.to_vec();
    if ctx.env.get(b"_").is_none() {
        // The name that the shell was started by is the first `$_` (bash manual 3.4.2).
        env.push((b"_".to_vec(), ctx.arg0.clone()));
    }
    let mut shell = Shell::new(ShellStart {
        arg0,
        positional: inv.positional.clone(),
        env,
        cwd: ctx.cwd.clone(),
        fds: if inv.analyze {
            shared_descriptors(ctx, None)
        } else {
            inherited_descriptors(ctx, None)
        },
        limits: read_limits(ctx),
        sys: ctx.procs,
        table: ctx.table,
    });
    shell.drop_quit();
    configure_shell(&mut shell, inv);
    shell
}

/// Returns the text that `--analyze` reads. If there is none, prints a message and returns the exit
/// status.
fn analyzed_text(shell: &mut Shell<'_>, inv: &Invocation) -> Result<Vec<u8>, i32> {
    match &inv.source {
        ScriptSource::Command(text) => Ok(text.clone()),
        ScriptSource::File(file) => read_script(shell, file),
        ScriptSource::Stdin => {
            shell.read_stdin().map_err(|e| report_error(shell, b"stdin", &error_text(&e), 126))
        }
    }
}

/// Runs the start-up file and the commands, and returns the status to exit with.
fn run_source(shell: &mut Shell<'_>, inv: &Invocation, name: &str) -> i32 {
    // Later calls of a session continue from its first, which has already read the start-up file.
    let mut is_begun = false;
    if inv.session {
        match shell.begin_session() {
            Ok(later) => is_begun = later,
            Err(e) => {
                shell.write_err(format!("{name}: --session: {e}\n").as_bytes());
                return 2;
            }
        }
    }
    let interactive = inv.source == ScriptSource::Stdin && shell.options_mut().is_interactive();
    if interactive {
        if !inv.norc {
            shell.source_quietly(inv.rcfile.as_deref().unwrap_or(b"$HOME/.bashrc"));
        }
    } else if !is_begun {
        bash_env(shell, inv);
    }
    match &inv.source {
        ScriptSource::Command(text) => {
            shell.set_command_string(text);
            shell.run_main(SourceText { text, line: 1, kind: TextKind::CommandString })
        }
        ScriptSource::File(file) => run_script(shell, file),
        ScriptSource::Stdin => shell.run_stdin(),
    }
}

fn report_error(shell: &mut Shell<'_>, file: &[u8], text: &str, status: i32) -> i32 {
    let line = [b"bash: ", file, b": ", text.as_bytes(), b"\n"].concat();
    shell.write_err(&line);
    status
}

/// Returns the text of a script file. If it cannot be read, prints a message and returns the exit
/// status.
fn read_script(shell: &mut Shell<'_>, file: &[u8]) -> Result<Vec<u8>, i32> {
    let given = shell.absolute_path(file);
    let found = if given.is_file() || file.contains(&b'/') {
        given
    } else {
        // As in bash, a name without a slash is also searched in PATH.
        let search = shell.variable_text(b"PATH").unwrap_or_default();
        search
            .split(|c| *c == b':')
            .map(|d| shell.absolute_path(d).join(path::from_bytes(file)))
            .find(|f| f.is_file())
            .unwrap_or(given)
    };
    let virtual_file = shell.open_script(file);
    let read = match virtual_file {
        Some(r) => r,
        None => shell.read_file(&found),
    };
    let text = match read {
        Ok(t) => t,
        Err(e) => {
            let status = if e.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
            return Err(report_error(shell, file, &error_text(&e), status));
        }
    };
    // bash tests for a NUL in the first line.
    let head = text.split(|c| *c == b'\n').next().unwrap_or_default();
    if head.get(..80.min(head.len())).unwrap_or_default().contains(&0) {
        let line = [file, b": ", file, b": cannot execute binary file\n"].concat();
        shell.write_err(&line);
        return Err(126);
    }
    Ok(text)
}

/// Runs a script file, which is read whole and then run command by command.
fn run_script(shell: &mut Shell<'_>, file: &[u8]) -> i32 {
    let mut text = match read_script(shell, file) {
        Ok(t) => t,
        Err(status) => return status,
    };
    // Unlike at the end of a string, a backslash at the very end of a file is removed.
    if text.last() == Some(&b'\\') {
        text.push(b'\n');
    }
    shell.enter_script(file);
    shell.run_main(SourceText { text: &text, line: 1, kind: TextKind::Script })
}

/// Continues the work of another shell.
fn resume_shell(ctx: &mut Ctx<'_>, number: &[u8]) -> Exit {
    let n = std::str::from_utf8(number).ok().and_then(|n| n.parse::<u32>().ok());
    let file = n.and_then(|n| ctx.extra_fds.iter().find(|(k, _)| *k == n).map(|(_, f)| f.clone()));
    let mut data = Vec::new();
    let read = file.map(|f| (&*f).read_to_end(&mut data));
    if !matches!(read, Some(Ok(_))) {
        ctx.error("no shell state");
        return Exit(2);
    }
    let start = ShellStart {
        arg0: b"bash".to_vec(),
        positional: Vec::new(),
        env: Vec::new(),
        cwd: ctx.cwd.clone(),
        fds: inherited_descriptors(ctx, n),
        limits: read_limits(ctx),
        sys: ctx.procs,
        table: ctx.table,
    };
    let mut shell = Shell::new(start);
    to_exit(shell.run_shipped(&data))
}

/// Returns the descriptors that the process started with, except `skip`, which is not the script's.
/// They are moved from `ctx` to the shell, so that a script that redirects one for good (`exec >
/// file`) closes the previous file.
fn inherited_descriptors(ctx: &mut Ctx<'_>, skip: Option<u32>) -> FdTable {
    let table = shared_descriptors(ctx, skip);
    ctx.stdin = StdInput::new(Stream::Closed);
    ctx.stdout = OutStream::unbuffered(OutputSink::Closed);
    ctx.stderr = OutStream::unbuffered(OutputSink::Closed);
    ctx.extra_fds.clear();
    table
}

fn shared_descriptors(ctx: &mut Ctx<'_>, skip: Option<u32>) -> FdTable {
    let mut table = FdTable::default();
    ctx.stdin.give_back();
    let _ = ctx.stdout.flush();
    let stdin = match ctx.stdin.source() {
        Stream::File(f) => Some(DescriptorTarget::File(Rc::new(OpenFile::new(f.clone(), true)))),
        Stream::Bytes(b) => Some(DescriptorTarget::Memory(Rc::new(MemoryInput::new(b.clone())))),
        Stream::Closed => None,
    };
    table.set(0, stdin);
    let mut out = |n: u32, sink: &OutputSink| {
        let desc = match sink {
            OutputSink::File(f) => {
                Some(DescriptorTarget::File(Rc::new(OpenFile::new(f.clone(), true))))
            }
            OutputSink::Buffer(b) => Some(DescriptorTarget::Capture(b.clone())),
            OutputSink::Closed => None,
        };
        table.set(n, desc);
    };
    out(1, ctx.stdout.sink());
    out(2, ctx.stderr.sink());
    for (n, f) in &ctx.extra_fds {
        if Some(*n) != skip {
            table.set(*n, Some(DescriptorTarget::File(Rc::new(OpenFile::new(f.clone(), true)))));
        }
    }
    table
}

/// Returns the limits in force. A variable with an invalid value is ignored, as bash does with its
/// own.
fn read_limits(ctx: &Ctx<'_>) -> ScriptLimits {
    ctx.env.get(BUDGET).and_then(|b| ScriptLimits::parse(b).ok()).unwrap_or(ScriptLimits::NORMAL)
}

fn configure_shell(shell: &mut Shell<'_>, inv: &Invocation) {
    let stdin = inv.source == ScriptSource::Stdin;
    let terminal = stdin && shell.fd_is_terminal(0) && shell.fd_is_terminal(2);
    let interactive = inv.interactive || terminal;
    let o = shell.options_mut();
    let source = match inv.source {
        ScriptSource::Command(_) => CommandSource::String,
        ScriptSource::File(_) => CommandSource::File,
        ScriptSource::Stdin => CommandSource::Stdin,
    };
    o.set_call(source, interactive);
    if interactive && terminal {
        shell.begin_interactive();
    }
    let o = shell.options_mut();
    if inv.posix {
        o.switch_set(SetOpt::Posix, true);
    }
    if interactive {
        o.put_shopt(ShOpt::ExpandAliases, true);
        o.switch_set(SetOpt::History, true);
        o.switch_set(SetOpt::HistExpand, terminal);
    }
    if inv.login {
        o.put_shopt(ShOpt::LoginShell, true);
    }
    for (opt, on) in &inv.set {
        o.switch_set(*opt, *on);
    }
    for (opt, on) in &inv.shopt {
        o.put_shopt(*opt, *on);
    }
    if interactive {
        if terminal {
            shell.begin_history();
            let is_dumb = shell.variable_text(b"TERM").is_none_or(|t| t.as_slice() == b"dumb");
            if !inv.noediting && !is_dumb {
                shell.set_editor(Box::new(LineEditor::default()));
            }
        }
        if shell.variable_text(b"HISTFILE").is_none() {
            let home = shell.variable_text(b"HOME").unwrap_or_default();
            shell.set_quietly(b"HISTFILE", &[home.as_slice(), b"/.bash_history"].concat());
        }
        // Only people need to see where they are, and scripts compare.
        let usual_prompt: &[u8] = if terminal { b"\\u@\\h:\\w\\$ " } else { b"\\s-\\v\\$ " };
        for (name, value) in [(&b"PS1"[..], usual_prompt), (b"PS2", b"> ")] {
            if shell.variable_text(name).is_none() {
                shell.set_quietly(name, value);
            }
        }
        if terminal {
            shell.load_history();
        }
    }
}

/// Runs the file that `$BASH_ENV` names, in a non-interactive shell that was not called as `sh`.
fn bash_env(shell: &mut Shell<'_>, inv: &Invocation) {
    if inv.posix {
        return;
    }
    let Some(value) = shell.variable_text(b"BASH_ENV").filter(|v| !v.is_empty()) else { return };
    shell.source_quietly(&value);
}

fn report_usage(ctx: &mut Ctx<'_>, w: &ShellUsageError) -> Exit {
    ctx.error_bytes(&[&w.message]);
    if w.usage {
        let name = &ctx.name;
        let text = format!(
            "Usage:\t{name} [GNU long option] [option] ...\n\t{name} [GNU long option] [option] script-file ...\n"
        );
        let _ = ctx.stderr.write_all(text.as_bytes());
    }
    Exit(w.status)
}

/// The help of `bash` and `sh`.
pub(crate) const HELP: HelpPage = HelpPage::new(
    "[OPTION]... [SCRIPT [ARG]...]\n[OPTION]... -c COMMAND [NAME [ARG]...]",
    "Run shell commands from SCRIPT, COMMAND or standard input, as GNU bash 5.2 does.",
    &[HelpSection::new(
        "Options",
        &[
            ("  -c COMMAND", "Run COMMAND; the next argument is $0, the rest $1, $2, ..."),
            ("  -s", "Read commands from standard input; all arguments are $1, $2, ..."),
            ("  -i, -l, --login", "Be an interactive or a login shell"),
            (
                "  -aefhkmnptuvxBCEHPT, -o NAME",
                "Options of the builtin set; + instead of - turns them off",
            ),
            ("  -O NAME, +O NAME", "As shopt -s NAME, shopt -u NAME"),
            ("      --posix", "Follow POSIX (always on in sh)"),
            (
                "      --norc, --noprofile, --rcfile FILE",
                "Choose the start-up file of an interactive shell",
            ),
            ("      --analyze", "Run nothing; print what the script may do as JSON"),
            (
                "      --budget LIMITS",
                "strict, normal (default) or permissive, and single limits: \
        strict,commands=5000,expansion=1M",
            ),
            (
                "      --session",
                "Continue from the state of the session's last call, and keep the state for the next",
            ),
        ],
    )],
)
.with_notes(
    "`help' lists the builtins and the commands, `help NAME' and `man NAME' describe \
        one.\n\nExit status: that of the last command; 2 after a syntax error, 126 or \
        127 if SCRIPT cannot be run.",
)
.with_examples(&[("bash -euo pipefail SCRIPT", "Stop at the first error")]);
