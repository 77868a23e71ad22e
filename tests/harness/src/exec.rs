//! Runs `runner exec` in end-to-end tests.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A call of `runner exec`.
pub struct Exec {
    options: Vec<OsString>,
    command: Vec<OsString>,
    stdin: Vec<u8>,
}

/// The result of a run.
#[derive(Debug)]
pub struct ExecResult {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
    pub wall: Duration,
}

impl Exec {
    /// Creates a call that runs a command with its arguments.
    pub fn new(command: &[&str]) -> Exec {
        Exec {
            options: Vec::new(),
            command: command.iter().map(OsString::from).collect(),
            stdin: Vec::new(),
        }
    }

    /// Creates a call that runs a script with `bash -c`.
    pub fn sh(script: &str) -> Exec {
        Exec::new(&["bash", "-c", script])
    }

    /// Adds options of `runner exec`.
    pub fn opt(mut self, options: &[&str]) -> Exec {
        self.options.extend(options.iter().map(OsString::from));
        self
    }

    /// Mounts a host folder at a guest path.
    pub fn mount(mut self, host: &Path, guest_and_mode: &str) -> Exec {
        let mut spec = host.as_os_str().to_owned();
        spec.push(":");
        spec.push(guest_and_mode);
        self.options.extend(["--mount".into(), spec]);
        self
    }

    /// Sets the bytes of standard input.
    pub fn stdin(mut self, data: &[u8]) -> Exec {
        self.stdin = data.to_vec();
        self
    }

    /// Runs the call to its end.
    pub fn run(&self) -> ExecResult {
        let mut cmd = Command::new(crate::runner());
        cmd.arg("exec").args(&self.options).arg(crate::image()).arg("--").args(&self.command);
        cmd.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = cmd.spawn().unwrap_or_else(|e| panic!("{cmd:?}: {e}"));
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let data = self.stdin.clone();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&data)));
        let out = child.wait_with_output().expect("output");
        let wall = start.elapsed();
        writer.join().expect("writer");
        ExecResult {
            stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
            status: out.status.code().unwrap_or(-1),
            wall,
        }
    }

    /// Runs the call, which must succeed, and returns its output.
    pub fn ok(&self) -> String {
        let done = self.run();
        assert_eq!(
            done.status, 0,
            "{:?}\nstdout: {}\nstderr: {}",
            self.command, done.stdout, done.stderr
        );
        done.stdout
    }
}
