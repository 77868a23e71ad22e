//! Job control of the shell on a terminal, compared with the screens of bash 5.2
//! (`job_control/recordings.txt`, made by `record.py` beside it).

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wasibox::{Engine, Exec, Isolation, Session, TerminalKeyboard, TerminalProcess, TerminalSize};
use wasibox_sessions::{engine, policy};

/// The time that a step may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time that a command gets to begin before a key is typed at it.
const BEGINNING: Duration = Duration::from_millis(400);

enum Step {
    Type(String),
    Show(String),
    Wait(Duration),
}

/// Returns the recorded cases: their names and steps.
fn cases() -> Vec<(String, Vec<Step>)> {
    let text = |json: &str| serde_json::from_str::<String>(json).expect("a text in JSON");
    let mut all: Vec<(String, Vec<Step>)> = Vec::new();
    for line in include_str!("job_control/recordings.txt").lines() {
        let (kind, value) = line.split_once(' ').unwrap_or((line, ""));
        let step = match kind {
            "case" => {
                all.push((value.to_owned(), Vec::new()));
                continue;
            }
            "type" => Step::Type(text(value)),
            "show" => Step::Show(text(value)),
            "wait" => Step::Wait(Duration::from_secs_f64(value.parse().expect("seconds"))),
            "" | "#" => continue,
            other => panic!("{other}"),
        };
        all.last_mut().expect("a case").1.push(step);
    }
    all
}

/// Replaces the numbers of processes by PID, as `record.py` does.
fn plain(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let (rest, end) = match line.strip_suffix('\r') {
            Some(rest) => (rest, "\r"),
            None => (line, ""),
        };
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        match words.as_slice() {
            [job, pid] if job.starts_with('[') && number(pid) => format!("{job} PID{end}"),
            [job, pid, ..] if job.starts_with('[') && number(pid) => {
                let at = rest.find(pid).unwrap_or_default() + pid.len();
                format!("{job} PID{}{end}", &rest[at..])
            }
            [pid, "|", ..] if number(pid) && rest.starts_with(' ') => {
                let at = rest.find(pid).unwrap_or_default() + pid.len();
                format!(" PID{}{end}", &rest[at..])
            }
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A shell on a terminal.
struct TypedShell {
    keyboard: TerminalKeyboard,
    screen: Receiver<Vec<u8>>,
}

impl TypedShell {
    fn begin(session: &Session) -> TypedShell {
        let mut exec = Exec::new(["bash", "--norc", "--noediting"]);
        exec.env = vec![(b"PS1".to_vec(), b"> ".to_vec())];
        let size = TerminalSize { rows: 24, columns: 80 };
        let TerminalProcess { keyboard, screen: mut reader, .. } =
            session.spawn_terminal(exec, size).expect("a terminal");
        let (send, screen) = channel();
        std::thread::spawn(move || {
            let mut buf = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buf) {
                if send.send(buf[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        TypedShell { keyboard, screen }
    }

    /// Waits until exactly `expected` is shown.
    fn expect(&self, expected: &str, case: &str) {
        let (until, mut shown) = (Instant::now() + PATIENCE, Vec::new());
        loop {
            let text = plain(&String::from_utf8_lossy(&shown));
            let left = if text == expected {
                // Nothing else may follow.
                Duration::from_millis(30)
            } else {
                until.saturating_duration_since(Instant::now())
            };
            match self.screen.recv_timeout(left) {
                Ok(more) => shown.extend_from_slice(&more),
                Err(_) if text == expected => return,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{case}: expected {expected:?}, got {text:?}")
                }
            }
        }
    }
}

fn play(session: &Session, case: &str, steps: &[Step]) {
    let shell = TypedShell::begin(session);
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::Show(expected) => {
                shell.expect(expected, case);
                let is_prompt = expected.ends_with("> ") || expected.ends_with("#? ");
                if !is_prompt && n + 1 < steps.len() {
                    std::thread::sleep(BEGINNING);
                }
            }
            Step::Type(keys) => shell.keyboard.type_bytes(keys.as_bytes()).expect("typed"),
            Step::Wait(time) => std::thread::sleep(*time),
        }
    }
}

/// Plays a case in a session of its own; the error says where the screen differs.
fn play_alone(engine: &Engine, case: &str, steps: &[Step]) -> Result<(), String> {
    let session = engine.session(policy()).unwrap();
    catch_unwind(AssertUnwindSafe(|| play(&session, case, steps)))
        .map_err(|why| why.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// A case that differs is played once more: its keys are typed after fixed times, as they were in
/// the recording, so that a busy machine can bring a key before the program that it is meant for.
#[test]
fn jobs_behave_as_in_bash() {
    let engine = engine(Isolation::Process);
    let mut failed = Vec::new();
    for (case, steps) in cases() {
        let again = |_| play_alone(&engine, &case, &steps);
        failed.extend(play_alone(&engine, &case, &steps).or_else(again).err());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
