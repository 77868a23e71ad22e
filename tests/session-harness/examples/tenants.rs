//! Measures what a hostile client costs the others of a server: the times of short calls in 20
//! sessions of one token, alone and while another token attacks. The goal is a p99 within twice that
//! without an attack.
//!
//! ```text
//! tenants [SECONDS [SESSIONS [ATTACK]]]
//! ```
//!
//! `SECONDS` (10) is the time of each attack; `ATTACK` is a part of the names of those that are run,
//! instead of all.

use serde_json::{Value, json};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wasibox_sessions::faults::{FaultReport, free_address, start_server};
use wasibox_sessions::http::try_request;
use wasibox_sessions::mcp;

const HOSTILE: &str = "a-token-of-the-attacker";
const QUIET: &str = "a-token-of-the-others";
const WAIT: Duration = Duration::from_secs(60);
/// The number of threads of an attack: more than the requests at once of a token.
const THREADS: usize = 24;
/// The pause between two calls of a quiet session.
const PAUSE: Duration = Duration::from_millis(250);

type Attack = fn(SocketAddr, usize);

fn call(address: SocketAddr, token: &str, session: &str, script: &str) -> bool {
    let path = format!("/v1/sessions/{session}/tools/sandbox_exec");
    let body = json!({ "command": script, "timeout": 5 });
    try_request(address, token, "POST", &path, &body, WAIT).is_ok_and(|a| a.status == 200)
}

fn run_script(address: SocketAddr, n: usize, script: &str) {
    if !call(address, HOSTILE, &format!("s{}", n % 20), script) {
        // Refused: too many requests at once.
        std::thread::sleep(Duration::from_millis(20));
    }
}

const ATTACKS: &[(&str, Attack)] = &[
    ("endless loops", |a, n| run_script(a, n, "while :; do :; done")),
    ("memory", |a, n| {
        run_script(a, n, "x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo ${#x}; sleep 1");
    }),
    ("large files", |a, n| {
        run_script(a, n, "head -c 200000000 /dev/urandom > /tmp/f; rm /tmp/f");
    }),
    ("long history", |a, n| run_script(a, n, "head -c 2000000 /dev/urandom > /tmp/f")),
    ("many processes", |a, n| run_script(a, n, "for i in $(seq 100); do sleep 2 & done; wait")),
    ("short calls", |a, n| run_script(a, n, "true")),
    ("connections of MCP", |a, _| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": mcp::hello() });
        let _ = try_request(a, HOSTILE, "POST", "/mcp", &message, WAIT);
    }),
    ("silent connections", |a, _| {
        let all: Vec<_> = (0..40).filter_map(|_| TcpStream::connect(a).ok()).collect();
        std::thread::sleep(Duration::from_millis(500));
        drop(all);
    }),
    ("slow snapshots", |a, n| {
        let Ok(mut stream) = TcpStream::connect(a) else { return };
        let head = format!(
            "GET /v1/sessions/s{}/snapshot?history=true HTTP/1.1\r\nHost: {a}\r\n\
             Authorization: Bearer {HOSTILE}\r\n\r\n",
            n % 20
        );
        let _ = stream.write_all(head.as_bytes());
        std::thread::sleep(Duration::from_secs(1));
    }),
];

/// Runs calls in the quiet sessions for some time; returns their durations, and the number of calls
/// that failed.
fn quiet_times(address: SocketAddr, sessions: usize, time: Duration) -> (Vec<Duration>, usize) {
    let run = |n: usize| {
        let (begun, mut times, mut failed) = (Instant::now(), Vec::new(), 0);
        std::thread::sleep(PAUSE * n as u32 / sessions as u32);
        while begun.elapsed() < time {
            let at = Instant::now();
            if call(address, QUIET, &format!("s{n}"), "n=$((n + 1)); echo $n > /tmp/n") {
                times.push(at.elapsed());
            } else {
                failed += 1;
            }
            std::thread::sleep(PAUSE);
        }
        (times, failed)
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..sessions).map(|n| scope.spawn(move || run(n))).collect();
        let mut sum = (Vec::new(), 0);
        for thread in all {
            let (mut times, failed) = thread.join().expect("a session");
            sum.0.append(&mut times);
            sum.1 += failed;
        }
        sum.0.sort();
        sum
    })
}

fn print_times(name: &str, (times, failed): &(Vec<Duration>, usize), alone: Option<Duration>) {
    let [half, most] = [0.5, 0.99].map(|share| FaultReport::quantile(times, share));
    let factor = alone.map_or(String::new(), |alone| {
        format!(", {:.1} times that alone", most.as_secs_f64() / alone.as_secs_f64())
    });
    println!(
        "{name:<20} {:5} calls, {failed} failed, p50 {half:8.1?}, p99 {most:8.1?}{factor}",
        times.len()
    );
}

fn main() {
    let word =
        |n: usize, or: u64| std::env::args().nth(n).map_or(or, |w| w.parse().expect("a number"));
    let (time, sessions) = (Duration::from_secs(word(1, 10)), word(2, 20) as usize);
    let dir = tempfile::tempdir().expect("a folder");
    let token = |name: &str, token: &str| {
        format!(
            "[[token]]\nname = '{name}'\ntoken = '{token}'\n[token.limits]\nrequests = 32\nsessions = 40\n"
        )
    };
    // The attacker has what a token has by default.
    let hostile = token("hostile", HOSTILE).replace("requests = 32\n", "");
    let tokens = hostile + &token("quiet", QUIET) + "awake = 40\n";
    std::fs::write(dir.path().join("tokens.toml"), tokens).expect("the folder");
    std::fs::write(dir.path().join("policy.toml"), "").expect("the folder");
    let address = free_address();
    let mut server = start_server(dir.path(), address);
    while try_request(address, QUIET, "GET", "/healthz", &Value::Null, WAIT).is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
    for token in [QUIET, HOSTILE] {
        for n in 0..20.max(sessions) {
            let path = format!("/v1/sessions/s{n}");
            let made = try_request(address, token, "PUT", &path, &Value::Null, WAIT);
            assert!(made.is_ok_and(|a| a.status < 300), "a session");
        }
    }
    quiet_times(address, sessions, Duration::from_secs(3));
    let before = quiet_times(address, sessions, time);
    let alone = FaultReport::quantile(&before.0, 0.99);
    print_times("alone", &before, None);
    let chosen = std::env::args().nth(3).unwrap_or_default();
    for (name, attack) in ATTACKS.iter().filter(|(name, _)| name.contains(&chosen)) {
        let is_over = AtomicBool::new(false);
        let times = std::thread::scope(|scope| {
            for n in 0..THREADS {
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        attack(address, n);
                    }
                });
            }
            std::thread::sleep(Duration::from_secs(1));
            let times = quiet_times(address, sessions, time);
            is_over.store(true, Ordering::Relaxed);
            times
        });
        print_times(name, &times, Some(alone));
    }
    print_times("alone again", &quiet_times(address, sessions, time), Some(alone));
    let _ = server.kill();
    let _ = server.wait();
}
