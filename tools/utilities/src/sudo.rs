//! `sudo`: runs a command as the machine's only user (sudo(8) of sudo 1.9).
//!
//! The environment is kept, as with `!env_reset` in a policy of sudo, because the command gets no
//! other rights that would have to be protected from it. Deliberately absent: passwords, groups,
//! editing (`-e`).

use std::path::PathBuf;

use box_applet::command::ChildCommand;
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Env, Exit};
use box_sys::{AccountNames, meta};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Chdir,
    Edit,
    Ignored,
    IgnoredValue,
    List,
    Login,
    SetHome,
    Shell,
    Usage,
    User,
    Validate,
    Version,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [VAR=VALUE]... COMMAND [ARG]...\n-i|-s [COMMAND [ARG]...]\n-l|-v",
    "Run COMMAND. There is one user here, who may do all that the machine allows, so \
        COMMAND runs as this user, even if another one is asked for.",
    &[
        Opt::new(Flag::Chdir, 'D', "chdir").with_argument("DIR", "Run COMMAND in DIR"),
        Opt::new(Flag::SetHome, 'H', "set-home").with_help("Set HOME to the user's home directory"),
        Opt::new(Flag::Login, 'i', "login")
            .with_help("Run COMMAND, or commands from standard input, by a login shell"),
        Opt::new(Flag::List, 'l', "list").with_help("Print what the user may run"),
        Opt::new(Flag::Shell, 's', "shell")
            .with_help("Run COMMAND, or commands from standard input, by the shell"),
        Opt::new(Flag::User, 'u', "user")
            .with_argument("USER", "Fail if there is no USER (name, or number after #)"),
        Opt::new(Flag::Validate, 'v', "validate").with_help("Do nothing, and succeed"),
        Opt::new(Flag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(Flag::Ignored, 'E', "").with_help("Keep the environment, which is the default"),
        Opt::long(Flag::Ignored, "preserve-env").may_take("LIST", words::SAME),
        Opt::new(Flag::Ignored, 'A', "askpass").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'B', "bell").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'b', "background").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'K', "remove-timestamp").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'k', "reset-timestamp").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'n', "non-interactive").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'P', "preserve-groups").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'S', "stdin").with_help(words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'C', "close-from").with_argument("NUM", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'g', "group").with_argument("GROUP", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'p', "prompt").with_argument("TEXT", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'T', "command-timeout").with_argument("TIME", words::IGNORED),
        Opt::new(Flag::Edit, 'e', "edit"),
        Opt::new(Flag::Usage, 'h', ""),
    ],
)
.with_examples(&[
    ("sudo -E CC=cc make", "Run make with a variable"),
    ("sudo -u root id -un", "Print user, the name of the only user"),
])
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(Flag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    if p.has_option(Flag::Usage) {
        let text = SPEC.help_text("sudo");
        return Ok(ctx.print(&text));
    }
    if p.has_option(Flag::Edit) {
        ctx.error("-e needs an editor on a terminal, and there is none; use sed -i or ed -s");
        return Ok(Exit::FAILURE);
    }
    let accounts = AccountNames::load();
    check_users(ctx, &p, &accounts)?;
    let user = accounts.show_user(meta::ids().0);
    if p.has_option(Flag::List) {
        return Ok(ctx.print(&format!(
            "User {user} may run all commands of this machine, as {user} and without a password.\n"
        )));
    }
    let (variables, words) = split_assignments(&p.operands);
    let by_shell = p.has_option(Flag::Login) || p.has_option(Flag::Shell);
    if words.is_empty() && !by_shell {
        // `sudo -v`, `sudo -k`: there is nothing to prove and nothing to forget.
        if p.has_option(Flag::Validate) || (variables.is_empty() && !p.options.is_empty()) {
            return Ok(Exit::SUCCESS);
        }
        ctx.error("there is no command to run");
        ctx.hint();
        return Ok(Exit::FAILURE);
    }
    let command = make_command(ctx, &p, &user, variables, words);
    match command.replace(ctx) {
        Ok(status) => Ok(Exit(status)),
        Err(e) => {
            let name = command.argv.first().cloned().unwrap_or_default();
            if e.status == 127 && !name.contains(&b'/') {
                ctx.error_bytes(&[&name, b": command not found"]);
                ctx.advise_missing(&name, e.status);
            } else {
                ctx.error_bytes(&[b"unable to execute ", &name, b": ", e.message.as_bytes()]);
            }
            Ok(Exit::FAILURE)
        }
    }
}

