//! The beginning of a push: the list of commands that `POST .../git-receive-pack` has before its
//! pack (gitprotocol-pack(5), "Pushing Data To a Server").
//!
//! ```text
//! *shallow-line  command NUL capabilities  *command  flush
//! [*push-option  flush]      with the capability push-options
//! [PACK...]
//! ```
//!
//! A list with two readings, or with one that only some servers have, is a [`PushFault`]: further
//! lists of capabilities, lines of other kinds, object ids in capitals, bytes between the list and
//! the pack.

use super::pattern::is_ref_name;
use super::report::PushAction;
use serde::{Deserialize, Serialize};

/// Maximum number of commands in one push.
pub const MAX_COMMANDS: usize = 1000;
/// Maximum bytes of a list: all lines, with their lengths and the push options.
pub const MAX_LIST: usize = 256 << 10;
/// Maximum length of a line, with the four digits of its length (gitprotocol-common(5)).
const MAX_LINE: usize = 65_520;
/// The digits of a line's length.
const DIGITS: usize = 4;
/// The bytes with which a pack begins.
const PACK: &[u8] = b"PACK";

/// Capabilities that do not change the form of a push. A further one could, so it is refused.
const CAPABILITIES: &[&str] = &[
    "agent",
    "atomic",
    "delete-refs",
    "object-format",
    "ofs-delta",
    "push-options",
    "quiet",
    "report-status",
    "report-status-v2",
    "session-id",
    "side-band-64k",
];

/// The reason why a request is no push that can be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum PushFault {
    #[error("a line's length is not one of git's protocol")]
    Length,
    #[error("its list of refs has more than {MAX_COMMANDS} commands or {MAX_LIST} bytes")]
    Long,
    #[error("a line is no command of the form OLD NEW REF")]
    Line,
    #[error("{0:?} is not the name of a ref")]
    Ref(String),
    #[error("the ref {0} is in it twice")]
    Twice(String),
    #[error("the capability {0:?} is unknown here")]
    Capability(String),
    #[error("signed pushes are not supported")]
    Signed,
    #[error("a push option has control characters")]
    Option,
    #[error("it ends within its list of refs")]
    End,
    #[error("no pack follows its list of refs")]
    Pack,
    #[error("its Content-Type is not that of the service")]
    Type,
    #[error("its body is compressed, which git does not do with a push")]
    Encoding,
    #[error("its Git-Protocol is unknown here")]
    Protocol,
    #[error("it has no body")]
    Empty,
}

/// One command of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushCommand {
    /// The ref's full name, which [`is_ref_name`] accepts.
    pub name: String,
    /// The object ids before and after, in 40 or 64 small hexadecimal digits; zeros for none.
    pub old: String,
    pub new: String,
}

impl PushCommand {
    /// Returns the command's effect, by its object ids.
    #[must_use]
    pub fn action(&self) -> PushAction {
        let none = |id: &str| id.bytes().all(|b| b == b'0');
        match (none(&self.old), none(&self.new)) {
            (_, true) => PushAction::Delete,
            (true, false) => PushAction::Create,
            (false, false) => PushAction::Update,
        }
    }
}

/// The commands of a push, and how it is to be answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushList {
    /// Without commands a push does nothing: git asks so whether it may push.
    pub commands: Vec<PushCommand>,
    pub options: Vec<String>,
    /// Whether the client reads a report about each ref.
    pub wants_report: bool,
    /// Whether the answer is in packets, of which some are messages for the user.
    pub has_side_band: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ListStage {
    #[default]
    Commands,
    Options,
    /// The list was whole; a pack or the end follows.
    Pack,
    /// The list was empty; only the end may follow.
    Nothing,
    Done,
}

/// A reader of a [`PushList`] from bytes that arrive in pieces of any size.
#[derive(Debug, Default)]
pub struct PushParser {
    stage: ListStage,
    /// The incomplete line, with its length.
    line: Vec<u8>,
    /// The length of that line, once it has arrived.
    length: Option<usize>,
    taken: usize,
    /// The number of digits of the first object id, which all have.
    id_length: Option<usize>,
    options_follow: bool,
    list: PushList,
}

