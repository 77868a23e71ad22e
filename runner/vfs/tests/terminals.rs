//! Terminals against Linux: the scripts of `terminals/recordings.txt` are played on the session's
//! terminals, and every answer must be the one that Linux gave (`terminals/record.py`).
//!
//! An action is a word and its arguments, then ` => ` and the answer: bytes in quotes, a number, a
//! name of an error, or `-`; then the signals that the foreground group has received, as `!INT`.
//!
//! | action | meaning |
//! |---|---|
//! | `type BYTES`, `typemany N BYTES` | writes to the master |
//! | `screen` | reads all from the master |
//! | `read N`, `readlen N` | reads from the slave, without waiting |
//! | `waitread N` | the same with waiting; answers with the bytes and the tenths of a second |
//! | `write BYTES` | writes to the slave |
//! | `set WORDS`, `setflush WORDS` | sets attributes as stty(1) names them; with TCSAFLUSH |
//! | `get` | the four numbers of the attributes |
//! | `flush in/out/both`, `flow off/on/stop/start` | `tcflush`, `tcflow` |
//! | `count` | FIONREAD of the slave |
//! | `poll`, `pollmaster` | what `poll(2)` says: readable, writable, hung up |
//! | `size ROWS COLUMNS` | sets the size at the master, gets it at the slave |
//! | `close slave/master`, `open` | closes an end, opens the slave again |

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_vfs::terminal::{
    GroupSignal, MAX_TERMINALS, MasterEnd, ReadProgress, ReadStep, SlaveEnd, Terminal,
    TerminalSignals, Terminals,
};
use wasibox_vfs::{Budget, Errno};

use box_abi::signal;
use box_abi::terminal::{WindowSize, cc, cflag, iflag, lflag, oflag};

const RECORDINGS: &str = include_str!("terminals/recordings.txt");

#[derive(Default)]
struct Received(Mutex<Vec<GroupSignal>>);

impl TerminalSignals for Received {
    fn deliver(&self, signal: GroupSignal) {
        self.0.lock().unwrap().push(signal);
    }
}

impl Received {
    fn take_names(&self) -> String {
        const ORDER: &[(&str, u8)] = &[
            ("HUP", signal::HUP),
            ("INT", signal::INT),
            ("QUIT", signal::QUIT),
            ("TSTP", signal::TSTP),
            ("CONT", signal::CONT),
            ("WINCH", signal::WINCH),
        ];
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        let is = |number: u8| {
            all.iter().any(|s| match s {
                GroupSignal::Group { group: 1, signal }
                | GroupSignal::Leader { session: 1, signal } => *signal == number,
                other => panic!("{other:?}"),
            })
        };
        ORDER.iter().filter(|(_, n)| is(*n)).map(|(name, _)| format!(" !{name}")).collect()
    }
}

fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &b in bytes {
        match b {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            32..127 => out.push(char::from(b)),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out + "\""
}

fn unquote(text: &str) -> Vec<u8> {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap();
    let mut out = Vec::new();
    let mut rest = inner.bytes();
    while let Some(b) = rest.next() {
        out.push(match (b, b == b'\\') {
            (b, false) => b,
            _ => match rest.next().unwrap() {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'x' => {
                    let hex = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
                }
                other => other,
            },
        });
    }
    out
}

/// Which of the four words a flag is in, and its bit.
fn flags() -> HashMap<&'static str, (usize, u32)> {
    HashMap::from([
        ("istrip", (0, iflag::ISTRIP)),
        ("inlcr", (0, iflag::INLCR)),
        ("igncr", (0, iflag::IGNCR)),
        ("icrnl", (0, iflag::ICRNL)),
        ("iuclc", (0, iflag::IUCLC)),
        ("ixon", (0, iflag::IXON)),
        ("ixany", (0, iflag::IXANY)),
        ("iutf8", (0, iflag::IUTF8)),
        ("parmrk", (0, iflag::PARMRK)),
        ("opost", (1, oflag::OPOST)),
        ("olcuc", (1, oflag::OLCUC)),
        ("onlcr", (1, oflag::ONLCR)),
        ("ocrnl", (1, oflag::OCRNL)),
        ("onocr", (1, oflag::ONOCR)),
        ("onlret", (1, oflag::ONLRET)),
        ("tab3", (1, oflag::TABDLY)),
        ("cs7", (2, 0o40)),
        ("parenb", (2, cflag::PARENB)),
        ("cstopb", (2, cflag::CSTOPB)),
        ("isig", (3, lflag::ISIG)),
        ("icanon", (3, lflag::ICANON)),
        ("echo", (3, lflag::ECHO)),
        ("echoe", (3, lflag::ECHOE)),
        ("echok", (3, lflag::ECHOK)),
        ("echonl", (3, lflag::ECHONL)),
        ("noflsh", (3, lflag::NOFLSH)),
        ("echoctl", (3, lflag::ECHOCTL)),
        ("echoprt", (3, lflag::ECHOPRT)),
        ("echoke", (3, lflag::ECHOKE)),
        ("iexten", (3, lflag::IEXTEN)),
        ("extproc", (3, lflag::EXTPROC)),
    ])
}

