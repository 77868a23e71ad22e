//! Parses arguments into options and operands, as `getopt_long(3)` does. Options are row numbers
//! here, so that this code is compiled once for all enums of options.

use super::{OptArg, OptForm};

/// The reason why a command line was not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    /// An error; the message is GNU's, without the `NAME: ` prefix.
    Message(String),
    /// `--help` was given.
    Help,
    /// `--version` was given.
    Version,
}

/// The options, as numbers of rows, and the operands.
pub struct OptionRows {
    pub options: Vec<(usize, Option<Vec<u8>>)>,
    pub operands: Vec<Vec<u8>>,
}

/// Parses `args` by rows that belong to no [`super::Spec`], for example an adapted tool's; `same`
/// says whether two rows are spellings of one option.
pub fn parse_words(
    forms: &[&OptForm<'_>],
    same: &dyn Fn(usize, usize) -> bool,
    posix_order: bool,
    args: &[Vec<u8>],
) -> Result<OptionRows, UsageError> {
    let mut operands = Vec::new();
    let mut parser = OptionParser { forms, same, rest: args.iter(), options: Vec::new() };
    while let Some(arg) = parser.rest.next() {
        if arg == b"--" {
            operands.extend(parser.rest.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix(b"--") {
            parser.parse_long(long)?;
        } else if arg.len() > 1 && arg[0] == b'-' {
            parser.parse_cluster(&arg[1..])?;
        } else {
            operands.push(arg.clone());
            if posix_order {
                operands.extend(parser.rest.by_ref().cloned());
            }
        }
    }
    Ok(OptionRows { options: parser.options, operands })
}

/// Returns whether a word that is an option takes the next word as its argument.
pub(super) fn takes_next(
    forms: &[&OptForm<'_>],
    same: &dyn Fn(usize, usize) -> bool,
    word: &[u8],
) -> bool {
    let parser = OptionParser { forms, same, rest: [].iter(), options: Vec::new() };
    let required = |row: usize| matches!(forms[row].arg, OptArg::Required(_));
    if let Some(long) = word.strip_prefix(b"--") {
        return !long.contains(&b'=') && parser.find_long(long, long).is_ok_and(required);
    }
    let found =
        match_letters(forms, word.strip_prefix(b"-").unwrap_or_default()).unwrap_or_default();
    found.last().is_some_and(|(row, attached)| required(*row) && attached.is_empty())
}

struct OptionParser<'a> {
    forms: &'a [&'a OptForm<'a>],
    same: &'a dyn Fn(usize, usize) -> bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
    options: Vec<(usize, Option<Vec<u8>>)>,
}

impl OptionParser<'_> {
    /// Parses `NAME` or `NAME=VALUE`, the rest of a word after its two dashes.
    fn parse_long(&mut self, text: &[u8]) -> Result<(), UsageError> {
        let (name, attached) = match text.iter().position(|&c| c == b'=') {
            Some(i) => (&text[..i], Some(text[i + 1..].to_vec())),
            None => (text, None),
        };
        let row = self.find_long(name, text)?;
        let OptForm { long, arg, .. } = self.forms[row];
        let value = match (arg, attached) {
            (OptArg::No, Some(_)) => {
                return Err(usage_error(format!("option '--{long}' doesn't allow an argument")));
            }
            (OptArg::Required(_), None) => match self.rest.next() {
                Some(next) => Some(next.clone()),
                None => return Err(usage_error(format!("option '--{long}' requires an argument"))),
            },
            (_, attached) => attached,
        };
        self.options.push((row, value));
        Ok(())
    }

    /// Returns the row of a long name or of its abbreviation. Messages show `written`.
    fn find_long(&self, name: &[u8], written: &[u8]) -> Result<usize, UsageError> {
        let rows = self.forms.iter().enumerate().filter(|(_, f)| !f.long.is_empty());
        let begins: Vec<usize> =
            rows.filter(|(_, f)| f.long.as_bytes().starts_with(name)).map(|(row, _)| row).collect();
        if let Some(exact) = begins.iter().find(|row| self.forms[**row].long.as_bytes() == name) {
            return Ok(*exact);
        }
        let shown = String::from_utf8_lossy(written);
        // The two options that every tool has may be abbreviated, too.
        let common = ["help", "version"].into_iter().filter(|long| {
            long.as_bytes().starts_with(name) && self.forms.iter().all(|f| f.long != *long)
        });
        let common: Vec<&str> = common.collect();
        match begins.as_slice() {
            _ if name == b"help" => Err(UsageError::Help),
            _ if name == b"version" => Err(UsageError::Version),
            [] if common == ["help"] => Err(UsageError::Help),
            [] if common == ["version"] => Err(UsageError::Version),
            [] => Err(usage_error(format!("unrecognized option '--{shown}'"))),
            // Spellings of one option (`--color`, `--colour`) are not ambiguous.
            [first, others @ ..]
                if common.is_empty() && others.iter().all(|row| (self.same)(*first, *row)) =>
            {
                Ok(*first)
            }
            several => {
                let longs = several.iter().map(|row| self.forms[*row].long).chain(common);
                let names = longs.map(|long| format!("'--{long}'"));
                let list = names.collect::<Vec<_>>().join(" ");
                Err(usage_error(format!("option '--{shown}' is ambiguous; possibilities: {list}")))
            }
        }
    }

    /// Parses the letters after one dash.
    fn parse_cluster(&mut self, word: &[u8]) -> Result<(), UsageError> {
        let found = match_letters(self.forms, word)
            .map_err(|letter| usage_error(format!("invalid option -- '{}'", char::from(letter))))?;
        for (row, attached) in found {
            let attached = Some(attached).filter(|a| !a.is_empty()).map(<[u8]>::to_vec);
            let value = match self.forms[row].arg {
                OptArg::Required(_) => match attached.or_else(|| self.rest.next().cloned()) {
                    None => {
                        let letter = self.forms[row].short.unwrap_or_default();
                        return Err(usage_error(format!(
                            "option requires an argument -- '{letter}'"
                        )));
                    }
                    value => value,
                },
                _ => attached,
            };
            self.options.push((row, value));
        }
        Ok(())
    }
}

/// Returns the rows of the letters in one word, each with its attached text: the first option that
/// takes an argument takes the rest of the word. The word is given without its dash. `Err` is a
/// letter that no row has.
pub(super) fn match_letters<'w>(
    forms: &[&OptForm<'_>],
    word: &'w [u8],
) -> Result<Vec<(usize, &'w [u8])>, u8> {
    let mut found = Vec::new();
    for (at, letter) in word.iter().enumerate() {
        let row = forms.iter().position(|f| f.short == Some(char::from(*letter))).ok_or(*letter)?;
        if forms[row].arg != OptArg::No {
            found.push((row, &word[at + 1..]));
            break;
        }
        found.push((row, &[]));
    }
    Ok(found)
}

/// Returns the row of a long name, which may be abbreviated and is given without dashes.
pub(super) fn match_long(
    forms: &[&OptForm<'_>],
    same: &dyn Fn(usize, usize) -> bool,
    name: &[u8],
) -> Result<usize, UsageError> {
    OptionParser { forms, same, rest: [].iter(), options: Vec::new() }.find_long(name, name)
}

fn usage_error(text: String) -> UsageError {
    UsageError::Message(text)
}

#[cfg(test)]
mod tests {
    use super::super::{Opt, OptArg, Spec};
    use super::UsageError;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Flag {
        Lines,
        Quiet,
        Color,
        Columns,
    }
    use Flag::*;

    const SPEC: Spec<Flag> = Spec::new(
        "",
        "",
        &[
            Opt::new(Lines, 'n', "lines").with_argument("NUM", ""),
            Opt::new(Quiet, 'q', "quiet"),
            Opt::long(Color, "color").may_take("WHEN", ""),
            Opt::long(Color, "colour").may_take("WHEN", "the same"),
            Opt::new(Columns, 'C', "columns"),
        ],
    );

    type Given = (Flag, Option<&'static str>);

    fn check(args: &[&str], options: &[Given], operands: &[&str]) {
        let bytes: Vec<Vec<u8>> = args.iter().map(|a| a.as_bytes().to_vec()).collect();
        let parsed = SPEC.parse(&bytes).unwrap();
        let want: Vec<_> =
            options.iter().map(|(id, v)| (*id, v.map(|v| v.as_bytes().to_vec()))).collect();
        assert_eq!(parsed.options, want, "{args:?}");
        let want: Vec<_> = operands.iter().map(|o| o.as_bytes().to_vec()).collect();
        assert_eq!(parsed.operands, want, "{args:?}");
    }

    // The rules are those of getopt_long(3).
    #[test]
    fn accepted() {
        check(&["-qn3", "a"], &[(Quiet, None), (Lines, Some("3"))], &["a"]);
        check(&["-n", "-q"], &[(Lines, Some("-q"))], &[]);
        check(&["a", "-q", "--", "-n"], &[(Quiet, None)], &["a", "-n"]);
        check(&["--li=3", "--lines", "4"], &[(Lines, Some("3")), (Lines, Some("4"))], &[]);
        check(&["--colo", "--color=x", "-"], &[(Color, None), (Color, Some("x"))], &["-"]);
    }

    #[test]
    fn operands_first() {
        let spec = SPEC.posix_order();
        let args = ["-q", "a", "-n"].map(|a| a.as_bytes().to_vec());
        let parsed = spec.parse(&args).unwrap();
        assert!(parsed.has_option(Quiet) && !parsed.has_option(Lines));
        assert_eq!(parsed.operands, args[1..]);
    }

    #[test]
    fn words_that_take_the_next() {
        let takes = |word: &str| SPEC.takes_next(word.as_bytes());
        assert!(["-n", "-qn", "--lines", "--li"].iter().all(|word| takes(word)));
        assert!(!["-q", "-n3", "-x", "--lines=3", "--color", "--col"].iter().any(|w| takes(w)));
    }

    #[test]
    fn letters_of_a_word() {
        let required = OptArg::Required("NUM");
        let letters = |word: &'static [u8]| SPEC.match_letters(word);
        assert_eq!(
            letters(b"qn3"),
            Ok(vec![(Quiet, OptArg::No, &b""[..]), (Lines, required, b"3")])
        );
        assert_eq!(letters(b"n"), Ok(vec![(Lines, required, &b""[..])]));
        assert_eq!(letters(b"qx"), Err(b'x'));
        assert_eq!(SPEC.find_long(b"li"), Ok((Lines, required)));
        for version in [&b"version"[..], b"vers", b"v"] {
            assert_eq!(SPEC.find_long(version), Err(UsageError::Version));
        }
        assert_eq!(SPEC.find_long(b"he"), Err(UsageError::Help));
        assert!(SPEC.find_long(b"nothing").is_err());
    }

    // The texts are those of glibc's getopt_long, whose prefix is left to the caller.
    #[test]
    fn refused() {
        for (arg, want) in [
            ("-x", "invalid option -- 'x'"),
            ("-n", "option requires an argument -- 'n'"),
            ("--lines", "option '--lines' requires an argument"),
            ("--quiet=1", "option '--quiet' doesn't allow an argument"),
            ("--nothing", "unrecognized option '--nothing'"),
            (
                "--col",
                "option '--col' is ambiguous; possibilities: '--color' '--colour' '--columns'",
            ),
        ] {
            let refused = SPEC.parse(&[arg.as_bytes().to_vec()]);
            assert_eq!(refused, Err(UsageError::Message(want.to_string())), "{arg}");
        }
        assert_eq!(SPEC.parse(&[b"--help".to_vec()]), Err(UsageError::Help));
    }
}
