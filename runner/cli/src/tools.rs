//! Host tools from servers of the Model Context Protocol: `--tools-from`.

use crate::{CliFailure, message};
use wasibox::Engine;
use wasibox_mcp::{ToolServer, ToolServers};

/// Connects to servers and adds their tools to the engine's sessions, for as long as the returned
/// value exists.
///
/// # Errors
/// The same as [`connect`].
pub fn connect_servers(
    engine: &Engine,
    from: &[String],
) -> Result<Option<ToolServers>, CliFailure> {
    let servers = connect(from)?;
    if let Some(servers) = &servers {
        engine.set_tools(servers.tools())?;
    }
    Ok(servers)
}

/// Connects to servers, if there are some.
///
/// # Errors
/// If a source is malformed, or a server does not answer.
pub fn connect(from: &[String]) -> Result<Option<ToolServers>, CliFailure> {
    if from.is_empty() {
        return Ok(None);
    }
    let parse = |text: &String| text.parse::<ToolServer>();
    let servers = from.iter().map(parse).collect::<Result<Vec<_>, _>>();
    let servers = servers.map_err(|e| CliFailure::usage(format!("--tools-from: {e}")))?;
    let servers = ToolServers::connect(&servers).map_err(|e| CliFailure::new(125, e))?;
    for what in servers.left_out() {
        message::say_message(&format!("a tool is left out: {what}"));
    }
    Ok(Some(servers))
}
