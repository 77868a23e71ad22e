//! `su`: runs a shell as the machine's only user (su(1) of util-linux 2.38).
//!
//! The environment is kept, and there are no passwords, groups or other users.

use box_applet::command::ChildCommand;
use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::AccountNames;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Command,
    Ignored,
    IgnoredValue,
    Login,
    Shell,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [-] [USER [ARG]...]",
    "Run a shell, or a command by a shell. There is one user here, who may do all that the machine \
        allows, so the shell runs as this user, even if another one is asked for.",
    &[
        Opt::new(Flag::Command, 'c', "command")
            .with_argument("COMMAND", "Run COMMAND by the shell"),
        Opt::long(Flag::Command, "session-command").with_argument("COMMAND", words::SAME),
        Opt::new(Flag::Login, 'l', "login").with_help("Make it a login shell in HOME; also -"),
        Opt::new(Flag::Shell, 's', "shell").with_argument("SHELL", "Run SHELL instead of $SHELL"),
        Opt::new(Flag::Ignored, 'f', "fast").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'm', "preserve-environment").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'p', "").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'P', "pty").with_help(words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'g', "group").with_argument("GROUP", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'G', "supp-group").with_argument("GROUP", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'w', "whitelist-environment")
            .with_argument("LIST", words::IGNORED),
    ],
)
.with_examples(&[("su - -c 'pwd'", "Run a command in the user's home directory")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let dash = p.operands.first().is_some_and(|word| word == b"-");
    let login = dash || p.has_option(Flag::Login);
    let mut words = p.operands.iter().skip(usize::from(dash));
    if let Some(user) = words.next() {
        let name = String::from_utf8_lossy(user);
        if name != "root" && AccountNames::load().user_id(&name).is_none() {
            let why = "does not exist or the user entry does not contain all the required fields";
            ctx.error(format!("user {name} {why}"));
            return Ok(Exit::FAILURE);
        }
    }
    let usual = ctx.env.get(b"SHELL").filter(|s| !s.is_empty()).unwrap_or(b"/bin/bash");
    let mut argv = vec![p.last_value(Flag::Shell).unwrap_or(usual).to_vec()];
    if login {
        argv.push(b"-l".to_vec());
    }
    if let Some(command) = p.last_value(Flag::Command) {
        argv.extend([b"-c".to_vec(), command.to_vec()]);
    }
    argv.extend(words.cloned());
    let home = ctx.env.get(b"HOME").unwrap_or(b"/home/user").to_vec();
    let cwd = login.then(|| ctx.path(&home));
    match (ChildCommand { cwd, ..ChildCommand::new(argv.clone()) }).replace(ctx) {
        Ok(status) => Ok(Exit(status)),
        Err(e) => {
            ctx.error_bytes(&[b"failed to execute ", &argv[0], b": ", e.message.as_bytes()]);
            Ok(Exit(e.status))
        }
    }
}
