//! Load on `runner serve` of the built image while faults happen, and a check of what its sessions
//! contain afterwards.
//!
//! Each client adds numbers to a file of its session, one with each call. A call that the server has
//! acknowledged must be in the file exactly once, in order, whatever happened since; a refused one
//! must not be; one whose answer was lost may be. The faults: SIGKILL of the server and of workers,
//! SIGSTOP of workers, clients that send or read nothing more, a full disk.

use crate::dist;
use crate::http::{Answer, try_request};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

const TOKEN: &str = "abcdefghijklmnop";
/// The time limit of a call, in seconds.
const CALL: u64 = 10;
/// The longest wait for an answer: a call, and the parent's patience with a stopped worker.
const WAIT: Duration = Duration::from_secs(60);
/// The number of calls after which a client reads its file.
const LOOK: u64 = 25;

/// The load and the faults.
pub struct FaultPlan {
    pub sessions: usize,
    pub time: Duration,
    /// The folder of the store and of the server's other files.
    pub folder: PathBuf,
    /// The mean pause between two faults.
    pub pause: Duration,
    /// How often the server is killed, in the first half of the time.
    pub server_kills: u32,
    /// Whether the folder is on a file system of its own, which is filled from time to time.
    pub fills_disk: bool,
    pub seed: u64,
}

/// The figures of a run.
#[derive(Debug, Default)]
pub struct FaultReport {
    pub acknowledged: u64,
    pub refused: u64,
    /// Calls whose answer was lost.
    pub unknown: u64,
    /// What is wrong with the sessions' files: numbers that are lost, doubled, or should not be
    /// there.
    pub wrong: Vec<String>,
    /// Durations of acknowledged calls, sorted. Those of the second list overlap neither a restart
    /// of the server nor a full disk.
    pub times: Vec<Duration>,
    pub calm_times: Vec<Duration>,
    /// How often each fault happened.
    pub faults: Vec<(&'static str, u32)>,
    /// Private memory of the last server in bytes, once in a second.
    pub memory: Vec<u64>,
}

impl FaultReport {
    /// Returns the duration that a share of the calls did not exceed.
    pub fn quantile(times: &[Duration], share: f64) -> Duration {
        let at = (times.len() as f64 * share) as usize;
        times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n.max(1)
    }
}

/// What a client knows of its session.
#[derive(Default)]
struct ClientLog {
    next: u64,
    acknowledged: Vec<u64>,
    refused: BTreeSet<u64>,
    unknown: BTreeSet<u64>,
    times: Vec<(Instant, Instant)>,
    wrong: Vec<String>,
}

impl ClientLog {
    /// Compares the file with what is known.
    fn check_file(&mut self, name: &str, text: &str) {
        let found: Vec<u64> = text.lines().map(|line| line.parse().unwrap_or(0)).collect();
        let mut wrong = Vec::new();
        if found.windows(2).any(|pair| pair[0] >= pair[1]) {
            wrong.push(format!("{name}: numbers are doubled or out of order"));
        }
        let set: BTreeSet<u64> = found.iter().copied().collect();
        wrong.extend(
            self.acknowledged
                .iter()
                .filter(|n| !set.contains(n))
                .map(|n| format!("{name}: {n} was acknowledged and is lost")),
        );
        let known: BTreeSet<u64> = self.acknowledged.iter().copied().collect();
        for n in set.iter().filter(|n| !known.contains(n) && !self.unknown.contains(n)) {
            let why = if self.refused.contains(n) { "was refused" } else { "was never sent" };
            wrong.push(format!("{name}: {n} {why} and is there"));
        }
        for text in wrong {
            if !self.wrong.contains(&text) {
                self.wrong.push(text);
            }
        }
    }
}

struct Run<'a> {
    plan: &'a FaultPlan,
    address: SocketAddr,
    server: Mutex<Child>,
    is_over: AtomicBool,
    /// Periods without a server, or with a full disk.
    hard: Mutex<Vec<(Instant, Instant)>>,
    memory: Mutex<Vec<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Runs the plan.
pub fn run_faults(plan: &FaultPlan) -> FaultReport {
    let token = format!(
        "[[token]]\nname = 't'\ntoken = '{TOKEN}'\n[token.limits]\nsessions = 1000\nrequests = 1000\n\
         awake = 1000\ncpu-seconds = 1000000\nmemory = 100000000000\n"
    );
    std::fs::write(plan.folder.join("tokens.toml"), token).expect("the folder");
    // A short history, so that histories are compacted meanwhile.
    std::fs::write(plan.folder.join("policy.toml"), "[limits]\nhistory = '1M'\naudit = '1M'\n")
        .expect("the folder");
    let free = free_address();
    let run = Run {
        plan,
        address: free,
        server: Mutex::new(start_server(&plan.folder, free)),
        is_over: AtomicBool::new(false),
        hard: Mutex::default(),
        memory: Mutex::default(),
    };
    run.wait_for_server();
    for n in 0..plan.sessions {
        let answer = run.ask("PUT", &format!("/v1/sessions/s{n}"), &Value::Null);
        assert!(answer.is_ok_and(|a| a.status < 300), "a session");
    }
    let mut report = FaultReport::default();
    let logs: Vec<ClientLog> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..plan.sessions)
            .map(|n| {
                scope.spawn({
                    let run = &run;
                    move || run.client(n)
                })
            })
            .collect();
        scope.spawn(|| run.watch_memory());
        report.faults = run.make_faults();
        run.is_over.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().expect("a client")).collect()
    });
    let hard = std::mem::take(&mut *lock(&run.hard));
    for (n, mut log) in logs.into_iter().enumerate() {
        run.look(n, &mut log, true);
        report.acknowledged += log.acknowledged.len() as u64;
        report.refused += log.refused.len() as u64;
        report.unknown += log.unknown.len() as u64;
        report.wrong.append(&mut log.wrong);
        for (begun, ended) in log.times {
            report.times.push(ended - begun);
            if hard.iter().all(|(from, to)| ended < *from || begun > *to) {
                report.calm_times.push(ended - begun);
            }
        }
    }
    report.times.sort();
    report.calm_times.sort();
    report.memory = std::mem::take(&mut *lock(&run.memory));
    let mut server = run.server.into_inner().unwrap_or_else(|e| e.into_inner());
    let _ = server.kill();
    let _ = server.wait();
    let check = Command::new(dist().join("runner"))
        .args(["session", "check", "--store"])
        .arg(plan.folder.join("w.wbx"))
        .output()
        .expect("a runner");
    if !check.status.success() {
        report.wrong.push(String::from_utf8_lossy(&check.stdout).into_owned());
    }
    report
}

