//! The jobs of `parallel`: started in free slots, waited for, printed whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use box_applet::command::{ChildCommand, ChildStream};
use box_applet::{Ctx, Exit, clock};
use box_sys::{Pid, WaitStatus, preview1, signal};

use super::options::{HaltOutcome, Plan};

/// A command to run.
pub(super) struct Job {
    pub command: Vec<u8>,
    /// The text before each line of output.
    pub tag: Option<Vec<u8>>,
    /// The input of the command, with `--pipe`.
    pub input: Option<Vec<u8>>,
}

struct RunningJob {
    job: Job,
    number: usize,
    slot: usize,
    pid: Pid,
    output: Option<[File; 2]>,
    began: Instant,
    began_at: f64,
    tries: usize,
    timed_out: bool,
}

/// The output of a job that ended.
struct FinishedJob {
    command: Vec<u8>,
    tag: Option<Vec<u8>>,
    output: Option<[File; 2]>,
}

/// The jobs that run, and the results of those that have ended.
pub(super) struct Jobs<'p> {
    plan: &'p Plan,
    shell: Vec<u8>,
    running: Vec<RunningJob>,
    /// Output that waits for its turn (`-k`), by number.
    waiting: BTreeMap<usize, FinishedJob>,
    started: usize,
    /// The number of the next job to print with `-k`.
    turn: usize,
    failed: usize,
    counted: usize,
    log: Option<File>,
    /// Set when the run ends early, with the status of the job that ended it at once.
    halted: Option<Option<u8>>,
    last_start: Option<Instant>,
}

/// The longest pause between two looks at running jobs.
const PAUSE: Duration = Duration::from_millis(10);

