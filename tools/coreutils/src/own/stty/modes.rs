//! The modes of a terminal, which are settings of one or a few bits, and their values on a sane
//! terminal.

use box_sys::terminal::Termios;

/// The word of `struct termios` that has the bits of a mode. `stty -a` has a paragraph for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModeWord {
    Control,
    Input,
    Output,
    Local,
}

/// The words in the order of `stty -a`.
pub(super) const WORDS: [ModeWord; 4] =
    [ModeWord::Control, ModeWord::Input, ModeWord::Output, ModeWord::Local];

/// The effect of `sane` on a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SaneValue {
    On,
    Off,
    /// `sane` leaves the mode as it is.
    Any,
}

/// One mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub name: &'static str,
    pub word: ModeWord,
    /// The bits of `mask` that are set while the mode is on.
    pub bits: u32,
    pub mask: u32,
    pub sane: SaneValue,
    /// Whether `-NAME` switches the mode off. A mode that is not a switch is one of several values.
    pub is_switch: bool,
    /// Another name, which `-a` does not print.
    pub alias: Option<&'static str>,
}

const fn switch(name: &'static str, word: ModeWord, bits: u32, sane: SaneValue) -> Mode {
    Mode { name, word, bits, mask: bits, sane, is_switch: true, alias: None }
}

const fn choice(name: &'static str, word: ModeWord, bits: u32, mask: u32, sane: SaneValue) -> Mode {
    Mode { name, word, bits, mask, sane, is_switch: false, alias: None }
}

const fn also(alias: &'static str, mode: Mode) -> Mode {
    Mode { alias: Some(alias), ..mode }
}

use ModeWord::{Control, Input, Local, Output};
use SaneValue::{Any, Off, On};

/// All modes, in the order of `stty -a`; the numbers are those of Linux.
pub(super) const MODES: &[Mode] = &[
    switch("parenb", Control, 0o400, Any),
    switch("parodd", Control, 0o1000, Any),
    switch("cmspar", Control, 0o10_000_000_000, Any),
    choice("cs5", Control, 0, 0o60, Any),
    choice("cs6", Control, 0o20, 0o60, Any),
    choice("cs7", Control, 0o40, 0o60, Any),
    choice("cs8", Control, 0o60, 0o60, Any),
    also("hup", switch("hupcl", Control, 0o2000, Any)),
    switch("cstopb", Control, 0o100, Any),
    switch("cread", Control, 0o200, On),
    switch("clocal", Control, 0o4000, Any),
    switch("crtscts", Control, 0o20_000_000_000, Any),
    switch("ignbrk", Input, 0o1, Off),
    switch("brkint", Input, 0o2, On),
    switch("ignpar", Input, 0o4, Any),
    switch("parmrk", Input, 0o10, Any),
    switch("inpck", Input, 0o20, Any),
    switch("istrip", Input, 0o40, Any),
    switch("inlcr", Input, 0o100, Off),
    switch("igncr", Input, 0o200, Off),
    switch("icrnl", Input, 0o400, On),
    switch("ixon", Input, 0o2000, Any),
    also("tandem", switch("ixoff", Input, 0o10_000, Off)),
    switch("iuclc", Input, 0o1000, Off),
    switch("ixany", Input, 0o4000, Off),
    switch("imaxbel", Input, 0o20_000, On),
    switch("iutf8", Input, 0o40_000, Off),
    switch("opost", Output, 0o1, On),
    switch("olcuc", Output, 0o2, Off),
    switch("ocrnl", Output, 0o10, Off),
    switch("onlcr", Output, 0o4, On),
    switch("onocr", Output, 0o20, Off),
    switch("onlret", Output, 0o40, Off),
    switch("ofill", Output, 0o100, Off),
    switch("ofdel", Output, 0o200, Off),
    choice("nl1", Output, 0o400, 0o400, Any),
    choice("nl0", Output, 0, 0o400, On),
    choice("cr3", Output, 0o3000, 0o3000, Any),
    choice("cr2", Output, 0o2000, 0o3000, Any),
    choice("cr1", Output, 0o1000, 0o3000, Any),
    choice("cr0", Output, 0, 0o3000, On),
    choice("tab3", Output, 0o14_000, 0o14_000, Any),
    choice("tab2", Output, 0o10_000, 0o14_000, Any),
    choice("tab1", Output, 0o4000, 0o14_000, Any),
    choice("tab0", Output, 0, 0o14_000, On),
    choice("bs1", Output, 0o20_000, 0o20_000, Any),
    choice("bs0", Output, 0, 0o20_000, On),
    choice("vt1", Output, 0o40_000, 0o40_000, Any),
    choice("vt0", Output, 0, 0o40_000, On),
    choice("ff1", Output, 0o100_000, 0o100_000, Any),
    choice("ff0", Output, 0, 0o100_000, On),
    switch("isig", Local, 0o1, On),
    switch("icanon", Local, 0o2, On),
    switch("iexten", Local, 0o100_000, On),
    switch("echo", Local, 0o10, On),
    also("crterase", switch("echoe", Local, 0o20, On)),
    switch("echok", Local, 0o40, On),
    switch("echonl", Local, 0o100, Off),
    switch("noflsh", Local, 0o200, Off),
    switch("xcase", Local, 0o4, Off),
    switch("tostop", Local, 0o400, Off),
    also("prterase", switch("echoprt", Local, 0o2000, Off)),
    also("ctlecho", switch("echoctl", Local, 0o1000, On)),
    also("crtkill", switch("echoke", Local, 0o4000, On)),
    switch("flusho", Local, 0o10_000, Off),
    switch("extproc", Local, 0o200_000, Off),
];

/// A special character: its name, its place in `c_cc`, and its value on a sane terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpecialCharacter {
    pub name: &'static str,
    pub place: usize,
    pub sane: u8,
}