/// Returns an address of the loopback at which nothing listens.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port")
}

/// Starts `runner serve` with the store, `tokens.toml` and `policy.toml` of a folder.
pub fn start_server(folder: &Path, address: SocketAddr) -> Child {
    let log = File::options().create(true).append(true).open(folder.join("log")).expect("a log");
    Command::new(dist().join("runner"))
        .arg("serve")
        .arg("--image")
        .arg(dist().join("image.webc"))
        .arg("--store")
        .arg(folder.join("w.wbx"))
        .arg("--token-file")
        .arg(folder.join("tokens.toml"))
        .arg("--policy")
        .arg(folder.join("policy.toml"))
        .args(["--awake", "200", "--log", "error", "--listen", &address.to_string()])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("a server")
}

/// Returns the processes whose parent is `pid`.
fn children_of(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |n: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{n}/stat")).unwrap_or_default();
        // The name in parentheses may contain anything.
        let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after.split_whitespace().nth(1).and_then(|n| n.parse().ok()) == Some(pid)
    };
    numbers.filter(is_child).collect()
}

fn send_signal(signal: &str, pid: u32) {
    // A failure is ignored, because the process may have ended.
    let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

fn private_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) << 10
}

impl Run<'_> {
    fn ask(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Answer> {
        try_request(self.address, TOKEN, method, path, body, WAIT)
    }

    fn call(&self, n: usize, script: &str) -> std::io::Result<Answer> {
        let path = format!("/v1/sessions/s{n}/tools/sandbox_exec");
        self.ask("POST", &path, &json!({ "command": script, "timeout": CALL }))
    }

    fn wait_for_server(&self) {
        let begun = Instant::now();
        while self.ask("GET", "/healthz", &Value::Null).is_err() {
            assert!(begun.elapsed() < WAIT, "the server does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn client(&self, n: usize) -> ClientLog {
        let mut random = Random(self.plan.seed.wrapping_add(n as u64 * 7919));
        let mut log = ClientLog { next: 1, ..ClientLog::default() };
        while !self.is_over.load(Ordering::Relaxed) {
            let number = log.next;
            log.next += 1;
            let begun = Instant::now();
            let answer = self.call(n, &format!("echo {number} >> /tmp/log"));
            match answer {
                Ok(answer) if answer.status == 200 && answer.value()["exit_code"] == 0 => {
                    log.acknowledged.push(number);
                    log.times.push((begun, Instant::now()));
                }
                Ok(answer) if answer.status != 0 => drop(log.refused.insert(number)),
                // The connection was lost, or the answer cut off.
                _ => {
                    log.unknown.insert(number);
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
            if number.is_multiple_of(LOOK) {
                self.look(n, &mut log, false);
            }
            std::thread::sleep(Duration::from_millis(random.below(200)));
        }
        log
    }

    /// Reads the file and checks it. At the end (`must`) it has to be readable.
    fn look(&self, n: usize, log: &mut ClientLog, must: bool) {
        let begun = Instant::now();
        loop {
            match self.call(n, "cat /tmp/log 2>/dev/null || true") {
                Ok(answer) if answer.status == 200 && answer.value()["exit_code"] == 0 => {
                    let text = answer.value()["stdout"].as_str().unwrap_or_default().to_owned();
                    return log.check_file(&format!("s{n}"), &text);
                }
                answer if must && begun.elapsed() > WAIT => {
                    return log.wrong.push(format!("s{n} cannot be read: {answer:?}"));
                }
                _ if must => std::thread::sleep(Duration::from_millis(200)),
                _ => return,
            }
        }
    }

    fn watch_memory(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let pid = lock(&self.server).id();
            lock(&self.memory).push(private_memory(pid));
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    fn make_faults(&self) -> Vec<(&'static str, u32)> {
        let mut random = Random(self.plan.seed);
        let (begun, plan) = (Instant::now(), self.plan);
        let mut counts = [
            ("SIGKILL of a worker", 0),
            ("SIGSTOP of a worker", 0),
            ("slow client", 0),
            ("full disk", 0),
            ("SIGKILL of the server", 0),
        ];
        let mut slow: Vec<TcpStream> = Vec::new();
        let mut kills = 0;
        while begun.elapsed() < plan.time {
            let pause = plan.pause.as_millis() as u64;
            std::thread::sleep(Duration::from_millis(pause / 2 + random.below(pause)));
            let part = begun.elapsed().as_secs_f64() / (plan.time.as_secs_f64() / 2.0);
            let which = if kills < plan.server_kills
                && part > f64::from(kills + 1) / f64::from(plan.server_kills + 1)
            {
                kills += 1;
                4
            } else {
                random.below(if plan.fills_disk { 4 } else { 3 }) as usize
            };
            let server = lock(&self.server).id();
            match which {
                0 | 1 => {
                    let workers = children_of(server);
                    let at = random.below(workers.len() as u64) as usize;
                    let Some(worker) = workers.get(at) else { continue };
                    // Most workers are not stopped at once, because each stop takes ten seconds.
                    let signal = if which == 0 { "-KILL" } else { "-STOP" };
                    send_signal(signal, *worker);
                }
                2 => slow.extend(self.slow_client(&mut random)),
                3 => {
                    let from = Instant::now();
                    let path = plan.folder.join("filler");
                    if let Ok(mut file) = File::create(&path) {
                        while file.write_all(&[7; 1 << 16]).is_ok() {}
                        while file.write_all(&[7]).is_ok() {}
                    }
                    std::thread::sleep(Duration::from_millis(1000 + random.below(1000)));
                    let _ = std::fs::remove_file(&path);
                    lock(&self.hard).push((from, Instant::now()));
                }
                _ => {
                    let from = Instant::now();
                    {
                        let mut server = lock(&self.server);
                        let _ = server.kill();
                        let _ = server.wait();
                        *server = start_server(&plan.folder, self.address);
                    }
                    self.wait_for_server();
                    lock(&self.memory).clear();
                    // Sessions come back one after another.
                    lock(&self.hard).push((from, Instant::now() + Duration::from_secs(5)));
                }
            }
            counts[which].1 += 1;
            let extra = slow.len().saturating_sub(20);
            slow.drain(..extra);
        }
        counts.to_vec()
    }

    /// Begins a request and sends or reads no more of it.
    fn slow_client(&self, random: &mut Random) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        let n = random.below(self.plan.sessions as u64);
        let head = match random.below(3) {
            0 => format!("GET /v1/sessions/s{n}/snapshot?history=true HTTP/1.1\r\n"),
            1 => "PUT /v1/sessions/slow/snapshot HTTP/1.1\r\nContent-Length: 1000000\r\n".into(),
            _ => {
                "POST /v1/sessions/s0/tools/sandbox_exec HTTP/1.1\r\nContent-Length: 90\r\n".into()
            }
        };
        let rest = format!("Host: {}\r\nAuthorization: Bearer {TOKEN}\r\n\r\nWBS1", self.address);
        stream.write_all((head + &rest).as_bytes()).ok()?;
        Some(stream)
    }
}
