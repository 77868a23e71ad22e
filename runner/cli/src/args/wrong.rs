//! Converts clap's message about a wrong command line to a single line in our words.

use crate::CliFailure;
use crate::values::MountTextError;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Converts clap's error about `args` to a failure.
pub fn failure_from_clap(e: &clap::Error, args: &[OsString]) -> CliFailure {
    let text = |kind| match e.get(kind) {
        Some(ContextValue::String(s)) => s.clone(),
        Some(ContextValue::Strings(all)) => all.first().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let arg = text(ContextKind::InvalidArg);
    let (option, named) = arg.split_once(" <").unwrap_or((&arg, ""));
    let named = named.trim_end_matches("...").trim_end_matches('>');
    let value = text(ContextKind::InvalidValue);
    let said = match e.kind() {
        ErrorKind::InvalidSubcommand => {
            let similar = text(ContextKind::SuggestedSubcommand);
            let hint = if similar.is_empty() { similar } else { format!(", perhaps '{similar}'") };
            format!("unknown command '{}'{hint}", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing".to_owned()
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => format!("invalid option '{arg}'"),
        ErrorKind::UnknownArgument => format!("unexpected argument '{arg}'"),
        ErrorKind::MissingRequiredArgument => missing_value(&arg),
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("missing argument for option '{option}'")
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let wanted = if named.is_empty() { option.trim_matches(['<', '>']) } else { named };
            match (
                e.source().and_then(|s| s.downcast_ref::<MountTextError>()),
                option.starts_with('-'),
            ) {
                (Some(why @ MountTextError::RelativeGuest(_)), _) => format!("{option}: {why}"),
                (_, true) => format!("{option}: '{value}' is not {wanted}"),
                (_, false) => format!("'{value}' is not {wanted}"),
            }
        }
        ErrorKind::TooManyValues => format!("{option} has no value"),
        ErrorKind::ArgumentConflict => {
            let plain = |s: &str| s.trim_end_matches("...").trim_matches(['[', ']']).to_owned();
            let other = text(ContextKind::PriorArg);
            format!("{} cannot be used with {}", plain(option), plain(&other))
        }
        // The first line of clap's own message.
        _ => {
            let all = e.render().to_string();
            let first = all.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    };
    CliFailure::usage(said + &script_of_words(e, args).unwrap_or_default())
}

/// Returns a hint how to write a command of several words where one word, a script, is expected.
fn script_of_words(e: &clap::Error, args: &[OsString]) -> Option<String> {
    if e.kind() != ErrorKind::UnknownArgument || args.iter().any(|a| a == "--") {
        return None;
    }
    match args {
        // The session's name cannot be found after options without parsing those.
        [session, exec, name, rest @ ..]
            if session == "session"
                && exec == "exec"
                && !name.as_bytes().starts_with(b"-")
                && rest.first().is_some_and(|w| !w.as_bytes().starts_with(b"-")) =>
        {
            let words = rest.join(OsStr::new(" "));
            let (name, words) = (name.to_string_lossy(), words.to_string_lossy());
            Some(format!("; a command of several words is: runner session exec {name} -- {words}"))
        }
        [session, exec, ..] if session == "session" && exec == "exec" => Some(
            "; a command of several words is: runner session exec [OPTIONS] NAME -- COMMAND ARGS"
                .into(),
        ),
        _ => None,
    }
}

/// Returns the message about a missing value: `<IMAGE>`, `<SCRIPT|--...>`.
fn missing_value(arg: &str) -> String {
    let what = arg.trim_start_matches('<').split(['>', '|']).next().unwrap_or_default();
    match what {
        "IMAGE" => "a command to run is missing".to_owned(),
        "SCRIPT" => "a script is missing, or -- and a command".to_owned(),
        "NAME" => "a session's name is missing".to_owned(),
        "A" => "the number of a commit is missing".to_owned(),
        "N" => "the number of a commit is missing".to_owned(),
        "" => "an argument is missing".to_owned(),
        // An option with its value, for example `--token-file <FILE>`.
        option if option.starts_with('-') => format!("{} is missing", option.replace(" <", " ")),
        what => format!("{what} is missing"),
    }
}
