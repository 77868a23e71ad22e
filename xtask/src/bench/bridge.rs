//! Measures the cost of a request over the bridge, compared with the same program on the host. Each
//! script runs alternately under `runner exec` and natively, against one server on the host's
//! loopback interface that responds at once.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use anyhow::{Context, Result};

use super::median_of;
use crate::env;

/// The number of rounds of each script on each side.
const TURNS: usize = 7;

/// The name of each script, and its text, which prints the microseconds per request.
const SCRIPTS: [(&str, &str); 3] = [
    (
        "curl, a process for each",
        "s=${EPOCHREALTIME/./}; for i in {1..50}; do curl -sS -o /dev/null URL; done; \
         e=${EPOCHREALTIME/./}; echo $(((e - s) / 50))",
    ),
    (
        "curl, 200 in one process",
        "s=${EPOCHREALTIME/./}; curl -sS -o /dev/null 'URL?[1-200]'; \
         e=${EPOCHREALTIME/./}; echo $(((e - s) / 200))",
    ),
    (
        "urllib.request, 200 in one process",
        "python3 -c 'import time, urllib.request as u
def get(): return u.urlopen(\"URL\").read()
assert get() == b\"hello\"; s = time.perf_counter()
for _ in range(200): get()
print(round((time.perf_counter() - s) * 5000))'",
    ),
];

pub fn run() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("the server")?;
    let url = format!("http://{}/", listener.local_addr()?);
    // The thread ends with this program.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_requests(stream));
        }
    });
    println!("| a request by | in the sandbox, ms | native, ms | more, ms |");
    println!("|---|---|---|---|");
    for (name, script) in SCRIPTS {
        let script = script.replace("URL", &url);
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..TURNS {
            let mut here = Command::new(env::dist().join("runner"));
            here.args(["exec", "--allow", &format!("GET {url}")])
                .arg(env::dist().join("image.webc"));
            here.args(["--", "bash", "-c", &script]);
            let mut native = Command::new("bash");
            native.args(["-c", &script]);
            for (times, mut cmd) in times.iter_mut().zip([here, native]) {
                let said = env::command_output(&mut cmd)?;
                times.push(said.trim().parse::<f64>().with_context(|| said.clone())? / 1e3);
            }
        }
        let [ours, theirs] = times.map(|mut t| median_of(&mut t));
        println!("| {name} | {ours:.2} | {theirs:.2} | {:.2} |", ours - theirs);
    }
    Ok(())
}

/// Answers every request of a connection. Requests have no bodies, and each response is one
/// segment.
fn answer_requests(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    while from.read_line(&mut line)? > 0 {
        if line.trim_end().is_empty() {
            to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")?;
        }
        line.clear();
    }
    Ok(())
}
