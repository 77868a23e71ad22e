//! The requests of `tool` to the host, through a device node.

use box_sys::tools::{TOOLS, ToolFailure, ToolsAnswer, ToolsRequest};
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Write};

/// The reason why there is no result from the host.
pub(super) enum ToolCallFailure {
    /// The session has no host tools.
    Nowhere,
    /// The device node cannot be used, or its answer is malformed.
    Node(io::Error),
    /// A failure that the host reports, with its message.
    Host(ToolFailure, Vec<u8>),
}

impl From<io::Error> for ToolCallFailure {
    fn from(e: io::Error) -> ToolCallFailure {
        ToolCallFailure::Node(e)
    }
}

/// A tool as the host describes it.
pub(super) struct HostToolInfo {
    pub definition: Value,
}

impl HostToolInfo {
    /// Returns the tool's name.
    pub fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    /// Returns the host's description of the tool.
    pub fn description(&self) -> &str {
        self.definition["description"].as_str().unwrap_or_default()
    }

    /// Returns the JSON Schema of the tool's arguments.
    pub fn schema(&self) -> &Value {
        &self.definition["inputSchema"]
    }
}

fn nonsense_failure() -> ToolCallFailure {
    ToolCallFailure::Node(io::ErrorKind::InvalidData.into())
}

fn open_node() -> Result<File, ToolCallFailure> {
    File::options().read(true).write(true).open(TOOLS).map_err(|_| ToolCallFailure::Nowhere)
}

fn ask_host(node: &mut File, request: &ToolsRequest<'_>) -> Result<ToolsAnswer, ToolCallFailure> {
    node.write_all(&request.encode())?;
    let mut answer = Vec::new();
    node.read_to_end(&mut answer)?;
    match ToolsAnswer::decode(&answer) {
        Some(ToolsAnswer::Failed(kind, why)) => Err(ToolCallFailure::Host(kind, why)),
        Some(answer) => Ok(answer),
        None => Err(nonsense_failure()),
    }
}

/// Returns the host's list of all tools.
pub(super) fn list_tools() -> Result<Vec<HostToolInfo>, ToolCallFailure> {
    let (mut node, mut all) = (open_node()?, Vec::new());
    loop {
        let from = all.len() as u32;
        let ToolsAnswer::Tools { tools, more } = ask_host(&mut node, &ToolsRequest::List { from })?
        else {
            return Err(nonsense_failure());
        };
        let is_last = !more || tools.is_empty();
        for tool in tools {
            let definition = serde_json::from_slice(&tool).map_err(|_| nonsense_failure())?;
            all.push(HostToolInfo { definition });
        }
        if is_last {
            return Ok(all);
        }
    }
}

/// Calls a tool; returns its result as JSON.
pub(super) fn call_tool(name: &[u8], arguments: &[u8]) -> Result<Vec<u8>, ToolCallFailure> {
    let mut node = open_node()?;
    let mut request = ToolsRequest::Call { name, arguments };
    let mut result = Vec::new();
    loop {
        let ToolsAnswer::Value { call, len, bytes } = ask_host(&mut node, &request)? else {
            return Err(nonsense_failure());
        };
        let is_last = bytes.is_empty();
        result.extend(bytes);
        if is_last || result.len() as u64 >= len {
            return Ok(result);
        }
        request = ToolsRequest::More { call, from: result.len() as u64 };
    }
}
