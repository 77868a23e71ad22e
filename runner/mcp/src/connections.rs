//! The connections of an HTTP server: a table for each owner, so that an owner with too many
//! connections ends only its own.
//!
//! A connection without requests takes a few hundred bytes. Its handler and its tasks begin with
//! the first request after the handshake, and end after some minutes without a request. The client
//! to which it is bound stays.

use crate::server::ConnectionState;
use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams, ProtocolVersion};
use rmcp::transport::streamable_http_server::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionHandle;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The owner of the connections that a request begins, and the maximum number that it may have. The
/// HTTP server puts it into the extensions of each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOwner {
    pub name: Arc<str>,
    pub most: usize,
}

impl Default for ConnectionOwner {
    fn default() -> ConnectionOwner {
        ConnectionOwner { name: "".into(), most: 1024 }
    }
}

/// The times after which a connection without a message ends or shrinks.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimes {
    /// The time after which the handler ends. The connection stays, and the next message starts
    /// another handler.
    pub parked: Duration,
    /// The time after which the connection ends if it has used no session.
    pub unused: Duration,
    /// The time after which the connection ends if it has used a session.
    pub idle: Duration,
}

impl Default for ConnectionTimes {
    fn default() -> ConnectionTimes {
        ConnectionTimes {
            parked: Duration::from_secs(120),
            unused: Duration::from_secs(600),
            idle: Duration::from_secs(3600),
        }
    }
}

/// The maximum number of bytes of a greeting that are kept.
const LONGEST_GREETING: usize = 1024;

/// The connections of all owners.
#[derive(Default)]
pub struct ConnectionTable {
    owners: Mutex<HashMap<Arc<str>, HashMap<SessionId, Arc<Connection>>>>,
    ids: Mutex<HashMap<SessionId, Arc<Connection>>>,
}

/// One connection.
pub(crate) struct Connection {
    pub id: SessionId,
    owner: ConnectionOwner,
    /// The request that began it, as JSON; empty if it was too long. The field `version` always has
    /// its version.
    greeting: Box<[u8]>,
    version: ProtocolVersion,
    pub state: Arc<ConnectionState>,
    /// Its handler, while there is one.
    pub live: tokio::sync::Mutex<Option<LiveHandler>>,
    used: Mutex<Instant>,
    /// Responses that are being sent.
    streams: AtomicUsize,
}

/// A running handler, and the handle through which it is reached.
pub(crate) struct LiveHandler {
    pub handle: LocalSessionHandle,
    /// A mark that no other handler has.
    pub mark: Arc<()>,
}

impl Connection {
    pub fn new(
        id: SessionId,
        owner: ConnectionOwner,
        greeting: &InitializeRequestParams,
        state: Arc<ConnectionState>,
    ) -> Connection {
        let version = greeting.protocol_version.clone();
        let greeting = serde_json::to_vec(greeting).unwrap_or_default();
        let is_short = greeting.len() <= LONGEST_GREETING;
        Connection {
            id,
            owner,
            greeting: if is_short { greeting.into() } else { Box::default() },
            version,
            state,
            live: tokio::sync::Mutex::new(None),
            used: Mutex::new(Instant::now()),
            streams: AtomicUsize::new(0),
        }
    }

    /// Returns the request that began it; without capabilities if it was too long to be kept.
    pub fn greeting(&self) -> InitializeRequestParams {
        serde_json::from_slice(&self.greeting).unwrap_or_else(|_| {
            let client = Implementation::new("client", "");
            InitializeRequestParams::new(ClientCapabilities::default(), client)
                .with_protocol_version(self.version.clone())
        })
    }

    pub fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a call runs or a response is being sent.
    fn is_busy(&self) -> bool {
        self.streams.load(Ordering::Acquire) > 0 || self.state.is_running()
    }

    /// Ends its handler, without waiting.
    fn close(self: &Arc<Connection>) {
        let connection = self.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Some(live) = connection.live.lock().await.take() {
                // A failure is ignored, because the handler may have ended by itself.
                let _ = live.handle.close().await;
            }
        });
    }
}

/// A response that is being sent; its connection counts as used until it is dropped.
pub(crate) struct ConnectionUse(Arc<Connection>);

impl ConnectionUse {
    pub fn begin(connection: Arc<Connection>) -> ConnectionUse {
        connection.streams.fetch_add(1, Ordering::AcqRel);
        connection.touch();
        ConnectionUse(connection)
    }
}

