//! Servers of the Model Context Protocol as a source of host tools: the host is their client, and
//! guests call their tools like any other host tools ([`wasibox::tools`]).
//!
//! A call's future is a task of a runtime that all servers of a [`ToolServers`] share. Dropping the
//! future sends the server a cancellation of the request.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ContentBlock, Implementation,
    PaginatedRequestParams,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{Peer, RoleClient, ServiceExt};
use serde_json::Value;
use std::str::FromStr;
use std::time::Duration;
use tokio::process::Command;
use tokio::runtime::{Builder, Handle, Runtime};
use wasibox::{HostTool, ToolDefinitionError, ToolError};

/// The time limit for a server to start and to list its tools.
const BEGIN: Duration = Duration::from_secs(30);
/// The maximum number of tools of a server, and the maximum number of pages of their list.
const TOOLS: usize = 2000;
const PAGES: usize = 200;
/// The time limit for all servers to end.
const END: Duration = Duration::from_secs(5);

/// The reason why a server's tools are not available.
#[derive(Debug, thiserror::Error)]
pub enum ToolServerError {
    #[error(
        "'{0}' is not a source of tools: stdio:COMMAND, http://... or https://..., with NAME= before it or without"
    )]
    Source(String),
    #[error("{source_name}: {why}")]
    Connect { source_name: String, why: String },
    #[error("no runtime: {0}")]
    Runtime(std::io::Error),
    #[error(transparent)]
    Tool(#[from] ToolDefinitionError),
}

/// A server, as given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServer {
    /// The prefix of its tools' names, which a dot follows.
    prefix: Option<String>,
    kind: ServerKind,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ServerKind {
    /// A program with its arguments, which uses its standard streams.
    Stdio(Vec<String>),
    /// The address of a Streamable HTTP endpoint.
    Http(String),
}

impl FromStr for ToolServer {
    type Err = ToolServerError;

    fn from_str(text: &str) -> Result<ToolServer, ToolServerError> {
        let wrong = || ToolServerError::Source(text.to_owned());
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        let (prefix, rest) = match text.split_once('=') {
            Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest),
            _ => (None, text),
        };
        let kind = if let Some(command) = rest.strip_prefix("stdio:") {
            let words = shlex::split(command).filter(|words| !words.is_empty());
            ServerKind::Stdio(words.ok_or_else(wrong)?)
        } else if rest.starts_with("http://") || rest.starts_with("https://") {
            ServerKind::Http(rest.to_owned())
        } else {
            return Err(wrong());
        };
        Ok(ToolServer { prefix, kind, text: rest.to_owned() })
    }
}

type Service = RunningService<RoleClient, ClientConfig>;

/// The connected servers. Dropping this ends their programs, and their tools then fail.
pub struct ToolServers {
    runtime: Option<Runtime>,
    services: Vec<Service>,
    tools: Vec<HostTool>,
    left_out: Vec<String>,
}

impl ToolServers {
    /// Connects to servers and lists their tools. It blocks, so it must not be called on a thread
    /// of a runtime.
    ///
    /// # Errors
    /// Returns an error if a server does not answer, or if two tools have the same name.
    pub fn connect(servers: &[ToolServer]) -> Result<ToolServers, ToolServerError> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("tool servers").enable_all().build();
        let runtime = runtime.map_err(ToolServerError::Runtime)?;
        let mut all = ToolServers {
            runtime: None,
            services: Vec::new(),
            tools: Vec::new(),
            left_out: Vec::new(),
        };
        let handle = runtime.handle().clone();
        all.runtime = Some(runtime);
        for server in servers {
            let begun = async { tokio::time::timeout(BEGIN, begin_service(server)).await };
            let failed =
                |why: String| ToolServerError::Connect { source_name: server.text.clone(), why };
            let begun = handle.block_on(begun).map_err(|_| failed("it does not answer".into()))?;
            let (service, tools) = begun.map_err(failed)?;
            for tool in tools {
                match make_host_tool(server, service.peer(), &handle, &tool) {
                    Ok(tool) => all.tools.push(tool),
                    Err(e) => all.left_out.push(format!("{}: {e}", server.text)),
                }
            }
            all.services.push(service);
        }
        Ok(all)
    }

    /// Returns the tools of all servers.
    pub fn tools(&self) -> Vec<HostTool> {
        self.tools.clone()
    }

    /// Returns messages about the tools that cannot be offered.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

