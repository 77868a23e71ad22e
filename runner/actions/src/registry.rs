//! The tools that a server offers.

use crate::machine::Machine;
use crate::schema;
use crate::table::TOOLS;
use crate::tool::{ToolEntry, ToolScope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::sync::Arc;
use wasibox::Policy;

/// A name that no tool has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no tool '{0}'")]
pub struct UnknownTool(pub String);

/// A tool with its schemas.
pub struct ListedTool {
    pub tool: &'static ToolEntry,
    pub input: Arc<Map<String, Value>>,
    pub output: Arc<Map<String, Value>>,
}

/// The name that stands for [`FEW_TOOLS`] in a list of tools.
const FEW: &str = "small";
/// The tools that suffice for commands, Python and files. Their schemas take little of a model's
/// context.
const FEW_TOOLS: &[&str] = &["execute_python", "read_file", "sandbox_exec", "write_file"];

/// Whether a tool is offered, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// It is offered.
    On,
    /// The settings do not switch it on, or switch it off.
    Off,
    /// The policy or the command line leaves it out.
    Excluded,
    /// It is switched on but lacks something: programs of the image, network rules, a provider, a
    /// key.
    Unready,
}

impl ToolState {
    /// Returns the state's name.
    pub fn name(self) -> &'static str {
        match self {
            ToolState::On => "on",
            ToolState::Off => "off",
            ToolState::Excluded => "excluded",
            ToolState::Unready => "unready",
        }
    }
}

/// The tools of a server, by name, and their description. Which of them are on is looked up in the
/// settings each time, so that a change holds at once.
pub struct Registry {
    machine: Machine,
    /// All tools that the policy does not leave out.
    tools: Vec<ListedTool>,
    describes_answers: bool,
    summary: String,
    description: String,
}

/// Replaces the mark of a time limit's default by the machine's, in seconds.
fn with_default_timeout(mut input: Map<String, Value>, machine: &Machine) -> Map<String, Value> {
    let timeout = input.get_mut("properties").and_then(|all| all.get_mut("timeout"));
    if let Some(default) = timeout.and_then(|timeout| timeout.get_mut("default"))
        && default == schema::CALL_TIMEOUT
    {
        *default = machine.default_timeout().as_secs().into();
    }
    input
}

impl Registry {
    /// Creates the registry of the tools that the machine's policy selects.
    ///
    /// # Errors
    /// Returns an error if a name in the settings is not the name of a tool.
    pub fn new(machine: &Machine) -> Result<Registry, UnknownTool> {
        let settings = machine.tools();
        for name in settings.only.iter().flatten().chain(&settings.off) {
            if name != FEW && !TOOLS.iter().any(|t| t.name == name) {
                return Err(UnknownTool(name.clone()));
            }
        }
        let is_named = |names: &[String], tool: &ToolEntry| {
            names
                .iter()
                .any(|name| name == tool.name || name == FEW && FEW_TOOLS.contains(&tool.name))
        };
        let is_wanted = |t: &&ToolEntry| {
            (!settings.read_only || t.scope == ToolScope::Read)
                && !is_named(&settings.off, t)
                && settings.only.as_ref().is_none_or(|only| is_named(only, t))
        };
        let listed = |tool: &'static ToolEntry| ListedTool {
            tool,
            input: Arc::new(with_default_timeout(tool.input_schema(), machine)),
            output: Arc::new(tool.output_schema()),
        };
        let tools = TOOLS.iter().filter(is_wanted).map(listed).collect();
        let (summary, description) =
            (describe_machine(machine, false), describe_machine(machine, true));
        let describes_answers = !settings.only.iter().flatten().any(|name| name == FEW);
        let machine = machine.clone();
        Ok(Registry { machine, tools, describes_answers, summary, description })
    }

    /// Returns the tools that are offered.
    pub fn tools(&self) -> impl Iterator<Item = &ListedTool> {
        self.tools.iter().filter(|listed| self.is_on(listed.tool))
    }

    fn is_on(&self, tool: &ToolEntry) -> bool {
        is_enabled(&self.machine, tool) && (tool.is_there)(&self.machine)
    }

    /// Returns whether a tool is offered, and if not, why.
    pub fn state_of(&self, tool: &ToolEntry) -> ToolState {
        if !self.tools.iter().any(|listed| listed.tool.name == tool.name) {
            ToolState::Excluded
        } else if !is_enabled(&self.machine, tool) {
            ToolState::Off
        } else if !(tool.is_there)(&self.machine) {
            ToolState::Unready
        } else {
            ToolState::On
        }
    }

    /// Returns the machine of the tools.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns whether lists for models have the schemas of answers. They are left out with the
    /// few tools.
    pub fn describes_answers(&self) -> bool {
        self.describes_answers
    }

    /// Returns the tool of that name, if it is offered.
    pub fn get(&self, name: &str) -> Option<&ListedTool> {
        let found = self.tools.binary_search_by(|t| t.tool.name.cmp(name)).ok();
        found.map(|at| &self.tools[at]).filter(|listed| self.is_on(listed.tool))
    }

    /// Returns a short description of the machine for models: the contents of its image and the
    /// grants of its policy.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the same description with all commands.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// Returns whether the settings have a tool on. If the file has become malformed, a tool that is off
