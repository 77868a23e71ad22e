//! A call whose output is passed on while it runs, and kept as well.

use crate::client::{CallEvent, CallStop};
use std::fs::File;
use std::io::{PipeReader, Read};
use wasibox::{Error, Exec, InheritedStreams, Outcome, Output, Session};

/// The maximum number of bytes that are passed on at once.
const PIECE: usize = 16 << 10;

/// Runs a command, passes its output on, and keeps `limit` bytes of each stream.
///
/// # Errors
/// The same as [`Session::exec_unless`].
pub fn exec_streaming(
    session: &Session,
    mut exec: Exec,
    stop: &CallStop,
    limit: u64,
    emit: &(dyn Fn(CallEvent<'_>) + Sync),
) -> Result<Outcome, Error> {
    exec.output = Output::Inherit;
    let nothing = File::open("/dev/null")?;
    let (out, to_out) = std::io::pipe()?;
    let (err, to_err) = std::io::pipe()?;
    std::thread::scope(|scope| {
        let read = |from, is_error| {
            move || pass_output(from, limit, &|bytes| emit(CallEvent::Output { is_error, bytes }))
        };
        let out = scope.spawn(read(out, false));
        let err = scope.spawn(read(err, true));
        let streams = InheritedStreams { stdin: &nothing, stdout: &to_out, stderr: &to_err };
        let result = stop.exec(session, exec, Some(&streams));
        // The readers reach the end when the last of these is closed.
        drop((to_out, to_err));
        let taken = |joined: std::thread::Result<(Vec<u8>, bool)>| joined.unwrap_or_default();
        let ((stdout, cut), (stderr, cut_too)) = (taken(out.join()), taken(err.join()));
        let mut outcome = result?;
        (outcome.stdout, outcome.stderr) = (stdout, stderr);
        outcome.truncated |= cut | cut_too;
        Ok(outcome)
    })
}

/// Reads to the end; returns the first bytes and whether there were more.
fn pass_output(mut from: PipeReader, limit: u64, emit: &dyn Fn(&[u8])) -> (Vec<u8>, bool) {
    let (mut kept, mut is_cut) = (Vec::new(), false);
    let mut piece = vec![0; PIECE];
    while let Ok(n @ 1..) = from.read(&mut piece) {
        emit(&piece[..n]);
        let room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..n.min(room)]);
        is_cut |= n > room;
    }
    (kept, is_cut)
}