impl PushParser {
    /// Takes bytes of a body and returns whether the list is whole and its pack begins. Bytes of
    /// the pack itself are ignored.
    ///
    /// # Errors
    /// If this is not the beginning of a push, or is too long.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<bool, PushFault> {
        while !bytes.is_empty() && self.stage != ListStage::Done {
            if self.stage == ListStage::Nothing {
                return Err(PushFault::Pack);
            }
            let missing = self.length.unwrap_or(DIGITS) - self.line.len();
            let (part, rest) = bytes.split_at(missing.min(bytes.len()));
            bytes = rest;
            self.taken += part.len();
            if self.taken > MAX_LIST {
                return Err(PushFault::Long);
            }
            self.line.extend_from_slice(part);
            if part.len() == missing {
                self.take_part()?;
            }
        }
        Ok(self.stage == ListStage::Done)
    }

    /// Returns the list, at the beginning of the pack or the end of the body.
    ///
    /// # Errors
    /// If the list is not whole.
    pub fn finish(self) -> Result<PushList, PushFault> {
        let whole = match self.stage {
            ListStage::Done | ListStage::Nothing => true,
            ListStage::Pack => self.line.is_empty(),
            ListStage::Commands | ListStage::Options => false,
        };
        if whole { Ok(self.list) } else { Err(PushFault::End) }
    }

    /// Takes the line or the length that is now whole.
    fn take_part(&mut self) -> Result<(), PushFault> {
        if self.stage == ListStage::Pack {
            self.stage = ListStage::Done;
            return if self.line == PACK { Ok(()) } else { Err(PushFault::Pack) };
        }
        if self.length.is_none() {
            return match parse_length(&self.line)? {
                0 => {
                    self.line.clear();
                    self.take_flush()
                }
                length => {
                    self.length = Some(length);
                    Ok(())
                }
            };
        }
        self.length = None;
        let line = std::mem::take(&mut self.line);
        let text = &line[DIGITS..];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        match self.stage {
            ListStage::Options => self.take_option(text),
            _ => self.take_line(text),
        }
    }

    fn take_flush(&mut self) -> Result<(), PushFault> {
        self.stage = match self.stage {
            ListStage::Commands if self.list.commands.is_empty() => {
                // Lines of a shallow repository mean nothing without commands.
                if self.id_length.is_some() {
                    return Err(PushFault::Line);
                }
                ListStage::Nothing
            }
            ListStage::Commands if self.options_follow => ListStage::Options,
            _ => ListStage::Pack,
        };
        if self.stage == ListStage::Pack {
            self.check_names()?;
        }
        Ok(())
    }

    fn take_line(&mut self, text: &[u8]) -> Result<(), PushFault> {
        if text.starts_with(b"push-cert") {
            return Err(PushFault::Signed);
        }
        let first = self.list.commands.is_empty();
        if first && let Some(id) = text.strip_prefix(b"shallow ") {
            return self.take_id(id).map(|_| ());
        }
        let command = match text.iter().position(|b| *b == 0) {
            None => text,
            Some(end) if first => {
                self.take_capabilities(&text[end + 1..])?;
                &text[..end]
            }
            Some(_) => return Err(PushFault::Line),
        };
        if self.list.commands.len() == MAX_COMMANDS {
            return Err(PushFault::Long);
        }
        let mut parts = command.splitn(3, |b| *b == b' ');
        let (Some(old), Some(new), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(PushFault::Line);
        };
        let (old, new) = (self.take_id(old)?, self.take_id(new)?);
        let name = std::str::from_utf8(name)
            .ok()
            .filter(|name| is_ref_name(name))
            .ok_or_else(|| PushFault::Ref(shown(name)))?;
        self.list.commands.push(PushCommand { name: name.to_string(), old, new });
        Ok(())
    }

    /// Returns an object id as text.
    fn take_id(&mut self, id: &[u8]) -> Result<String, PushFault> {
        let digits = id.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let length = *self.id_length.get_or_insert(id.len());
        if !digits || !matches!(length, 40 | 64) || id.len() != length {
            return Err(PushFault::Line);
        }
        Ok(String::from_utf8_lossy(id).into_owned())
    }

    fn take_capabilities(&mut self, text: &[u8]) -> Result<(), PushFault> {
        for word in text.split(|b| *b == b' ').filter(|word| !word.is_empty()) {
            let refused = || PushFault::Capability(shown(word));
            if !word.iter().all(u8::is_ascii_graphic) {
                return Err(refused());
            }
            let name = word.split(|b| *b == b'=').next().unwrap_or_default();
            match CAPABILITIES.iter().find(|known| known.as_bytes() == name) {
                None => return Err(refused()),
                Some(&"push-options") => self.options_follow = true,
                Some(&("report-status" | "report-status-v2")) => self.list.wants_report = true,
                Some(&"side-band-64k") => self.list.has_side_band = true,
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn take_option(&mut self, text: &[u8]) -> Result<(), PushFault> {
        let text = std::str::from_utf8(text).map_err(|_| PushFault::Option)?;
        if text.chars().any(char::is_control) {
            return Err(PushFault::Option);
        }
        self.list.options.push(text.to_string());
        Ok(())
    }

    fn check_names(&self) -> Result<(), PushFault> {
        let mut names: Vec<&str> = self.list.commands.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(PushFault::Twice(pair[0].to_string())),
            None => Ok(()),
        }
    }
}

/// Returns a line's length; 0 for a flush.
fn parse_length(digits: &[u8]) -> Result<usize, PushFault> {
    let mut length = 0;
    for digit in digits {
        let value = char::from(*digit).to_digit(16).ok_or(PushFault::Length)?;
        length = length * 16 + value as usize;
    }
    // 1 to 3 are marks of another protocol, and 4 is an empty line, which no list has.
    if length == 0 || (DIGITS + 1..=MAX_LINE).contains(&length) {
        Ok(length)
    } else {
        Err(PushFault::Length)
    }
}

/// Returns the beginning of hostile bytes for a message.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(80).collect()
}

#[cfg(test)]
mod tests;
