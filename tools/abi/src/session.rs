//! The *state* that the shell of one call of a session leaves for that of the next: bytes that the
//! guest reads from and writes to the node [`STATE`].
//!
//! A state consists of records, each of which is one difference between the shell and a fresh one.
//! It outlives builds, because a session may continue under another image. Therefore records name
//! things by the words of the shell language (`errexit`, `INT`, the letters of `declare`), never by
//! numbers of one build, and a reader skips the records that it does not know.
//!
//! # Format
//! ```text
//! "WBSS"  version: u16  0: u16  length of the records: u32
//! records: tag u8, length u32, fields
//! ```
//! Byte strings among the fields have their length (`u32`) before them. New fields are added after
//! the existing ones, and readers skip the bytes after the fields that they know. If several
//! records are about one thing, the last one counts, so that the host may append records
//! ([`SessionWriter::continue_state`]). A change that breaks this is a new [`VERSION`].
//!
//! Both sides treat the other's bytes as hostile: reading accepts any input without a panic, and
//! its result takes at most a few times the size of the input.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// The path of the node. It exists only during a call of a session, and is empty in the first one.
pub const STATE: &str = "/.box/state";
/// The maximum size of a state, in bytes.
pub const STATE_MAX: usize = 4 << 20;
/// The version of the format.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"WBSS";
const HEADER: usize = 12;

/// The reason why bytes are not a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The bytes are not a state, or only part of one.
    Corrupt,
    /// The state was written by a later version.
    Newer(u16),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Corrupt => f.write_str("corrupt session state"),
            StateError::Newer(version) => {
                write!(f, "session state of a later version ({version})")
            }
        }
    }
}

