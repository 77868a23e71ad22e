//! Programs on terminals of a session.

use std::io::Read;
use std::time::{Duration, Instant};
use wasibox::{End, Exec, Isolation, Session, TerminalProcess, TerminalSize};
use wasibox_sessions::{engine, policy, sh};

const BOTH: [Isolation; 2] = [Isolation::Process, Isolation::Threads];

/// A program on a terminal, and what it has shown.
struct Screen {
    process: TerminalProcess,
    shown: Vec<u8>,
}

impl Screen {
    fn begin(session: &Session, words: &[&str]) -> Screen {
        let mut exec = Exec::new(words.iter().copied());
        exec.env = vec![(b"PS1".to_vec(), b"ready> ".to_vec())];
        let size = TerminalSize { rows: 30, columns: 100 };
        let process = session.spawn_terminal(exec, size).expect("a terminal");
        Screen { process, shown: Vec::new() }
    }

    fn type_text(&self, text: &str) {
        self.process.keyboard.type_bytes(text.as_bytes()).expect("typed");
    }

    /// Reads until `text` is shown, and returns what came before it.
    fn wait_for(&mut self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(at) = find(&self.shown, text.as_bytes()) {
                let before = self.shown.drain(..at + text.len()).take(at).collect();
                return String::from_utf8(before).expect("text");
            }
            assert!(Instant::now() < until, "{text:?} in {}", self.shown.escape_ascii());
            let mut buf = [0; 4096];
            let n = self.process.screen.read(&mut buf).expect("the screen");
            assert!(n > 0, "{text:?} in {}", self.shown.escape_ascii());
            self.shown.extend_from_slice(&buf[..n]);
        }
    }

    /// Reads to the end, and returns the rest with the end of the process.
    fn finish(mut self) -> (String, End) {
        self.process.screen.read_to_end(&mut self.shown).expect("the screen");
        (String::from_utf8(self.shown).expect("text"), self.process.end.wait().end)
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|w| w == part)
}

#[test]
fn a_shell_has_a_terminal_of_the_given_size() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let mut screen = Screen::begin(&session, &["bash", "--noediting"]);
        screen.wait_for("ready> ");
        screen.type_text("[ -t 0 ] && [ -t 1 ] && tty; stty size; echo $TERM\n");
        let shown = screen.wait_for("ready> ");
        let lines: Vec<&str> = shown.split("\r\n").skip(1).collect();
        assert_eq!(lines, ["/dev/pts/0", "30 100", "xterm-256color", ""]);
        // Typed text is edited and echoed by the terminal.
        screen.type_text("echo ab\x7fc | tr a-z A-Z\n");
        assert_eq!(screen.wait_for("ready> "), "echo ab\x08 \x08c | tr a-z A-Z\r\nAC\r\n");
        screen.type_text("exit 7\n");
        let (rest, end) = screen.finish();
        assert_eq!((rest.as_str(), end), ("exit 7\r\nexit\r\n", End::Exited(7)));
    }
}

#[test]
fn keys_make_signals_and_the_shell_survives() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, &["bash", "--noediting"]);
    screen.wait_for("ready> ");
    screen.type_text("echo lost\x03");
    screen.wait_for("ready> ");
    let begun = Instant::now();
    screen.type_text("sleep 60\n");
    std::thread::sleep(Duration::from_millis(500));
    screen.type_text("\x03");
    screen.wait_for("ready> ");
    assert!(begun.elapsed() < Duration::from_secs(20));
    screen.type_text("echo $?; while :; do :; done\n");
    screen.wait_for("130\r\n");
    std::thread::sleep(Duration::from_millis(300));
    screen.type_text("\x03");
    screen.wait_for("ready> ");
    screen.type_text("cat\nline\n\x04");
    assert_eq!(screen.wait_for("ready> "), "cat\r\nline\r\nline\r\n");
    screen.type_text("\x04");
    assert!(matches!(screen.finish().1, End::Exited(_)));
}

#[test]
fn a_new_size_reaches_the_program() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let script = "trap 'stty size; exit 3' WINCH; echo waiting; while :; do sleep 0.05; done";
    let mut screen = Screen::begin(&session, &["bash", "-c", script]);
    screen.wait_for("waiting\r\n");
    screen.process.keyboard.resize(TerminalSize { rows: 50, columns: 132 }).unwrap();
    assert_eq!(screen.finish(), ("50 132\r\n".into(), End::Exited(3)));
}

#[test]
fn a_closed_window_hangs_up() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let process = session
            .spawn_terminal(
                Exec::new(["sh", "-c", "trap 'echo hup > /tmp/hup; exit' HUP; sleep 60 & wait"]),
                TerminalSize::default(),
            )
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        drop((process.keyboard, process.screen));
        assert_eq!(process.end.wait().end, End::Exited(0));
        assert_eq!(sh(&session, "cat /tmp/hup"), "hup\n");
    }
}

#[test]
fn output_waits_for_its_reader_and_none_is_lost() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let screen = Screen::begin(&session, &["sh", "-c", "stty -onlcr; seq 200000"]);
    std::thread::sleep(Duration::from_millis(200));
    let (text, end) = screen.finish();
    assert_eq!(end, End::Exited(0));
    assert_eq!(text.lines().count(), 200_000);
    assert!(text.ends_with("\n199999\n200000\n"));
}

#[test]
fn a_terminal_ends_with_its_state() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    sh(&session, "echo before > /tmp/f");
    let mut screen = Screen::begin(&session, &["bash", "--noediting"]);
    screen.wait_for("ready> ");
    assert_eq!(sh(&session, "ls /dev/pts; [ -t 0 ] || echo none"), "0\nnone\n");
    sh(&session, "echo after > /tmp/f");
    session.undo().unwrap();
    assert!(matches!(screen.finish().1, End::Signaled(9) | End::Interrupted));
    // The threads that relay its keys and its screen may end a moment later.
    let wait = "n=0; while [ -e /dev/pts/0 ] && [ $((n += 1)) -lt 100 ]; do sleep 0.02; done";
    assert_eq!(sh(&session, &format!("{wait}; ls /dev/pts; cat /tmp/f")), "before\n");
}

#[test]
fn a_stopped_process_waits_until_it_is_continued() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let script = "(sleep 0.2; echo done > /tmp/d) & p=$!; kill -STOP $p; sleep 1
        ls /tmp/d 2> /dev/null || echo none; kill -CONT $p; wait $p; cat /tmp/d";
    assert_eq!(sh(&session, script), "none\ndone\n");
    // SIGKILL ends a stopped process.
    let script = "sleep 60 & kill -STOP $!; sleep 0.1; kill -9 $!; wait $! 2> /dev/null; echo $?";
    assert_eq!(sh(&session, script), "137\n");
}

/// Prints the time from a key to its echo, and the speed of output. Run by hand:
/// `cargo test -p wasibox-sessions --release --test terminals -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure_keys_and_output() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let mut screen = Screen::begin(&session, &["cat"]);
        let mut times = Vec::new();
        for _ in 0..500 {
            let begun = Instant::now();
            screen.type_text("x");
            screen.wait_for("x");
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        println!("{isolation:?}: echo {:?} median, {:?} p99", times[250], times[495]);
        screen.type_text("\x04\x04");
        let begun = Instant::now();
        let script = "stty -opost; head -c 200000000 /dev/zero | tr '\\0' x";
        let (text, _) = Screen::begin(&session, &["sh", "-c", script]).finish();
        let speed = text.len() as f64 / begun.elapsed().as_secs_f64() / 1e6;
        println!("{isolation:?}: {} bytes of output, {speed:.0} MB/s", text.len());
    }
}
