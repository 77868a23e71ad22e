//! `tools ...`

use super::door::ToolArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::sync::Arc;
use wasibox_providers::settings::SettingsStore;

const TOOLS: &str = "\
A tool that is switched off is not offered by `runner mcp`, `runner serve` and `runner chat`, also by those
that run. Tools that use servers of others (web_search, fetch_page, generate_image) are off by default, and
fetch_page also needs network rules (--allow). A policy file may leave tools out in spite of this
(docs/web-tools.md).

Examples:
  runner tools list
  runner tools set web_search provider=brave --key-from brave.key
  runner tools enable web_search
  runner tools test web_search 'tide tables'
  runner tools set web_search daily=";

const SET: &str = "\
NAME= with nothing after it sets the default. A key is not written on the command line, because other users
of the machine can see that: --key-from names a file, or - for standard input. It is encrypted (age) for an
identity in a file beside the settings, and is never shown. When the provider or the address changes, the
key is removed, because it was meant for another server.

Examples:
  runner tools set web_search provider=google engine=0123abc --key-from -
  runner tools set generate_image address=http://127.0.0.1:8080/v1 model=flux --key-from key.txt";

const TEST: &str = "\
Without INPUT an example is used. For web_search INPUT is the query, for fetch_page the address, for
generate_image the prompt; for other tools it is their arguments as JSON, and they run on an image. A request
counts like those of models, and may cost what the provider asks for.

Examples:
  runner tools test web_search
  runner tools test fetch_page https://example.com/
  runner tools test calculate --image image.webc '{\"expression\": \"2^10\"}'";

// The file of tools' settings.
#[derive(Args)]
pub struct SettingsArg {
    /// Which tools are on, and their settings (default ~/.config/wasibox/tools.toml)
    #[arg(long, value_name = "FILE", env = "WASIBOX_TOOL_SETTINGS", hide_env_values = true, value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub tool_settings: Option<PathBuf>,
}

impl SettingsArg {
    /// Returns the settings. Without a file and without a home directory there are none.
    pub fn store(&self) -> Arc<SettingsStore> {
        let path = self.tool_settings.clone().or_else(default_path);
        let path = path.filter(|path| !path.as_os_str().is_empty());
        Arc::new(path.map_or_else(SettingsStore::none, SettingsStore::new))
    }
}

fn default_path() -> Option<PathBuf> {
    let dir = |name| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let config = dir("XDG_CONFIG_HOME").or_else(|| Some(dir("HOME")?.join(".config")))?;
    Some(config.join("wasibox/tools.toml"))
}

/// Switch tools on and off, and change their settings
#[derive(Subcommand)]
#[command(after_help = TOOLS)]
pub enum ToolsCommand {
    /// List all tools with their state and settings
    List {
        #[command(flatten)]
        settings: SettingsArg,
        /// Print JSON, with the schemas of the settings
        #[arg(long)]
        json: bool,
    },
    /// Show a tool's settings with their meaning
    Show {
        #[command(flatten)]
        settings: SettingsArg,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The tool
        #[arg(value_name = "TOOL")]
        tool: String,
    },
    /// Switch tools on
    Enable {
        #[command(flatten)]
        settings: SettingsArg,
        /// The tools
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
    /// Switch tools off
    Disable {
        #[command(flatten)]
        settings: SettingsArg,
        /// The tools
        #[arg(value_name = "TOOL", required = true)]
        tools: Vec<String>,
    },
    /// Change a tool's settings: all of them, or none
    #[command(after_help = SET)]
    Set {
        #[command(flatten)]
        settings: SettingsArg,
        /// Read the key from this file, or from standard input with -
        #[arg(long, value_name = "FILE")]
        key_from: Option<PathBuf>,
        /// The tool
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The settings
        #[arg(value_name = "NAME=VALUE")]
        changes: Vec<String>,
    },
    /// Call a tool, as a model would
    #[command(after_help = TEST)]
    Test(Box<ToolsTestArgs>),
}

// The options of `tools test`.
#[derive(Args)]
pub struct ToolsTestArgs {
    #[command(flatten)]
    pub options: ToolArgs,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the picture of generate_image to this file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The tool
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// What to ask
    #[arg(value_name = "INPUT")]
    pub question: Option<String>,
}
