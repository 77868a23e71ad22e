//! Command lines of adapted tools. They are parsed by the rules of `getopt_long(3)`, with the
//! options that the tool itself declares, and rewritten in a form that clap cannot read
//! differently.
//!
//! Therefore a value may begin with a dash, an optional argument ends a cluster, names may be
//! abbreviated, and an option may be repeated. Errors have GNU's wording.

use std::ffi::OsString;

use box_applet::opts::{OptArg, OptForm, OptionRows, UsageError, parse_words};
use box_sys::path::{os_into_bytes, os_string};
use clap::{ArgAction, Command};

use super::digests;
use super::numbers;
use super::refusal::{self, UsageRefusal};

/// The meaning of obsolete options, which are a number after a dash.
#[derive(Clone, Copy)]
enum ObsoleteDigits {
    No,
    /// The rest of the word, from the first digit on, is the argument of this long option.
    Rest(&'static str),
}

/// Returns the meaning of a number after a dash for the tool.
fn digits_of(util: &str) -> ObsoleteDigits {
    match util {
        "fold" => ObsoleteDigits::Rest("width"),
        "expand" | "unexpand" => ObsoleteDigits::Rest("tabs"),
        _ => ObsoleteDigits::No,
    }
}

/// One spelling of an option that the tool declares.
struct OptionMeaning {
    id: String,
    /// The spelling for clap: the long name, or one dash and the letter if there is none.
    written: String,
    is_repeatable: bool,
}

const DIGITS: &str = "0123456789";

/// Returns the command line for clap.
///
/// # Errors
/// An option is unknown or lacks its argument, a value is refused, or an operand is missing or
/// extra. The error holds GNU's message.
pub(super) fn rewrite_arguments(
    util: &str,
    mut command: Command,
    argv: Vec<OsString>,
) -> Result<Vec<OsString>, UsageRefusal> {
    command.build();
    let digits = digits_of(util);
    let (mut forms, mut meanings) = (Vec::new(), Vec::new());
    for arg in command.get_arguments().filter(|a| !a.is_positional()) {
        if matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        ) || matches!(arg.get_id().as_str(), "help" | "version")
        {
            continue;
        }
        let takes = match (arg.get_action().takes_values(), arg.get_num_args()) {
            (false, _) => OptArg::No,
            (true, Some(n)) if n.min_values() == 0 => OptArg::Optional(""),
            (true, _) => OptArg::Required(""),
        };
        let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
        let hidden = arg.get_aliases().unwrap_or_default();
        let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
        let written = match (longs.first(), shorts.first()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => continue,
        };
        let short = shorts.iter().map(|c| (Some(*c), ""));
        let long = longs.iter().chain(&hidden).map(|l| (None, *l));
        for (short, long) in short.chain(long) {
            forms.push(OptForm { short, long, arg: takes, help: "" });
            meanings.push(OptionMeaning {
                id: arg.get_id().to_string(),
                written: written.clone(),
                is_repeatable: matches!(arg.get_action(), ArgAction::Append | ArgAction::Count),
            });
        }
    }
    let declared = forms.len();
    let digit_argument = match digits {
        ObsoleteDigits::No => None,
        ObsoleteDigits::Rest(option) => Some((OptArg::Optional(""), option)),
    };
    if let Some((arg, option)) = digit_argument {
        for digit in DIGITS.chars() {
            forms.push(OptForm { short: Some(digit), long: "", arg, help: "" });
            meanings.push(OptionMeaning {
                id: option.to_string(),
                written: format!("--{option}"),
                is_repeatable: util != "fold",
            });
        }
    }
    let mut words = argv.into_iter();
    let name = words.next();
    let words = modern_words(util, words.map(os_into_bytes).collect());
    let by_reference: Vec<&OptForm<'_>> = forms.iter().collect();
    let same = |a: usize, b: usize| match (meanings.get(a), meanings.get(b)) {
        (Some(a), Some(b)) => a.id == b.id,
        _ => false,
    };
    let is_posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let parsed = parse_words(&by_reference, &same, is_posix, &words);
    let OptionRows { options, operands } = match parsed {
        // The caller prints the help and the version.
        Err(UsageError::Help) => return Ok(name.into_iter().chain(["--help".into()]).collect()),
        Err(UsageError::Version) => {
            return Ok(name.into_iter().chain(["--version".into()]).collect());
        }
        Err(UsageError::Message(text)) => return Err(UsageRefusal::Usage(text)),
        Ok(words) => words,
    };
    check_operands(&command, &operands)?;

    let names: Vec<&str> = options.iter().map(|(row, _)| meanings[*row].id.as_str()).collect();
    let counts = digests::check_digest_options(util, &names)?;
    let mut line: Vec<OsString> = name.into_iter().collect();
    for (at, (row, value)) in options.iter().enumerate() {
        let meaning = &meanings[*row];
        let digit = row.checked_sub(declared).map(|n| DIGITS.as_bytes()[n]);
        let is_last = options[at + 1..].iter().all(|(later, _)| !same(*row, *later));
        let differs = |(later, other): &(usize, _)| same(*row, *later) && other != value;
        if is_single(util, &meaning.id) && options[at + 1..].iter().any(differs) {
            return Err(UsageRefusal::Value(format!(
                "conflicting values of '{}'",
                meaning.written
            )));
        }
        if !counts[at] || meaning.written.is_empty() || !meaning.is_repeatable && !is_last {
            continue;
        }
        // The last of the two algorithms given counts, but the library always prefers the same one.
        if util == "sum" && options[at + 1..].iter().any(|(later, _)| !same(*row, *later)) {
            continue;
        }
        let mut word = meaning.written.clone().into_bytes();
        if digit.is_some() || value.is_some() {
            let rest = value.iter().flatten().copied();
            let value = digit.into_iter().chain(rest).collect();
            word.push(b'=');
            word.extend(numbers::checked(util, &meaning.id, value)?);
        }
        line.push(os_string(word));
    }
    line.push("--".into());
    line.extend(operands.into_iter().map(os_string));
    match command.try_get_matches_from_mut(&line) {
        Ok(_) => Ok(line),
        Err(e) => Err(refusal::of_error(util, &e)),
    }
}

