//! The line editor of an interactive shell: readline's keys in its emacs mode (bash manual 8).
//!
//! | file | contents |
//! |---|---|
//! | `keys` | bytes of a terminal to keys |
//! | `line` | the text, the cursor, kills, undo |
//! | `screen` | the picture of the line, and the bytes that change it |
//! | `complete` | the word at the cursor and its candidates |
//! | `search` | Ctrl-R |
//!
//! Bytes are read one at a time, so that what was typed ahead stays with the terminal for the
//! command that the line starts. The terminal makes signals of keys meanwhile, as for readline.
//!
//! # Deliberately absent
//! The vi mode, `inputrc` and `bind`, numeric arguments, keyboard macros, and functions of
//! `complete`: the crates that have them need an operating system, and a prompt does without.

mod complete;
mod keys;
mod line;
mod screen;
mod search;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use box_sys::terminal::{self, AttributesMoment, Termios, cc, iflag, lflag};
use box_sys::{events, signal};
use sh_exec::interactive::{LineEnd, LineReader, LineRequest};

use complete::{common_start, find_candidates, list_candidates};
use keys::{Key, KeyInput, decode_key};
use line::{EditedLine, LineBuffer, Span};
use screen::LinePicture;
use search::HistorySearch;
use sh_syntax::word::word_at_end;

/// The time in which the rest of a key's bytes follows an Escape.
const ESCAPE_TIME: Duration = Duration::from_millis(100);
/// The number of candidates from which on the editor asks whether to list them (readline's
/// `completion-query-items`).
const ASKS_FROM: usize = 100;
/// The columns of a terminal that does not know its size.
const USUAL_COLUMNS: usize = 80;

/// The state that remains from line to line.
#[derive(Debug, Default)]
pub struct LineEditor {
    buffer: LineBuffer,
    /// The key by which the last completion began, and whether it has found several.
    has_completed: bool,
}

/// The terminal in the editor's mode; dropping it puts the terminal back.
struct EditingMode<'t> {
    file: &'t File,
    before: Termios,
    caught: (u64, u64),
}

impl EditingMode<'_> {
    fn begin<'t>(file: &'t File, out: &File) -> std::io::Result<EditingMode<'t>> {
        let before = terminal::attributes(file)?;
        let mut t = before;
        t.lflag = t.lflag & !(lflag::ICANON | lflag::ECHO | lflag::IEXTEN) | lflag::ISIG;
        t.iflag &= !(iflag::ICRNL | iflag::INLCR);
        (t.cc[cc::VMIN], t.cc[cc::VTIME]) = (1, 0);
        terminal::set_attributes(file, &t, AttributesMoment::Drained)?;
        let caught = events::signal_dispositions();
        events::catch_signals(caught.0 | events::signal_bit(signal::WINCH), caught.1);
        let _ = (&*out).write_all(b"\x1b[?2004h");
        Ok(EditingMode { file, before, caught })
    }
}

impl Drop for EditingMode<'_> {
    fn drop(&mut self) {
        // A failure means that the terminal is gone.
        let _ = terminal::set_attributes(self.file, &self.before, AttributesMoment::Drained);
        events::catch_signals(self.caught.0, self.caught.1);
    }
}

/// The step after a key.
enum Step {
    Continue,
    Accept,
    End,
    Interrupted,
}

/// One line that is being read.
struct Editing<'e, 'r> {
    buffer: &'e mut LineBuffer,
    has_completed: &'e mut bool,
    request: &'e LineRequest<'r>,
    picture: LinePicture,
    /// The entry of the history that is shown; its length stands for the new line.
    entry: usize,
    /// Lines of the history, and the new one, as they were edited.
    edited: BTreeMap<usize, EditedLine>,
    search: Option<HistorySearch>,
    /// Text of the last word that Alt-. has inserted: its length and the entry that it is from.
    last_word: Option<(usize, usize)>,
    out: String,
}

impl LineReader for LineEditor {
    fn read_line(&mut self, request: &LineRequest<'_>) -> std::io::Result<LineEnd> {
        let mode = EditingMode::begin(request.input, request.out)?;
        self.buffer.clear();
        let mut editing = Editing {
            buffer: &mut self.buffer,
            has_completed: &mut self.has_completed,
            request,
            picture: LinePicture::default(),
            entry: request.history.len(),
            edited: BTreeMap::new(),
            search: None,
            last_word: None,
            out: String::new(),
        };
        let columns = columns_of(request.out);
        let prompt = String::from_utf8_lossy(request.prompt).into_owned();
        editing.out = editing.picture.begin(&prompt, columns);
        let end = editing.run();
        let last = editing.picture.finish();
        // Behind the brackets of pasted text, as readline leaves them.
        editing.show(&match end {
            Ok(LineEnd::Line(_)) => format!("{last}\x1b[?2004l\r"),
            Ok(LineEnd::Interrupted) => format!("^C{last}\x1b[?2004l\r"),
            Ok(LineEnd::End) => "\x1b[?2004l\r\n".into(),
            Ok(LineEnd::Signal) | Err(_) => "\x1b[?2004l\r".into(),
        });
        drop(mode);
        end
    }
}

