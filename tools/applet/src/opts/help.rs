//! The rows of `--help` for declared options.

use super::{OptArg, OptForm};
use crate::help::words::SAME;

/// Returns a row for each option that has a text. Further spellings of an option ([`SAME`]) are in
/// its row; `same` says whether two forms are spellings of one option.
pub(super) fn option_rows(
    forms: &[&OptForm<'_>],
    same: &dyn Fn(usize, usize) -> bool,
) -> Vec<(String, &'static str)> {
    let mut rows: Vec<(String, &'static str)> = Vec::new();
    let mut last = 0;
    // A spelling without a text, such as a level between the first and the last, has no row.
    for (at, form) in forms.iter().enumerate().filter(|(_, f)| !f.help.is_empty()) {
        match rows.last_mut() {
            Some((left, _)) if form.help == SAME => {
                debug_assert!(same(last, at), "{} is not the option above", form_text(form));
                left.push_str(", ");
                left.push_str(form_text(form).trim_start());
            }
            _ => rows.push((format!("  {}", form_text(form)), form.help)),
        }
        last = at;
    }
    rows
}

/// Returns the spellings of an option, for example `-n, --lines=NUM`.
fn form_text(form: &OptForm<'_>) -> String {
    let (long, has_long) = (form.long, !form.long.is_empty());
    let names = match form.short {
        Some(short) if has_long => format!("-{short}, --{long}"),
        Some(short) => format!("-{short}"),
        None => format!("    --{long}"),
    };
    match form.arg {
        OptArg::No => names,
        OptArg::Required(arg) if has_long => format!("{names}={arg}"),
        OptArg::Required(arg) => format!("{names} {arg}"),
        OptArg::Optional(arg) if has_long => format!("{names}[={arg}]"),
        OptArg::Optional(arg) => format!("{names}[{arg}]"),
    }
}
