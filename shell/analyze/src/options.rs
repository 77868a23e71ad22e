//! Options of a command line, split from its operands as `getopt_long(3)` does.

use crate::report::ScriptWord;

/// The options that take a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OptionLetters {
    /// Letters of short options with a value, attached or in the next word.
    pub short: &'static str,
    /// Names of long options whose value may be the next word.
    pub long: &'static [&'static str],
    /// Whether options end at the first operand.
    pub ordered: bool,
}

/// An option found in the arguments, for example `o` or `output`, and its value.
#[derive(Clone, Debug)]
pub(crate) struct FoundOption {
    pub name: String,
    pub value: Option<ScriptWord>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SplitArguments {
    pub options: Vec<FoundOption>,
    pub operands: Vec<ScriptWord>,
}

impl SplitArguments {
    /// Returns whether an option was given.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.name == name)
    }

    /// Returns whether one of these options was given.
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|n| self.has_option(n))
    }

    /// Returns the values of these options, in order.
    pub fn option_values<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = &'s ScriptWord> {
        self.options
            .iter()
            .filter(|o| names.contains(&o.name.as_str()))
            .filter_map(|o| o.value.as_ref())
    }
}

/// Splits the words after a command's name.
pub(crate) fn split_arguments(args: &[ScriptWord], spec: OptionLetters) -> SplitArguments {
    let mut out = SplitArguments::default();
    let mut i = 0;
    while let Some(arg) = args.get(i) {
        i += 1;
        if arg.starts_with(b"--") {
            if arg.text.len() == 2 {
                break;
            }
            let body = arg.text.get(2..).unwrap_or_default();
            let end = body.iter().position(|c| *c == b'=').unwrap_or(body.len());
            let name = String::from_utf8_lossy(body.get(..end).unwrap_or_default()).into_owned();
            let mut value = (end < body.len()).then(|| arg.tail_from(end + 3));
            if value.is_none() && spec.long.contains(&name.as_str()) {
                value = args.get(i).cloned();
                i += 1;
            }
            out.options.push(FoundOption { name, value });
            continue;
        }
        if arg.starts_with(b"-") && arg.text.len() > 1 {
            for (at, c) in arg.text.iter().enumerate().skip(1) {
                let name = (*c as char).to_string();
                if !spec.short.as_bytes().contains(c) {
                    out.options.push(FoundOption { name, value: None });
                    continue;
                }
                let mut value = Some(arg.tail_from(at + 1)).filter(|v| !v.text.is_empty());
                if value.is_none() {
                    value = args.get(i).cloned();
                    i += 1;
                }
                out.options.push(FoundOption { name, value });
                break;
            }
            continue;
        }
        out.operands.push(arg.clone());
        if spec.ordered {
            break;
        }
    }
    out.operands.extend(args.get(i..).unwrap_or_default().iter().cloned());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_and_values() {
        let args: Vec<ScriptWord> = ["-rn", "-ofile", "x", "--output=y", "--key", "z", "--", "-q"]
            .map(ScriptWord::fixed_text)
            .to_vec();
        let s =
            split_arguments(&args, OptionLetters { short: "o", long: &["key"], ordered: false });
        assert!(s.has_option("r") && s.has_option("n") && !s.has_option("q"));
        let values = |n: &str| s.option_values(&[n]).map(|t| t.text.clone()).collect::<Vec<_>>();
        assert_eq!(values("o"), [b"file".to_vec()]);
        assert_eq!(values("output"), [b"y".to_vec()]);
        assert_eq!(values("key"), [b"z".to_vec()]);
        assert_eq!(s.operands, [ScriptWord::fixed_text("x"), ScriptWord::fixed_text("-q")]);
    }
}
