//! `runner mcp` and `runner serve`: sessions for other programs.

use crate::CliFailure;
use crate::args::door::{DoorArgs, McpArgs, RootsArg, ServeArgs};
use crate::args::grants::GrantSettings;
use crate::progress::compile_progress;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wasibox::{Engine, EngineOptions, PoolOptions};
use wasibox_actions::{Client, Machine, MachineOptions, Registry};
use wasibox_http::{BesideDoor, Door, LogLevel, Serve, Tokens};
use wasibox_mcp::{RootsMode, ToolServers};

/// The name of the stored session of a client on standard input, unless `--session` names another.
const MAIN: &str = "main";

/// Serves one client by the Model Context Protocol, or many by HTTP.
pub fn run_mcp(args: &McpArgs) -> Result<u8, CliFailure> {
    let (machine, registry, _servers) = open_machine(&args.door, 8)?;
    if let Some(listen) = args.http {
        let door = open_door(&args.door, machine, registry);
        let drain = Duration::from_secs(1);
        let serve = Serve { listen, tokens: None, drain, log: None, beside: Vec::new() };
        return wasibox_http::serve_door(door, serve)
            .map(|()| 0)
            .map_err(|e| CliFailure::new(125, e));
    }
    let space = machine.space();
    let client = match (&args.session, machine.is_durable()) {
        (Some(name), _) => Client::for_session(space, name),
        (None, true) => Client::for_session(space, MAIN),
        (None, false) => Client::new(space).map_err(|e| CliFailure::new(125, e))?,
    };
    let roots = match args.roots {
        None => RootsMode::Refused,
        Some(RootsArg::Ro) => RootsMode::ReadOnly,
        Some(RootsArg::Rw) => RootsMode::Writable,
    };
    wasibox_mcp::serve_stdio(registry, client, roots).map_err(|e| CliFailure::new(125, e))?;
    Ok(0)
}

/// Serves many clients by HTTP, with tokens.
pub fn run_serve(args: &ServeArgs) -> Result<u8, CliFailure> {
    let tokens = Tokens::read(&args.token_file).map_err(|e| CliFailure::new(2, e))?;
    let log = LogLevel::from_name(&args.log)
        .ok_or_else(|| CliFailure::usage(format!("--log: '{}' is no LEVEL", args.log)))?;
    let (machine, registry, _servers) = open_machine(&args.door, args.awake)?;
    let beside = args.e2b.map(|listen| BesideDoor {
        name: "e2b",
        listen,
        router: wasibox_e2b::e2b_router(machine.clone(), tokens.clone()),
    });
    let serve = Serve {
        listen: args.listen,
        tokens: Some(tokens),
        drain: Duration::from_secs(args.drain.into()),
        log: Some(log),
        beside: beside.into_iter().collect(),
    };
    wasibox_http::serve_door(open_door(&args.door, machine, registry), serve)
        .map(|()| 0)
        .map_err(|e| CliFailure::new(125, e))
}

/// Sessions, the tools of their clients, and the servers whose tools guests may call.
type Served = (Machine, Arc<Registry>, Option<ToolServers>);

fn open_machine(args: &DoorArgs, awake: usize) -> Result<Served, CliFailure> {
    wasibox::use_short_turns();
    let GrantSettings { policy, pool: settings, mut tools, tools_from } =
        args.grants.grant_settings()?;
    tools.read_only |= args.read_only;
    tools.only = args.tools.clone().or(tools.only);
    let image = args.image.path()?;
    let mut pool = PoolOptions::new(&image);
    (pool.warm, pool.progress) = (1, compile_progress());
    settings.apply_to(&mut pool);
    let options = EngineOptions { pool, awake, ..EngineOptions::new(image) };
    let engine = Engine::new(options)?;
    let servers = crate::tools::connect_servers(&engine, &tools_from)?;
    let store = args.store.store.as_deref().filter(|path| *path != Path::new(""));
    let timeout = Duration::from_secs(args.call_timeout.max(1).into());
    let machine = Machine::new(&engine, MachineOptions { policy, store, timeout, tools })?;
    let registry = Registry::new(&machine).map_err(|e| CliFailure::usage(format!("tools: {e}")))?;
    Ok((machine, Arc::new(registry), servers))
}

fn open_door(args: &DoorArgs, machine: Machine, registry: Arc<Registry>) -> Door {
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    Door { machine, registry, hosts, origins }
}