/// Returns whether a repeated option must have the same value each time. Of other options the last
/// value counts.
fn is_single(util: &str, id: &str) -> bool {
    match util {
        "join" => matches!(id, "1" | "2" | "j" | "e" | "t"),
        "shuf" => matches!(id, "output" | "input-range" | "random-source"),
        _ => false,
    }
}

/// Refuses a command line that has too few or too many operands.
fn check_operands(command: &Command, operands: &[Vec<u8>]) -> Result<(), UsageRefusal> {
    let (mut least, mut most) = (0, 0usize);
    for arg in command.get_positionals() {
        let range = arg.get_num_args().unwrap_or_default();
        least += if arg.is_required_set() { range.min_values().max(1) } else { 0 };
        let is_list = matches!(arg.get_action(), ArgAction::Append);
        most = most.saturating_add(if is_list { usize::MAX } else { range.max_values().max(1) });
    }
    let quoted = |word: &[u8]| format!("'{}'", String::from_utf8_lossy(word));
    let message = match (operands.len(), operands.last()) {
        (n, None) if n < least => "missing operand".to_string(),
        (n, Some(last)) if n < least => format!("missing operand after {}", quoted(last)),
        (n, _) if n > most => format!("extra operand {}", quoted(&operands[most])),
        _ => return Ok(()),
    };
    Err(UsageRefusal::Usage(message))
}

/// Rewrites obsolete options that do not follow getopt's rules in their modern form:
/// `join -o 1.1 1.2 2.1` and `join -j1 N`.
fn modern_words(util: &str, words: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if util == "join" { joined_fields(words) } else { words }
}

/// Rewrites the words of `join` so that each list of fields is one word, and `-j1 N` is `-1 N`.
fn joined_fields(words: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let is_field = |word: &[u8]| match word {
        [b'1' | b'2', b'.', number @ ..] => is_number(number),
        word => word == b"0",
    };
    let mut made: Vec<Vec<u8>> = Vec::new();
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        match word.as_slice() {
            b"--" => {
                made.push(word);
                break;
            }
            [b'-', b'j', file @ (b'1' | b'2')] if rest.peek().is_some_and(|w| is_number(w)) => {
                made.push(vec![b'-', *file]);
            }
            b"-o" => {
                let mut list = rest.next().unwrap_or_default();
                // The last two words are files, even if they look like fields.
                while rest.len() > 2 && rest.peek().is_some_and(|next| is_field(next)) {
                    list.push(b',');
                    list.extend(rest.next().unwrap_or_default());
                }
                made.extend([word, list]);
            }
            _ => made.push(word),
        }
    }
    made.extend(rest);
    made
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{Arg, ArgAction, Command};

    use super::{UsageRefusal, rewrite_arguments};

    fn command() -> Command {
        let flag = |name: &'static str, short| {
            Arg::new(name).long(name).short(short).action(ArgAction::SetTrue)
        };
        Command::new("t")
            .arg(flag("bytes", 'b'))
            .arg(Arg::new("width").long("width").short('w').value_parser(clap::value_parser!(i32)))
            .arg(Arg::new("t").short('t'))
            .arg(Arg::new("from").long("from").num_args(0..=1).require_equals(true))
            .arg(Arg::new("file"))
    }

    fn check(util: &str, words: &[&str], want: Result<&[&str], &str>) {
        let line = std::iter::once("t").chain(words.iter().copied()).map(OsString::from).collect();
        let want = want
            .map(|words| {
                std::iter::once("t").chain(words.iter().copied()).map(OsString::from).collect()
            })
            .map_err(|text| UsageRefusal::Usage(text.to_string()));
        assert_eq!(rewrite_arguments(util, command(), line), want, "{util} {words:?}");
    }

    // The expected values follow getopt_long(3); those with digits follow fold 9.1.
    #[test]
    fn lines() {
        check("t", &["-bw", "-1", "f"], Ok(&["--bytes", "--width=-1", "--", "f"]));
        check("t", &["--wi", "1", "-w2", "f"], Ok(&["--width=2", "--", "f"]));
        check("t", &["f", "--from", "-t="], Ok(&["--from", "-t==", "--", "f"]));
        check("fold", &["-b16", "f"], Ok(&["--bytes", "--width=16", "--", "f"]));
        check("t", &["--", "-w"], Ok(&["--", "-w"]));
        check("sum", &["-b", "-t1"], Ok(&["-t=1", "--"]));
    }

    #[test]
    fn refused_lines() {
        check("t", &["-b16", "f"], Err("invalid option -- '1'"));
        check("t", &["a", "b"], Err("extra operand 'b'"));
        check("t", &["-w"], Err("option requires an argument -- 'w'"));
        let line = ["t", "-w", "x"].map(OsString::from).to_vec();
        assert_eq!(
            rewrite_arguments("t", command(), line),
            Err(UsageRefusal::Value("invalid width: 'x'".into()))
        );
    }
}
