//! Runs many scripts in the image with one runner. A driver in the image runs each script in a
//! shell, a process group and an environment of its own.
//!
//! Starting a runner for each script took more than twice the time. The driver runs a script for
//! each line of its input and answers with the status. A runner that does not answer in time is
//! replaced. A runner is also replaced after many scripts, so that anything that a script leaves
//! behind affects a limited number of later ones.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::run::{LEFT_RUNNING, WORK};

/// The number of scripts that one runner runs.
const SCRIPTS: usize = 1000;

/// The maximum time in which a runner starts.
const BEGIN: Duration = Duration::from_secs(300);

/// Runs `../s.sh` in a folder for each line of the input. Processes that a script leaves running
/// may continue for one more second.
const DRIVER: &str = r#"
unset OLDPWD SHLVL; set -m; echo ready
while read -r; do
    cd -- "$1"
    bash ../s.sh < /dev/null > ../out 2> ../err &
    wait "$!"; status=$?
    for ((i = 0; i < 100; i++)); do
        kill -0 -- "-$!" || break
        sleep .01
    done
    kill -KILL -- "-$!"
    cd /
    unset OLDPWD
    echo "$status"
done 2> /dev/null
"#;

/// The environment of the driver and of scripts. `PWD` is set in addition.
const ENVIRONMENT: &[&str] = &["PATH=/usr/bin:/bin", "HOME=/home/absent", "LANG=C.UTF-8", "TZ=UTC"];

/// A runner in which the driver runs.
pub struct Guest {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    left: usize,
}

/// The files of a runner, and the folder where scripts run.
pub struct GuestFiles<'a> {
    pub runner: &'a Path,
    pub image: &'a Path,
    /// The folder that is mounted under its own path and contains the working directory.
    pub place: &'a Path,
}

impl Guest {
    /// Starts a runner and waits for its driver.
    pub fn start(files: &GuestFiles<'_>) -> Result<Guest> {
        let work: PathBuf = files.place.join(WORK);
        let mount = format!("{0}:{0}:rw", files.place.display());
        let mut command = Command::new(files.runner);
        command.args(["exec", "--timeout", "0", "--mount", &mount]).arg(files.image);
        command.args(["--", "env", "-i"]).args(ENVIRONMENT);
        command.args(["bash", "-c", DRIVER, "driver"]).arg(work);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("runner")?;
        let requests = child.stdin.take().context("the runner's input")?;
        let output = child.stdout.take().context("the runner's output")?;
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let guest = Guest { child, requests, answers, left: SCRIPTS };
        let ready = guest.answers.recv_timeout(BEGIN).context("the runner's driver")?;
        ensure!(ready == "ready", "the driver said: {ready}");
        Ok(guest)
    }

    /// Returns whether this guest has run its number of scripts.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Runs the script and returns its status.
    ///
    /// # Errors
    /// Returns an error if the script does not end in time, or if the runner has ended.
    pub fn run_script(&mut self, limit: Duration) -> Result<i32> {
        self.left = self.left.saturating_sub(1);
        writeln!(self.requests).context("the runner's input")?;
        let answer = self.answers.recv_timeout(limit + LEFT_RUNNING).context("no answer")?;
        answer.parse().with_context(|| format!("the answer {answer}"))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
