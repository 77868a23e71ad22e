//! Operations that other threads may perform while a session's call runs: ending the call,
//! connecting to a port.

use crate::worker::link;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wasibox_sandbox::ProcessSignals;
use wasibox_sandbox::expose::{self, LoopbackGate, OpenPort};
use wasibox_vfs::lock_mutex;

/// The time that a session may take to say whether a server listens at a port.
const CONNECT: Duration = Duration::from_secs(10);

/// The maximum bytes of a list of listening sockets.
const MAX_LIST: usize = expose::MAX_PORTS * (expose::MAX_COMMAND + 64);
const PART: usize = 16 << 10;

/// Writes the list of listening sockets to a stream, and closes it.
pub(crate) fn send_ports(gate: &LoopbackGate, mut stream: UnixStream) {
    // The reader may be gone.
    if let Ok(bytes) = postcard::to_stdvec(&gate.open_ports()) {
        let _ = stream.write_all(&bytes);
    }
}

/// A handle that ends a session's running call from another thread.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<InterruptTarget>>);

#[derive(Default)]
struct InterruptTarget {
    /// Whether an interrupt was requested while the session was asleep.
    is_due: bool,
    control: Option<SandboxControl>,
}

/// The control of a running sandbox, which ends its call and connects to its ports.
pub(crate) enum SandboxControl {
    Threads(wasibox_sandbox::SandboxInterrupt, LoopbackGate, ProcessSignals),
    Process(link::WorkerInterrupt),
}

impl SandboxControl {
    fn interrupt_call(&self) {
        match self {
            SandboxControl::Threads(i, ..) => i.interrupt(),
            SandboxControl::Process(i) => i.interrupt(),
        }
    }

    fn connect_port(&self, port: u16, stream: UnixStream) {
        match self {
            SandboxControl::Threads(_, doors, _) => doors.connect(port, stream),
            SandboxControl::Process(i) => i.connect(port, &stream),
        }
    }

    fn list_ports(&self, stream: UnixStream) {
        match self {
            // A list fits the stream's buffer, so nobody has to read it meanwhile.
            SandboxControl::Threads(_, doors, _) => send_ports(doors, stream),
            SandboxControl::Process(i) => i.list_ports(&stream),
        }
    }

    fn send_signal(&self, pid: u32, signal: u8) {
        match self {
            SandboxControl::Threads(.., signals) => drop(signals.send_signal(pid, signal)),
            SandboxControl::Process(i) => i.send_signal(pid, signal),
        }
    }
}

impl Interrupt {
    /// Ends the running call or, if there is none, the next one.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let interrupt = session.interrupter();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(std::time::Duration::from_secs(1));
    ///     interrupt.interrupt();
    /// });
    /// assert_eq!(session.exec("sleep 60")?.exit_code, 130);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn interrupt(&self) {
        let mut target = lock_mutex(&self.0);
        match &target.control {
            Some(control) => control.interrupt_call(),
            None => target.is_due = true,
        }
    }

    /// Connects to a port of the running sandbox; waits until it is known whether a server listens
    /// there.
    pub(crate) fn connect(&self, port: u16) -> std::io::Result<UnixStream> {
        let (mut mine, theirs) = UnixStream::pair()?;
        match &lock_mutex(&self.0).control {
            Some(control) => control.connect_port(port, theirs),
            None => return Err(std::io::ErrorKind::ConnectionRefused.into()),
        }
        // A busy worker answers nevertheless, because it has a thread for that; one that is gone
        // closes the stream.
        mine.set_read_timeout(Some(CONNECT))?;
        let mut said = [expose::REFUSED];
        match mine.read(&mut said) {
            Ok(_) if said == [expose::ACCEPTED] => {}
            Ok(_) => return Err(std::io::ErrorKind::ConnectionRefused.into()),
            Err(e) => return Err(e),
        }
        mine.set_read_timeout(None)?;
        Ok(mine)
    }

    /// Returns the listening sockets of the running sandbox; none if the session sleeps.
    pub(crate) fn open_ports(&self) -> std::io::Result<Vec<OpenPort>> {
        let (mut mine, theirs) = UnixStream::pair()?;
        // It is set here, because a worker's jail does not allow it.
        theirs.set_write_timeout(Some(CONNECT))?;
        match &lock_mutex(&self.0).control {
            Some(control) => control.list_ports(theirs),
            None => return Ok(Vec::new()),
        }
        let until = Instant::now() + CONNECT;
        let (mut bytes, mut part) = (Vec::new(), vec![0; PART]);
        while bytes.len() < MAX_LIST {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            mine.set_read_timeout(Some(left))?;
            match mine.read(&mut part)? {
                0 => break,
                n => bytes.extend_from_slice(&part[..n]),
            }
        }
        // A worker that is gone has closed the stream, and its ports.
        let mut all: Vec<OpenPort> = postcard::from_bytes(&bytes).unwrap_or_default();
        all.truncate(expose::MAX_PORTS);
        Ok(all)
    }

    /// Sends a signal to a process that runs beside calls, if the session is awake.
    pub(crate) fn send_signal(&self, pid: u32, signal: u8) {
        if let Some(control) = &lock_mutex(&self.0).control {
            control.send_signal(pid, signal);
        }
    }

    /// Forgets an interrupt that was requested while the session was asleep.
    pub(crate) fn forget(&self) {
        lock_mutex(&self.0).is_due = false;
    }

    /// Sets the control of the current sandbox, or `None`.
    pub(crate) fn set(&self, control: Option<SandboxControl>) {
        let mut target = lock_mutex(&self.0);
        if let Some(control) = &control
            && std::mem::take(&mut target.is_due)
        {
            control.interrupt_call();
        }
        target.control = control;
    }
}