/// by default is off.
fn is_enabled(machine: &Machine, tool: &ToolEntry) -> bool {
    let said = machine.web_tools().settings().is_enabled(tool.name);
    said.unwrap_or_default().unwrap_or(!tool.is_off)
}

/// Components of the image that the description mentions.
const DISTRIBUTIONS: &[&str] = &[
    "cpython",
    "numpy",
    "pandas",
    "matplotlib",
    "pillow",
    "openpyxl",
    "sympy",
    "requests",
    "lxml",
    "beautifulsoup4",
    "scikit-learn",
    "scipy",
    "networkx",
];

/// Commands that the description mentions if the image has them.
const NOTABLE: &[&str] = &[
    "bash", "grep", "sed", "awk", "jq", "find", "xargs", "diff", "patch", "tar", "zip", "curl",
    "git", "sqlite3", "python3", "pip", "js", "node",
];

fn describe_machine(machine: &Machine, is_whole: bool) -> String {
    let image = machine.engine().image();
    let names: Vec<&str> = image.commands().iter().map(|c| c.name.as_str()).collect();
    let versions = &image.extra().versions;
    let has = |name: &str| names.contains(&name);
    let mut out = String::from(
        "A private Linux-like machine (WebAssembly, no root). You are in /home/user; \
         files in /output/ are results for the user.",
    );
    let listed: Vec<&str> = if is_whole {
        names.clone()
    } else {
        NOTABLE.iter().copied().filter(|name| has(name)).collect()
    };
    let _ = write!(out, " {} commands: {}.", names.len(), listed.join(" "));
    if has("python3") {
        let listed: Vec<String> = DISTRIBUTIONS
            .iter()
            .filter_map(|name| Some(format!("{name} {}", versions.get(*name)?)))
            .collect();
        let _ = write!(out, " Python: {}.", listed.join(", "));
    }
    out + &describe_policy(machine.policy())
}

/// Describes the grants of a policy.
fn describe_policy(policy: &Policy) -> String {
    let mut out = String::new();
    for m in &policy.mounts {
        let how = if m.writable { "read and write" } else { "read-only" };
        let _ = write!(out, " {} is the user's ({how}).", m.guest);
    }
    if let Some(w) = &policy.workspace {
        let _ = write!(out, " {} is the user's project.", w.guest);
    }
    match policy.network.allow.as_slice() {
        [] => out.push_str(" There is no network."),
        rules => {
            let _ = write!(out, " Requests are allowed to: {}.", rules.join("; "));
        }
    }
    let limits = &policy.limits;
    let _ = write!(
        out,
        " Limits: {} MiB of memory, {} MiB of files, {} processes.",
        limits.memory >> 20,
        limits.disk.bytes >> 20,
        limits.processes
    );
    out
}