/// Fails for a user that the machine does not know.
fn check_users(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<Flag>,
    accounts: &AccountNames,
) -> Result<(), Exit> {
    for name in p.all_values(Flag::User) {
        let text = String::from_utf8_lossy(name);
        let known = match text.strip_prefix('#') {
            Some(number) => number.parse().is_ok_and(|id: u32| accounts.user(id).is_some()),
            None => text == "root" || accounts.user_id(&text).is_some(),
        };
        if !known {
            ctx.error_bytes(&[b"unknown user ", name]);
            return Err(Exit::FAILURE);
        }
    }
    Ok(())
}

/// Splits `VAR=VALUE` words from the command that follows them.
fn split_assignments(words: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    let is_assignment = |w: &Vec<u8>| w.iter().position(|c| *c == b'=').is_some_and(|at| at > 0);
    let end = words.iter().position(|w| !is_assignment(w)).unwrap_or(words.len());
    words.split_at(end)
}

fn make_command(
    ctx: &Ctx<'_>,
    p: &ParsedOptions<Flag>,
    user: &str,
    variables: &[Vec<u8>],
    words: &[Vec<u8>],
) -> ChildCommand {
    let mut env = ctx.env.clone();
    let home = ctx.env.get(b"HOME").unwrap_or(b"/home/user").to_vec();
    let (uid, gid) = meta::ids();
    env.set(b"SUDO_USER", user.as_bytes());
    env.set(b"SUDO_UID", uid.to_string().as_bytes());
    env.set(b"SUDO_GID", gid.to_string().as_bytes());
    for word in variables {
        if let Some(at) = word.iter().position(|c| *c == b'=') {
            env.set(&word[..at], &word[at + 1..]);
        }
    }
    let (argv, cwd) = if p.has_option(Flag::Login) {
        (shell_words(&env, true, words), Some(ctx.path(&home)))
    } else if p.has_option(Flag::Shell) {
        (shell_words(&env, false, words), None)
    } else {
        (words.to_vec(), None)
    };
    env.set(b"SUDO_COMMAND", &argv.join(&b' '));
    let cwd: Option<PathBuf> = p.last_value(Flag::Chdir).map(|d| ctx.path(d)).or(cwd);
    ChildCommand { env: Some(env), cwd, ..ChildCommand::new(argv) }
}

/// Returns the shell's words for a command: `sh -c` with the command's words quoted, as sudo joins
/// them, or the shell alone.
fn shell_words(env: &Env, login: bool, words: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let shell = env.get(b"SHELL").filter(|s| !s.is_empty()).unwrap_or(b"/bin/bash");
    let mut argv = vec![shell.to_vec()];
    if login {
        argv.push(b"-l".to_vec());
    }
    if !words.is_empty() {
        argv.push(b"-c".to_vec());
        argv.push(words.iter().map(|w| escape_word(w)).collect::<Vec<_>>().join(&b' '));
    }
    argv
}

/// Puts a backslash before each byte that is not alphanumeric, `_`, `-` or `$` (sudo(8), option
/// `-s`). A newline, for which a backslash has another meaning, is put into quotes.
fn escape_word(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if word.is_empty() {
        return b"''".to_vec();
    }
    for &c in word {
        if c == b'\n' {
            out.extend_from_slice(b"'\n'");
            continue;
        }
        if !(c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'$') || c >= 0x80) {
            out.push(b'\\');
        }
        out.push(c);
    }
    out
}
