//! Script text to commands (POSIX sed; GNU sed manual 3 to 6).
//!
//! | file | contents |
//! |---|---|
//! | `parse/address` | addresses |
//! | `parse/regex` | delimited patterns, sed's escapes in them |
//! | `parse/replace` | `s` and `y` |
//! | `parse/text` | `a`, `i`, `c`, file names, labels |

mod address;
mod regex;
mod replace;
mod text;

use crate::error::ScriptError;
use crate::script::{OutputId, SedAction, SedCommand, SedScript, Select};

type Result<T> = std::result::Result<T, ScriptError>;

/// The dialect that the command line selects.
#[derive(Clone, Copy, Debug, Default)]
pub struct SedDialect {
    /// `-E`.
    pub extended: bool,
    pub posix: bool,
    pub sandbox: bool,
    pub utf8: bool,
    /// `-z`.
    pub null_data: bool,
}

/// The maximum nesting of braces.
const MAX_DEPTH: usize = 10_000;

/// Compiles a script: all pieces of the command line joined by newlines.
pub fn parse(text: &[u8], dialect: SedDialect) -> Result<SedScript> {
    let mut p = SedParser {
        text,
        at: 0,
        dialect,
        script: SedScript { quiet: text.starts_with(b"#n"), ..SedScript::default() },
        blocks: Vec::new(),
        labels: Vec::new(),
        jumps: Vec::new(),
    };
    p.parse_commands()?;
    p.finish_script()?;
    Ok(p.script)
}

struct SedParser<'a> {
    text: &'a [u8],
    at: usize,
    dialect: SedDialect,
    script: SedScript,
    /// The indices of the commands `{` that are still open.
    blocks: Vec<usize>,
    labels: Vec<(Vec<u8>, usize)>,
    /// The branches, each with the index of its command and its label.
    jumps: Vec<(usize, Vec<u8>)>,
}

