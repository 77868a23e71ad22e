//! The transport over HTTP, as a service.

use crate::connections::{
    Connection, ConnectionOwner, ConnectionTable, ConnectionUse, LiveHandler,
};
use crate::server::{Bind, ConnectionState, McpServer};
use crate::tasks::TaskTable;
use futures_core::Stream;
use http::request::Parts;
use rmcp::ServerHandler;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, InitializeRequest,
    InitializedNotification, NumberOrString, ServerJsonRpcMessage,
};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::common::server_side_http::session_id;
use rmcp::transport::streamable_http_server::session::local::{
    EventIdParseError, LocalSessionHandle, LocalSessionWorker, SessionConfig, SessionError,
    StreamableHttpMessageReceiver, create_local_session,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::{
    SessionManager, StreamableHttpServerConfig, StreamableHttpService,
};
use rmcp::transport::{TransportAdapterIdentity, WorkerTransport};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wasibox_actions::Registry;

/// The HTTP service of the protocol.
pub type Streamable = StreamableHttpService<McpServer, ConnectionManager<McpServer>>;

/// The options of the service.
pub struct StreamableOptions {
    /// The connections, which the HTTP server sweeps.
    pub connections: Arc<ConnectionTable>,
    /// The maximum number of bytes of a request.
    pub body: usize,
    /// Ends all connections.
    pub end: CancellationToken,
}

/// Creates a service with a [`McpServer`] for each connection. The HTTP server around it must check
/// `Host` and `Origin`, as the protocol demands, and identify the owner of each connection: a
/// request has a [`ConnectionOwner`] in its extensions, and only the owner's requests reach a
/// connection.
pub fn streamable_service(
    registry: Arc<Registry>,
    bind: Bind,
    options: StreamableOptions,
) -> Streamable {
    let tasks = Arc::<TaskTable>::default();
    let make =
        move || McpServer::new(registry.clone(), bind.clone(), true).with_tasks(tasks.clone());
    handler_service(make, options)
}

/// Creates the same transport for another handler, for example that of the conformance suite's
/// fixtures.
pub fn handler_service<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    options: StreamableOptions,
) -> StreamableHttpService<H, ConnectionManager<H>> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(options.body)
        .with_cancellation_token(options.end.clone());
    let make: Arc<dyn Fn() -> H + Send + Sync> = Arc::new(make);
    let manager = ConnectionManager {
        table: options.connections,
        beginning: Mutex::default(),
        make: make.clone(),
        end: options.end,
    };
    StreamableHttpService::new(move || Ok(make()), Arc::new(manager), config)
}

/// The reason why a message cannot reach its connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("there is no such connection")]
    Missing,
    #[error("there are too many connections that are in use")]
    Full,
    #[error(transparent)]
    Transport(#[from] SessionError),
    #[error(transparent)]
    EventId(#[from] EventIdParseError),
}

/// The handlers of connections: one does the handshake and ends; another one starts with the first
/// message after it.
pub struct ConnectionManager<H> {
    table: Arc<ConnectionTable>,
    /// Handlers that do the handshake of a connection.
    beginning: Mutex<HashMap<SessionId, HandshakeHandler>>,
    make: Arc<dyn Fn() -> H + Send + Sync>,
    end: CancellationToken,
}

/// The handler of a handshake. Dropping it reports that it has ended.
struct HandshakeHandler {
    handle: LocalSessionHandle,
    ended: Option<oneshot::Receiver<()>>,
    _end: oneshot::Sender<()>,
}

impl<H: ServerHandler> ConnectionManager<H> {
    fn lock_beginning(&self) -> MutexGuard<'_, HashMap<SessionId, HandshakeHandler>> {
        self.beginning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &SessionId) -> Result<Arc<Connection>, ConnectionError> {
        self.table.find(id).ok_or(ConnectionError::Missing)
    }

    /// Returns a handle to the connection's handler, and starts a handler if there is none.
    async fn wake(&self, connection: &Arc<Connection>) -> Result<LocalSessionHandle, SessionError> {
        let mut live = connection.live.lock().await;
        if let Some(live) = &*live {
            return Ok(live.handle.clone());
        }
        let (handle, worker) = create_local_session(connection.id.clone(), transport_config());
        let (ready, is_ready) = oneshot::channel();
        let (handler, end) = ((self.make)(), self.end.child_token());
        let (of, mark) = (Arc::downgrade(connection), Arc::new(()));
        let own = mark.clone();
        tokio::spawn(async move {
            let transport = WorkerTransport::spawn(worker);
            let served =
                serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(handler, transport, end);
            if let Ok(service) = served.await {
                let _ = ready.send(());
                let _ = service.waiting().await;
            }
            // The next message starts another handler, if it has not started one already.
            if let Some(connection) = of.upgrade() {
                connection.live.lock().await.take_if(|live| Arc::ptr_eq(&live.mark, &own));
            }
        });
        let hello = InitializeRequest::new(connection.greeting());
        let mut hello = ClientJsonRpcMessage::request(
            ClientRequest::InitializeRequest(hello),
            NumberOrString::Number(0),
        );
        hello.insert_extension(connection.state.clone());
        handle.initialize(hello).await?;
        handle.push_message(initialized(), None).await?;
        is_ready.await.map_err(|_| SessionError::SessionServiceTerminated)?;
        Ok(live.insert(LiveHandler { handle, mark }).handle.clone())
    }
}

