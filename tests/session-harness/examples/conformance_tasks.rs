//! Serves the fixtures that the protocol's conformance suite requires for tasks:
//! `conformance_tasks ADDRESS`. It uses the transport and the table of tasks of `runner mcp --http`.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wasibox_actions::{CallStop, ToolScope};
use wasibox_mcp::{StreamableOptions, TaskOwner, TaskTable, handler_service};

type Context = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

/// The session of all tasks.
const SESSION: &str = "fixtures";

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("usage: conformance_tasks ADDRESS");
    let options = StreamableOptions {
        connections: Arc::default(),
        body: 1 << 20,
        end: CancellationToken::new(),
    };
    let listener = tokio::net::TcpListener::bind(&address).await.expect("the address");
    let fixtures = TaskFixtures::default();
    let service = handler_service(move || fixtures.clone(), options);
    let app = axum::Router::new().route_service("/mcp", service);
    axum::serve(listener, app).await.expect("a server");
}

#[derive(Clone, Default)]
struct TaskFixtures {
    tasks: Arc<TaskTable>,
    /// Wakes running calls that were cancelled, by task.
    cancelled: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

fn tool(name: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "name": name, "description": "A fixture of the suite's.", "inputSchema": schema })
}

fn said(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

impl TaskFixtures {
    /// Begins a task that gives `done` after some time, or when it is cancelled.
    fn begin(&self, name: &str, time: Duration, done: Answer<CallToolResult>) -> CallToolResponse {
        let owner = TaskOwner { session: SESSION.into(), scope: ToolScope::Run };
        let task = self.tasks.begin(owner, name, &Arc::<CallStop>::default());
        let task = task.expect("room for a task");
        let cancelled = Arc::<Notify>::default();
        let mut all = self.cancelled.lock().expect("a lock");
        all.insert(task.task_id.clone(), cancelled.clone());
        let (tasks, id) = (self.tasks.clone(), task.task_id.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = cancelled.notified() => {}
            }
            tasks.end(&id, done);
        });
        CreateTaskResult::new(task).into()
    }
}

impl ServerHandler for TaskFixtures {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListToolsResult> {
        let all = [
            tool("greet", json!({ "name": { "type": "string" } })),
            tool("slow_compute", json!({ "seconds": { "type": "number" } })),
            tool("failing_job", json!({})),
            tool("protocol_error_job", json!({})),
        ];
        let listed = serde_json::from_value(json!({ "tools": all }));
        listed.map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let knows_tasks = context.client_capabilities().is_some_and(|caps| caps.supports_tasks());
        let second = Duration::from_secs(1);
        let (time, done) = match &*request.name {
            "greet" => {
                let name = arguments["name"].as_str().unwrap_or_default();
                return Ok(said(format!("Hello, {name}!")).into());
            }
            "slow_compute" => {
                let seconds = arguments["seconds"].as_f64().unwrap_or(1.0).clamp(0.0, 60.0);
                let time = Duration::from_secs_f64(seconds);
                (time, Ok(said(format!("computed for {seconds} s"))))
            }
            "failing_job" if !knows_tasks => {
                let needed = ClientCapabilities::builder().enable_tasks().build();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            "failing_job" => {
                (second, Ok(CallToolResult::error(vec![ContentBlock::text("it has failed")])))
            }
            "protocol_error_job" => (second, Err(ErrorData::internal_error("a fault", None))),
            name => return Err(ErrorData::invalid_params(format!("no tool '{name}'"), None)),
        };
        if knows_tasks && !time.is_zero() {
            return Ok(self.begin(&request.name, time, done));
        }
        tokio::time::sleep(time).await;
        done.map(CallToolResponse::from)
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Answer<GetTaskResult> {
        self.tasks.get(&request.task_id, SESSION, &ToolScope::ALL).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Answer<()> {
        self.tasks.get(&request.task_id, SESSION, &ToolScope::ALL).map(drop)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Answer<()> {
        self.tasks.cancel(&request.task_id, SESSION, &ToolScope::ALL)?;
        let all = self.cancelled.lock().expect("a lock");
        all.get(&request.task_id).into_iter().for_each(|cancelled| cancelled.notify_one());
        Ok(())
    }
}
