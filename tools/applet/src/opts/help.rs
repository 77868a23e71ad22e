//! The text of `--help`, as GNU lays it out.

use super::{OptArg, OptForm};

/// Column where explanations begin.
const COLUMN: usize = 30;

/// Returns the text of `--help`: the usage line, the description of the command, a row for each
/// option, and the notes after them.
pub(super) fn help_text(
    name: &str,
    usage: &str,
    about: &str,
    forms: &[&OptForm<'_>],
    after: &str,
) -> String {
    let mut text = format!("Usage: {name} {usage}\n{about}\n");
    if !forms.is_empty() {
        text.push('\n');
    }
    // A spelling without a text of its own, as a level between the first and the last, has no row.
    for form in forms.iter().filter(|f| !f.help.is_empty()) {
        let left = form_text(form);
        if left.len() < COLUMN {
            text.push_str(&format!("{left:<COLUMN$}{}\n", form.help));
        } else {
            text.push_str(&format!("{left}\n{:COLUMN$}{}\n", "", form.help));
        }
    }
    text.push_str("      --help                  display this help and exit\n");
    text.push_str("      --version               output version information and exit\n");
    if !after.is_empty() {
        text.push('\n');
        text.push_str(after);
        text.push('\n');
    }
    text
}

/// Returns the spellings of an option, for example `  -n, --lines=NUM`.
fn form_text(form: &OptForm<'_>) -> String {
    let short = form.short.map_or("  ".to_string(), |c| format!("-{c}"));
    let has_long = !form.long.is_empty();
    let comma = if form.short.is_some() && has_long { ", " } else { "  " };
    let long = if has_long { format!("--{}", form.long) } else { String::new() };
    let arg = match form.arg {
        OptArg::No => String::new(),
        OptArg::Required(a) if has_long => format!("={a}"),
        OptArg::Required(a) => format!(" {a}"),
        OptArg::Optional(a) if has_long => format!("[={a}]"),
        OptArg::Optional(a) => format!("[{a}]"),
    };
    format!("  {short}{comma}{long}{arg}")
}
