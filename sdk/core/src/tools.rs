//! Makes host tools from a description in JSON and a function that takes and returns JSON texts.

use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use wasibox::Refusal;
use wasibox::{HostTool, ToolContext, ToolDefinitionError, ToolError};

/// A tool's description.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolDescription {
    name: String,
    #[serde(default)]
    description: String,
    /// The schema of the arguments.
    schema: Value,
    /// The schema of the results.
    #[serde(default)]
    output: Option<Value>,
    /// The time limit of a call, in seconds.
    #[serde(default)]
    timeout: Option<f64>,
}

/// Creates a tool from a description and a blocking function. The function receives the arguments
/// as JSON, and returns a result as JSON or the reason for its failure.
///
/// # Errors
/// Returns an error for an invalid description.
pub fn host_tool(
    definition: &str,
    act: impl Fn(&str, &ToolContext) -> Result<String, String> + Send + Sync + 'static,
) -> Result<HostTool, Refusal> {
    let act = move |arguments: Value, context: &ToolContext| {
        tool_result(act(&arguments.to_string(), context))
    };
    describe_tool(definition, |name, description, schema| {
        HostTool::new_blocking(name, description, schema, act)
    })
}

/// Creates a tool from a function that returns a future, which is dropped when its call is
/// cancelled.
///
/// # Errors
/// The same as [`host_tool`].
pub fn async_tool<F, R>(definition: &str, act: F) -> Result<HostTool, Refusal>
where
    F: Fn(String) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, String>> + Send + 'static,
{
    let act = move |arguments: Value, _| {
        let acting = act(arguments.to_string());
        async { tool_result(acting.await) }
    };
    describe_tool(definition, |name, description, schema| {
        HostTool::new(name, description, schema, act)
    })
}

/// Parses the result that a tool's function has returned.
fn tool_result(given: Result<String, String>) -> Result<Value, ToolError> {
    serde_json::from_str(&given.map_err(ToolError::new)?)
        .map_err(|e| ToolError::new(format!("its result: {e}")))
}

/// Creates a tool from its description. `make` receives the name, the text and the schema of the
/// arguments.
fn describe_tool(
    definition: &str,
    make: impl FnOnce(String, String, Value) -> Result<HostTool, ToolDefinitionError>,
) -> Result<HostTool, Refusal> {
    let ToolDescription { name, description, schema, output, timeout } =
        serde_json::from_str(definition)?;
    let invalid = |e| Refusal::invalid_request(format!("host tool: {e}"));
    let mut tool = make(name, description, schema).map_err(invalid)?;
    if let Some(output) = output {
        tool = tool.with_output(output).map_err(invalid)?;
    }
    if let Some(seconds) = timeout {
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|t| !t.is_zero());
        let time = time.ok_or_else(|| {
            Refusal::invalid_request("host tool: timeout must be a positive number of seconds")
        })?;
        tool = tool.with_timeout(time);
    }
    Ok(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_tools() {
        let made = |definition: &str| {
            host_tool(definition, |_, _| Ok("1".into()))
                .map(|t| t.name().to_owned())
                .map_err(|e| e.text)
        };
        let definition =
            r#"{"name": "a", "schema": {}, "output": {"type": "integer"}, "timeout": 2}"#;
        assert_eq!(made(definition), Ok("a".into()));
        for (definition, why) in [
            ("{}", "name"),
            (r#"{"name": "a", "schema": {}, "time": 1}"#, "time"),
            (r#"{"name": "a b", "schema": {}}"#, "cannot be a tool's name"),
            (r#"{"name": "a", "schema": {"type": 7}}"#, "not an object"),
            (r#"{"name": "a", "schema": {}, "timeout": -1}"#, "a positive number"),
        ] {
            let said = made(definition).unwrap_err();
            assert!(said.contains(why), "{definition}: {said}");
        }
    }
}