const CHARACTERS: &[(&str, usize)] = &[
    ("intr", cc::VINTR),
    ("erase", cc::VERASE),
    ("kill", cc::VKILL),
    ("time", cc::VTIME),
    ("min", cc::VMIN),
    ("start", cc::VSTART),
    ("stop", cc::VSTOP),
    ("eol", cc::VEOL),
    ("eol2", cc::VEOL2),
];

struct Player {
    signals: Arc<Received>,
    terminal: Arc<Terminal>,
    master: Option<MasterEnd>,
    slave: Option<SlaveEnd>,
}

impl Player {
    fn new() -> Player {
        let terminals = Terminals::new(Budget::new(1 << 20));
        let signals = Arc::new(Received::default());
        let receiver: Arc<dyn TerminalSignals> = signals.clone();
        terminals.add_receiver(Arc::downgrade(&receiver));
        let master = terminals.open_master().unwrap();
        let terminal = master.terminal().clone();
        let slave = terminal.slave().unwrap();
        terminal.control_session(1, 1).unwrap();
        Player { signals, terminal, master: Some(master), slave: Some(slave) }
    }

    fn master(&self) -> &MasterEnd {
        self.master.as_ref().unwrap()
    }

    fn slave(&self) -> &SlaveEnd {
        self.slave.as_ref().unwrap()
    }

    fn set(&self, words: &str, flushes: bool) -> Result<String, Errno> {
        if self.slave.as_ref().is_some_and(SlaveEnd::is_dead) {
            return Err(Errno::IO);
        }
        let mut t = self.terminal.termios();
        let flags = flags();
        for word in words.split_whitespace() {
            if let Some((name, value)) = word.split_once('=') {
                let at = CHARACTERS.iter().find(|(n, _)| *n == name).unwrap().1;
                t.cc[at] = value.parse().unwrap();
            } else if word == "raw" {
                t.make_raw();
            } else {
                let (at, bit) = flags[word.trim_start_matches('-')];
                let place = [&mut t.iflag, &mut t.oflag, &mut t.cflag, &mut t.lflag];
                let place = place.into_iter().nth(at).unwrap();
                *place = if word.starts_with('-') { *place & !bit } else { *place | bit };
            }
        }
        self.terminal.set_termios(t, flushes);
        Ok(String::new())
    }

    fn type_all(&self, mut data: &[u8]) {
        while !data.is_empty() {
            data = &data[self.master().try_write(data).unwrap()..];
        }
    }

    fn read(&self, count: &str) -> Result<Vec<u8>, Errno> {
        let mut buf = vec![0; count.parse().unwrap()];
        let n = self.slave().try_read(&mut buf)?;
        buf.truncate(n);
        Ok(buf)
    }

    /// Reads with waiting while nothing is typed.
    fn read_waiting(&self, count: &str) -> String {
        let mut buf = vec![0; count.parse().unwrap()];
        let (mut progress, mut waited) = (ReadProgress::default(), Duration::ZERO);
        loop {
            let before = progress.count;
            match self.slave().read(&mut buf, &mut progress) {
                ReadStep::Done => break,
                ReadStep::Wait(time) => {
                    waited += time.expect("a time");
                    if progress.count == before || time.is_some() {
                        break;
                    }
                }
            }
        }
        format!("{} {}", quote(&buf[..progress.count]), waited.as_millis() / 100)
    }

    fn screen(&self) -> Result<String, Errno> {
        let mut got = Vec::new();
        let mut buf = [0; 1000];
        loop {
            match self.master().try_read(&mut buf) {
                Ok(n) => got.extend_from_slice(&buf[..n]),
                Err(Errno::IO) if got.is_empty() => return Err(Errno::IO),
                Err(_) => return Ok(quote(&got)),
            }
        }
    }

