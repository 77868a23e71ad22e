//! `runner mcp` and `runner serve`: sessions for other programs.

use crate::args::door::{DoorArgs, McpArgs, RootsArg, ServeArgs, ToolArgs};
use crate::args::grants::GrantSettings;
use crate::progress::compile_progress;
use crate::{CliFailure, message, tool_settings};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use wasibox::{Engine, EngineOptions, ExposedPort, PoolOptions, Session};
use wasibox_actions::{
    Client, Machine, MachineOptions, PortAddress, PortDoor, PortQuestion, Refusal, RefusalKind,
    Registry, RegistryError,
};
use wasibox_http::{BesideDoor, Door, LogLevel, Serve, Tokens};
use wasibox_mcp::{RootsMode, ToolServers};

/// The name of the stored session of a client on standard input, unless `--session` names another.
pub const MAIN: &str = "main";

/// Serves one client by the Model Context Protocol, or many by HTTP.
pub fn run_mcp(args: &McpArgs) -> Result<u8, CliFailure> {
    let (machine, registry, _servers) = open_machine(&args.door.tools, 8)?;
    if let Some(listen) = args.http {
        let door = open_door(&args.door, machine, registry);
        let drain = Duration::from_secs(1);
        let idle = wasibox_http::IDLE;
        let serve = Serve { listen, tokens: None, drain, idle, log: None, beside: Vec::new() };
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
    let client = if args.expose_ports {
        client.with_port_door(Arc::new(LoopbackPorts::default()))
    } else {
        client
    };
    let roots = match args.roots {
        None => RootsMode::Refused,
        Some(RootsArg::Ro) => RootsMode::ReadOnly,
        Some(RootsArg::Rw) => RootsMode::Writable,
    };
    wasibox_mcp::serve_stdio(registry, client, roots).map_err(|e| CliFailure::new(125, e))?;
    Ok(0)
}

/// The maximum number of ports that a client exposes.
const EXPOSED: usize = 64;

/// A port of a session that was exposed; the session may be gone.
type SessionPort = (Weak<Session>, ExposedPort);

/// Ports of this machine's loopback that lead to ports of sessions. They stay open until the program
/// ends.
#[derive(Default)]
struct LoopbackPorts(Mutex<HashMap<(String, u16), SessionPort>>);

impl PortDoor for LoopbackPorts {
    fn port_address(&self, asked: &PortQuestion<'_>) -> Result<PortAddress, Refusal> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (asked.name.to_owned(), asked.port);
        let is_same = |(session, _): &SessionPort| {
            session.upgrade().is_some_and(|session| Arc::ptr_eq(&session, asked.session))
        };
        if !all.get(&key).is_some_and(is_same) {
            all.retain(|_, (session, _)| session.strong_count() > 0);
            if all.len() >= EXPOSED {
                let text = format!("{EXPOSED} ports are exposed already");
                return Err(Refusal::new(RefusalKind::Limit, text));
            }
            let exposed = asked.session.expose(asked.port, 0);
            let exposed = exposed.map_err(|e| Refusal::new(RefusalKind::Internal, e))?;
            all.insert(key.clone(), (Arc::downgrade(asked.session), exposed));
        }
        let url = format!("http://{}/", all[&key].1.address());
        Ok(PortAddress { url, expires: None })
    }
}

/// Serves many clients by HTTP, with tokens.
pub fn run_serve(args: &ServeArgs) -> Result<u8, CliFailure> {
    let tokens = Tokens::read(&args.token_file).map_err(|e| CliFailure::new(2, e))?;
    let log = LogLevel::from_name(&args.log)
        .ok_or_else(|| CliFailure::usage(format!("--log: '{}' is no LEVEL", args.log)))?;
    let (machine, registry, _servers) = open_machine(&args.door.tools, args.awake)?;
    let beside = args.e2b.map(|listen| BesideDoor {
        name: "e2b",
        listen,
        router: wasibox_e2b::e2b_router(machine.clone(), tokens.clone()),
    });
    let serve = Serve {
        listen: args.listen,
        tokens: Some(tokens),
        drain: Duration::from_secs(args.drain.into()),
        idle: Duration::from_secs_f64(args.idle.clamp(0.0, 1e9)),
        log: Some(log),
        beside: beside.into_iter().collect(),
    };
    let door =
        Door { ports_host: args.ports_host.clone(), ..open_door(&args.door, machine, registry) };
    wasibox_http::serve_door(door, serve).map(|()| 0).map_err(|e| CliFailure::new(125, e))
}

/// Sessions, the tools of their clients, and the servers whose tools guests may call.
pub type ServedMachine = (Machine, Arc<Registry>, Option<ToolServers>);

/// Opens the machine that the options describe.
///
/// # Errors
/// If there is no image, or the store or a tool cannot be used.
pub fn open_machine(args: &ToolArgs, awake: usize) -> Result<ServedMachine, CliFailure> {
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
    let user = args.settings.store();
    user.load().map_err(|e| CliFailure::new(2, format!("--tool-settings: {e}")))?;
    for name in tool_settings::named_and_off(tools.only.as_deref().unwrap_or_default(), &user) {
        message::say_message(&format!("{name} is off: runner tools enable {name}"));
    }
    let options = MachineOptions { policy, store, timeout, tools, settings: user };
    let machine = Machine::new(&engine, options)?;
    let registry = Registry::new(&machine).map_err(|e| match e {
        RegistryError::UnknownTool(_) => CliFailure::usage(e),
        RegistryError::Image(_) => CliFailure::new(125, e),
    })?;
    Ok((machine, Arc::new(registry), servers))
}

fn open_door(args: &DoorArgs, machine: Machine, registry: Arc<Registry>) -> Door {
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    Door { machine, registry, hosts, origins, ports_host: None }
}
