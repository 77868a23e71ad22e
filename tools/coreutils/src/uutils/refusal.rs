//! The errors of clap, in the words that GNU's tools have for them.

use clap::error::{ContextKind, ContextValue, Error};

/// The name that a tool gives to the value of an option, if it is not the option's name.
const NOUNS: &[(&str, &str, &str)] = &[
    ("fmt", "--goal", "width"),
    ("join", "-a", "field number"),
    ("join", "-v", "field number"),
    ("ptx", "--gap-size", "gap width"),
    ("ptx", "--width", "line width"),
    ("shuf", "--head-count", "line count"),
    ("shuf", "--input-range", "input range"),
];

/// The reason why a command line is refused; the text is without the tool's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UsageRefusal {
    /// It is not as options are written, so that there is a hint at `--help`.
    Usage(String),
    /// An option's value is none of its values.
    Value(String),
}

/// Returns the refusal for an error of clap.
pub(super) fn of_error(util: &str, error: &Error) -> UsageRefusal {
    // An option with a list of values is named with the list, which is a hint's place.
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
    // The option as clap shows it, without the name of its argument.
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
