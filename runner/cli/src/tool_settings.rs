//! `runner tools ...`: which built-in tools are on, and their settings.

use crate::args::grants::GrantSettings;
use crate::args::tools::{SettingsArg, ToolsCommand, ToolsTestArgs};
use crate::message::{escape_text, json_shown, say_message};
use crate::{CliFailure, door, print_text, table};
use serde_json::{Map, Value, json};
use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;
use std::time::Instant;
use wasibox::Policy;
use wasibox_actions::{
    AnswerPart, CallStop, Client, ClientCall, TOOLS, ToolEntry, ToolSheet, ToolState, ToolTest,
    test_web_tool,
};
use wasibox_providers::settings::{FieldKind, SettingsError, SettingsStore, fields_of};
use wasibox_providers::{BridgePolicy, ProviderError, RequestStop, WebTools};

/// The maximum number of bytes of a file with a key.
const MAX_KEY: u64 = 4096;
/// The server of the page that a test fetches if none is named.
const PAGE: &str = "https://example.com/";
/// The arguments of tools that run on an image, if none are given.
const EXAMPLES: &[(&str, &str)] = &[
    ("calculate", r#"{"expression": "2 + 2"}"#),
    ("execute_code", r#"{"language": "python", "code": "2 + 2"}"#),
    ("execute_javascript", r#"{"code": "2 + 2"}"#),
    ("execute_python", r#"{"code": "2 + 2"}"#),
    ("sandbox_exec", r#"{"command": "echo $((2 + 2))"}"#),
];

/// Runs a command.
pub fn run(command: ToolsCommand) -> Result<u8, CliFailure> {
    match command {
        ToolsCommand::List { settings, json } => list_tools(&settings, json)?,
        ToolsCommand::Show { settings, json, tool } => show_tool(&settings, find(&tool)?, json)?,
        ToolsCommand::Enable { settings, tools } => switch_tools(&settings, &tools, true)?,
        ToolsCommand::Disable { settings, tools } => switch_tools(&settings, &tools, false)?,
        ToolsCommand::Set { settings, key_from, tool, changes } => {
            set_values(&settings, find(&tool)?, &changes, key_from.as_deref())?;
        }
        ToolsCommand::Test(args) => test_tool(&args)?,
    }
    Ok(0)
}

fn find(name: &str) -> Result<&'static ToolEntry, CliFailure> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    tool.ok_or_else(|| {
        CliFailure::usage(format!("there is no tool '{name}'; see runner tools list"))
    })
}

fn failure(error: SettingsError) -> CliFailure {
    match error {
        SettingsError::Unknown { .. } | SettingsError::Value { .. } => CliFailure::usage(error),
        SettingsError::Nowhere => {
            CliFailure::usage("there is no file for settings: name one with --tool-settings")
        }
        _ => CliFailure::new(125, error),
    }
}

fn provider_failure(error: ProviderError) -> CliFailure {
    match error {
        ProviderError::Settings(error) => failure(error),
        error => CliFailure::new(1, error),
    }
}

fn web_tools(settings: &SettingsArg, proxy: Option<String>) -> WebTools {
    WebTools::new(settings.store(), proxy)
}

fn list_tools(settings: &SettingsArg, is_json: bool) -> Result<(), CliFailure> {
    let web = web_tools(settings, None);
    if is_json {
        let all = TOOLS.iter().map(|tool| ToolSheet::new(tool, &web, None));
        let all = all.collect::<Result<Vec<_>, _>>().map_err(failure)?;
        return print_text(&json_shown(format!("{:#}\n", json!(all))));
    }
    let mut rows = Vec::new();
    for tool in TOOLS {
        let sheet = ToolSheet::new(tool, &web, None).map_err(failure)?;
        let (values, category) = (shown_values(&sheet), sheet.category.name());
        rows.push([tool.name, category, state_of(&sheet), &values].map(str::to_owned).to_vec());
    }
    print_text(&table::format_table(&["TOOL", "CATEGORY", "STATE", "SETTINGS"], &[], &rows))
}

fn state_of(sheet: &ToolSheet) -> &'static str {
    match (sheet.enabled, &sheet.problem) {
        (false, _) => "off",
        (true, None) => "on",
        (true, Some(_)) => "unready",
    }
}

/// Returns the values that are set, in one line.
fn shown_values(sheet: &ToolSheet) -> String {
    let shown = sheet.settings.iter().filter_map(|(name, value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(format!("{name}=***")),
        Value::String(text) => Some(format!("{name}={text}")),
        other => Some(format!("{name}={other}")),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn show_tool(settings: &SettingsArg, tool: &ToolEntry, is_json: bool) -> Result<(), CliFailure> {
    let web = web_tools(settings, None);
    let sheet = ToolSheet::new(tool, &web, None).map_err(failure)?;
    if is_json {
        return print_text(&json_shown(format!("{:#}\n", json!(sheet))));
    }
    let mut out = format!("{}: {}\nstate: {}\n", tool.name, tool.text, state_of(&sheet));
    if let Some(problem) = &sheet.problem {
        out += &format!("missing: {}\n", escape_text(problem));
    }
    let values = web.settings().values(tool.name).map_err(failure)?;
    let rows: Vec<Vec<String>> = fields_of(tool.name)
        .iter()
        .map(|field| {
            let own = values.own(field.name);
            let value = match (field.kind, own) {
                (FieldKind::Key, Some(_)) => "***".to_owned(),
                (_, Some(value)) => value,
                (_, None) => field.default.map_or("-".into(), |value| format!("({value})")),
            };
            vec![field.name.to_owned(), value, field.text.to_owned()]
        })
        .collect();
    if !rows.is_empty() {
        out += &table::format_table(&["SETTING", "VALUE", "MEANING"], &[], &rows);
    }
    print_text(&out)
}

fn switch_tools(settings: &SettingsArg, names: &[String], is_on: bool) -> Result<(), CliFailure> {
    let tools = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let web = web_tools(settings, None);
    for tool in tools {
        web.settings().enable(tool.name, is_on).map_err(failure)?;
        let sheet = ToolSheet::new(tool, &web, None).map_err(failure)?;
        if is_on && let Some(problem) = &sheet.problem {
            say_message(&format!("{} is on, and not offered yet: {problem}", tool.name));
        }
        if is_on && tool.name == "fetch_page" {
            say_message("fetch_page is offered where the policy allows requests (--allow)");
        }
    }
    Ok(())
}

fn set_values(
    settings: &SettingsArg,
    tool: &ToolEntry,
    changes: &[String],
    key_from: Option<&Path>,
) -> Result<(), CliFailure> {
    let mut all = Vec::new();
    for change in changes {
        let (name, value) = change
            .split_once('=')
            .ok_or_else(|| CliFailure::usage(format!("'{change}' is not NAME=VALUE")))?;
        let field = fields_of(tool.name).iter().find(|field| field.name == name);
        if field.is_some_and(|field| field.kind == FieldKind::Key) && !value.is_empty() {
            return Err(CliFailure::usage(
                "a key is not written on the command line, because others can see it there; \
                 use --key-from FILE, or --key-from - for standard input",
            ));
        }
        all.push((name.to_owned(), (!value.is_empty()).then(|| value.to_owned())));
    }
    if let Some(path) = key_from {
        all.push(("key".to_owned(), Some(read_key(path)?)));
    }
    if all.is_empty() {
        return Err(CliFailure::usage("a setting is missing, such as provider=brave"));
    }
    let report = settings.store().set(tool.name, &all).map_err(failure)?;
    if report.key_removed {
        say_message("the key was removed, because it was meant for another server; set it again");
    }
    Ok(())
}

fn read_key(path: &Path) -> Result<String, CliFailure> {
    let mut text = String::new();
    let failed = |e: std::io::Error| CliFailure::new(125, format!("{}: {e}", path.display()));
    if path == Path::new("-") {
        let mut input = std::io::stdin().lock().take(MAX_KEY);
        if std::io::stdin().is_terminal() {
            say_message("the key, which is not shown as it is typed:");
            let _hidden = HiddenInput::begin();
            input.read_line(&mut text).map_err(failed)?;
        } else {
            input.read_to_string(&mut text).map_err(failed)?;
        }
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MAX_KEY).read_to_string(&mut text).map_err(failed)?;
    }
    Ok(text.trim().to_owned())
}

/// A terminal that does not show what is typed, until this is dropped.
struct HiddenInput(Option<rustix::termios::Termios>);

impl HiddenInput {
    fn begin() -> HiddenInput {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let Ok(before) = tcgetattr(std::io::stdin()) else { return HiddenInput(None) };
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // If this fails, the key is shown to the person who types it.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &hidden);
        HiddenInput(Some(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

fn test_tool(args: &ToolsTestArgs) -> Result<(), CliFailure> {
    let tool = find(&args.tool)?;
    let begun = Instant::now();
    let (answer, text) = if tool.is_off { test_web(args, tool)? } else { test_image(args, tool)? };
    if args.json {
        return print_text(&json_shown(format!("{answer:#}\n")));
    }
    let took = begun.elapsed().as_secs_f64();
    print_text(&format!("{}\n", escape_lines(&text)))?;
    say_message(&format!("{} works; it took {took:.1} seconds", tool.name));
    Ok(())
}

/// Returns a text of others, so that a terminal does not obey it.
fn escape_lines(text: &str) -> String {
    text.trim_end().lines().map(escape_text).collect::<Vec<_>>().join("\n")
}

/// Calls a tool that uses a server of others; this needs no image.
fn test_web(args: &ToolsTestArgs, tool: &ToolEntry) -> Result<(Value, String), CliFailure> {
    let GrantSettings { policy, .. } = args.options.grants.grant_settings()?;
    let web = web_tools(&args.options.settings, policy.network.proxy.clone());
    let stop = RequestStop::default();
    let rules = page_policy(&policy, args)?;
    let tested = test_web_tool(&web, rules, tool.name, args.question.as_deref(), &stop);
    let ToolTest { answer, mut text, picture } = tested.map_err(provider_failure)?;
    if let (Some(picture), Some(path)) = (&picture, &args.output) {
        let failed = |e| CliFailure::new(125, format!("{}: {e}", path.display()));
        std::fs::write(path, picture).map_err(failed)?;
        text += &format!(", in {}", path.display());
    }
    Ok((answer, text))
}

/// Returns the rules for a page: those of the options, or without any a rule for its server.
fn page_policy(policy: &Policy, args: &ToolsTestArgs) -> Result<BridgePolicy, CliFailure> {
    let mut network = policy.network.clone();
    if network.allow.is_empty() {
        let url = args.question.as_deref().filter(|_| args.tool == "fetch_page").unwrap_or(PAGE);
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let scheme = url.split("://").next().unwrap_or_default();
        network.allow.push(format!("GET {scheme}://{}/", &rest[..end]));
    }
    wasibox::bridge_policy(&network).map_err(CliFailure::usage)
}

/// Calls a tool of sessions on the image.
fn test_image(args: &ToolsTestArgs, tool: &ToolEntry) -> Result<(Value, String), CliFailure> {
    let example = EXAMPLES.iter().find(|(name, _)| *name == tool.name).map(|(_, text)| *text);
    let input = args.question.as_deref().or(example).unwrap_or("{}");
    let arguments: Map<String, Value> = serde_json::from_str(input)
        .map_err(|e| CliFailure::usage(format!("the arguments are not a JSON object: {e}")))?;
    let (machine, registry, _servers) = door::open_machine(&args.options, 2)?;
    match registry.state_of(tool) {
        ToolState::On => {}
        ToolState::Off => {
            let text = format!("{} is off: runner tools enable {0}", tool.name);
            return Err(CliFailure::new(1, text));
        }
        ToolState::Excluded => {
            let text = format!("{} is left out by the policy or by --tools", tool.name);
            return Err(CliFailure::new(1, text));
        }
        ToolState::Unready => {
            return Err(CliFailure::new(1, format!("the image has no program for {}", tool.name)));
        }
    }
    let client = Client::new(machine.space()).map_err(|e| CliFailure::new(125, e))?;
    let call = ClientCall { client: &client, stop: &CallStop::default(), emit: None };
    let done = tool.run(arguments, &call).map_err(|e| CliFailure::new(1, e))?;
    let text: Vec<&str> = done
        .parts
        .iter()
        .filter_map(|part| match part {
            AnswerPart::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    Ok((done.answer.clone(), text.join("\n")))
}

/// Returns the tools that a list names and that the settings have off.
pub fn named_and_off<'a>(names: &'a [String], store: &SettingsStore) -> Vec<&'a str> {
    let is_off = |tool: &ToolEntry| {
        let said = store.is_enabled(tool.name).unwrap_or_default();
        !said.unwrap_or(!tool.is_off)
    };
    let named = names.iter().filter(|name| TOOLS.iter().any(|t| t.name == **name && is_off(t)));
    named.map(String::as_str).collect()
}
