//! `mcp` and `serve`.

use super::grants::GrantArgs;
use super::stored::{ImageArg, StoreArg};
use super::tools::SettingsArg;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

const MCP: &str = "\
Without --http the client is at standard input and output, and its session is that of --session: `main` of the
store, or one that is gone with the client. With --http each client has a session of its own, or the one that
its address names: http://ADDRESS/mcp?session=NAME. Anybody who can reach ADDRESS can use it: see `runner serve`
for tokens.

Examples:
  runner mcp --image image.webc
  runner mcp --image image.webc --store work.wbx --input data.csv
  runner mcp --image image.webc --http 127.0.0.1:8931 --read-only --mount project:/work";

// The options of everything that offers tools.
#[derive(Args)]
pub struct ToolArgs {
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub store: StoreArg,
    #[command(flatten)]
    pub grants: GrantArgs,
    #[command(flatten)]
    pub settings: SettingsArg,
    /// Offer only tools that change nothing
    #[arg(long)]
    pub read_only: bool,
    /// Offer only these tools, a list separated by commas; "small" stands for execute_python,
    /// read_file, sandbox_exec and write_file, without schemas of their answers
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// Time limit of calls that do not set one; at most the policy's
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub call_timeout: u32,
}

// The options of all doors.
#[derive(Args)]
pub struct DoorArgs {
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Also accept this name as the Host of requests, in addition to the address and localhost
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// An origin from which browsers may send requests, such as https://app.example.com:443
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
}

/// Serve sessions to a chat client by the Model Context Protocol
#[derive(Args)]
#[command(after_help = MCP)]
pub struct McpArgs {
    #[command(flatten)]
    pub door: DoorArgs,
    /// Serve by HTTP at this address, under the path /mcp
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// The session of the client at standard input
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub session: Option<String>,
    /// Mount the roots of the client at standard input below /roots
    #[arg(long, value_name = "ro|rw", value_enum, conflicts_with = "http")]
    pub roots: Option<RootsArg>,
    /// Let the client expose ports of its sessions at 127.0.0.1, for everybody on this machine
    #[arg(long, conflicts_with = "http")]
    pub expose_ports: bool,
}

/// How a client's roots are mounted.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum RootsArg {
    /// Read-only
    Ro,
    /// Read and write
    Rw,
}

const SERVE: &str = "\
/ is a page for people, /docs and /openapi.json tell of the interface, /mcp is the Model Context Protocol's,
/metrics Prometheus's. Requests to /v1, /mcp and /metrics have a token: `Authorization: Bearer TOKEN`.

The token file is TOML (docs/http.md):
  [[token]]
  name = \"alice\"
  sha256 = \"...\"                       # of the token; or token = \"...\", 16 characters at least
  scopes = [\"read\", \"write\", \"run\", \"manage\"]

SIGTERM and SIGINT let what runs come to its end; a second one does not wait.

Example:
  runner serve --image image.webc --listen 127.0.0.1:8930 --token-file tokens.toml --store work.wbx";

/// Serve sessions by HTTP
#[derive(Args)]
#[command(after_help = SERVE)]
pub struct ServeArgs {
    #[command(flatten)]
    pub door: DoorArgs,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8930")]
    pub listen: SocketAddr,
    /// Also serve E2B's interface at this address; its API keys are the tokens (docs/e2b.md)
    #[arg(long, value_name = "ADDRESS")]
    pub e2b: Option<SocketAddr>,
    /// Also serve ports of sessions at hosts of their own, such as 8000-NAME.HOST
    #[arg(long, value_name = "HOST")]
    pub ports_host: Option<String>,
    /// Tokens, and the sessions and tools that each may use
    #[arg(long, value_name = "FILE", required = true)]
    pub token_file: PathBuf,
    /// Maximum number of sessions that are awake at once
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub awake: usize,
    /// How long running calls may continue after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain: u32,
    /// How long after its last call a session is given up, so that other servers can open it
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub idle: f64,
    /// The least severity that is logged to standard error: error, warn, info, debug
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log: String,
}
