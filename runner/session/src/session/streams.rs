//! The caller's side of a call: its streams and its cancellation.

use std::io::{PipeReader, Read, Write, pipe};
use wasibox_protocol::{CallEvent, End, Exec, Input, Outcome, Output};
use wasibox_vfs::lock_mutex;

use super::{Cancel, Error, Session};
use crate::run::InheritedStreams;

/// Maximum bytes of standard input that are sent with a call; more is sent through a pipe.
const SENT_INPUT: usize = 256 << 10;
/// Maximum bytes of output in one event.
const CHUNK: usize = 64 << 10;

/// The arguments of [`Session::apply`] besides the request. By default the call uses this process's
/// streams, emits no events and waits for other calls.
///
/// ```no_run
/// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
/// # let session = engine.session(wasibox::Policy::default())?;
/// use wasibox::{CallEvent, Exec, Streams};
///
/// let print = |CallEvent::Output { bytes, .. }: CallEvent<'_>| {
///     print!("{}", String::from_utf8_lossy(bytes));
/// };
/// session.call(Exec::script("seq 3"), Streams { emit: Some(&print), ..Streams::default() })?;
/// # Ok::<(), wasibox::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Streams<'a> {
    /// The descriptors to which [`Input::Inherit`] and [`Output::Inherit`] refer, in place of this
    /// process's streams.
    pub inherited: Option<&'a InheritedStreams<'a>>,
    /// Receives output as it is written, on other threads. The outcome has it as well, up to the
    /// capture limit for each stream.
    pub emit: Option<&'a (dyn Fn(CallEvent<'_>) + Sync)>,
    /// Ends the call, or keeps it from beginning.
    pub cancel: Option<&'a Cancel>,
    /// Whether the call is refused with [`Error::Busy`] if another one is running.
    pub no_wait: bool,
}

impl Session {
    /// Runs a command, script or cell on the caller's streams, and returns its outcome.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Cancel, Exec, Streams};
    ///
    /// let cancel = Cancel::default();
    /// let streams = Streams { cancel: Some(&cancel), ..Streams::default() };
    /// assert_eq!(session.call(Exec::script("echo hi"), streams)?.stdout, b"hi\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was cancelled before it could begin, [`Error::Busy`] if another
    /// call is running and the caller does not wait; otherwise as [`Session::apply`].
    pub fn call(&self, exec: impl Into<Exec>, streams: Streams<'_>) -> Result<Outcome, Error> {
        let exec = exec.into();
        exec.check()?;
        self.run_checked(exec, streams)
    }

    /// Runs a valid call, whose streams may need pipes, which threads feed and read while it runs.
    pub(super) fn run_checked(
        &self,
        mut exec: Exec,
        streams: Streams<'_>,
    ) -> Result<Outcome, Error> {
        let long = match &mut exec.input {
            Input::Bytes(bytes) if bytes.len() > SENT_INPUT => Some(std::mem::take(bytes)),
            _ => None,
        };
        if long.is_none() && streams.emit.is_none() {
            return self.run_locked(exec, streams);
        }
        let (own_in, own_out, own_err) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let own = InheritedStreams { stdin: &own_in, stdout: &own_out, stderr: &own_err };
        let given = streams.inherited.unwrap_or(&own);
        let limit = exec.capture_limit();
        let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
        let long = match long {
            Some(bytes) => {
                exec.input = Input::Inherit;
                Some((bytes, pipe()?))
            }
            None => None,
        };
        std::thread::scope(|scope| {
            let readers = streams.emit.map(|emit| {
                exec.output = Output::Inherit;
                let read = |from, is_error| {
                    let emit_part = move |bytes: &[u8]| emit(CallEvent::Output { is_error, bytes });
                    scope.spawn(move || pass_output(from, limit, &emit_part))
                };
                (read(out, false), read(err, true))
            });
            let stdin = long.map(|(bytes, (stdin, mut feed))| {
                // A failure is ignored, because the guest may end before it has read everything.
                scope.spawn(move || drop(feed.write_all(&bytes)));
                stdin
            });
            let is_read = readers.is_some();
            let inherited = InheritedStreams {
                stdin: stdin.as_ref().map_or(given.stdin, |stdin| stdin),
                stdout: if is_read { &out_end } else { given.stdout },
                stderr: if is_read { &err_end } else { given.stderr },
            };
            let result = self.run_locked(exec, Streams { inherited: Some(&inherited), ..streams });
            // A reader ends when the last writer is closed, and a writer when the last reader is.
            drop((stdin, out_end, err_end));
            let Some((stdout, stderr)) = readers else { return result };
            let (stdout, is_cut) = stdout.join().unwrap_or_default();
            let (stderr, is_cut_too) = stderr.join().unwrap_or_default();
            let outcome = result?;
            let truncated = outcome.truncated | is_cut | is_cut_too;
            Ok(Outcome { stdout, stderr, truncated, ..outcome })
        })
    }

    fn run_locked(&self, exec: Exec, streams: Streams<'_>) -> Result<Outcome, Error> {
        let mut inner = if streams.no_wait {
            self.0.try_lock().ok_or(Error::Busy)?
        } else {
            lock_mutex(&self.0.inner)
        };
        let Some(cancel) = streams.cancel else {
            return self.0.run_call(&mut inner, exec, streams.inherited);
        };
        if !cancel.begin_call() {
            return Err(Error::Cancelled);
        }
        let result = self.0.run_call(&mut inner, exec, streams.inherited);
        if cancel.end_call() && !is_interrupted(&result) {
            // The call ended by itself just then, so the interrupt must not hit the next one.
            self.0.forget_interrupt(&mut inner);
        }
        result
    }
}

/// Returns whether the call was ended by an interrupt, which cannot end another call then. The exit
/// code does not show this, because a guest may exit with 130 itself.
fn is_interrupted(result: &Result<Outcome, Error>) -> bool {
    matches!(result, Ok(outcome) if outcome.end == End::Interrupted)
}

/// Reads to the end, and passes the bytes to `tell`. Returns the first `limit` bytes, and whether
/// there were more.
fn pass_output(mut from: PipeReader, limit: u64, emit_part: &dyn Fn(&[u8])) -> (Vec<u8>, bool) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut kept, mut is_cut) = (Vec::new(), false);
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return (kept, is_cut),
            Ok(n) => {
                emit_part(&buffer[..n]);
                let room = limit.saturating_sub(kept.len()).min(n);
                kept.extend_from_slice(&buffer[..room]);
                is_cut |= room < n;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return (kept, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_guests_own_130_is_no_interrupt() {
        let ended = |end| is_interrupted(&Ok(Outcome::from_end(end)));
        assert!(ended(End::Interrupted));
        assert!(!ended(End::Exited(130)) && !ended(End::Signaled(2)));
        assert!(!is_interrupted(&Err(Error::Cancelled)));
    }

    #[test]
    fn output_is_passed_on_whole_and_kept_in_part() {
        let (from, mut to) = pipe().unwrap();
        let writer = std::thread::spawn(move || to.write_all(&[7; 100_000]).unwrap());
        let emitted = AtomicUsize::new(0);
        let count = |bytes: &[u8]| {
            emitted.fetch_add(bytes.len(), Ordering::Relaxed);
        };
        let (kept, is_cut) = pass_output(from, 1000, &count);
        writer.join().unwrap();
        assert_eq!((kept.len(), is_cut, emitted.into_inner()), (1000, true, 100_000));
    }
}
