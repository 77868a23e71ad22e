//! One client's connection.

use crate::content;
use crate::progress::ProgressSender;
use crate::resources::{self, ResourceChanges};
use crate::roots::{FOLDER, RootsMode};
use crate::tasks::{PATIENCE, TaskOwner, TaskTable};
use http::request::Parts;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::*;
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer};
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;
use wasibox_actions::{
    CallEvent, CallStop, Client, ClientCall, ListedTool, Refusal, RefusalKind, Registry,
    ToolResult, ToolScope,
};

/// The client that a connection acts for.
#[derive(Clone)]
pub struct ConnectionClient {
    pub client: Arc<Client>,
    /// The scopes of the tools that the client can see.
    pub scopes: Vec<ToolScope>,
    pub extent: BindExtent,
    /// Gets the CPU time of each call, if a token has a limit of it.
    pub spend_cpu: Option<SpendCpu>,
}

/// Counts CPU time for the owner of a client.
pub type SpendCpu = Arc<dyn Fn(Duration) + Send + Sync>;

/// The extent of a client's requests that have the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindExtent {
    /// All requests of a connection.
    Connection,
    /// One request, of a protocol version in which each request stands alone.
    Request,
}

/// Identifies the client that has sent a request, from the request's head where there is one.
pub type Bind =
    Arc<dyn Fn(Option<&Parts>, BindExtent) -> Result<ConnectionClient, Refusal> + Send + Sync>;

/// The state of a connection, which stays while the connection has no handler.
#[derive(Default)]
pub(crate) struct ConnectionState {
    bound: OnceLock<ConnectionClient>,
    subscribed: Mutex<HashSet<String>>,
    /// The number of running calls.
    running: AtomicUsize,
}

impl ConnectionState {
    /// Returns whether the connection's client has used a session.
    pub fn is_used(&self) -> bool {
        self.bound.get().is_some_and(|bound| bound.client.is_begun())
    }

    /// Returns whether a call runs.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire) > 0
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        // The client is dropped on a blocking thread, because this may remove its session, which
        // writes to a disk.
        if let (Some(bound), Ok(runtime)) =
            (self.bound.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn_blocking(move || drop(bound));
        }
    }
}

/// A call that counts as running until this is dropped.
struct RunningCall(Arc<ConnectionState>);

