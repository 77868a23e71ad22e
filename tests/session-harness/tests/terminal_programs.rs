//! Programs that use a terminal: what their screens show after each key.
//!
//! The expected screens of less and Vim are those of Debian's less 590 and Vim 9.0 on a terminal
//! of the same size.

use std::io::Read;
use std::num::NonZero;
use std::time::{Duration, Instant};
use wasibox::{End, Exec, Isolation, Session, TerminalProcess, TerminalSize};
use wasibox_sessions::{engine, policy, sh};

const SIZE: TerminalSize = TerminalSize { rows: 10, columns: 40 };

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a size")
}

/// A program on a terminal, with the screen that it draws.
struct Screen {
    process: TerminalProcess,
    parser: vt100::Parser,
}

impl Screen {
    fn begin(session: &Session, command: &str) -> Screen {
        let mut exec = Exec::new(["bash", "-c", command]);
        exec.env = vec![(b"PS1".to_vec(), b"ready> ".to_vec())];
        let process = session.spawn_terminal(exec, SIZE).expect("a terminal");
        Screen { process, parser: vt100::Parser::new(cells(SIZE.rows), cells(SIZE.columns), 0) }
    }

    fn type_text(&self, text: &str) {
        self.process.keyboard.type_bytes(text.as_bytes()).expect("typed");
    }

    fn rows(&self) -> Vec<String> {
        let screen = self.parser.screen();
        let rows = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_string());
        let mut rows: Vec<String> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Reads until the screen fulfils a condition; `what` names it.
    fn wait_until(&mut self, what: &str, is_there: impl Fn(&Screen) -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !is_there(self) {
            assert!(Instant::now() < until, "{what}: {:#?}", self.rows());
            let mut buf = [0; 4096];
            let n = self.process.screen.read(&mut buf).expect("the screen");
            assert!(n > 0, "{what}, at the end: {:#?}", self.rows());
            self.parser.process(&buf[..n]);
        }
    }

    fn wait_for(&mut self, text: &str) {
        let text = text.trim_end();
        self.wait_until(text, |screen| screen.rows().iter().any(|row| row.contains(text)));
    }

    /// Reads until the screen has exactly these rows.
    fn expect_rows(&mut self, rows: &[&str]) {
        self.wait_until(&format!("{rows:#?}"), |screen| screen.rows() == rows);
    }

    /// Reads to the end, and returns the last screen with the end of the process.
    fn finish(mut self) -> (Vec<String>, End) {
        let mut rest = Vec::new();
        self.process.screen.read_to_end(&mut rest).expect("the screen");
        self.parser.process(&rest);
        let rows = self.rows();
        (rows, self.process.end.wait().end)
    }
}

#[test]
fn less_pages_searches_and_numbers() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    sh(&session, "cd; seq 100 > numbers");
    let mut screen = Screen::begin(&session, "less numbers");
    screen.expect_rows(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "numbers"]);
    screen.type_text(" ");
    screen.expect_rows(&["10", "11", "12", "13", "14", "15", "16", "17", "18", ":"]);
    screen.type_text("/55\r");
    screen.expect_rows(&["55", "56", "57", "58", "59", "60", "61", "62", "63", ":"]);
    screen.type_text("G");
    screen.expect_rows(&["92", "93", "94", "95", "96", "97", "98", "99", "100", "(END)"]);
    screen.type_text("gg10j");
    screen.expect_rows(&["11", "12", "13", "14", "15", "16", "17", "18", "19", ":"]);
    screen.type_text("-N\r");
    let numbered: Vec<String> = (11..20).map(|n| format!("{n:>7} {n}")).collect();
    let mut rows: Vec<&str> = numbered.iter().map(String::as_str).collect();
    rows.push(":");
    screen.expect_rows(&rows);
    screen.type_text("q");
    assert_eq!(screen.finish().1, End::Exited(0));
}