impl Drop for ConnectionUse {
    fn drop(&mut self) {
        self.0.touch();
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ConnectionTable {
    /// Returns the number of connections.
    pub fn len(&self) -> usize {
        self.lock_ids().len()
    }

    /// Returns whether there is no connection.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the connection is the owner's. It counts as used now.
    pub fn owns_connection(&self, owner: &str, id: &str) -> bool {
        let found = self.find(id).filter(|c| &*c.owner.name == owner);
        found.inspect(|c| c.touch()).is_some()
    }

    /// Returns whether the owner can begin another connection: there is room, or one of its own
    /// that is not in use can make room.
    pub fn has_room(&self, owner: &ConnectionOwner) -> bool {
        let owners = self.lock_owners();
        let own = owners.get(&owner.name);
        own.is_none_or(|own| own.len() < owner.most || own.values().any(|c| !c.is_busy()))
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Connection>> {
        self.lock_ids().get(id).cloned()
    }

    /// Adds a connection; returns false if the owner has too many that are in use. Otherwise, if
    /// there is no room, one of the owner's connections ends: preferably one that has used no
    /// session, and of several such connections the least recently used one.
    pub(crate) fn add(&self, connection: Arc<Connection>) -> bool {
        let owner = connection.owner.clone();
        let mut owners = self.lock_owners();
        let own = owners.entry(owner.name).or_default();
        let mut ended = Vec::new();
        while own.len() >= owner.most {
            let idle = own.values().filter(|c| !c.is_busy());
            let Some(oldest) = idle.min_by_key(|c| (c.state.is_used(), c.last_used())).cloned()
            else {
                return false;
            };
            own.remove(&oldest.id);
            self.lock_ids().remove(&oldest.id);
            ended.push(oldest);
        }
        self.lock_ids().insert(connection.id.clone(), connection.clone());
        own.insert(connection.id.clone(), connection);
        drop(owners);
        ended.iter().for_each(Connection::close);
        true
    }

    pub(crate) fn remove(&self, id: &str) {
        let Some(connection) = self.lock_ids().remove(id) else { return };
        let mut owners = self.lock_owners();
        if let Some(own) = owners.get_mut(&connection.owner.name) {
            own.remove(id);
            if own.is_empty() {
                owners.remove(&connection.owner.name);
            }
        }
        drop(owners);
        connection.close();
    }

    /// Ends the connections, or only their handlers, that were not used for these times.
    pub fn sweep(&self, times: &ConnectionTimes) {
        let all: Vec<Arc<Connection>> = self.lock_ids().values().cloned().collect();
        for connection in all.into_iter().filter(|c| !c.is_busy()) {
            let idle = connection.last_used().elapsed();
            let most = if connection.state.is_used() { times.idle } else { times.unused };
            if idle >= most {
                self.remove(&connection.id);
            } else if idle >= times.parked {
                connection.close();
            }
        }
    }

    fn lock_owners(
        &self,
    ) -> MutexGuard<'_, HashMap<Arc<str>, HashMap<SessionId, Arc<Connection>>>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_ids(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Connection>>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(table: &ConnectionTable, owner: &str, most: usize, id: &str) -> bool {
        let owner = ConnectionOwner { name: owner.into(), most };
        let greeting = InitializeRequestParams::default();
        table.add(Arc::new(Connection::new(id.into(), owner, &greeting, Arc::default())))
    }

    #[test]
    fn a_flood_ends_its_owners_connections_only() {
        let table = ConnectionTable::default();
        assert!(begin(&table, "b", 4, "b0"));
        for n in 0..30_000 {
            assert!(begin(&table, "a", 4, &format!("a{n}")));
        }
        assert_eq!(table.len(), 5);
        assert!(table.owns_connection("b", "b0") && table.owns_connection("a", "a29999"));
        assert!(!table.owns_connection("a", "b0") && !table.owns_connection("a", "a29995"));
        table.remove("b0");
        assert!(!table.owns_connection("b", "b0"));
    }

    #[test]
    fn connections_in_use_stay() {
        let table = ConnectionTable::default();
        begin(&table, "a", 2, "1");
        begin(&table, "a", 2, "2");
        let first = ConnectionUse::begin(table.find("1").unwrap());
        assert!(begin(&table, "a", 2, "3"));
        assert!(table.find("1").is_some() && table.find("2").is_none());
        let third = ConnectionUse::begin(table.find("3").unwrap());
        let owner = ConnectionOwner { name: "a".into(), most: 2 };
        assert!(!table.has_room(&owner) && !begin(&table, "a", 2, "4"));
        let none = ConnectionTimes {
            parked: Duration::ZERO,
            unused: Duration::ZERO,
            idle: Duration::from_secs(9),
        };
        table.sweep(&none);
        assert_eq!(table.len(), 2);
        drop((first, third));
        assert!(table.has_room(&owner));
        table.sweep(&none);
        assert!(table.is_empty());
    }
}