impl Drop for ToolServers {
    fn drop(&mut self) {
        let (Some(runtime), services) = (self.runtime.take(), std::mem::take(&mut self.services))
        else {
            return;
        };
        // A runtime must not be dropped on a thread of another one.
        let ending = std::thread::spawn(move || {
            let all = services.into_iter().map(Service::cancel);
            let all = async {
                for ended in all {
                    // A server whose task is gone has ended already.
                    let _ = ended.await;
                }
            };
            let _ = runtime.block_on(async { tokio::time::timeout(END, all).await });
            runtime.shutdown_timeout(Duration::from_secs(1));
        });
        let _ = ending.join();
    }
}

/// Sets the cryptography for TLS of the process's HTTP client (`reqwest`, built without a
/// provider), because the client panics if none is set. A provider that was set before stays.
pub fn name_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

async fn begin_service(server: &ToolServer) -> Result<(Service, Vec<rmcp::model::Tool>), String> {
    let mut client = ClientConfig::default();
    client.client_info = Implementation::new("wasibox", env!("CARGO_PKG_VERSION"));
    let service = match &server.kind {
        ServerKind::Stdio(words) => {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).kill_on_drop(true);
            let child =
                TokioChildProcess::new(command).map_err(|e| format!("{}: {e}", words[0]))?;
            client.serve(child).await.map_err(|e| e.to_string())?
        }
        ServerKind::Http(url) => {
            name_cryptography();
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let transport = StreamableHttpClientTransport::from_config(config);
            client.serve(transport).await.map_err(|e| e.to_string())?
        }
    };
    let tools = list_tools(service.peer()).await?;
    Ok((service, tools))
}

/// Lists a server's tools, page by page. Fails if there are too many tools or too many pages.
async fn list_tools(peer: &Peer<RoleClient>) -> Result<Vec<rmcp::model::Tool>, String> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(page)).await.map_err(|e| e.to_string())?;
        tools.extend(page.tools);
        if tools.len() > TOOLS {
            return Err(format!("it has more than {TOOLS} tools"));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("its list of tools has more than {PAGES} pages"))
}

/// Wraps a server's tool as a host tool.
fn make_host_tool(
    server: &ToolServer,
    peer: &Peer<RoleClient>,
    runtime: &Handle,
    tool: &rmcp::model::Tool,
) -> Result<HostTool, ToolDefinitionError> {
    let name = match &server.prefix {
        Some(prefix) => format!("{prefix}.{}", tool.name),
        None => tool.name.to_string(),
    };
    let (peer, theirs) = (peer.clone(), tool.name.clone());
    // A server that declares an output schema has to return structured content that fits it.
    let has_output = tool.output_schema.is_some();
    let _inside = runtime.enter();
    let description = tool.description.as_deref().unwrap_or_default();
    let schema = Value::Object((*tool.input_schema).clone());
    let made = wasibox::tokio::host_tool(name, description, schema, move |arguments, _| {
        let (peer, theirs) = (peer.clone(), theirs.clone());
        async move {
            let mut call = CallToolRequestParams::new(theirs);
            if let Value::Object(arguments) = arguments {
                call.arguments = Some(arguments);
            }
            // Dropping this sends the server a cancellation.
            tool_result(peer.call_tool(call).await, has_output)
        }
    })?;
    match &tool.output_schema {
        Some(schema) => made.with_output(Value::Object((**schema).clone())),
        None => Ok(made),
    }
}