    fn answer(&mut self, action: &str) -> Result<String, Errno> {
        let (word, rest) = action.split_once(' ').unwrap_or((action, ""));
        let number = |n: usize| Ok(n.to_string());
        let poll = |read: Option<wasibox_vfs::Readiness>, write: Option<wasibox_vfs::Readiness>| {
            let hung = read.or(write).is_some_and(|r| r.hangup);
            let mark = |on: bool, c: char| if on { c } else { '-' };
            [mark(read.is_some(), 'r'), mark(write.is_some(), 'w'), mark(hung, 'h')]
                .iter()
                .collect::<String>()
        };
        match word {
            "type" => number(self.master().try_write(&unquote(rest))?),
            "typemany" => {
                let (count, bytes) = rest.split_once(' ').unwrap();
                self.type_all(&unquote(bytes).repeat(count.parse().unwrap()));
                Ok(String::new())
            }
            "screen" => self.screen(),
            "read" => self.read(rest).map(|b| quote(&b)),
            "readlen" => number(self.read(rest)?.len()),
            "waitread" => Ok(self.read_waiting(rest)),
            "write" => number(self.slave().try_write(&unquote(rest))?),
            "set" => self.set(rest, false),
            "setflush" => self.set(rest, true),
            "get" if self.slave().is_dead() => Err(Errno::IO),
            "get" => {
                let t = self.terminal.termios();
                Ok(format!("{} {} {} {}", t.iflag, t.oflag, t.cflag, t.lflag))
            }
            "flush" => {
                self.terminal.flush(rest != "out", rest != "in");
                Ok(String::new())
            }
            "flow" => {
                match rest {
                    "off" | "on" => self.terminal.hold_output(rest == "off"),
                    _ => self.terminal.send_flow_character(rest == "stop"),
                }
                Ok(String::new())
            }
            "count" => number(self.slave().pending_count()),
            "poll" => Ok(poll(self.slave().ready(false), self.slave().ready(true))),
            // A hang-up alone is not readable to poll(2) here.
            "pollmaster" => {
                let read = self.master().ready(false);
                let state = poll(read, self.master().ready(true));
                let silent = read.is_some_and(|r| r.bytes == 0);
                Ok(if silent { state.replace('r', "-") } else { state })
            }
            "size" => {
                let (rows, columns) = rest.split_once(' ').unwrap();
                let (rows, columns) = (rows.parse().unwrap(), columns.parse().unwrap());
                self.terminal.set_size(WindowSize { rows, columns, ..WindowSize::default() });
                let size = self.terminal.size();
                Ok(format!("{} {}", size.rows, size.columns))
            }
            "close" if rest == "slave" => {
                self.slave = None;
                Ok(String::new())
            }
            "close" => {
                self.master = None;
                Ok(String::new())
            }
            "open" => {
                self.slave = Some(self.terminal.slave()?);
                Ok(String::new())
            }
            other => panic!("{other}"),
        }
    }

    fn play(&mut self, action: &str) -> String {
        let answer = match self.answer(action) {
            Ok(text) if text.is_empty() => "-".into(),
            Ok(text) => text,
            Err(Errno::IO) => "EIO".into(),
            Err(Errno::AGAIN) => "EAGAIN".into(),
            Err(e) => format!("{e:?}"),
        };
        answer + &self.signals.take_names()
    }
}

#[test]
fn terminals_answer_as_linux_did() {
    let (mut count, mut wrong) = (0, Vec::new());
    let mut player = None;
    let mut name = "";
    for line in RECORDINGS.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if let Some(title) = line.strip_prefix("== ") {
            (name, player) = (title, Some(Player::new()));
            count += 1;
            continue;
        }
        let (action, linux) = line.split_once(" => ").unwrap_or_else(|| panic!("{name}: {line}"));
        let ours = player.as_mut().unwrap().play(action);
        if ours != linux {
            wrong.push(format!("{name}: {action}\n  Linux {linux}\n  ours  {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 150, "{count} scripts");
}

#[test]
fn the_number_of_terminals_is_capped_and_their_memory_is_counted() {
    let budget = Budget::new(64 << 20);
    let terminals = Terminals::new(budget.clone());
    let all: Vec<_> = (0..MAX_TERMINALS).map(|_| terminals.open_master().unwrap()).collect();
    assert_eq!(terminals.open_master().err(), Some(Errno::NOSPC));
    assert!(budget.used_bytes() >= MAX_TERMINALS as u64 * 65536);
    drop(all);
    assert_eq!(budget.used_bytes(), 0);
    assert_eq!(terminals.open_master().unwrap().terminal().number(), 0);
    assert_eq!(Terminals::new(Budget::new(1000)).open_master().err(), Some(Errno::NOMEM));
}

#[test]
fn buffers_are_bounded_in_both_directions() {
    let terminals = Terminals::new(Budget::new(1 << 20));
    let master = terminals.open_master().unwrap();
    let slave = master.terminal().slave().unwrap();
    let mut written = 0;
    while let Ok(n) = slave.try_write(&[b'x'; 5000]) {
        written += n;
    }
    assert_eq!(written, 65536);
    assert_eq!((slave.ready(true), master.try_read(&mut [0; 100])), (None, Ok(100)));
    assert_eq!(slave.try_write(&[b'y'; 5000]), Ok(100));
    let mut raw = master.terminal().termios();
    raw.make_raw();
    master.terminal().set_termios(raw, false);
    let mut typed = 0;
    while let Ok(n) = master.try_write(&[b'x'; 500]) {
        typed += n;
    }
    assert_eq!(typed, 4095 + 8192);
    assert_eq!(master.ready(true), None);
}

#[test]
fn a_terminal_is_gone_when_its_master_is_closed() {
    let terminals = Terminals::new(Budget::new(1 << 20));
    let master = terminals.open_master().unwrap();
    let slave = master.terminal().slave().unwrap();
    assert!(terminals.find(0).is_some() && terminals.numbers() == [0]);
    drop(master);
    assert!(terminals.find(0).is_none() && slave.is_dead());
    assert_eq!(slave.terminal().slave().err(), Some(Errno::IO));
    assert_eq!(slave.try_read(&mut [0; 4]), Ok(0));
}
