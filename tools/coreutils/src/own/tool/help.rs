//! Help texts that are generated from schemas.

use super::arguments::Types;
use super::host::HostToolInfo;
use box_applet::help::{HelpPage, HelpSection, words};
use serde_json::Value;
use std::fmt::Write;

/// The maximum width of the column of names.
const NAMES: usize = 30;

/// Returns a line for each tool: its name and the first line of its description.
pub(super) fn tools_table(tools: &[HostToolInfo]) -> String {
    let width = tools.iter().map(|t| t.name().len()).max().unwrap_or(0).min(NAMES);
    let mut out = String::new();
    for tool in tools {
        let first = tool.description().lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let line = format!("{:width$}  {}", tool.name(), printable_text(first));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Returns the text of `tool NAME --help`.
pub(super) fn tool_help(command: &str, tool: &HostToolInfo) -> String {
    let schema = tool.schema();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut usage = tool.name().to_string();
    for name in &required {
        let _ = write!(usage, " --{} {}", option_name(name), placeholder(name));
    }
    let all = schema["properties"].as_object();
    if all.is_some_and(|all| all.len() > required.len()) {
        usage.push_str(" [OPTION]...");
    }
    let _ = write!(usage, "\n{} JSON | -", tool.name());
    let rows = all.into_iter().flatten().map(|(name, about)| {
        let right = right_cell(about, required.contains(&name.as_str()));
        (left_cell(schema, name, about), right)
    });
    let rows: Vec<_> = rows.chain([("      --help".into(), words::HELP.into())]).collect();
    let rows: Vec<_> = rows.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
    let result = tool.definition.get("outputSchema").map(|result| {
        let types = Types::from_schema(result, result).type_words();
        let name = tool.name();
        format!("The result is of type {types}: '{command} --json {name}' has its schema.")
    });
    HelpPage::new(
        &usage,
        &printable_text(tool.description().trim()),
        &[HelpSection::new("Options", &rows)],
    )
    .without_common_options()
    .with_notes(&result.unwrap_or_default())
    .text(command)
}

fn option_name(name: &str) -> String {
    printable_text(name).replace('_', "-")
}

fn placeholder(name: &str) -> String {
    printable_text(name).to_uppercase()
}

fn left_cell(schema: &Value, name: &str, about: &Value) -> String {
    let types = Types::from_schema(schema, about).type_words();
    match types.as_str() {
        "boolean" => format!("      --[no-]{}", option_name(name)),
        types => format!("      --{}={types}", option_name(name)),
    }
}

fn right_cell(about: &Value, is_required: bool) -> String {
    let text = about["description"].as_str().unwrap_or_default();
    let mut said = vec![printable_text(&text.split_whitespace().collect::<Vec<_>>().join(" "))];
    if let Some(values) = about["enum"].as_array() {
        let values: Vec<_> = values.iter().map(plain_value).collect();
        said.push(format!("(one of {})", values.join(", ")));
    }
    if let Some(value) = about.get("default") {
        said.push(format!("(default {})", plain_value(value)));
    }
    if is_required {
        said.push("(required)".into());
    }
    said.retain(|s| !s.is_empty());
    said.join(" ")
}

fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => printable_text(text),
        other => other.to_string(),
    }
}

/// Returns a text without control characters other than newlines, because a terminal would
/// interpret them.
fn printable_text(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn help_is_made_of_the_schema() {
        let definition = json!({
            "name": "weather",
            "description": "The weather of a city.\u{1b}[31m\nIn degrees.",
            "inputSchema": {
                "properties": {
                    "city": {"type": "string", "description": "its\n   name"},
                    "max_days": {"type": "integer", "default": 3},
                    "metric": {"type": "boolean"},
                    "unit": {"enum": ["C", "F"]},
                },
                "required": ["city"],
            },
        });
        let tool = HostToolInfo { definition };
        let expected = "\
Usage: tool weather --city CITY [OPTION]...
   or: tool weather JSON | -

The weather of a city.[31m
In degrees.

Options:
      --city=string      its name (required)
      --max-days=number  (default 3)
      --[no-]metric
      --unit=string      (one of C, F)
      --help             Show this help
";
        assert_eq!(tool_help("tool", &tool), expected);
        assert_eq!(tools_table(&[tool]), "weather  The weather of a city.[31m\n");
    }
}