fn columns_of(file: &File) -> usize {
    match terminal::window_size(file) {
        Ok(size) if size.columns > 0 => size.columns.into(),
        _ => USUAL_COLUMNS,
    }
}

impl Editing<'_, '_> {
    fn show(&mut self, text: &str) {
        let mut out = self.request.out;
        // A failure means that the terminal is gone; the next read says so.
        let _ = out.write_all(text.as_bytes());
    }

    /// Reads keys until the line ends.
    fn run(&mut self) -> std::io::Result<LineEnd> {
        let mut bytes = Vec::new();
        loop {
            // While more is typed, the picture can wait.
            if !events::poll_readable(self.request.input, Duration::ZERO).unwrap_or(false) {
                self.refresh();
            }
            let key = match self.read_key(&mut bytes)? {
                Some(key) => key,
                None => match self.take_signals() {
                    Some(end) => return Ok(end),
                    None => continue,
                },
            };
            let step = match self.search.take() {
                Some(search) => self.search_key(search, key),
                None => self.edit_key(key),
            };
            match step {
                Step::Continue => {}
                Step::Accept => {
                    let end = self.buffer.chars().len();
                    self.buffer.move_to(end);
                    self.refresh();
                    return Ok(LineEnd::Line(self.buffer.text().into_bytes()));
                }
                Step::End => return Ok(LineEnd::End),
                Step::Interrupted => return Ok(LineEnd::Interrupted),
            }
        }
    }

