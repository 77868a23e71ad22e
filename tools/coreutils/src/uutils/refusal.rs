//! Converts the errors of clap to the messages of GNU's tools.

use clap::error::{ContextKind, ContextValue, Error};

/// The nouns that messages use for the values of options, by tool and option. Without an entry the
/// noun is the option's name.
const NOUNS: &[(&str, &str, &str)] = &[
    ("join", "-a", "field number"),
    ("join", "-v", "field number"),
    ("shuf", "--head-count", "line count"),
    ("shuf", "--input-range", "input range"),
];

/// The reason why a command line is refused. The text does not contain the tool's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UsageRefusal {
    /// The command line is malformed; a hint about `--help` follows the message.
    Usage(String),
    /// The value of an option is not one that it accepts.
    Value(String),
}

/// Returns the refusal for an error of clap.
pub(super) fn of_error(util: &str, error: &Error) -> UsageRefusal {
    // GNU's tools print a hint after the list of an option's values. `join` prints neither.
    let has_list = matches!(error.get(ContextKind::ValidValue), Some(ContextValue::Strings(list)) if !list.is_empty());
    if error.get(ContextKind::InvalidValue).is_none() || has_list && util != "join" {
        return UsageRefusal::Usage(error_text(util, error));
    }
    UsageRefusal::Value(error_text(util, error))
}

/// Returns the message about an error.
fn error_text(util: &str, error: &Error) -> String {
    let text_of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join("' '")),
        _ => None,
    };
    // Clap shows the name of the argument after the option; it is cut off.
    let option = text_of(ContextKind::InvalidArg).unwrap_or_default();
    let option = option.split([' ', '=', '[']).next().unwrap_or_default();
    if let Some(value) = text_of(ContextKind::InvalidValue) {
        let noun = NOUNS.iter().find(|(tool, name, _)| *tool == util && *name == option);
        return match (noun, error.get(ContextKind::ValidValue)) {
            (Some((_, _, noun)), _) => format!("invalid {noun}: '{value}'"),
            (None, Some(ContextValue::Strings(valid))) if !valid.is_empty() => {
                let list: String = valid.iter().map(|one| format!("\n  - '{one}'")).collect();
                format!("invalid argument '{value}' for '{option}'\nValid arguments are:{list}")
            }
            _ => format!("invalid {}: '{value}'", option.trim_start_matches('-').replace('-', " ")),
        };
    }
    if let Some(prior) = text_of(ContextKind::PriorArg) {
        let prior = prior.split([' ', '=', '[']).next().unwrap_or_default();
        return format!("options '{option}' and '{prior}' are mutually exclusive");
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}
