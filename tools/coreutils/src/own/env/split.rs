//! `env -S`: splits a string into words, with quotes, escapes and `${VAR}` (GNU manual,
//! "-S/--split-string syntax").

use box_applet::Env;

/// Splits the text of `-S` into words. The error is the message about a malformed text.
pub(super) fn split_string(text: &[u8], env: &Env) -> Result<Vec<Vec<u8>>, String> {
    let mut splitter = EnvSplitter { words: Vec::new(), word: None, quote: 0, rest: text };
    splitter.run(env)?;
    if splitter.quote != 0 {
        return Err("no terminating quote in -S string".to_string());
    }
    splitter.words.extend(splitter.word);
    Ok(splitter.words)
}

struct EnvSplitter<'t> {
    words: Vec<Vec<u8>>,
    /// The word that is being read.
    word: Option<Vec<u8>>,
    /// The quote that is open, or 0.
    quote: u8,
    rest: &'t [u8],
}

/// Whether more text follows.
enum SplitStep {
    On,
    NoFurther,
}

impl EnvSplitter<'_> {
    fn run(&mut self, env: &Env) -> Result<(), String> {
        while let Some((&c, rest)) = self.rest.split_first() {
            self.rest = rest;
            let quote = self.quote;
            match c {
                b'\'' | b'"' if quote == 0 => {
                    self.quote = c;
                    self.word.get_or_insert_default();
                }
                c if quote != 0 && c == quote => self.quote = 0,
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c if quote == 0 => self.end_word(),
                b'#' if quote == 0 && self.word.is_none() => return Ok(()),
                b'$' if quote != b'\'' => self.read_variable(env)?,
                b'\\' if quote == b'\'' && !matches!(rest.first(), Some(b'\\' | b'\'')) => {
                    self.push(c);
                }
                b'\\' => {
                    if let SplitStep::NoFurther = self.read_escape()? {
                        return Ok(());
                    }
                }
                _ => self.push(c),
            }
        }
        Ok(())
    }

    fn push(&mut self, c: u8) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    /// Reads `${NAME}`; the dollar sign has been read.
    fn read_variable(&mut self, env: &Env) -> Result<(), String> {
        let rest = self.rest;
        let end = rest.iter().position(|c| *c == b'}');
        let name = end.filter(|_| rest.starts_with(b"{")).map(|end| &rest[1..end]);
        let letter = |c: &u8| c.is_ascii_alphabetic() || *c == b'_';
        let valid = |name: &&[u8]| {
            name.first().is_some_and(letter) && name.iter().all(|c| letter(c) || c.is_ascii_digit())
        };
        let Some(name) = name.filter(valid) else {
            let shown = String::from_utf8_lossy(rest);
            return Err(format!("only ${{VARNAME}} expansion is supported, error at: ${shown}"));
        };
        self.rest = &rest[name.len() + 2..];
        match env.get(name) {
            Some(value) => self.word.get_or_insert_default().extend_from_slice(value),
            // An unset variable inside quotes is an empty word.
            None if self.quote != 0 => {
                self.word.get_or_insert_default();
            }
            None => {}
        }
        Ok(())
    }

    /// Reads the escape after a backslash.
    fn read_escape(&mut self) -> Result<SplitStep, String> {
        let Some((&letter, rest)) = self.rest.split_first() else {
            return Err("invalid backslash at end of string in -S".to_string());
        };
        self.rest = rest;
        let plain = match letter {
            b'"' | b'#' | b'$' | b'\'' | b'\\' => letter,
            // Outside quotes, `\_` separates words; inside quotes it is a space.
            b'_' if self.quote == 0 => {
                self.end_word();
                return Ok(SplitStep::On);
            }
            b'_' => b' ',
            b'c' if self.quote == 0 => return Ok(SplitStep::NoFurther),
            b'c' => return Err("'\\c' must not appear in double-quoted -S string".to_string()),
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            other => return Err(format!("invalid sequence '\\{}' in -S", char::from(other))),
        };
        self.push(plain);
        Ok(SplitStep::On)
    }
}