/// Returns the result for the guest: the structured content, if there is one, otherwise a text or
/// the blocks of content.
fn tool_result(
    result: Result<CallToolResult, ServiceError>,
    has_output: bool,
) -> Result<Value, ToolError> {
    let result = match result {
        Ok(result) => result,
        Err(ServiceError::McpError(e)) => return Err(ToolError::new(e.message)),
        Err(e) => return Err(ToolError::new(format!("the tool's server: {e}"))),
    };
    let texts: Option<Vec<&str>> = result.content.iter().map(block_text).collect();
    if result.is_error == Some(true) {
        let said = texts.unwrap_or_default().join("\n");
        return Err(ToolError::new(if said.is_empty() {
            "the tool has failed".into()
        } else {
            said
        }));
    }
    match (result.structured_content, texts.as_deref()) {
        (Some(value), _) => Ok(value),
        (None, _) if has_output => {
            Err(ToolError::new("the tool's server gave no structured content"))
        }
        (None, Some([])) => Ok(Value::Null),
        (None, Some([text])) => Ok(Value::String((*text).to_owned())),
        (None, _) => Ok(serde_json::to_value(&result.content)?),
    }
}

fn block_text(block: &ContentBlock) -> Option<&str> {
    block.as_text().map(|text| text.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read() {
        let read = |text: &str| text.parse::<ToolServer>();
        let server = read("stdio:npx -y 'a b' \"c d\"").unwrap();
        let words = ["npx", "-y", "a b", "c d"].map(str::to_owned).to_vec();
        assert_eq!((server.prefix, server.kind), (None, ServerKind::Stdio(words)));
        let server = read("gh=https://example.com/mcp?a=b").unwrap();
        assert_eq!(server.prefix.as_deref(), Some("gh"));
        assert_eq!(server.kind, ServerKind::Http("https://example.com/mcp?a=b".into()));
        assert_eq!(read("https://example.com/mcp?a=b").unwrap().prefix, None);
        for text in ["", "stdio:", "stdio:'a", "ftp://x", "cat", "a b=stdio:x", "=stdio:x"] {
            assert!(read(text).unwrap_err().to_string().contains("not a source"), "{text}");
        }
    }

    /// A program whose list of tools continues on another page for ever.
    const ENDLESS: &str = r#"while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) result='"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}' ;;
    *tools/list*) result='"tools":[],"nextCursor":"again"' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":{%s}}\n' "$id" "$result"
done"#;

    #[test]
    fn a_list_of_tools_without_end_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("server.sh");
        std::fs::write(&script, ENDLESS).unwrap();
        let server = format!("stdio:sh {}", script.display()).parse().unwrap();
        let why = ToolServers::connect(&[server]).err().unwrap().to_string();
        assert!(why.contains("pages"), "{why}");
    }

    #[test]
    fn results_are_what_programs_can_use() {
        let of = |json: Value, has_output| {
            let parsed: CallToolResult = serde_json::from_value(json).unwrap();
            tool_result(Ok(parsed), has_output).map_err(|e| e.message().to_owned())
        };
        let text = |t: &str| serde_json::json!({"type": "text", "text": t});
        let json = |content: Vec<Value>| serde_json::json!({"content": content});
        assert_eq!(of(json(vec![text("hi")]), false), Ok("hi".into()));
        assert_eq!(of(json(vec![]), false), Ok(Value::Null));
        assert_eq!(of(json(vec![text("a"), text("b")]), false).unwrap()[1]["text"], "b");
        assert!(of(json(vec![text("hi")]), true).unwrap_err().contains("structured"));
        let both = serde_json::json!({"content": [text("x")], "structuredContent": {"n": 1}});
        assert_eq!(of(both, true), Ok(serde_json::json!({"n": 1})));
        let failed = serde_json::json!({"content": [text("no"), text("way")], "isError": true});
        assert_eq!(of(failed, false), Err("no\nway".into()));
    }
}