#[test]
fn git_pages_its_log() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let commands = "cd; git init -q r; cd r; for i in $(seq 30); do \
        git -c user.name=a -c user.email=a@b commit -q --allow-empty -m \"commit $i\"; done";
    sh(&session, commands);
    let mut screen = Screen::begin(&session, "cd ~/r; git log --format=%s");
    let newest: Vec<String> = (22..31).rev().map(|i| format!("commit {i}")).collect();
    let mut rows: Vec<&str> = newest.iter().map(String::as_str).collect();
    rows.push(":");
    screen.expect_rows(&rows);
    // git ends by SIGPIPE if the pager quits before all is written, so it gets the time for that.
    std::thread::sleep(Duration::from_millis(500));
    screen.type_text("q");
    assert_eq!(screen.finish().1, End::Exited(0));
    // What fits on the screen is not paged.
    let screen = Screen::begin(&session, "cd ~/r; git log -2 --format=%s");
    assert_eq!(screen.finish(), (vec!["commit 30".into(), "commit 29".into()], End::Exited(0)));
}

#[test]
fn vim_edits_a_file() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, "cd; vim -u NONE -N f");
    let with = |first: &[&'static str], last: &'static str| -> Vec<&'static str> {
        let tildes = std::iter::repeat_n("~", 9 - first.len());
        first.iter().copied().chain(tildes).chain([last]).collect()
    };
    screen.expect_rows(&with(&[""], "\"f\" [New]"));
    screen.type_text("ihello");
    screen.expect_rows(&with(&["hello"], "-- INSERT --"));
    screen.type_text("\x1byyp:s/hello/two words/\r");
    screen.expect_rows(&with(&["hello", "two words"], ":s/hello/two words/"));
    screen.type_text(":%!sort -r\r");
    screen.expect_rows(&with(&["two words", "hello"], ":%!sort -r"));
    screen.type_text(":wq\r");
    assert_eq!(screen.finish().1, End::Exited(0));
    assert_eq!(sh(&session, "cat ~/f"), "two words\nhello\n");
    // Scripts edit by it, too.
    let script = "vim -es -c '%s/hello/bye/' -c wq ~/f; cat ~/f; printf '1s/two/2/\\nx\\n' | ex -s ~/f; cat ~/f";
    assert_eq!(sh(&session, script), "two words\nbye\n2 words\nbye\n");
}

#[test]
fn top_shows_and_signals_processes() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, "sleep 97 & echo $! > ~/pid; exec top -d 60");
    screen.wait_for("  PID USER      PR  NI    VIRT    RES");
    let size = TerminalSize { rows: 24, columns: 100 };
    screen.parser.screen_mut().set_size(cells(size.rows), cells(size.columns));
    screen.process.keyboard.resize(size).unwrap();
    screen.wait_for("%CPU  %MEM     TIME+ COMMAND");
    screen.type_text("c");
    screen.wait_for("sleep 97");
    screen.type_text("x");
    screen.wait_for("Unknown command - try 'h' for help");
    let pid = sh(&session, "cat ~/pid");
    screen.type_text("k");
    screen.wait_for("PID to signal/kill [default pid = ");
    screen.type_text(&format!("9\x7f{}\r", pid.trim()));
    screen.wait_for("signal [15/sigterm]");
    screen.type_text("kill\r");
    assert_eq!(
        sh(&session, "while kill -0 $(cat ~/pid) 2> /dev/null; do sleep 0.05; done; echo over"),
        "over\n"
    );
    screen.type_text(" ");
    screen
        .wait_until("no sleep", |screen| !screen.rows().iter().any(|row| row.contains("sleep 97")));
    screen.type_text("q");
    assert_eq!(screen.finish().1, End::Exited(0));
}

#[test]
fn nano_edits_a_file() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, "cd; nano f.txt");
    screen.wait_for("New File");
    screen.type_text("b\ra");
    screen.wait_for("Modified");
    screen.type_text("\x14|sort\r");
    screen.wait_until("sorted lines", |screen| screen.rows()[1..3] == ["a", "b"]);
    screen.type_text("\x0f\r");
    screen.wait_for("Wrote 2 lines");
    screen.type_text("\x18");
    assert_eq!(screen.finish().1, End::Exited(0));
    assert_eq!(sh(&session, "cat ~/f.txt"), "a\nb\n");
}