const fn special(name: &'static str, place: usize, sane: u8) -> SpecialCharacter {
    SpecialCharacter { name, place, sane }
}

/// The special characters, in the order of `stty -a`. The value 0 disables one.
pub(super) const SPECIALS: &[SpecialCharacter] = &[
    special("intr", 0, 0x03),
    special("quit", 1, 0x1c),
    special("erase", 2, 0x7f),
    special("kill", 3, 0x15),
    special("eof", 4, 0x04),
    special("eol", 11, 0),
    special("eol2", 16, 0),
    special("swtch", 7, 0),
    special("start", 8, 0x11),
    special("stop", 9, 0x13),
    special("susp", 10, 0x1a),
    special("rprnt", 12, 0x12),
    special("werase", 14, 0x17),
    special("lnext", 15, 0x16),
    special("discard", 13, 0x0f),
];

/// The places of `min` and `time` in `c_cc`.
pub(super) const MIN: usize = 6;
pub(super) const TIME: usize = 5;
/// The size of `c_cc`.
pub(super) const CHARACTERS: usize = 32;

/// The settings of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TerminalModes {
    words: [u32; 4],
    pub characters: [u8; CHARACTERS],
    pub input_speed: u32,
    pub output_speed: u32,
    pub line: u8,
    pub rows: u32,
    pub columns: u32,
}

impl TerminalModes {
    /// Returns the settings of a sane terminal with a given size.
    pub fn sane(rows: u32, columns: u32) -> TerminalModes {
        // Eight bits and `ixon` are set here, because `sane` leaves them as they are.
        let words = [0o60 | BAUD_38400, 0o2000, 0, 0];
        let characters = [0; CHARACTERS];
        let (line, speed) = (0, 38400);
        let mut modes = TerminalModes {
            words,
            characters,
            input_speed: speed,
            output_speed: speed,
            line,
            rows,
            columns,
        };
        modes.characters[MIN] = 1;
        modes.make_sane();
        modes
    }

    /// Returns the settings of a terminal.
    pub fn from_termios(t: &Termios, rows: u32, columns: u32) -> TerminalModes {
        let mut characters = [0; CHARACTERS];
        characters[..t.cc.len()].copy_from_slice(&t.cc);
        let code = t.cflag & CBAUD;
        let speed = SPEEDS.iter().find(|(c, _)| *c == code).map_or(0, |(_, speed)| *speed);
        TerminalModes {
            words: [t.cflag, t.iflag, t.oflag, t.lflag],
            characters,
            input_speed: speed,
            output_speed: speed,
            line: t.line,
            rows,
            columns,
        }
    }

    /// Returns the attributes that a terminal gets.
    pub fn to_termios(&self) -> Termios {
        let mut t = Termios {
            iflag: self.word(Input),
            oflag: self.word(Output),
            cflag: self.word(Control),
            lflag: self.word(Local),
            line: self.line,
            ..Termios::default()
        };
        let count = t.cc.len();
        t.cc.copy_from_slice(&self.characters[..count]);
        if let Some((code, _)) = SPEEDS.iter().find(|(_, speed)| *speed == self.output_speed) {
            t.cflag = t.cflag & !CBAUD | code;
        }
        t
    }

    /// Returns a word of `struct termios`.
    pub fn word(&self, word: ModeWord) -> u32 {
        self.words[word as usize]
    }

    /// Replaces a word of `struct termios`.
    pub fn put_word(&mut self, word: ModeWord, value: u32) {
        self.words[word as usize] = value;
    }

    /// Returns whether a mode is on.
    pub fn is_on(&self, mode: &Mode) -> bool {
        self.word(mode.word) & mode.mask == mode.bits
    }

    /// Switches a mode on or off.
    pub fn switch(&mut self, mode: &Mode, on: bool) {
        let rest = self.word(mode.word) & !mode.mask;
        self.put_word(mode.word, if on { rest | mode.bits } else { rest });
    }

    /// Applies the setting `sane`.
    pub fn make_sane(&mut self) {
        for mode in MODES {
            match mode.sane {
                On => self.switch(mode, true),
                Off => self.switch(mode, false),
                Any => {}
            }
        }
        for special in SPECIALS {
            self.characters[special.place] = special.sane;
        }
    }
}

/// The bits of the speed in Linux's `c_cflag`, and their meanings.
const CBAUD: u32 = 0o10017;
const SPEEDS: &[(u32, u32)] = &[
    (0, 0),
    (1, 50),
    (2, 75),
    (3, 110),
    (4, 134),
    (5, 150),
    (6, 200),
    (7, 300),
    (0o10, 600),
    (0o11, 1200),
    (0o12, 1800),
    (0o13, 2400),
    (0o14, 4800),
    (0o15, 9600),
    (0o16, 19200),
    (0o17, 38400),
    (0o10001, 57600),
    (0o10002, 115_200),
    (0o10003, 230_400),
    (0o10004, 460_800),
    (0o10005, 500_000),
    (0o10006, 576_000),
    (0o10007, 921_600),
    (0o10010, 1_000_000),
    (0o10011, 1_152_000),
    (0o10012, 1_500_000),
    (0o10013, 2_000_000),
    (0o10014, 2_500_000),
    (0o10015, 3_000_000),
    (0o10016, 3_500_000),
    (0o10017, 4_000_000),
];

/// The value `B38400` in Linux's `c_cflag`.
const BAUD_38400: u32 = 0o17;

/// Returns the mode with a name or alias.
pub(super) fn find_mode(name: &[u8]) -> Option<&'static Mode> {
    let is_named =
        |m: &&Mode| m.name.as_bytes() == name || m.alias.is_some_and(|a| a.as_bytes() == name);
    MODES.iter().find(is_named)
}
