//! Ports of the host's loopback that lead to ports of a session.

use crate::session::{Session, SessionInner};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

const PART: usize = 64 << 10;
const STACK: usize = 256 << 10;
/// The pause after a connection that could not be accepted, because the process has no descriptors
/// left.
const PAUSE: Duration = Duration::from_millis(50);

/// A port of 127.0.0.1 that leads to a port of a session. Dropping it closes the port; connections go
/// on.
#[derive(Debug)]
pub struct ExposedPort {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl ExposedPort {
    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ExposedPort {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // A connection wakes the thread up. Without one it ends at the next one.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }
}

impl Session {
    /// Listens at a port of the host's 127.0.0.1, and joins each connection with one to a port of the
    /// session. A connection is closed if no program listens there. Host port 0 stands for any free
    /// port.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// let _server = session.spawn(Exec::new(["python3", "-m", "http.server", "8000"]))?;
    /// let exposed = session.expose(8000, 0).expect("a free port");
    /// println!("http://{}/", exposed.address());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the host's port is taken.
    pub fn expose(&self, port: u16, host_port: u16) -> std::io::Result<ExposedPort> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, host_port))?;
        let address = listener.local_addr()?;
        let is_over = Arc::<AtomicBool>::default();
        let (theirs, session) = (is_over.clone(), Arc::downgrade(&self.0));
        let serve = move || {
            for outside in listener.incoming() {
                if theirs.load(Ordering::Acquire) {
                    return;
                }
                match outside {
                    Ok(outside) => begin_connection(&session, port, outside),
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
        };
        port_thread().spawn(serve)?;
        Ok(ExposedPort { address, is_over })
    }
}

fn port_thread() -> std::thread::Builder {
    std::thread::Builder::new().name("wasibox-port".into()).stack_size(STACK)
}

fn begin_connection(session: &Weak<SessionInner>, port: u16, outside: TcpStream) {
    // A session that is gone has no ports.
    let Some(session) = session.upgrade().map(Session) else { return };
    // Without a thread the connection is closed.
    drop(port_thread().spawn(move || join_connection(session, port, outside)));
}

/// Copies bytes both ways until both sides have ended. The session itself is not kept for that.
fn join_connection(session: Session, port: u16, outside: TcpStream) {
    let connected = session.connect(port);
    drop(session);
    let Ok(inside) = connected else { return };
    let (Ok(from), Ok(to)) = (outside.try_clone(), inside.try_clone()) else { return };
    let inwards = move || {
        copy_stream(&from, &to);
        // The other side may have closed the connection already.
        let _ = to.shutdown(Shutdown::Write);
    };
    if port_thread().spawn(inwards).is_ok() {
        copy_stream(&inside, &outside);
        let _ = outside.shutdown(Shutdown::Write);
    }
}

fn copy_stream(mut from: impl Read, mut to: impl Write) {
    let mut part = vec![0; PART];
    loop {
        match from.read(&mut part) {
            Ok(0) => return,
            Ok(n) if to.write_all(&part[..n]).is_err() => return,
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