impl core::error::Error for StateError {}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionValue<'a> {
    /// The variable is declared and has no value.
    Unset,
    Scalar(&'a [u8]),
    Indexed(Vec<(i64, &'a [u8])>),
    /// The elements of an associative array. If they are inserted in this order, a new array lists
    /// them as the old one did.
    Assoc(Vec<(&'a [u8], &'a [u8])>),
}

/// One difference between a shell and a fresh one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRecord<'a> {
    /// The working directory as the shell names it, as an absolute path.
    Cwd(&'a [u8]),
    Umask(u16),
    /// `$?` and PIPESTATUS.
    Status {
        last: u8,
        stages: &'a [u8],
    },
    /// `attributes` are the letters that `declare` takes.
    Variable {
        name: &'a [u8],
        attributes: &'a [u8],
        value: SessionValue<'a>,
    },
    /// The absence of a variable that a fresh shell has.
    NoVariable(&'a [u8]),
    Function(SessionFunction<'a>),
    NoFunction(&'a [u8]),
    Alias {
        name: &'a [u8],
        text: &'a [u8],
    },
    /// `set -o` and `+o`.
    Set {
        name: &'a [u8],
        on: bool,
    },
    Shopt {
        name: &'a [u8],
        on: bool,
    },
    /// `condition` as `trap` takes it.
    Trap {
        condition: &'a [u8],
        action: &'a [u8],
    },
    Positional(Vec<&'a [u8]>),
    /// The stack of `pushd` below the working directory, top first.
    Directories(Vec<&'a [u8]>),
    /// The position of `getopts`: the argument's index, and the offset in the argument.
    GetOpts {
        index: u32,
        offset: u32,
    },
    /// The time at which `$SECONDS` was 0, in seconds since the epoch.
    SecondsZero(i64),
    /// The state from which `$RANDOM` continues, if a script has set it.
    Random(u32),
    /// `enable -n`.
    Disabled(&'a [u8]),
    /// `ulimit`: soft and hard limit.
    Limit {
        letter: u8,
        soft: u64,
        hard: u64,
    },
}

/// A function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionFunction<'a> {
    pub name: &'a [u8],
    /// The definition in the shell language.
    pub text: &'a [u8],
    /// Letters of `declare -f`: `r`, `t`, `x`.
    pub attributes: &'a [u8],
    /// The file that defined it.
    pub source: &'a [u8],
    pub line: u32,
    /// The line numbers of the function's commands, each a `u32`, in the order of the commands in
    /// `text`.
    pub lines: &'a [u8],
    /// The value that programs get in their environment, if the variable is exported.
    pub environment: &'a [u8],
}

/// A writer of a state.
#[derive(Debug)]
pub struct SessionWriter(Vec<u8>);

impl Default for SessionWriter {
    fn default() -> SessionWriter {
        SessionWriter::new()
    }
}

impl SessionWriter {
    /// Returns a state without records.
    pub fn new() -> SessionWriter {
        let mut out = Vec::with_capacity(1024);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        SessionWriter(out)
    }

    /// Continues after the records of a state.
    ///
    /// # Errors
    /// If the bytes are not a state.
    pub fn continue_state(state: &[u8]) -> Result<SessionWriter, StateError> {
        SessionRecords::from_state(state)?;
        Ok(SessionWriter(state.to_vec()))
    }

    /// Adds a record.
    pub fn add_record(&mut self, record: &SessionRecord<'_>) {
        self.0.push(record.tag());
        let at = self.0.len();
        self.0.extend_from_slice(&[0; 4]);
        self.put_fields(record);
        let length = u32::try_from(self.0.len() - at - 4).unwrap_or(u32::MAX);
        if let Some(place) = self.0.get_mut(at..at + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Adds a record in the encoded form that [`SessionRecords::next_raw`] returned.
    pub fn add_raw(&mut self, record: &[u8]) {
        self.0.extend_from_slice(record);
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn put_fields(&mut self, record: &SessionRecord<'_>) {
        match record {
            SessionRecord::Cwd(one)
            | SessionRecord::NoVariable(one)
            | SessionRecord::NoFunction(one)
            | SessionRecord::Disabled(one) => self.put_bytes(one),
            SessionRecord::Umask(mask) => self.0.extend_from_slice(&mask.to_le_bytes()),
            SessionRecord::Status { last, stages } => {
                self.0.push(*last);
                self.put_bytes(stages);
            }
            SessionRecord::Variable { name, attributes, value } => {
                self.put_bytes(name);
                self.put_bytes(attributes);
                self.put_value(value);
            }
            SessionRecord::Function(f) => {
                for part in [f.name, f.text, f.attributes, f.source] {
                    self.put_bytes(part);
                }
                self.0.extend_from_slice(&f.line.to_le_bytes());
                self.put_bytes(f.lines);
                self.put_bytes(f.environment);
            }
            SessionRecord::Alias { name, text: other }
            | SessionRecord::Trap { condition: name, action: other } => {
                self.put_bytes(name);
                self.put_bytes(other);
            }
            SessionRecord::Set { name, on } | SessionRecord::Shopt { name, on } => {
                self.put_bytes(name);
                self.0.push(u8::from(*on));
            }
            SessionRecord::Positional(all) | SessionRecord::Directories(all) => {
                all.iter().for_each(|one| self.put_bytes(one));
            }
            SessionRecord::GetOpts { index, offset } => {
                self.0.extend_from_slice(&index.to_le_bytes());
                self.0.extend_from_slice(&offset.to_le_bytes());
            }
            SessionRecord::SecondsZero(time) => self.0.extend_from_slice(&time.to_le_bytes()),
            SessionRecord::Random(seed) => self.0.extend_from_slice(&seed.to_le_bytes()),
            SessionRecord::Limit { letter, soft, hard } => {
                self.0.push(*letter);
                self.0.extend_from_slice(&soft.to_le_bytes());
                self.0.extend_from_slice(&hard.to_le_bytes());
            }
        }
    }

    fn put_value(&mut self, value: &SessionValue<'_>) {
        match value {
            SessionValue::Unset => self.0.push(0),
            SessionValue::Scalar(text) => {
                self.0.push(1);
                self.put_bytes(text);
            }
            SessionValue::Indexed(all) => {
                self.0.push(2);
                for (index, text) in all {
                    self.0.extend_from_slice(&index.to_le_bytes());
                    self.put_bytes(text);
                }
            }
            SessionValue::Assoc(all) => {
                self.0.push(3);
                for (key, text) in all {
                    self.put_bytes(key);
                    self.put_bytes(text);
                }
            }
        }
    }

    /// Returns the state.
    pub fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len().saturating_sub(HEADER)).unwrap_or(u32::MAX);
        if let Some(place) = self.0.get_mut(8..HEADER) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        self.0
    }
}

impl SessionRecord<'_> {
    fn tag(&self) -> u8 {
        match self {
            SessionRecord::Cwd(_) => 1,
            SessionRecord::Umask(_) => 2,
            SessionRecord::Status { .. } => 3,
            SessionRecord::Variable { .. } => 4,
            SessionRecord::NoVariable(_) => 5,
            SessionRecord::Function(_) => 6,
            SessionRecord::NoFunction(_) => 7,
            SessionRecord::Alias { .. } => 8,
            SessionRecord::Set { .. } => 9,
            SessionRecord::Shopt { .. } => 10,
            SessionRecord::Trap { .. } => 11,
            SessionRecord::Positional(_) => 12,
            SessionRecord::Directories(_) => 13,
            SessionRecord::GetOpts { .. } => 14,
            SessionRecord::SecondsZero(_) => 15,
            SessionRecord::Random(_) => 16,
            SessionRecord::Disabled(_) => 17,
            SessionRecord::Limit { .. } => 18,
        }
    }
}

/// A reader of the fields at the front of a record.
struct RecordFields<'a>(&'a [u8]);

impl<'a> RecordFields<'a> {
    fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn take_byte(&mut self) -> Option<u8> {
        self.take_array::<1>().map(|[b]| b)
    }

    fn take_u32(&mut self) -> Option<u32> {
        self.take_array().map(u32::from_le_bytes)
    }

    fn take_bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.take_u32()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// Reads all items up to the end.
    fn take_all<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut out = Vec::new();
        while !self.0.is_empty() {
            out.push(one(self)?);
        }
        Some(out)
    }

    fn take_value(&mut self) -> Option<SessionValue<'a>> {
        Some(match self.take_byte()? {
            0 => SessionValue::Unset,
            1 => SessionValue::Scalar(self.take_bytes()?),
            2 => SessionValue::Indexed(
                self.take_all(|f| Some((i64::from_le_bytes(f.take_array()?), f.take_bytes()?)))?,
            ),
            3 => SessionValue::Assoc(self.take_all(|f| Some((f.take_bytes()?, f.take_bytes()?)))?),
            _ => return None,
        })
    }
}

/// Returns whether these bytes are a complete state, of this version or a later one.
pub fn is_whole(state: &[u8]) -> bool {
    !matches!(SessionRecords::from_state(state), Err(StateError::Corrupt))
}

/// The records of a state, in order.
#[derive(Clone, Debug)]
pub struct SessionRecords<'a>(&'a [u8]);

impl<'a> SessionRecords<'a> {
    /// Returns a reader of a state's records.
    ///
    /// # Errors
    /// If the bytes are not a complete state, or are a state of a later version.
    pub fn from_state(state: &'a [u8]) -> Result<SessionRecords<'a>, StateError> {
        let mut header = RecordFields(state);
        let mut next = || {
            let magic: [u8; 4] = header.take_array()?;
            let [v0, v1, _, _] = header.take_array()?;
            Some((magic, u16::from_le_bytes([v0, v1]), header.take_u32()?))
        };
        let (magic, version, length) = next().ok_or(StateError::Corrupt)?;
        if magic != MAGIC || version == 0 {
            return Err(StateError::Corrupt);
        }
        if usize::try_from(length) != Ok(header.0.len()) {
            return Err(StateError::Corrupt);
        }
        if version > VERSION {
            return Err(StateError::Newer(version));
        }
        Ok(SessionRecords(header.0))
    }

    /// Decodes a single record, as [`SessionRecords::next_raw`] returned it.
    pub fn decode_one(raw: &'a [u8]) -> Option<SessionRecord<'a>> {
        SessionRecords(raw).next()
    }

    /// Returns the number of bytes left.
    pub fn rest_len(&self) -> usize {
        self.0.len()
    }

    /// Returns the next record in its encoded form, for [`SessionWriter::add_raw`], and in its
    /// decoded form, which is `None` for a record that is unknown or invalid.
    pub fn next_raw(&mut self) -> Option<(&'a [u8], Option<SessionRecord<'a>>)> {
        let all = self.0;
        let mut fields = RecordFields(all);
        let (Some(tag), Some(body)) = (fields.take_byte(), fields.take_bytes()) else {
            // The length leads beyond the end, so the records after it cannot be found.
            self.0 = &[];
            return (!all.is_empty()).then_some((&[], None));
        };
        self.0 = fields.0;
        let raw = all.get(..all.len() - self.0.len()).unwrap_or_default();
        Some((raw, decode_record(tag, RecordFields(body))))
    }
}

impl<'a> Iterator for SessionRecords<'a> {
    type Item = SessionRecord<'a>;

    fn next(&mut self) -> Option<SessionRecord<'a>> {
        loop {
            if let (_, Some(record)) = self.next_raw()? {
                return Some(record);
            }
        }
    }
}

fn decode_record<'a>(tag: u8, mut f: RecordFields<'a>) -> Option<SessionRecord<'a>> {
    Some(match tag {
        1 => SessionRecord::Cwd(f.take_bytes()?),
        2 => SessionRecord::Umask(u16::from_le_bytes(f.take_array()?) & 0o777),
        3 => SessionRecord::Status { last: f.take_byte()?, stages: f.take_bytes()? },
        4 => SessionRecord::Variable {
            name: f.take_bytes()?,
            attributes: f.take_bytes()?,
            value: f.take_value()?,
        },
        5 => SessionRecord::NoVariable(f.take_bytes()?),
        6 => SessionRecord::Function(SessionFunction {
            name: f.take_bytes()?,
            text: f.take_bytes()?,
            attributes: f.take_bytes()?,
            source: f.take_bytes()?,
            line: f.take_u32()?,
            lines: f.take_bytes()?,
            environment: f.take_bytes()?,
        }),
        7 => SessionRecord::NoFunction(f.take_bytes()?),
        8 => SessionRecord::Alias { name: f.take_bytes()?, text: f.take_bytes()? },
        9 => SessionRecord::Set { name: f.take_bytes()?, on: f.take_byte()? != 0 },
        10 => SessionRecord::Shopt { name: f.take_bytes()?, on: f.take_byte()? != 0 },
        11 => SessionRecord::Trap { condition: f.take_bytes()?, action: f.take_bytes()? },
        12 => SessionRecord::Positional(f.take_all(RecordFields::take_bytes)?),
        13 => SessionRecord::Directories(f.take_all(RecordFields::take_bytes)?),
        14 => SessionRecord::GetOpts { index: f.take_u32()?, offset: f.take_u32()? },
        15 => SessionRecord::SecondsZero(i64::from_le_bytes(f.take_array()?)),
        16 => SessionRecord::Random(f.take_u32()?),
        17 => SessionRecord::Disabled(f.take_bytes()?),
        18 => SessionRecord::Limit {
            letter: f.take_byte()?,
            soft: u64::from_le_bytes(f.take_array()?),
            hard: u64::from_le_bytes(f.take_array()?),
        },
        _ => return None,
    })
}

/// The part of a state that a program uses if it runs without a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub cwd: Option<Vec<u8>>,
    pub umask: Option<u16>,
    /// `$?` of the last call.
    pub status: u8,
    /// Variables of the environment; `None` for a variable that is removed from it.
    pub environment: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Surroundings {
    /// Reads the environment and the working state that a program needs from a state.
    ///
    /// # Errors
    /// The same as [`SessionRecords::from_state`].
    pub fn from_state(state: &[u8]) -> Result<Surroundings, StateError> {
        let mut s = Surroundings::default();
        for record in SessionRecords::from_state(state)? {
            match record {
                SessionRecord::Cwd(path) if path.first() == Some(&b'/') && !path.contains(&0) => {
                    s.cwd = Some(path.to_vec());
                }
                SessionRecord::Umask(mask) => s.umask = Some(mask),
                SessionRecord::Status { last, .. } => s.status = last,
                SessionRecord::Variable { name, attributes, value } => {
                    let array = attributes.iter().any(|a| matches!(a, b'a' | b'A'));
                    let value = match value {
                        SessionValue::Scalar(text) if !array && attributes.contains(&b'x') => {
                            Some(text)
                        }
                        _ => None,
                    };
                    s.put_variable(name, value);
                }
                SessionRecord::NoVariable(name) => s.put_variable(name, None),
                SessionRecord::Function(f) => {
                    let exported = f.attributes.contains(&b'x') && !f.environment.is_empty();
                    s.put_variable(&function_variable(f.name), exported.then_some(f.environment));
                }
                SessionRecord::NoFunction(name) => s.put_variable(&function_variable(name), None),
                _ => {}
            }
        }
        Ok(s)
    }

    /// Sets or removes a variable. The environment is text with `=` after each name and NUL after
    /// each value.
    fn put_variable(&mut self, name: &[u8], value: Option<&[u8]>) {
        let text = value.is_none_or(|v| !v.contains(&0));
        if text && !name.is_empty() && !name.iter().any(|b| matches!(b, 0 | b'=')) {
            self.environment.insert(name.to_vec(), value.map(<[u8]>::to_vec));
        }
    }

    /// Applies the session's changes to an environment of `NAME=value` strings.
    pub fn apply_to(&self, environment: &mut Vec<Vec<u8>>) {
        environment.retain(|entry| {
            let name = entry.split(|b| *b == b'=').next().unwrap_or_default();
            !self.environment.contains_key(name)
        });
        let set = self.environment.iter().filter_map(|(n, v)| v.as_ref().map(|v| (n, v)));
        environment.extend(set.map(|(name, value)| [name.as_slice(), b"=", value].concat()));
    }
}

fn function_variable(name: &[u8]) -> Vec<u8> {
    [b"BASH_FUNC_", name, b"%%"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn all() -> Vec<SessionRecord<'static>> {
        let f = SessionFunction {
            name: b"f",
            text: b"f () \n{ \n    :\n}",
            attributes: b"x",
            source: b"main",
            line: 3,
            lines: &[1, 0, 0, 0],
            environment: b"() {  :\n}",
        };
        vec![
            SessionRecord::Cwd(b"/tmp"),
            SessionRecord::Umask(0o27),
            SessionRecord::Status { last: 7, stages: &[1, 7] },
            SessionRecord::Variable {
                name: b"x",
                attributes: b"ix",
                value: SessionValue::Scalar(b"5"),
            },
            SessionRecord::Variable { name: b"u", attributes: b"x", value: SessionValue::Unset },
            SessionRecord::Variable {
                name: b"a",
                attributes: b"ax",
                value: SessionValue::Indexed(vec![(0, b"p"), (i64::MAX, b"")]),
            },
            SessionRecord::Variable {
                name: b"h",
                attributes: b"A",
                value: SessionValue::Assoc(vec![(b"k", b"v"), (b"", b"w")]),
            },
            SessionRecord::NoVariable(b"HOME"),
            SessionRecord::Function(f),
            SessionRecord::NoFunction(b"g"),
            SessionRecord::Alias { name: b"ll", text: b"ls -l" },
            SessionRecord::Set { name: b"errexit", on: true },
            SessionRecord::Shopt { name: b"sourcepath", on: false },
            SessionRecord::Trap { condition: b"INT", action: b"" },
            SessionRecord::Positional(vec![b"a b", b""]),
            SessionRecord::Directories(vec![b"/"]),
            SessionRecord::GetOpts { index: 2, offset: 1 },
            SessionRecord::SecondsZero(-5),
            SessionRecord::Random(42),
            SessionRecord::Disabled(b"test"),
            SessionRecord::Limit { letter: b'n', soft: 1, hard: u64::MAX },
        ]
    }

    fn state(records: &[SessionRecord<'_>]) -> Vec<u8> {
        let mut w = SessionWriter::new();
        records.iter().for_each(|r| w.add_record(r));
        w.finish()
    }

    #[test]
    fn records_round_trip() {
        let state = state(&all());
        assert_eq!(SessionRecords::from_state(&state).unwrap().collect::<Vec<_>>(), all());
    }

    /// The encoding of a state of this version, which must never change.
    #[test]
    fn the_encoding_is_stable() {
        let state =
            state(&[SessionRecord::Umask(0o22), SessionRecord::Set { name: b"xtrace", on: true }]);
        let want: &[u8] = b"WBSS\x01\x00\x00\x00\x17\x00\x00\x00\
            \x02\x02\x00\x00\x00\x12\x00\
            \x09\x0b\x00\x00\x00\x06\x00\x00\x00xtrace\x01";
        assert_eq!(state, want);
    }

    #[test]
    fn unknown_records_are_skipped() {
        let mut w = SessionWriter::new();
        w.add_raw(b"\xf0\x03\x00\x00\x00new");
        // A field that a later version has added.
        w.add_raw(b"\x02\x03\x00\x00\x00\x12\x00!");
        // A variable without its fields.
        w.add_raw(b"\x04\x00\x00\x00\x00");
        w.add_record(&SessionRecord::Random(1));
        let state = w.finish();
        let known: Vec<_> = SessionRecords::from_state(&state).unwrap().collect();
        assert_eq!(known, [SessionRecord::Umask(0o22), SessionRecord::Random(1)]);
        let mut records = SessionRecords::from_state(&state).unwrap();
        let mut copy = SessionWriter::new();
        while let Some((raw, _)) = records.next_raw() {
            copy.add_raw(raw);
        }
        assert_eq!(copy.finish(), state);
    }

    #[test]
    fn hostile_bytes_are_refused_or_read_to_an_end() {
        let good = state(&all());
        for cut in 0..good.len() {
            assert_eq!(
                SessionRecords::from_state(&good[..cut]).map(|_| ()),
                Err(StateError::Corrupt),
                "{cut}"
            );
        }
        let mut newer = good.clone();
        newer[4] = 2;
        assert_eq!(SessionRecords::from_state(&newer).map(|_| ()), Err(StateError::Newer(2)));
        assert!(is_whole(&good) && is_whole(&newer) && !is_whole(&newer[..good.len() - 1]));
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                if let Ok(records) = SessionRecords::from_state(&bad) {
                    assert!(records.count() <= good.len());
                    Surroundings::from_state(&bad).unwrap();
                }
            }
        }
    }

    #[test]
    fn programs_have_the_same_surroundings() {
        let mut w = SessionWriter::continue_state(&state(&all())).unwrap();
        w.add_record(&SessionRecord::Status { last: 1, stages: &[1] });
        w.add_record(&SessionRecord::Variable {
            name: b"q",
            attributes: b"x",
            value: SessionValue::Scalar(b"a=b"),
        });
        w.add_record(&SessionRecord::Variable {
            name: b"n",
            attributes: b"x",
            value: SessionValue::Scalar(b"\0"),
        });
        let s = Surroundings::from_state(&w.finish()).unwrap();
        assert_eq!(
            (s.cwd.as_deref(), s.umask, s.status),
            (Some(b"/tmp".as_slice()), Some(0o27), 1)
        );
        let mut env =
            vec![b"HOME=/home".to_vec(), b"K=1".to_vec(), b"x=0".to_vec(), b"a=0".to_vec()];
        s.apply_to(&mut env);
        let want: [&[u8]; 4] = [b"K=1", b"BASH_FUNC_f%%=() {  :\n}", b"q=a=b", b"x=5"];
        assert_eq!(env, want);
    }
}