/// Returns the message that ends a handshake.
fn initialized() -> ClientJsonRpcMessage {
    let done = InitializedNotification::default();
    ClientJsonRpcMessage::notification(ClientNotification::InitializedNotification(done))
}

fn transport_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    // The table ends idle connections instead, because it knows which calls are running.
    config.keep_alive = None;
    config
}

impl<H: ServerHandler> SessionManager for ConnectionManager<H> {
    type Error = ConnectionError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), ConnectionError> {
        let id = session_id();
        let (handle, worker) = create_local_session(id.clone(), transport_config());
        let (end, ended) = oneshot::channel();
        let handler = HandshakeHandler { handle, ended: Some(ended), _end: end };
        self.lock_beginning().insert(id.clone(), handler);
        Ok((id, WorkerTransport::spawn(worker)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, ConnectionError> {
        let begun = self.lock_beginning().get_mut(id).map(|b| (b.handle.clone(), b.ended.take()));
        let Some((handle, Some(ended))) = begun else { return Err(ConnectionError::Missing) };
        let state = Arc::<ConnectionState>::default();
        message.insert_extension(state.clone());
        let owner = message_owner(&message);
        let greeting = match &message {
            ClientJsonRpcMessage::Request(it) => match &it.request {
                ClientRequest::InitializeRequest(hello) => Some(hello.params.clone()),
                _ => None,
            },
            _ => None,
        };
        let greeting = greeting.ok_or(ConnectionError::Missing)?;
        let response = handle.initialize(message).await?;
        if let ServerJsonRpcMessage::Response(_) = &response {
            // This handler has nothing more to do, and ends without an error.
            handle.push_message(initialized(), None).await?;
            handle.close().await?;
            let _ = ended.await;
            let connection = Connection::new(id.clone(), owner, &greeting, state);
            if !self.table.add(Arc::new(connection)) {
                return Err(ConnectionError::Full);
            }
        }
        Ok(response)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, ConnectionError> {
        Ok(self.table.find(id).is_some())
    }

    /// Ends a connection for its client, or notes that the handler of its handshake has ended.
    async fn close_session(&self, id: &SessionId) -> Result<(), ConnectionError> {
        if self.lock_beginning().remove(id).is_none() {
            self.table.remove(id);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, ConnectionError> {
        let connection = self.find(id)?;
        let used = ConnectionUse::begin(connection.clone());
        let handle = self.wake(&connection).await?;
        let receiver = handle.establish_request_wise_channel().await?;
        handle.push_message(message, receiver.http_request_id).await?;
        Ok(UsedStream::new(receiver, used))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), ConnectionError> {
        let connection = self.find(id)?;
        let _used = ConnectionUse::begin(connection.clone());
        if let ClientJsonRpcMessage::Notification(it) = &message
            && let ClientNotification::InitializedNotification(_) = &it.notification
        {
            // Each handler gets this notification when it starts.
            return Ok(());
        }
        Ok(self.wake(&connection).await?.push_message(message, None).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, ConnectionError> {
        let connection = self.find(id)?;
        let used = ConnectionUse::begin(connection.clone());
        let receiver = self.wake(&connection).await?.establish_common_channel().await?;
        Ok(UsedStream::new(receiver, used))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, ConnectionError> {
        let connection = self.find(id)?;
        let used = ConnectionUse::begin(connection.clone());
        let receiver = self.wake(&connection).await?.resume(last_event_id.parse()?).await?;
        Ok(UsedStream::new(receiver, used))
    }
}

fn message_owner(message: &ClientJsonRpcMessage) -> ConnectionOwner {
    let parts = match message {
        ClientJsonRpcMessage::Request(it) => it.request.extensions().get::<Parts>(),
        _ => None,
    };
    parts.and_then(|head| head.extensions.get::<ConnectionOwner>()).cloned().unwrap_or_default()
}

/// The events of a response. Its connection is in use until all are sent, or the client has gone.
struct UsedStream {
    events: Receiver<ServerSseMessage>,
    _used: ConnectionUse,
}

impl UsedStream {
    fn new(receiver: StreamableHttpMessageReceiver, used: ConnectionUse) -> UsedStream {
        UsedStream { events: receiver.inner, _used: used }
    }
}

impl Stream for UsedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        self.events.poll_recv(cx)
    }
}
