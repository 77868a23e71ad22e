//! Reads terminals in terminfo's source format (terminfo(5)). Each terminal has a line of names,
//! and then a line for each capability.

use std::collections::BTreeMap;

const SOURCE: &str = include_str!("terminals.ti");

/// Names of capabilities that are valid although no terminal of the list has them.
const FLAGS: &[&str] =
    &["hs", "eo", "gn", "hc", "os", "ul", "xhp", "da", "db", "eslok", "in", "mc5i", "npc"];
const NUMBERS: &[&str] =
    &["it", "lines", "cols", "colors", "pairs", "xmc", "wsl", "lm", "pb", "vt", "ncv"];
const TEXTS: &[&str] = &[
    "tsl", "fsl", "dsl", "is1", "is3", "rs3", "rf", "if", "iprog", "flash", "prot", "smln", "rmln",
    "kf1", "kf2", "kf3", "kf4", "kf5", "kf6", "kf7", "kf8", "kf9", "kf10", "kf11", "kf12", "kich1",
    "knp", "kpp", "kcbt", "cbt", "tbc", "hts", "mgc", "smgl", "smgr", "smam", "rmam", "smir",
    "rmir", "acsc", "enacs", "cmdch", "u6", "u7", "u8", "u9", "mc0", "mc4", "mc5", "oc", "initc",
    "ssubm", "rsubm", "nel", "kmous", "kent", "ka1", "ka3", "kb2", "kc1", "kc3", "lf1",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Capability {
    Flag,
    Number(u32),
    Text(Vec<u8>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Terminal {
    pub long_name: &'static str,
    capabilities: BTreeMap<&'static str, Capability>,
}

impl Terminal {
    /// Returns a capability by its short name (terminfo(5)).
    pub fn get(&self, name: &str) -> Option<&Capability> {
        self.capabilities.get(name)
    }
}

/// Returns the terminal with a name.
pub(super) fn find_terminal(name: &str) -> Option<Terminal> {
    let mut found: Option<Terminal> = None;
    for line in SOURCE.lines() {
        match (line.strip_prefix('\t'), &mut found) {
            (None, Some(_)) => break,
            (None, None) if line.split('|').any(|n| n == name) => {
                let long_name = line.rsplit('|').next().unwrap_or_default();
                found = Some(Terminal { long_name, ..Terminal::default() });
            }
            (Some(body), Some(terminal)) => add_capability(body, terminal),
            _ => {}
        }
    }
    found
}

fn add_capability(body: &'static str, terminal: &mut Terminal) {
    if let Some(base) = body.strip_prefix("use=") {
        terminal.capabilities = find_terminal(base).unwrap_or_default().capabilities;
    } else if let Some(name) = body.strip_suffix('@').filter(|n| !n.contains('=')) {
        terminal.capabilities.remove(name);
    } else if let Some((name, text)) = body.split_once('=') {
        terminal.capabilities.insert(name, Capability::Text(decode_capability(text.as_bytes())));
    } else if let Some((name, digits)) = body.split_once('#') {
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        terminal.capabilities.insert(name, Capability::Number(number.unwrap_or(0)));
    } else {
        terminal.capabilities.insert(body, Capability::Flag);
    }
}

/// Resolves escapes such as `\E`, `^X` and `\0`, and removes padding.
fn decode_capability(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let [c, tail @ ..] = rest {
        rest = tail;
        match (c, tail) {
            (b'$', [b'<', ..]) => {
                let end = tail.iter().position(|c| *c == b'>').map_or(tail.len(), |at| at + 1);
                rest = &tail[end..];
            }
            (b'^', [b'?', after @ ..]) => {
                out.push(0x7f);
                rest = after;
            }
            (b'^', [letter, after @ ..]) => {
                out.push(letter & 0x1f);
                rest = after;
            }
            (b'\\', [digit @ b'0'..=b'7', ..]) => {
                let digits = tail.iter().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
                let value = tail[..digits].iter().fold(0u32, |n, c| n * 8 + u32::from(c - b'0'));
                // `\0` means 0x80, because a NUL would end a string of C.
                out.push(if value == 0 && *digit == b'0' { 0x80 } else { value as u8 });
                rest = &tail[digits..];
            }
            (b'\\', [letter, after @ ..]) => {
                out.push(match letter {
                    b'E' | b'e' => 0x1b,
                    b'n' | b'l' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b's' => b' ',
                    other => *other,
                });
                rest = after;
            }
            _ => out.push(*c),
        }
    }
    out
}

/// Returns whether a name is that of a known capability.
pub(super) fn is_known(name: &str) -> bool {
    let listed = |line: &str| {
        let body = line.strip_prefix('\t').unwrap_or_default();
        body.split(['=', '#', '@']).next() == Some(name) && name != "use"
    };
    SOURCE.lines().any(listed) || [FLAGS, NUMBERS, TEXTS].iter().any(|list| list.contains(&name))
}

pub(super) fn is_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminal_but_the_console_has_a_size() {
        for line in SOURCE.lines().filter(|l| !l.starts_with('\t')) {
            let name = line.split('|').next().expect("a name");
            let terminal = find_terminal(name).expect("it is there");
            // `infocmp` shows no size for the console, because programs ask the console itself.
            let size = (name != "linux").then_some(&Capability::Number(80));
            assert_eq!(terminal.get("cols"), size, "{name}");
        }
    }
}