impl RunningCall {
    fn begin(state: &Arc<ConnectionState>) -> RunningCall {
        state.running.fetch_add(1, Ordering::AcqRel);
        RunningCall(state.clone())
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The protocol's handler for one connection.
pub struct McpServer {
    registry: Arc<Registry>,
    bind: Bind,
    /// The connection's state, set by the handshake. The state of an HTTP connection outlives the
    /// handler.
    state: OnceLock<Arc<ConnectionState>>,
    /// Whether all requests come over one connection. Over HTTP they do so only after a handshake.
    has_connection: bool,
    roots: RootsMode,
    /// The calls that outlast their requests.
    tasks: Arc<TaskTable>,
    /// Whether the client's roots have been asked for.
    rooted: AsyncMutex<bool>,
}

/// The time between two looks at a call that may become a task.
const CHECKED: Duration = Duration::from_millis(20);

/// A guard that stops a call when its client has disconnected.
struct StopOnDrop(Arc<CallStop>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

type Context = RequestContext<RoleServer>;

impl McpServer {
    /// Creates a connection that is not bound yet. With `is_http`, requests may come without a
    /// connection.
    pub fn new(registry: Arc<Registry>, bind: Bind, is_http: bool) -> McpServer {
        McpServer {
            registry,
            bind,
            state: OnceLock::new(),
            has_connection: !is_http,
            roots: RootsMode::default(),
            tasks: Arc::default(),
            rooted: AsyncMutex::default(),
        }
    }

    /// Returns the server with mounts for the client's roots in its sessions.
    #[must_use]
    pub fn with_roots(mut self, roots: RootsMode) -> McpServer {
        self.roots = roots;
        self
    }

    /// Returns the server with the table of tasks that it shares with other handlers.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Arc<TaskTable>) -> McpServer {
        self.tasks = tasks;
        self
    }

    /// Asks the client for its roots, once, before anything runs in its session.
    async fn root(&self, bound: &ConnectionClient, peer: &Peer<RoleServer>) {
        if self.roots == RootsMode::Refused {
            return;
        }
        let mut is_done = self.rooted.lock().await;
        let has = |info: Arc<InitializeRequestParams>| info.capabilities.roots.is_some();
        if *is_done || !peer.peer_info().is_some_and(has) {
            return;
        }
        *is_done = true;
        if let Some(mounts) = self.roots.asked(peer).await {
            let client = bound.client.clone();
            let _ = tokio::task::spawn_blocking(move || client.grant_mounts(mounts)).await;
        }
    }

    fn state(&self) -> &Arc<ConnectionState> {
        self.state.get_or_init(Arc::default)
    }

    /// Returns the extent of the handler's client. Over HTTP the state of a connection is set by
    /// its handshake, so a handler without a state has one request.
    fn extent(&self) -> BindExtent {
        if self.has_connection || self.state.get().is_some() {
            BindExtent::Connection
        } else {
            BindExtent::Request
        }
    }

    fn bound(&self, context: &Context) -> Result<&ConnectionClient, ErrorData> {
        let extent = self.extent();
        let bound = &self.state().bound;
        if let Some(bound) = bound.get() {
            return Ok(bound);
        }
        let head = context.extensions.get::<Parts>();
        let made = (self.bind)(head, extent).map_err(|e| protocol_error(&e))?;
        Ok(bound.get_or_init(|| made))
    }

    /// Returns the tools that this client may use.
    fn tools<'a>(&'a self, bound: &'a ConnectionClient) -> impl Iterator<Item = &'a ListedTool> {
        self.registry.tools().filter(|listed| {
            let lasts = bound.extent == BindExtent::Connection;
            bound.scopes.contains(&listed.tool.scope) && (lasts || listed.tool.name != SWITCH)
        })
    }

    /// Starts a blocking function for the client.
    async fn begin_job<T: Send + 'static>(
        &self,
        context: &Context,
        act: impl FnOnce(&Client, &CallStop) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<Job<T>, ErrorData> {
        let bound = self.bound(context)?;
        self.root(bound, &context.peer).await;
        let (client, spend_cpu) = (bound.client.clone(), bound.spend_cpu.clone());
        let running = RunningCall::begin(self.state());
        let stop = Arc::new(CallStop::default());
        let guard = StopOnDrop(stop.clone());
        // The HTTP server counts a request as running while its head exists.
        let head = context.extensions.get::<Parts>().cloned();
        let handle = tokio::task::spawn_blocking(move || {
            let _counted = (running, head);
            let done = act(&client, &stop);
            if let Some(spend_cpu) = spend_cpu {
                spend_cpu(stop.cpu_time());
            }
            done
        });
        Ok(Job { handle, guard })
    }

    /// Runs a blocking function for the client, as long as the client waits.
    async fn blocking<T: Send + 'static>(
        &self,
        context: &Context,
        act: impl FnOnce(&Client, &CallStop) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<Result<T, Refusal>, ErrorData> {
        self.begin_job(context, act).await?.wait(context).await
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let bound = self.bound(context)?;
        let Some(listed) = self.tools(bound).find(|t| t.tool.name == request.name) else {
            let text = format!("there is no tool '{}'", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let tool = listed.tool;
        let arguments = request.arguments.unwrap_or_default();
        let token = context.meta.get_progress_token();
        let progress = token.map(|token| ProgressSender::begin(context.peer.clone(), token));
        let owner = TaskOwner { session: bound.client.full_name(), scope: tool.scope };
        let begun = self.begin_job(context, move |client, stop| {
            let emit =
                progress.map(|progress| move |event: CallEvent<'_>| progress.send_event(event));
            let emit = emit.as_ref().map(|emit| emit as &(dyn Fn(CallEvent<'_>) + Sync));
            let _in =
                tracing::info_span!("tool", name = tool.name, session = client.name()).entered();
            tool.run(arguments, &ClientCall { client, stop, emit })
        });
        let mut job = begun.await?;
        let knows_tasks = context.client_capabilities().is_some_and(|caps| caps.supports_tasks());
        if knows_tasks && !job.is_done_within(PATIENCE, context).await {
            let task = self.tasks.begin(owner, tool.name, &job.guard.0);
            if let Some(task) = task {
                let (tasks, id) = (self.tasks.clone(), task.task_id.clone());
                let news = self.news(tool.scope, context);
                tokio::spawn(async move {
                    let done = job.finish().await;
                    let done = match done {
                        Ok(done) => Ok(result_of(done, news).await),
                        Err(error) => Err(error),
                    };
                    tasks.end(&id, done);
                });
                return Ok(CreateTaskResult::new(task).into());
            }
        }
        let done = job.wait(context).await?;
        Ok(result_of(done, self.news(tool.scope, context)).await.into())
    }

    /// Returns the way to notify the client of what a call with this scope changes, if it hears of
    /// changes.
    fn news(&self, scope: ToolScope, context: &Context) -> Option<News> {
        let hears = scope != ToolScope::Read && has_notifications(context);
        hears.then(|| News { state: self.state().clone(), peer: context.peer.clone() })
    }
}

/// Converts what a call has given, and notifies the client of changed results.
async fn result_of(done: Result<ToolResult, Refusal>, news: Option<News>) -> CallToolResult {
    match done {
        Ok(done) => {
            if let Some(news) = news {
                news.notify_changes(&done).await;
            }
            content::call_result(done)
        }
        Err(refusal) => content::refusal_result(&refusal),
    }
}

/// A blocking function that runs for a client, and is stopped when this is dropped.
struct Job<T> {
    handle: JoinHandle<Result<T, Refusal>>,
    guard: StopOnDrop,
}

impl<T> Job<T> {
    /// Waits for the end, and stops the function when the client cancels its request.
    async fn wait(mut self, context: &Context) -> Result<Result<T, Refusal>, ErrorData> {
        let joined = tokio::select! {
            biased;
            joined = &mut self.handle => joined,
            () = context.ct.cancelled() => {
                self.guard.0.stop();
                (&mut self.handle).await
            }
        };
        joined.map_err(ended)
    }

    /// Waits for the end, whatever the client does.
    async fn finish(mut self) -> Result<Result<T, Refusal>, ErrorData> {
        (&mut self.handle).await.map_err(ended)
    }

    /// Returns whether the function ends, or the client cancels its request, within some time.
    async fn is_done_within(&mut self, patience: Duration, context: &Context) -> bool {
        let until = Instant::now() + patience;
        while !self.handle.is_finished() {
            tokio::select! {
                () = context.ct.cancelled() => return true,
                () = tokio::time::sleep(CHECKED) => {}
            }
            if Instant::now() >= until {
                return self.handle.is_finished();
            }
        }
        true
    }
}

fn ended(_: tokio::task::JoinError) -> ErrorData {
    ErrorData::internal_error("the call has ended", None)
}

/// The way to notify a client.
struct News {
    state: Arc<ConnectionState>,
    peer: Peer<RoleServer>,
}

impl News {
    /// Notifies the client of results that a call has changed.
    async fn notify_changes(&self, done: &ToolResult) {
        let peer = &self.peer;
        let changes = ResourceChanges::of(&done.answer);
        let wanted: Vec<String> = {
            let all = self.state.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            changes.updated.into_iter().filter(|uri| all.contains(uri)).collect()
        };
        // A client that has disconnected is not notified.
        for uri in wanted {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
        if changes.is_list {
            let _ = peer.notify_resource_list_changed().await;
        }
    }
}

/// Returns whether the client hears of changes that it has not asked for. From 2026-07-28 on it
/// asks by `subscriptions/listen`, which this server does not have.
fn has_notifications(context: &Context) -> bool {
    context.meta.protocol_version().is_none_or(|version| version.has_initialize())
}

/// Converts a refusal of a request other than a tool call.
fn protocol_error(refusal: &Refusal) -> ErrorData {
    let text = refusal.text.clone();
    match refusal.kind {
        RefusalKind::Missing => ErrorData::resource_not_found(text, None),
        RefusalKind::Internal => ErrorData::internal_error(text, None),
        _ => ErrorData::invalid_params(text, None),
    }
}

fn missing_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("{uri}: no such resource"), Some(json!({ "uri": uri })))
}

/// Describes a tool, with the schema of its answer if `has_answer`.
fn describe_tool(listed: &ListedTool, has_answer: bool) -> Tool {
    let (tool, hints) = (listed.tool, listed.tool.hints);
    let mut made = Tool::new(tool.name, tool.text, listed.input.clone());
    made.title = Some(tool.title.to_owned());
    made.output_schema = has_answer.then(|| listed.output.clone());
    made.annotations = Some(
        ToolAnnotations::new()
            .read_only(hints.read_only)
            .destructive(hints.destructive)
            .idempotent(hints.idempotent)
            .open_world(hints.open_world),
    );
    made
}

/// The name of the prompt that describes the machine.
const PROMPT: &str = "machine";
/// The tool that switches to another session, which has an effect only on later requests of a
/// connection.
const SWITCH: &str = "use_session";
/// The time in milliseconds for which a client may keep a list of tools or prompts. They change
/// when the server starts again.
const LIST_KEPT: u64 = 300_000;

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tasks()
            .build();
        let mut instructions = self.registry.summary().to_owned();
        if self.roots != RootsMode::Refused {
            let how =
                if self.roots == RootsMode::Writable { "read and write" } else { "read-only" };
            instructions += &format!(" The client's folders are below {FOLDER}/ ({how}).");
        }
        let mut info = ServerConfig::new(capabilities).with_instructions(instructions);
        info.server_info =
            Implementation::new("wasibox", env!("CARGO_PKG_VERSION")).with_title("Wasibox");
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.bound(&context)?;
        let mut info = self.get_info();
        // These are notifications, which clients of these versions do not get.
        if let Some(resources) = &mut info.capabilities.resources {
            (resources.subscribe, resources.list_changed) = (None, None);
        }
        let versions = self.supported_protocol_versions().into_owned();
        let mut made = DiscoverResult::from_server_info(versions, info);
        made.ttl_ms = LIST_KEPT;
        Ok(made)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        if let Some(state) = context.extensions.get::<Arc<ConnectionState>>() {
            let _ = self.state.set(state.clone());
        }
        self.bound(&context)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        *self.rooted.lock().await = false;
        if let Some(bound) = self.state().bound.get() {
            self.root(bound, &context.peer).await;
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let bound = self.bound(&context)?;
        let has_answers = self.registry.describes_answers();
        let tools = self.tools(bound).map(|listed| describe_tool(listed, has_answers)).collect();
        let mut listed = ListToolsResult::with_all_items(tools);
        (listed.ttl_ms, listed.cache_scope) = (Some(LIST_KEPT), Some(CacheScope::Private));
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, &context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let bound = self.bound(&context)?;
        let found = self.tasks.get(&request.task_id, &bound.client.full_name(), &bound.scopes);
        found.map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        // No task asks for anything, and answers to other questions are ignored.
        let bound = self.bound(&context)?;
        let found = self.tasks.get(&request.task_id, &bound.client.full_name(), &bound.scopes);
        found.map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let bound = self.bound(&context)?;
        self.tasks.cancel(&request.task_id, &bound.client.full_name(), &bound.scopes)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.blocking(&context, |client, _| {
            if client.is_begun() {
                resources::list_results(&*client.session()?)
            } else {
                Ok(Vec::new())
            }
        });
        let files = listed.await?.map_err(|e| protocol_error(&e))?;
        let resources =
            files.into_iter().map(|(path, size)| content::file_resource(&path, None, size));
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(resources::TEMPLATE, "file")
            .with_title("A file of the sandbox, by its absolute path");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let missing = || missing_resource(&uri);
        let path = resources::uri_path(&uri).ok_or_else(missing)?;
        if !self.bound(&context)?.scopes.contains(&ToolScope::Read) {
            return Err(missing());
        }
        let read =
            self.blocking(&context, move |client, _| resources::read(&*client.session()?, &path));
        let (mime, data) = read.await?.map_err(|refusal| match refusal.kind {
            RefusalKind::Missing => missing(),
            _ => protocol_error(&refusal),
        })?;
        Ok(ReadResourceResult::new(vec![content::resource_contents(&uri, &mime, data)]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        /// The maximum number of addresses to which one client may subscribe, and the maximum
        /// number of bytes of an address.
        const MOST: usize = 1000;
        const LONGEST: usize = 4096;
        let mut all = self.state().subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        match resources::uri_path(&request.uri) {
            Some(_) if request.uri.len() > LONGEST => {
                Err(ErrorData::invalid_params("the address is too long", None))
            }
            Some(_) if all.len() < MOST => {
                all.insert(request.uri);
                Ok(())
            }
            Some(_) => Err(ErrorData::invalid_params("too many subscriptions", None)),
            None => Err(missing_resource(&request.uri)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        let mut all = self.state().subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let text = "What this machine is: commands, Python packages, network, limits";
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new(PROMPT, Some(text), None)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            let text = format!("there is no prompt '{}'", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        let text = self.registry.description().to_owned();
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}
