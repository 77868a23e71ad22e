//! The input of the tools' benchmark: a log, a CSV and JSON lines, the same bytes each time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The size of the log in bytes.
const LOG: usize = 60 << 20;
const ORDERS: usize = 300_000;
const EVENTS: usize = 100_000;

const USERS: &[&str] = &["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"];
const PATHS: &[&str] = &["/api/users/", "/api/orders/", "/static/img/", "/search?q=", "/login/"];
const CITIES: &[&str] = &["Berlin", "Paris", "Oslo", "Rome", "Lisbon", "Vienna", "Madrid"];
const GOODS: &[&str] = &["lamp", "chair", "desk", "shelf", "sofa", "table", "rug", "clock"];

/// The folder of the data, and the folder of links that begins the `PATH` of GNU's tools.
pub struct BenchData {
    pub dir: PathBuf,
    pub bin: PathBuf,
}

impl BenchData {
    /// Writes the missing files below the folder.
    pub fn make(root: &Path) -> Result<BenchData> {
        let data = BenchData { dir: root.join("data"), bin: root.join("bin") };
        for dir in [&data.dir, &data.bin] {
            std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let sorted = || {
            let mut lines: Vec<String> = order_rows().lines().map(str::to_string).collect();
            lines.sort_unstable();
            lines.join("\n") + "\n"
        };
        let files: [(&str, &dyn Fn() -> String); 5] = [
            ("access.log", &log_lines),
            ("orders.csv", &order_rows),
            ("sorted.csv", &sorted),
            ("events.jsonl", &event_lines),
            ("patterns", &|| "10.7.3.11\n10.1.40.2\n10.9.9.9\n10.33.\n".to_string()),
        ];
        for (name, text) in files {
            let path = data.dir.join(name);
            if !path.exists() {
                std::fs::write(&path, text()).with_context(|| path.display().to_string())?;
            }
        }
        Ok(data)
    }
}

/// Pseudo-random numbers (Knuth's MMIX generator), from the same seed each time.
struct SeededRandom(u64);

impl SeededRandom {
    fn number_below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn choose_word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.number_below(words.len() as u64) as usize]
    }
}

/// Returns lines of a web server, each with a level at its end: one in ten is a warning, one in
/// twenty an error.
fn log_lines() -> String {
    let mut chance = SeededRandom(1);
    let mut out = String::with_capacity(LOG + 256);
    let mut second = 0;
    while out.len() < LOG {
        second += chance.number_below(2);
        let (method, status, level, said) = match chance.number_below(20) {
            0 => ("GET", 500, "ERROR", "upstream timeout after 3 tries"),
            1 => ("PUT", 404, "WARN", "no such resource"),
            2 => ("DELETE", 403, "WARN", "user may not do this"),
            3..6 => ("POST", 201, "INFO", "created"),
            _ => ("GET", 200, "INFO", "request served"),
        };
        let _ = writeln!(
            out,
            "10.{}.{}.{} - {} [12/Mar/2024:{:02}:{:02}:{:02} +0000] \"{method} {}{} HTTP/1.1\" {status} {} {}.{:03} \
             {level} {said}",
            chance.number_below(40),
            chance.number_below(50),
            chance.number_below(12),
            chance.choose_word(USERS),
            second / 3600 % 24,
            second / 60 % 60,
            second % 60,
            chance.choose_word(PATHS),
            chance.number_below(20_000),
            chance.number_below(6000),
            chance.number_below(3),
            chance.number_below(1000),
        );
    }
    out
}

/// Returns numbered rows: user and goods, city, amount, day.
fn order_rows() -> String {
    let mut chance = SeededRandom(2);
    let mut out = String::new();
    for n in 0..ORDERS {
        let _ = writeln!(
            out,
            "{:07},{},{} {},{},{}.{:02},2024-{:02}-{:02}",
            n * 7919 % 1_000_003,
            chance.choose_word(USERS),
            chance.choose_word(GOODS),
            chance.number_below(1000),
            chance.choose_word(CITIES),
            chance.number_below(2000),
            chance.number_below(100),
            1 + chance.number_below(12),
            1 + chance.number_below(28),
        );
    }
    out
}

/// Returns one JSON object per line.
fn event_lines() -> String {
    let mut chance = SeededRandom(3);
    let mut out = String::new();
    for n in 0..EVENTS {
        let level = chance.choose_word(&["info", "info", "info", "debug", "warn", "error"]);
        let _ = writeln!(
            out,
            "{{\"id\":{n},\"level\":\"{level}\",\"user\":\"{}\",\"path\":\"{}{}\",\"ms\":{},\"tags\":[\"{}\",\"{}\"],\"ok\":{}}}",
            chance.choose_word(USERS),
            chance.choose_word(PATHS),
            chance.number_below(500),
            chance.number_below(3000),
            chance.choose_word(GOODS),
            chance.choose_word(CITIES),
            chance.number_below(2) == 0,
        );
    }
    out
}
