//! Prompt strings (bash manual 6.9): `PS1`, `PS2`, `PS4`, `${x@P}`.

use std::time::{SystemTime, UNIX_EPOCH};

use sh_expand::{ErrorReach, ExpandCause, ExpandEnv as _, ExpandError};

use crate::Shell;
use crate::state::options::{SetOpt, ShOpt};

impl Shell<'_> {
    /// Decodes backslash escapes, then (with `promptvars`) performs parameter, command and
    /// arithmetic expansion without changing `$?`. If an expansion fails, prints a message and
    /// keeps the previous prompt.
    ///
    /// # Errors
    /// Returns a failure, already reported, only if it ends the shell, for example because of
    /// `set -e`.
    pub(crate) fn expand_prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        self.expand_shown_prompt(text, false)
    }

    /// Does the same as [`Shell::expand_prompt`]; with `marks`, the bytes 1 and 2 stand for `\[` and
    /// `\]`.
    ///
    /// # Errors
    /// Returns a failure, already reported, only if it ends the shell.
    pub(crate) fn expand_shown_prompt(
        &mut self,
        text: &[u8],
        marks: bool,
    ) -> Result<Vec<u8>, ExpandError> {
        let expands = self.state.options.has_shopt(ShOpt::PromptVars);
        let decoded = self.decoded_prompt(text, expands, marks);
        if !expands || memchr::memchr3(b'$', b'`', b'\\', &decoded).is_none() {
            return Ok(decoded);
        }
        // A text may expand itself without end: `set -- '${@@P}'; echo "${@@P}"`.
        if self.budget.stack_low() {
            return Err(ExpandCause::TooDeep.into());
        }
        let (status, subst) = (self.state.status, self.last_subst);
        let expanded = match sh_syntax::parse::parse_dquoted(&decoded, &self.parse_options()) {
            Ok(word) => sh_expand::expand_single(self, &word).map(|s| s.to_vec()),
            Err(e) if e.byte() == Some(b'}') => {
                Err(ExpandCause::BadSubstitution(decoded.clone()).into())
            }
            Err(_) => {
                if let Some(rest) = after_open_backquote(&decoded) {
                    self.print_error(&[b"bad substitution: no closing \"`\" in `", rest]);
                }
                return Ok(decoded);
            }
        };
        (self.state.status, self.last_subst) = (status, subst);
        let e = match expanded {
            Ok(prompt) => return Ok(prompt),
            Err(e) if matches!(e.reach(), ErrorReach::Interrupted | ErrorReach::Limit) => {
                return Err(e);
            }
            Err(e) => e,
        };
        self.report(b"", &e);
        if self.state.options.has_set(SetOpt::ErrExit) {
            Err(ExpandError::already_printed(ErrorReach::Exit))
        } else {
            Ok(self.decoded_prompt(text, false, marks))
        }
    }

    /// Returns the prompt without its backslash escapes. With `expands`, keeps `\\` for the later
    /// expansion.
    fn decoded_prompt(&mut self, text: &[u8], expands: bool, marks: bool) -> Vec<u8> {
        let decoded = match memchr::memchr(b'\\', text) {
            Some(_) => self.prompt_escapes(text, expands, marks),
            None => text.to_vec(),
        };
        if self.state.options.has_set(SetOpt::Posix) {
            with_history_number(decoded)
        } else {
            decoded
        }
    }

    fn prompt_escapes(&mut self, text: &[u8], expands: bool, marks: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(&c) = text.get(at) {
            at += 1;
            if c != b'\\' {
                out.push(c);
                continue;
            }
            let Some(&e) = text.get(at) else {
                out.push(b'\\');
                break;
            };
            at += 1;
            match e {
                b'a' => out.push(7),
                b'e' => out.push(27),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b'D' if text.get(at) == Some(&b'{') => {
                    let end = memchr::memchr(b'}', &text[at..]).map_or(text.len(), |i| at + i);
                    let format = &text[(at + 1).min(end)..end];
                    out.extend(self.time_now(if format.is_empty() { b"%X" } else { format }));
                    at = (end + 1).min(text.len());
                }
                b'$' => out.push(if box_sys::meta::ids().0 == 0 { b'#' } else { b'$' }),
                b'[' if marks => out.push(1),
                b']' if marks => out.push(2),
                b'[' | b']' => {}
                b'\\' if expands => out.extend_from_slice(b"\\\\"),
                b'\\' => out.push(b'\\'),
                b'0'..=b'7' => {
                    let digits =
                        text[at - 1..].iter().take(3).take_while(|c| matches!(c, b'0'..=b'7'));
                    let n = digits.clone().count();
                    let value = digits.fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
                    out.push(value as u8);
                    at += n - 1;
                }
                letter => match self.prompt_value(letter) {
                    Some(value) => out.extend(value),
                    None => out.extend_from_slice(&[b'\\', letter]),
                },
            }
        }
        out
    }

    /// Returns the present time in a format of `strftime(3)`.
    fn time_now(&mut self, format: &[u8]) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        self.strftime(format, now)
    }

    /// Returns the value of a letter that stands for information about the shell, for example `w`;
    /// `None` for any other letter.
    fn prompt_value(&mut self, letter: u8) -> Option<Vec<u8>> {
        let last_part = |text: &[u8]| text.rsplit(|c| *c == b'/').next().unwrap_or(b"").to_vec();
        Some(match letter {
            b'd' => self.time_now(b"%a %b %d"),
            b't' => self.time_now(b"%H:%M:%S"),
            b'T' => self.time_now(b"%I:%M:%S"),
            b'@' => self.time_now(b"%I:%M %p"),
            b'A' => self.time_now(b"%H:%M"),
            b'H' => self.variable_text(b"HOSTNAME").unwrap_or_default().to_vec(),
            b'h' => {
                let host = self.variable_text(b"HOSTNAME").unwrap_or_default();
                host.split(|c| *c == b'.').next().unwrap_or_default().to_vec()
            }
            b'j' => self.state.jobs.list().len().to_string().into_bytes(),
            b'l' => b"tty".to_vec(),
            b's' => last_part(self.state.params.arg0()),
            b'u' => {
                self.variable_text(b"USER").map_or_else(|| b"user".to_vec(), |user| user.to_vec())
            }
            b'v' => b"5.2".to_vec(),
            b'V' => b"5.2.15".to_vec(),
            b'w' | b'W' => {
                let dir = self.variable_text(b"PWD").unwrap_or_default();
                let home =
                    self.variable_text(b"HOME").map(|h| h.to_vec()).or_else(|| self.home_dir(None));
                let shown = tilde_path(&dir, home.as_deref());
                if letter == b'W' && shown != b"~" && shown != b"/" {
                    last_part(&shown)
                } else {
                    shown
                }
            }
            b'!' | b'#' => (self.history.len() + 1).to_string().into_bytes(),
            _ => return None,
        })
    }
}

/// Returns a directory with the home directory shown as `~`.
pub(crate) fn tilde_path(dir: &[u8], home: Option<&[u8]>) -> Vec<u8> {
    match home {
        Some(h) if h.len() > 1 && dir.starts_with(h) => match dir.get(h.len()) {
            None => b"~".to_vec(),
            Some(b'/') => [b"~", &dir[h.len()..]].concat(),
            Some(_) => dir.to_vec(),
        },
        _ => dir.to_vec(),
    }
}

/// Replaces `!` with the number of the next history entry in POSIX mode, and `!!` with an
/// exclamation mark (XCU 2.5.3, `PS1`). A script has no history, so the number is 1.
fn with_history_number(text: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.into_iter().peekable();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'!' => bytes.next_if_eq(&b'!').map_or(b'1', |_| b'!'),
            other => other,
        });
    }
    out
}

/// Returns the text after an unclosed backquote, if there is one.
fn after_open_backquote(text: &[u8]) -> Option<&[u8]> {
    let (mut open, mut at) = (None, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'`' if open.is_some() => open = None,
            b'`' => open = Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    text.get(open?..).filter(|rest| !rest.is_empty())
}
