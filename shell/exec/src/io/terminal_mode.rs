//! The mode of a terminal while `read` reads from it (bash manual 4.2: `-s`, `-n`, `-N`, `-d`).

use std::fs::File;
use std::rc::Rc;

use box_sys::terminal::{self, AttributesMoment, Termios, cc, iflag, lflag};

/// How a terminal is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadingMode {
    /// Typed characters are not shown.
    pub is_silent: bool,
    /// Characters come one by one, and not in lines.
    pub by_characters: bool,
}

/// A terminal in such a mode; dropping it puts the terminal back.
#[derive(Debug)]
pub struct ReadingGuard {
    file: Rc<File>,
    before: Termios,
}

impl ReadingGuard {
    /// Changes the mode of a terminal; `None` if it stays, or the file is none.
    pub fn begin(file: &Rc<File>, mode: ReadingMode) -> Option<ReadingGuard> {
        if mode == ReadingMode::default() {
            return None;
        }
        let before = terminal::attributes(file).ok()?;
        let mut t = before;
        if mode.is_silent {
            t.lflag &= !(lflag::ECHO | lflag::ECHOK | lflag::ECHONL);
        }
        if mode.by_characters {
            t.lflag = t.lflag & !lflag::ICANON | lflag::ISIG;
            t.iflag = t.iflag & !iflag::INLCR | iflag::ICRNL;
            (t.cc[cc::VMIN], t.cc[cc::VTIME]) = (1, 0);
        }
        terminal::set_attributes(file, &t, AttributesMoment::Drained).ok()?;
        Some(ReadingGuard { file: file.clone(), before })
    }
}

impl Drop for ReadingGuard {
    fn drop(&mut self) {
        // A failure means that the terminal is gone.
        let _ = terminal::set_attributes(&self.file, &self.before, AttributesMoment::Drained);
    }
}
