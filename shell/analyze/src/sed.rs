//! The effects of a sed script: the files of `r`, `R`, `w`, `W` and the flag `w`, and the commands
//! of `e` and the flag `e` (GNU sed manual, chapters 3 and 6). A script that cannot be scanned is
//! reported as an unknown.

use crate::command::AnalyzedLine;
use crate::options::split_arguments;
use crate::report::{Access, ScriptWord};
use crate::walk::ScriptWalk;

/// Analyzes the scripts of a `sed` command line.
pub(crate) fn sed_command(walk: &mut ScriptWalk<'_>, l: &AnalyzedLine<'_>) {
    let s = split_arguments(l.args, crate::files::tool_options(b"sed"));
    for f in s.option_values(&["f", "file"]) {
        walk.runs_file(f, l.name, l.line);
    }
    let mut scripts: Vec<&ScriptWord> = s.option_values(&["e", "expression"]).collect();
    if scripts.is_empty() && !s.has_any(&["f", "file"]) {
        scripts.extend(s.operands.first());
    }
    for text in scripts {
        let mut found = Vec::new();
        if text.dynamic || scan_script(&text.text, &mut found).is_none() {
            walk.note_unknown("program text", &text.text, l.line);
            continue;
        }
        for f in found {
            match f {
                SedEffect::File(path, access) => {
                    walk.note_file(ScriptWord::fixed_text(path), access, l.name, l.line);
                }
                SedEffect::Command(text) => walk.walk_nested("sed e", &text, l.line),
                // The pattern space runs as a command.
                SedEffect::PatternSpace => walk.note_unknown("program text", &text.text, l.line),
            }
        }
    }
}

enum SedEffect {
    File(Vec<u8>, Access),
    Command(Vec<u8>),
    PatternSpace,
}

struct SedScan<'t> {
    text: &'t [u8],
    at: usize,
}

impl SedScan<'_> {
    fn peek_byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_while(&mut self, these: impl Fn(u8) -> bool) {
        while self.peek_byte().is_some_and(&these) {
            self.at += 1;
        }
    }

    /// Moves after the next delimiter. One after a backslash does not count, nor does one in a
    /// bracket expression of a pattern.
    fn delimited(&mut self, delimiter: u8, pattern: bool) -> Option<()> {
        while let Some(c) = self.peek_byte() {
            self.at += 1;
            match c {
                b'\\' => self.at += 1,
                b'[' if pattern && delimiter != b'[' => {
                    let rest = self.text.get(self.at..)?;
                    // A `]` at the beginning, or after a `^` there, is an ordinary character.
                    let from = usize::from(rest.first() == Some(&b'^'));
                    let end = rest.iter().skip(from + 1).position(|c| *c == b']');
                    // Without a closing bracket, `[` is an ordinary character of the pattern.
                    if let Some(n) = end {
                        self.at += from + 1 + n + 1;
                    }
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
        None
    }

    fn rest_of_line(&mut self) -> Vec<u8> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let n = rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len());
        self.at += n;
        rest.get(..n).unwrap_or_default().trim_ascii_start().to_vec()
    }

    fn address(&mut self) -> Option<()> {
        match self.peek_byte() {
            Some(b'0'..=b'9' | b'$' | b'+' | b'~') => {
                self.skip_while(|c| c.is_ascii_digit() || matches!(c, b'$' | b'~' | b'+'));
            }
            Some(b'/') => {
                self.at += 1;
                self.delimited(b'/', true)?;
                self.skip_while(|c| matches!(c, b'I' | b'M'));
            }
            Some(b'\\') => {
                let delimiter = *self.text.get(self.at + 1)?;
                self.at += 2;
                self.delimited(delimiter, true)?;
                self.skip_while(|c| matches!(c, b'I' | b'M'));
            }
            _ => {}
        }
        Some(())
    }
}

/// Scans the flags after `s/regex/replacement/`.
fn scan_flags(s: &mut SedScan<'_>, out: &mut Vec<SedEffect>) {
    loop {
        match s.peek_byte() {
            Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => s.at += 1,
            Some(b'e') => {
                s.at += 1;
                out.push(SedEffect::PatternSpace);
            }
            Some(b'w') => {
                s.at += 1;
                out.push(SedEffect::File(s.rest_of_line(), Access::Write));
            }
            _ => return,
        }
    }
}

/// Scans a script; returns `None` if the text is not a script that this scanner understands.
fn scan_script(text: &[u8], out: &mut Vec<SedEffect>) -> Option<()> {
    let mut s = SedScan { text, at: 0 };
    loop {
        s.skip_while(|c| c.is_ascii_whitespace() || c == b';');
        if s.peek_byte().is_none() {
            return Some(());
        }
        s.address()?;
        s.skip_while(|c| c == b' ');
        if s.peek_byte() == Some(b',') {
            s.at += 1;
            s.skip_while(|c| c == b' ');
            s.address()?;
        }
        s.skip_while(|c| matches!(c, b' ' | b'!'));
        let Some(command) = s.peek_byte() else { return Some(()) };
        s.at += 1;
        match command {
            b'{' | b'}' | b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p'
            | b'P' | b'x' | b'F' | b'z' => {}
            b'#' => drop(s.rest_of_line()),
            b'a' | b'i' | b'c' => {
                // Text continues after a line that ends in a backslash.
                loop {
                    let line = s.rest_of_line();
                    s.at += 1;
                    if !line.ends_with(b"\\") || s.peek_byte().is_none() {
                        break;
                    }
                }
            }
            b':' | b'b' | b't' | b'T' | b'v' => {
                s.skip_while(|c| c == b' ');
                s.skip_while(|c| !c.is_ascii_whitespace() && !matches!(c, b';' | b'}'));
            }
            b'l' | b'L' | b'q' | b'Q' => s.skip_while(|c| c == b' ' || c.is_ascii_digit()),
            b'r' | b'R' => out.push(SedEffect::File(s.rest_of_line(), Access::Read)),
            b'w' | b'W' => out.push(SedEffect::File(s.rest_of_line(), Access::Write)),
            b'e' => {
                let text = s.rest_of_line();
                out.push(if text.is_empty() {
                    SedEffect::PatternSpace
                } else {
                    SedEffect::Command(text)
                });
            }
            b'y' | b's' => {
                let delimiter = s.peek_byte()?;
                s.at += 1;
                s.delimited(delimiter, command == b's')?;
                s.delimited(delimiter, false)?;
                if command == b's' {
                    scan_flags(&mut s, out);
                }
            }
            _ => return None,
        }
    }
}