impl SedParser<'_> {
    fn error_here<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ScriptError { offset: Some(self.at), message: message.into() })
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take_byte(&mut self) -> Option<u8> {
        let c = self.peek_byte();
        self.at += 1;
        if c.is_none() {
            self.at = self.text.len();
        }
        c
    }

    fn skip_blanks(&mut self) {
        while self.peek_byte().is_some_and(|c| c != b'\n' && c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn skip_separators(&mut self) {
        while self.peek_byte().is_some_and(|c| c == b';' || c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Parses a decimal number, if one is here.
    fn parse_number(&mut self) -> Option<u64> {
        let from = self.at;
        let mut n = 0u64;
        while let Some(d) = self.peek_byte().filter(u8::is_ascii_digit) {
            n = n.saturating_mul(10).saturating_add(u64::from(d - b'0'));
            self.at += 1;
        }
        (self.at > from).then_some(n)
    }

    fn parse_commands(&mut self) -> Result<()> {
        loop {
            self.skip_separators();
            if self.peek_byte().is_none() {
                return Ok(());
            }
            self.parse_command()?;
        }
    }

    fn parse_command(&mut self) -> Result<()> {
        if self.peek_byte() == Some(b'#') {
            self.parse_comment();
            return Ok(());
        }
        let select = self.parse_select()?;
        self.skip_blanks();
        let mut negate = false;
        while self.peek_byte() == Some(b'!') {
            self.at += 1;
            if negate {
                return self.error_here("multiple `!'s");
            }
            negate = true;
            self.skip_blanks();
        }
        let Some(c) = self.take_byte() else { return self.error_here("missing command") };
        let number = self.script.commands.len();
        let action = self.parse_action(c, &select, number)?;
        if let Some(action) = action {
            self.script.commands.push(SedCommand { select, negate, action });
        }
        Ok(())
    }

    fn parse_comment(&mut self) {
        while self.peek_byte().is_some_and(|c| c != b'\n') {
            self.at += 1;
        }
    }

    fn one_address(&self, select: &Select) -> Result<()> {
        if matches!(select, Select::Range(..)) && self.dialect.posix {
            return self.error_here("command only uses one address");
        }
        Ok(())
    }

    fn parse_action(&mut self, c: u8, select: &Select, number: usize) -> Result<Option<SedAction>> {
        let action = match c {
            // These are GNU's only.
            b'F' | b'z' | b'Q' | b'T' | b'v' | b'W' | b'e' | b'R' if self.dialect.posix => {
                return self.unknown_command(c);
            }
            b'#' => return self.error_here("comments don't accept any addresses"),
            b':' => {
                if !matches!(select, Select::All) {
                    return self.error_here(": doesn't want any addresses");
                }
                let label = self.label_definition()?;
                self.labels.push((label, number));
                return Ok(None);
            }
            b'{' => {
                if self.blocks.len() >= MAX_DEPTH {
                    return self.error_here("too many nested blocks");
                }
                self.blocks.push(number);
                return Ok(Some(SedAction::Block(0)));
            }
            b'}' => {
                let Some(open) = self.blocks.pop() else {
                    return self.error_here("unexpected `}'");
                };
                if !matches!(select, Select::All) {
                    return self.error_here("} doesn't want any addresses");
                }
                if let Some(SedCommand { action: SedAction::Block(end), .. }) =
                    self.script.commands.get_mut(open)
                {
                    *end = number;
                }
                self.end_of_command()?;
                return Ok(None);
            }
            b'a' | b'i' | b'c' => {
                if c != b'c' {
                    self.one_address(select)?;
                }
                let text = self.text_argument()?;
                return Ok(Some(match c {
                    b'a' => SedAction::Append(text),
                    b'i' => SedAction::Insert(text),
                    _ => SedAction::Change(text),
                }));
            }
            b'b' | b't' | b'T' => {
                let label = self.label_use();
                if !label.is_empty() {
                    self.jumps.push((number, label));
                }
                // The target is past the end until the label is known.
                let end = usize::MAX;
                return Ok(Some(match c {
                    b'b' => SedAction::Branch(end),
                    b't' => SedAction::BranchIf(end),
                    _ => SedAction::BranchUnless(end),
                }));
            }
            b'r' | b'R' | b'w' | b'W' => {
                if c == b'r' {
                    self.one_address(select)?;
                }
                return self.file_command(c).map(Some);
            }
            b'e' => {
                self.no_sandbox()?;
                self.skip_blanks();
                let command = self.rest_of_line();
                return Ok(Some(SedAction::Execute((!command.is_empty()).then_some(command))));
            }
            b's' => return self.parse_substitute().map(Some),
            b'y' => self.parse_translate()?,
            b'v' => {
                self.parse_version()?;
                return Ok(None);
            }
            b'q' | b'Q' => {
                if matches!(select, Select::Range(..)) {
                    return self.error_here("command only uses one address");
                }
                self.skip_blanks();
                let status = (self.optional_number().unwrap_or(0) & 0xff) as u8;
                if c == b'q' { SedAction::Quit(status) } else { SedAction::QuitSilent(status) }
            }
            b'l' => {
                self.one_address(select)?;
                self.skip_blanks();
                SedAction::List(self.optional_number().map(|n| n.min(1 << 30) as usize))
            }
            b'L' => {
                self.skip_blanks();
                let _ = self.parse_number();
                return self.error_here("unknown command: `L'");
            }
            b'=' => {
                self.one_address(select)?;
                SedAction::LineNumber
            }
            b'd' => SedAction::Delete,
            b'D' => SedAction::DeleteFirst,
            b'F' => SedAction::FileName,
            b'g' => SedAction::Get,
            b'G' => SedAction::GetAppend,
            b'h' => SedAction::Hold,
            b'H' => SedAction::HoldAppend,
            b'n' => SedAction::Next,
            b'N' => SedAction::NextAppend,
            b'p' => SedAction::Print,
            b'P' => SedAction::PrintFirst,
            b'x' => SedAction::Exchange,
            b'z' => SedAction::Zap,
            other => return self.unknown_command(other),
        };
        self.end_of_command()?;
        Ok(Some(action))
    }

    fn unknown_command<T>(&self, c: u8) -> Result<T> {
        let shown = String::from_utf8_lossy(&[c]).into_owned();
        self.error_here(format!("unknown command: `{shown}'"))
    }

    /// Parses the number after `l` and `q`, which is GNU's.
    fn optional_number(&mut self) -> Option<u64> {
        if self.dialect.posix { None } else { self.parse_number() }
    }

    /// Checks what follows a command: `;`, a newline, `}` or a comment.
    fn end_of_command(&mut self) -> Result<()> {
        self.skip_blanks();
        match self.peek_byte() {
            None | Some(b'}' | b'#') => Ok(()),
            Some(b'\n' | b';') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                self.at += 1;
                self.error_here("extra characters after command")
            }
        }
    }

    fn no_sandbox(&self) -> Result<()> {
        if self.dialect.sandbox {
            return self.error_here("e/r/w commands disabled in sandbox mode");
        }
        Ok(())
    }

    fn output_id(&mut self, name: &[u8]) -> OutputId {
        if let Some(n) = self.script.outputs.iter().position(|o| o == name) {
            return n;
        }
        self.script.outputs.push(name.to_vec());
        self.script.outputs.len() - 1
    }

    /// Parses `v [version]`.
    fn parse_version(&mut self) -> Result<()> {
        self.skip_blanks();
        let word = self.parse_word();
        if word.first().is_some_and(|c| !c.is_ascii_digit()) {
            return self.error_here("expected newer version of sed");
        }
        let mut parts = word.split(|c| *c == b'.').map(|p| {
            p.iter()
                .filter(|c| c.is_ascii_digit())
                .take(6)
                .fold(0u32, |n, c| n * 10 + u32::from(c - b'0'))
        });
        let wanted = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if wanted > (4, 9) {
            return self.error_here("expected newer version of sed");
        }
        self.end_of_command()
    }

    fn parse_word(&mut self) -> Vec<u8> {
        let from = self.at;
        while self.peek_byte().is_some_and(|c| !c.is_ascii_whitespace() && c != b';') {
            self.at += 1;
        }
        self.text[from..self.at].to_vec()
    }

    fn finish_script(&mut self) -> Result<()> {
        if !self.blocks.is_empty() {
            return Err(ScriptError { offset: Some(0), message: "unmatched `{'".into() });
        }
        for (command, label) in std::mem::take(&mut self.jumps) {
            let Some((_, to)) = self.labels.iter().find(|(l, _)| *l == label) else {
                let shown = String::from_utf8_lossy(&label);
                let message = format!("can't find label for jump to `{shown}'");
                return Err(ScriptError { offset: None, message });
            };
            if let Some(SedCommand {
                action: SedAction::Branch(n) | SedAction::BranchIf(n) | SedAction::BranchUnless(n),
                ..
            }) = self.script.commands.get_mut(command)
            {
                *n = *to;
            }
        }
        Ok(())
    }
}
