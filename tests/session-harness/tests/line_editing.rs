//! The line editor of the shell on a terminal. The expected lines are those that bash 5.2 with
//! readline shows for the same keys.

use std::io::Read;
use std::time::{Duration, Instant};
use wasibox::{Exec, Isolation, Session, TerminalProcess, TerminalSize};
use wasibox_sessions::{engine, policy, sh};

struct Typist {
    process: TerminalProcess,
    shown: Vec<u8>,
}

impl Typist {
    fn begin(session: &Session) -> Typist {
        let mut exec = Exec::new(["bash", "--norc"]);
        exec.env = vec![(b"PS1".to_vec(), b"> ".to_vec())];
        let size = TerminalSize { rows: 24, columns: 80 };
        let process = session.spawn_terminal(exec, size).expect("a terminal");
        let mut typist = Typist { process, shown: Vec::new() };
        typist.wait_for("> ");
        typist
    }

    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let part = text.as_bytes();
            if let Some(at) = self.shown.windows(part.len()).position(|w| w == part) {
                self.shown.drain(..at + part.len());
                return;
            }
            assert!(Instant::now() < until, "{text:?} in {}", self.shown.escape_ascii());
            let mut buf = [0; 4096];
            let n = self.process.screen.read(&mut buf).expect("the screen");
            assert!(n > 0, "{text:?} in {}", self.shown.escape_ascii());
            self.shown.extend_from_slice(&buf[..n]);
        }
    }

    /// Types keys, and waits for the line that the command prints, and for the next prompt.
    fn check(&mut self, keys: &str, line: &str) {
        self.process.keyboard.type_bytes(keys.as_bytes()).expect("typed");
        self.wait_for(&format!("\r\n\x1b[?2004l\r{line}\r\n"));
        self.wait_for("> ");
    }
}

#[test]
fn lines_are_edited() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut t = Typist::begin(&session);
    for (keys, line) in [
        ("echo helo\x1b[D\x1b[Dl\r", "hello"),
        ("cho hi\x01e\x05!\r", "hi!"),
        ("echo one two\x17three\r", "one three"),
        ("echo a b\x1bb\x1bb\x0becho \x19\r", "echo a b"),
        ("echo \u{e4}\u{f6}\u{fc}\u{6f22}\x1b[D\x7f\u{df}\r", "\u{e4}\u{f6}\u{df}\u{6f22}"),
        ("echo ab\x14\r", "ba"),
        // Pasted lines wait for Enter.
        ("\x1b[200~echo pasted\necho twice\x1b[201~\r", "pasted\r\ntwice"),
        // The history.
        ("echo first\r", "first"),
        ("echo second\r", "second"),
        ("\x1b[A\x1b[A\r", "first"),
        ("\x12sec\r", "second"),
    ] {
        t.check(keys, line);
    }
    t.check("echo !$\r", "echo second\r\nsecond");
    t.check("!-2\r", "echo second\r\nsecond");
    // Completion.
    t.check("cd /tmp; touch file_one; mkdir 'some dir'; echo made\r", "made");
    t.check("echo file_\t\r", "file_one");
    t.check("cd so\t; pwd\r", "/tmp/some dir");
    t.check("echo $HOM\t\r", "/home/user");
    t.check("basena\t/a/b\r", "b");
    // A command of several lines is one entry.
    t.check("for i in 1 2\rdo echo $i; done\r", "1\r\n2");
    t.check("\x1b[A\r", "1\r\n2");
}

#[test]
fn the_history_is_kept_in_its_file() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut t = Typist::begin(&session);
    t.check("HISTCONTROL=ignoreboth; echo a\r", "a");
    t.check(" echo hidden\r", "hidden");
    t.check("echo b\r", "b");
    t.check("echo b\r", "b");
    t.process.keyboard.type_bytes(b"exit\r").expect("typed");
    t.process.screen.read_to_end(&mut t.shown).expect("the screen");
    assert_eq!(
        sh(&session, "cat ~/.bash_history"),
        "HISTCONTROL=ignoreboth; echo a\necho b\nexit\n"
    );
    let mut t = Typist::begin(&session);
    t.check("\x1b[A\x1b[A\r", "b");
    t.check("echo !-2\r", "echo exit\r\nexit");
}