    /// Reads one key; `None` if a signal arrived.
    fn read_key(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<Option<Key>> {
        loop {
            match decode_key(bytes) {
                KeyInput::Key(key) => {
                    bytes.clear();
                    return Ok(Some(key));
                }
                KeyInput::Escape => {
                    if !events::poll_readable(self.request.input, ESCAPE_TIME).unwrap_or(false) {
                        bytes.clear();
                        return Ok(Some(Key::Unknown));
                    }
                }
                KeyInput::More => {}
            }
            let mut byte = [0];
            match self.request.input.take(1).read(&mut byte) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => bytes.push(byte[0]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    /// Acts on signals that arrived: a new size of the window, and Ctrl-C. Others are for the shell.
    fn take_signals(&mut self) -> Option<LineEnd> {
        if events::forget_pending(signal::WINCH) {
            let text = self.picture.redraw(columns_of(self.request.out), false);
            self.show(&text);
        }
        if events::forget_pending(signal::INT) {
            let end = self.buffer.chars().len();
            self.search = None;
            self.buffer.move_to(end);
            self.refresh();
            return Some(LineEnd::Interrupted);
        }
        events::has_pending().then_some(LineEnd::Signal)
    }

    /// Shows the line as it is now.
    fn refresh(&mut self) {
        let mut out = std::mem::take(&mut self.out);
        out.push_str(&self.picture.update(self.buffer.chars(), self.buffer.cursor()));
        self.show(&out);
    }

    /// Acts on a key outside of a search.
    fn edit_key(&mut self, key: Key) -> Step {
        let completed = std::mem::take(self.has_completed);
        let last_word = self.last_word.take();
        let b = &mut *self.buffer;
        match key {
            Key::Char(c) => b.insert_char(c),
            Key::Paste(text) => b.insert_text(&text),
            Key::Enter => return Step::Accept,
            Key::Control('D') if b.chars().is_empty() => return Step::End,
            // A terminal that makes no signal of it.
            Key::Control('C') => return Step::Interrupted,
            Key::Tab => self.complete(completed),
            Key::Left | Key::Control('B') => b.move_to(b.beside(false)),
            Key::Right | Key::Control('F') => b.move_to(b.beside(true)),
            Key::WordLeft | Key::Meta('b') => b.move_to(b.word_beside(false)),
            Key::WordRight | Key::Meta('f') => b.move_to(b.word_beside(true)),
            Key::Home | Key::Control('A') => b.move_to(0),
            Key::End | Key::Control('E') => b.move_to(b.chars().len()),
            Key::Backspace => drop(b.delete_char(false)),
            Key::Delete | Key::Control('D') => drop(b.delete_char(true)),
            Key::Control('K') => b.kill(Span::ToEnd),
            Key::Control('U') => b.kill(Span::ToStart),
            Key::Control('W') => b.kill(Span::BlankWordBefore),
            Key::Meta('\x7f') => b.kill(Span::WordBefore),
            Key::Meta('d') => b.kill(Span::WordAfter),
            Key::Control('Y') => b.yank(),
            Key::Meta('y') => b.yank_earlier(),
            Key::Control('T') => b.transpose(),
            Key::Meta('u') => b.change_case(upper, upper),
            Key::Meta('l') => b.change_case(lower, lower),
            Key::Meta('c') => b.change_case(upper, lower),
            Key::Control('_') => drop(b.undo()),
            Key::Meta('r') => while b.undo() {},
            Key::Meta('#') => {
                b.move_to(0);
                b.insert_char('#');
                return Step::Accept;
            }
            Key::Control('L') => {
                self.show("\x1b[H\x1b[2J");
                let text = self.picture.redraw(columns_of(self.request.out), true);
                self.show(&text);
            }
            Key::Up | Key::Control('P') => self.show_entry(self.entry.checked_sub(1)),
            Key::Down | Key::Control('N') => self.show_entry(Some(self.entry + 1)),
            Key::Meta('<') => self.show_entry(Some(0)),
            Key::Meta('>') => self.show_entry(Some(self.request.history.len())),
            Key::Meta('.' | '_') => self.insert_last_word(last_word),
            Key::Control('R') => self.begin_search(true),
            Key::Control('S') => self.begin_search(false),
            Key::Control('V' | 'Q') => self.insert_next(),
            Key::Control(_) | Key::Meta(_) | Key::BackTab | Key::Unknown => {}
        }
        Step::Continue
    }

    /// Inserts the next byte as it is.
    fn insert_next(&mut self) {
        self.refresh();
        let mut byte = [0];
        if let Ok(1) = self.request.input.take(1).read(&mut byte)
            && byte[0].is_ascii()
            && byte[0] != 0
        {
            self.buffer.insert_char(char::from(byte[0]));
        }
    }

    /// Shows another entry of the history.
    fn show_entry(&mut self, entry: Option<usize>) {
        let Some(entry) = entry.filter(|n| *n <= self.request.history.len()) else { return };
        self.edited.insert(self.entry, self.buffer.line());
        self.entry = entry;
        let line = match self.edited.get(&entry) {
            Some(line) => line.clone(),
            None => self.history_line(entry),
        };
        self.buffer.set_line(line);
        let end = self.buffer.chars().len();
        self.buffer.move_to(end);
    }

    fn history_line(&self, entry: usize) -> EditedLine {
        let bytes = self.request.history.get(entry).map_or(&b""[..], |line| line);
        // Control characters are left out, because the file may come from elsewhere.
        let text: String = String::from_utf8_lossy(bytes)
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect();
        EditedLine::new(&text)
    }

    /// Inserts the last word of the command before, and at each repetition that of the one before.
    fn insert_last_word(&mut self, last: Option<(usize, usize)>) {
        let (length, entry) = last.unwrap_or((0, self.request.history.len()));
        let Some(entry) = entry.checked_sub(1) else { return };
        let line = self.history_line(entry).text();
        let word = line.split_whitespace().next_back().unwrap_or("").to_owned();
        let at = self.buffer.cursor();
        self.buffer.replace_range(at - length..at, &word);
        self.last_word = Some((word.chars().count(), entry));
    }

    /// Completes the word before the cursor; a second time lists its candidates.
    fn complete(&mut self, again: bool) {
        let before = self.buffer.text_before();
        let word = word_at_end(&before);
        let start = before[..word.start].chars().count();
        let all = find_candidates(&word, self.request.names);
        let at = self.buffer.cursor();
        match all.as_slice() {
            [] => self.show("\x07"),
            [only] => self.buffer.replace_range(start..at, &format!("{}{}", only.text, only.end)),
            _ => {
                let common = common_start(&all);
                if common.chars().count() > before[word.start..].chars().count() {
                    self.buffer.replace_range(start..at, &common);
                } else if again {
                    self.list(&all);
                } else {
                    self.show("\x07");
                }
                *self.has_completed = true;
            }
        }
    }

    /// Shows candidates below the line, and the line again below them.
    fn list(&mut self, all: &[complete::Candidate]) {
        let end = self.buffer.chars().len();
        let text = self.picture.update(self.buffer.chars(), end);
        self.show(&format!("{text}\r\n"));
        let mut is_wanted = true;
        if all.len() >= ASKS_FROM {
            self.show(&format!("Display all {} possibilities? (y or n)", all.len()));
            let mut byte = [0];
            is_wanted = matches!(self.request.input.take(1).read(&mut byte), Ok(1))
                && matches!(byte[0], b'y' | b'Y' | b' ');
            self.show("\r\n");
        }
        let columns = columns_of(self.request.out);
        if is_wanted {
            self.show(&list_candidates(all, columns));
        }
        let text = self.picture.redraw(columns, true);
        self.show(&text);
    }
}

fn upper(c: char) -> String {
    c.to_uppercase().collect()
}

fn lower(c: char) -> String {
    c.to_lowercase().collect()
}
