//! The tools that a server offers.

use crate::describe::MachineDescription;
use crate::machine::Machine;
use crate::schema;
use crate::table::TOOLS;
use crate::tool::{ToolEntry, ToolScope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use wasibox::ImageError;

/// The reason why there is no registry.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A name that no tool has.
    #[error("tools: there is no tool '{0}'")]
    UnknownTool(String),
    #[error(transparent)]
    Image(#[from] ImageError),
}

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

/// Describes the machine with the functions of the host that its sessions have.
fn describe_machine(machine: &Machine) -> Result<MachineDescription, ImageError> {
    let policy = machine.policy();
    let tools = machine.engine().tools();
    let names = tools.iter().map(|tool| tool.name().to_owned());
    Ok(MachineDescription::new(machine.engine().image(), policy)?
        .with_default_timeout(machine.default_timeout())
        .with_host_tools(names.filter(|name| policy.host_tools.allows(name)).collect()))
}

impl Registry {
    /// Creates the registry of the tools that the machine's policy selects.
    ///
    /// # Errors
    /// Returns an error if a name in the settings is not the name of a tool, or if the image is damaged.
    pub fn new(machine: &Machine) -> Result<Registry, RegistryError> {
        let settings = machine.tools();
        for name in settings.only.iter().flatten().chain(&settings.off) {
            if name != FEW && !TOOLS.iter().any(|t| t.name == name) {
                return Err(RegistryError::UnknownTool(name.clone()));
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
        let description = describe_machine(machine)?;
        let (summary, description) = (description.summary(), description.prompt());
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

    /// Returns a longer description, with all commands and the versions of packages.
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