impl<'p> Jobs<'p> {
    /// Returns an empty set of jobs, after opening the log; `Err` is a message.
    pub(super) fn new(ctx: &Ctx<'_>, plan: &'p Plan) -> Result<Jobs<'p>, String> {
        let mut log = None;
        if let Some(name) = &plan.log {
            let opened = if name == b"-" {
                File::options().write(true).open("/dev/stdout")
            } else {
                File::create(ctx.path(name))
            };
            let mut file = opened.map_err(|e| {
                let shown = String::from_utf8_lossy(name).into_owned();
                format!("Cannot write to --joblog {shown}: {}", box_sys::error_text(&e))
            })?;
            let head =
                b"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
            let _ = file.write_all(head);
            log = Some(file);
        }
        let shell = ctx.env.get(b"PARALLEL_SHELL").or(ctx.env.get(b"SHELL")).unwrap_or_default();
        let shell = if shell.is_empty() { b"bash".to_vec() } else { shell.to_vec() };
        Ok(Jobs {
            plan,
            shell,
            running: Vec::new(),
            waiting: BTreeMap::new(),
            started: 0,
            turn: 1,
            failed: 0,
            counted: 0,
            log,
            halted: None,
            last_start: None,
        })
    }

    /// Returns the number of the job that is started next.
    pub(super) fn next_number(&self) -> usize {
        self.started + 1
    }

    /// Returns the slot that the next job will have, as far as it is known before one is free.
    pub(super) fn free_slot(&self) -> usize {
        let taken = |slot: &usize| self.running.iter().any(|r| r.slot == *slot);
        (1..=self.plan.slots).find(|slot| !taken(slot)).unwrap_or(1)
    }

    /// Starts a job as soon as a slot is free; returns whether further jobs may be started.
    pub(super) fn run_job(&mut self, ctx: &mut Ctx<'_>, job: Job) -> bool {
        self.started += 1;
        let number = self.started;
        if self.plan.dry_run {
            let _ = ctx.stdout.write_all(&[job.command.as_slice(), b"\n"].concat());
            return true;
        }
        while self.running.len() >= self.plan.slots && self.halted.is_none() {
            self.wait_for_one(ctx);
        }
        if self.halted.is_some() {
            return false;
        }
        if let Some(last) = self.last_start {
            let early = self.plan.delay.saturating_sub(last.elapsed());
            if !early.is_zero() {
                std::thread::sleep(early);
            }
        }
        self.last_start = Some(Instant::now());
        let slot = self.free_slot();
        self.start(ctx, job, number, slot, 1);
        self.halted.is_none()
    }

    /// Waits for all jobs; returns the status of the run.
    pub(super) fn finish(mut self, ctx: &mut Ctx<'_>) -> Exit {
        while !self.running.is_empty() {
            self.wait_for_one(ctx);
        }
        let left = std::mem::take(&mut self.waiting);
        left.into_values().for_each(|job| print_job(ctx, self.plan, job));
        if let Some(Some(status)) = self.halted {
            return Exit(status);
        }
        Exit(u8::try_from(self.failed.min(101)).unwrap_or(101))
    }

    fn start(&mut self, ctx: &mut Ctx<'_>, job: Job, number: usize, slot: usize, tries: usize) {
        if self.plan.trace {
            let _ = ctx.stderr.write_all(&[job.command.as_slice(), b"\n"].concat());
        }
        let began_at = current_seconds();
        match self.spawn(ctx, &job, number, slot) {
            Ok((pid, output)) => self.running.push(RunningJob {
                job,
                number,
                slot,
                pid,
                output,
                began: Instant::now(),
                began_at,
                tries,
                timed_out: false,
            }),
            Err(message) => {
                ctx.error(format_args!("Error: {message}"));
                self.failed += 1;
                self.halted = Some(Some(255));
            }
        }
    }

    fn spawn(
        &self,
        ctx: &mut Ctx<'_>,
        job: &Job,
        number: usize,
        slot: usize,
    ) -> Result<(Pid, Option<[File; 2]>), String> {
        let text = |e: std::io::Error| box_sys::error_text(&e);
        let mut env = ctx.env.clone();
        env.set(b"PARALLEL_SEQ", number.to_string().as_bytes());
        env.set(b"PARALLEL_JOBSLOT", slot.to_string().as_bytes());
        env.set(b"PARALLEL_PID", ctx.procs.pid().to_string().as_bytes());
        let stdin = match &job.input {
            Some(input) => {
                let (reader, mut writer) = preview1::spool().map_err(text)?;
                writer.write_all(input).map_err(text)?;
                ChildStream::File(Rc::new(reader))
            }
            None => ChildStream::Null,
        };
        let mut command = ChildCommand {
            env: Some(env),
            stdin,
            ..ChildCommand::new(vec![self.shell.clone(), b"-c".to_vec(), job.command.clone()])
        };
        let mut output = None;
        if self.plan.grouped {
            let (out, out_writer) = preview1::spool().map_err(text)?;
            let (err, err_writer) = preview1::spool().map_err(text)?;
            command.stdout = ChildStream::File(Rc::new(out_writer));
            command.stderr = ChildStream::File(Rc::new(err_writer));
            output = Some([out, err]);
        }
        let child = command.start(ctx).map_err(|e| {
            format!("cannot run {}: {}", String::from_utf8_lossy(&self.shell), e.message)
        })?;
        Ok((child.pid, output))
    }

    /// Waits until a job ends, and handles its end.
    fn wait_for_one(&mut self, ctx: &mut Ctx<'_>) {
        let mut pause = Duration::from_millis(1);
        loop {
            self.end_late_jobs(ctx);
            let alone = self.running.len() == 1 && self.plan.timeout.is_none();
            for at in 0..self.running.len() {
                let pid = self.running[at].pid;
                let ended = if alone {
                    Some(ctx.procs.wait(pid).unwrap_or(WaitStatus::Exited(126)))
                } else {
                    ctx.procs.try_wait(pid).unwrap_or(Some(WaitStatus::Exited(126)))
                };
                if let Some(status) = ended {
                    let job = self.running.remove(at);
                    self.job_ended(ctx, job, status);
                    return;
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
    }

    /// Ends jobs that take longer than `--timeout` allows.
    fn end_late_jobs(&mut self, ctx: &mut Ctx<'_>) {
        let Some(most) = self.plan.timeout else { return };
        for r in &mut self.running {
            if !r.timed_out && r.began.elapsed() >= most {
                r.timed_out = true;
                ctx.error("Warning: This job was killed because it timed out:");
                ctx.error_bytes(&[b"Warning: ", &r.job.command]);
                let _ = ctx.procs.kill_tree(r.pid, signal::TERM);
            }
        }
    }

    fn job_ended(&mut self, ctx: &mut Ctx<'_>, r: RunningJob, status: WaitStatus) {
        let failed = status != WaitStatus::Exited(0);
        if failed && r.tries < self.plan.tries && self.halted.is_none() {
            return self.start(ctx, r.job, r.number, r.slot, r.tries + 1);
        }
        self.write_log(&r, status);
        self.failed += usize::from(failed);
        let code = status.shell_status();
        let finished = FinishedJob { command: r.job.command, tag: r.job.tag, output: r.output };
        let shown = finished.command.clone();
        if self.plan.keeps_order {
            self.waiting.insert(r.number, finished);
            while let Some(job) = self.waiting.remove(&self.turn) {
                print_job(ctx, self.plan, job);
                self.turn += 1;
            }
        } else {
            print_job(ctx, self.plan, finished);
        }
        self.judge_halt(ctx, failed, code, &shown);
    }

    /// Ends the run if `--halt` says so.
    fn judge_halt(&mut self, ctx: &mut Ctx<'_>, failed: bool, code: u8, command: &[u8]) {
        let Some(halt) = &self.plan.halt else { return };
        let counts = match halt.outcome {
            HaltOutcome::Failed => failed,
            HaltOutcome::Succeeded => !failed,
            HaltOutcome::Done => true,
        };
        self.counted += usize::from(counts);
        if !counts || self.counted < halt.count || self.halted.is_some() {
            return;
        }
        // With `soon`, the status is the number of jobs that failed.
        self.halted = Some(halt.at_once.then_some(code));
        let verb: &[u8] = if failed { b"failed" } else { b"succeeded" };
        ctx.error_bytes(&[b"This job ", verb, b":\n", command]);
        if halt.at_once {
            for r in &self.running {
                let _ = ctx.procs.kill_tree(r.pid, signal::TERM);
            }
        } else if !self.running.is_empty() {
            let count = self.running.len();
            ctx.error(format_args!("Starting no more jobs. Waiting for {count} jobs to finish."));
        }
    }

    fn write_log(&mut self, r: &RunningJob, status: WaitStatus) {
        let Some(log) = &mut self.log else { return };
        let (code, signal) = match status {
            WaitStatus::Exited(code) => (i32::from(code), 0),
            WaitStatus::Signaled(signal) => (0, signal),
        };
        let code = if r.timed_out { -1 } else { code };
        let sent = r.job.input.as_ref().map_or(0, Vec::len);
        let received = r.output.as_ref().and_then(|o| o[0].metadata().ok()).map_or(0, |m| m.len());
        let line = format!(
            "{}\t:\t{:.3}\t{:10.3}\t{sent}\t{received}\t{code}\t{signal}\t",
            r.number,
            r.began_at,
            r.began.elapsed().as_secs_f64(),
        );
        let _ = log.write_all(&[line.as_bytes(), &r.job.command, b"\n"].concat());
    }
}

fn current_seconds() -> f64 {
    let (seconds, nanos) = clock::current_time();
    seconds as f64 + f64::from(nanos) / 1e9
}

fn print_job(ctx: &mut Ctx<'_>, plan: &Plan, job: FinishedJob) {
    if plan.verbose {
        let _ = ctx.stdout.write_all(&[job.command.as_slice(), b"\n"].concat());
    }
    let Some([out, err]) = job.output else { return };
    for (mut file, is_error) in [(out, false), (err, true)] {
        let mut text = Vec::new();
        let _ = file.read_to_end(&mut text);
        if let Some(tag) = &job.tag {
            text = tag_lines(&text, tag);
        }
        if is_error {
            let _ = ctx.stdout.flush();
            let _ = ctx.stderr.write_all(&text);
        } else {
            let _ = ctx.stdout.write_all(&text);
        }
    }
    let _ = ctx.stdout.flush();
}

fn tag_lines(text: &[u8], tag: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.split_inclusive(|c| *c == b'\n') {
        out.extend_from_slice(tag);
        out.push(b'\t');
        out.extend_from_slice(line);
    }
    out
}