#[test]
fn python_pages_its_help_and_debugs() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, "python3 -q");
    screen.wait_for(">>> ");
    screen.type_text("help(str)\r");
    screen.wait_for("Help on class str in module builtins");
    screen.type_text("q");
    screen.wait_for(">>> ");
    screen.type_text("import pdb; pdb.run('x = 5')\r");
    screen.wait_for("(Pdb) ");
    screen.type_text("n\rp x * 9\r");
    screen.wait_for("45");
    screen.type_text("c\r");
    screen.type_text("import getpass; len(getpass.getpass())\r");
    screen.wait_for("Password: ");
    screen.type_text("secret\r");
    screen.wait_for("6");
    assert!(!screen.rows().iter().any(|row| row.contains("secret")), "{:?}", screen.rows());
    screen.type_text("exit\r");
    assert_eq!(screen.finish().1, End::Exited(0));
}

/// Tests that the terminal is as before after a program that has set raw mode.
#[test]
fn node_reads_keys() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let script = "process.stdin.setRawMode(true).once('data', (key) => {
        console.log('key', key.toString('hex'));
        process.stdout.once('resize', () => {
            console.log(process.stdout.getWindowSize().join());
            process.exit(3);
        });
        console.log('waiting');
    })";
    sh(&session, &format!("cat > ~/keys.js <<'E'\n{script}\nE"));
    let mut screen = Screen::begin(
        &session,
        "stty -g > ~/before; node ~/keys.js; s=$?; stty -g > ~/after; exit $s",
    );
    std::thread::sleep(Duration::from_millis(700));
    screen.type_text("\x03");
    screen.wait_for("key 03");
    screen.wait_for("waiting");
    screen.process.keyboard.resize(TerminalSize { rows: 12, columns: 50 }).unwrap();
    let (rows, end) = screen.finish();
    assert!(rows.contains(&"50,12".to_string()), "{rows:?}");
    assert_eq!(end, End::Exited(3));
    assert_eq!(sh(&session, "cd; diff before after"), "");
}

#[test]
fn databases_of_terminals_are_used() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let script = "tput cols; tput lines; tput -T vt100 cols; tput cup 1 2 | od -An -c; tput setaf 3 | od -An -c";
    let screen = Screen::begin(&session, script);
    let rows = ["40", "10", "40", " 033   [   2   ;   3   H", " 033   [   3   3   m"];
    assert_eq!(screen.finish(), (rows.map(String::from).to_vec(), End::Exited(0)));
    // As in ncurses's own infocmp.
    let shown =
        sh(&session, "infocmp -1 vt52 | sed 1d; TERM=nothing tput bold 2>/dev/null; echo $?");
    assert!(shown.starts_with("vt52|DEC VT52,\n\tcols#80,\n\tit#8,\n"), "{shown}");
    assert!(shown.ends_with("\n3\n"), "status: {shown:?}");
}

#[test]
fn other_interpreters_talk_on_a_terminal() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut screen = Screen::begin(&session, "lua");
    screen.wait_for("> ");
    screen.type_text("6*7\n");
    screen.wait_for("42");
    screen.type_text("\x04");
    assert_eq!(screen.finish().1, End::Exited(0));
    let mut screen = Screen::begin(&session, "sqlite3");
    screen.wait_for("sqlite> ");
    screen.type_text("select 6*7;\n");
    screen.wait_for("42");
    screen.type_text(".quit\n");
    assert_eq!(screen.finish().1, End::Exited(0));
}

#[test]
fn git_asks_for_each_hunk() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let commands = "cd; git init -q r; cd r; seq 30 > f; git add f; \
        git -c user.name=a -c user.email=a@b commit -q -m one; sed -i 's/^3$/three/; s/^28$/more/' f";
    sh(&session, commands);
    let mut screen = Screen::begin(&session, "cd ~/r; git add -p");
    screen.wait_for("(1/2) Stage this hunk");
    screen.type_text("y\n");
    screen.wait_for("(2/2) Stage this hunk");
    screen.type_text("n\n");
    assert_eq!(screen.finish().1, End::Exited(0));
    assert_eq!(sh(&session, "cd ~/r; git diff --cached -U0 | tail -2"), "-3\n+three\n");
}
