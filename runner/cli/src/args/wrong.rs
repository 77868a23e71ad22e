//! What clap says of a wrong command line, in one line of ours.

use crate::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The failure that an error of clap's is.
pub fn failure(e: &clap::Error) -> Failure {
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
        ErrorKind::MissingRequiredArgument => missing(&arg),
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("missing argument for option '{option}'")
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let wanted = if named.is_empty() { option.trim_matches(['<', '>']) } else { named };
            match option.starts_with('-') {
                true => format!("{option}: '{value}' is not {wanted}"),
                false => format!("'{value}' is not {wanted}"),
            }
        }
        ErrorKind::TooManyValues => format!("{option} has no value"),
        ErrorKind::ArgumentConflict => {
            let plain = |s: &str| s.trim_end_matches("...").trim_matches(['[', ']']).to_owned();
            let other = text(ContextKind::PriorArg);
            format!("{} cannot be used with {}", plain(option), plain(&other))
        }
        // The first line of what clap would print.
        _ => {
            let all = e.render().to_string();
            let first = all.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    };
    Failure::usage(said)
}

/// That a value is not there: `<IMAGE>`, `<SCRIPT|--...>`.
fn missing(arg: &str) -> String {
    let what = arg.trim_start_matches('<').split(['>', '|']).next().unwrap_or_default();
    match what {
        "IMAGE" => "an image is missing".to_owned(),
        "SCRIPT" => "a script is missing, or -- and a command".to_owned(),
        "NAME" => "a session's name is missing".to_owned(),
        "A" => "the number of a commit is missing".to_owned(),
        "N" => "the number of a commit is missing".to_owned(),
        "" => "an argument is missing".to_owned(),
        what => format!("{what} is missing"),
    }
}
