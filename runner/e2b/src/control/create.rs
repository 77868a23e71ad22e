//! Creating sandboxes; templates.

use super::{Answered, ControlRequest, describe_access, found};
use crate::fault::Fault;
use crate::record::{LONGEST, OnTimeout, RecordKind, SandboxRecord, TIMEOUT, random_text};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The names of the templates, all of which are the server's image.
pub const TEMPLATES: &[&str] = &["base", "code-interpreter-v1"];
/// The maximum number of metadata and variables of a sandbox, and the maximum bytes of each.
const PAIRS: usize = 256;
const PAIR_BYTES: usize = 64 << 10;

/// The body of a request for a sandbox. Fields that this server has no use for are ignored.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NewSandbox {
    #[serde(rename = "templateID")]
    template: String,
    timeout: Option<u64>,
    metadata: Option<BTreeMap<String, String>>,
    env_vars: Option<BTreeMap<String, String>>,
    auto_pause: bool,
    auto_resume: Option<AutoResume>,
    #[serde(rename = "allow_internet_access")]
    allow_internet_access: Option<bool>,
    network: Option<Value>,
    volume_mounts: Option<Vec<Value>>,
    iam: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AutoResume {
    enabled: bool,
}

/// `POST /sandboxes`, `POST /v2/sandboxes`.
pub fn create_sandbox(request: &ControlRequest) -> Answered {
    let asked: NewSandbox = request.body()?;
    let timeout = check_timeout(asked.timeout.unwrap_or(TIMEOUT))?;
    if asked.volume_mounts.is_some_and(|mounts| !mounts.is_empty()) {
        return Err(Fault::invalid("this server has no volumes"));
    }
    if asked.iam.is_some_and(|iam| !iam.is_null()) {
        return Err(Fault::invalid("this server issues no workload tokens"));
    }
    let is_public = check_network(request, asked.allow_internet_access, asked.network.as_ref())?;
    let mut record = SandboxRecord::begin(template_name(&asked.template).to_owned(), timeout)?;
    record.metadata = check_pairs("metadata", asked.metadata)?;
    record.envs = check_pairs("envVars", asked.env_vars)?;
    if record.envs.iter().any(|(name, value)| !is_variable(name, value)) {
        return Err(Fault::invalid(
            "a variable's name has no '=' and no zero byte, and is not empty",
        ));
    }
    if asked.auto_pause {
        record.on_timeout = OnTimeout::Pause;
        record.auto_resume = asked.auto_resume.is_some_and(|auto| auto.enabled);
    }
    if !is_public {
        record.traffic_token = Some(random_text(32)?);
    }
    let registry = &request.app.registry;
    let known = if TEMPLATES.contains(&&*record.template) {
        registry.create(&request.holder, record)?
    } else {
        let snapshot = find_snapshot(request, &asked.template)?;
        record.template = snapshot.clone();
        let made = registry.fork(&request.holder, &snapshot, vec![record])?;
        made.into_iter().next().ok_or_else(Fault::internal)?
    };
    Ok((StatusCode::CREATED, Some(describe_access(&known))))
}

/// Returns whether a variable can be given to a process.
pub fn is_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

/// Checks a number of seconds.
///
/// # Errors
/// If it is more than a day.
pub fn check_timeout(seconds: u64) -> Result<u64, Fault> {
    if seconds <= LONGEST {
        return Ok(seconds);
    }
    Err(Fault::invalid(format!("timeout is at most {LONGEST} seconds")))
}

fn check_pairs(
    name: &str,
    pairs: Option<BTreeMap<String, String>>,
) -> Result<BTreeMap<String, String>, Fault> {
    let pairs = pairs.unwrap_or_default();
    let is_long = |(key, value): (&String, &String)| key.len() + value.len() > PAIR_BYTES;
    if pairs.len() > PAIRS || pairs.iter().any(is_long) {
        let text = format!("{name} has at most {PAIRS} entries of at most {PAIR_BYTES} bytes");
        return Err(Fault::invalid(text));
    }
    Ok(pairs)
}

/// Checks the rules that a client asks for the network. The server's policy applies to all sandboxes, so
/// nothing can be granted to one sandbox, and no grant of the policy taken from it. Returns
/// whether the sandbox's ports are public.
fn check_network(
    request: &ControlRequest,
    allow_internet: Option<bool>,
    network: Option<&Value>,
) -> Result<bool, Fault> {
    let grants = !request.app.machine.policy().network.allow.is_empty();
    let has_list = |name: &str| {
        let list = network.and_then(|n| n.get(name)).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    let restricts = allow_internet == Some(false) || has_list("denyOut") || has_list("allowOut");
    if grants && restricts {
        return Err(Fault::invalid(
            "the server's policy grants requests to all sandboxes; it cannot be restricted for one",
        ));
    }
    let rules = network.and_then(|n| n.get("rules")).is_some_and(|rules| !rules.is_null());
    if rules {
        return Err(Fault::invalid(
            "requests are not changed here: give secrets in the server's policy",
        ));
    }
    let public = network.and_then(|n| n.get("allowPublicTraffic")).and_then(Value::as_bool);
    Ok(public.unwrap_or(true))
}

/// `PUT /sandboxes/{id}/network`.
pub fn change_network(request: &ControlRequest, id: &str) -> Answered {
    request.find(id)?;
    let network: Value = request.body()?;
    let allow = network.get("allow_internet_access").and_then(Value::as_bool);
    check_network(request, allow, Some(&network))?;
    super::done()
}

/// Returns a template's name without its tag.
fn template_name(text: &str) -> &str {
    let name = text.split_once(':').map_or(text, |(name, _)| name);
    if TEMPLATES.contains(&name) { name } else { text }
}

/// Returns the id of the snapshot with that id or name.
fn find_snapshot(request: &ControlRequest, name: &str) -> Result<String, Fault> {
    let all = request.app.registry.list(&request.holder, RecordKind::Snapshot)?;
    let is_it = |names: &[String]| names.iter().any(|n| n == name);
    let snapshot = all.into_iter().find(|s| s.id == name || is_it(&s.record().names));
    snapshot.map(|snapshot| snapshot.id.clone()).ok_or_else(|| {
        let text = format!(
            "there is no template or snapshot '{name}'; there are the templates {}",
            TEMPLATES.join(" and ")
        );
        Fault::missing(text)
    })
}

/// `GET /templates`.
pub fn list_templates() -> Answered {
    let describe = |name: &&str| {
        json!({
            "templateID": name, "aliases": [name], "names": [name], "public": true, "buildID": name,
            "cpuCount": 1, "memoryMB": 1024, "buildStatus": "ready",
        })
    };
    found(TEMPLATES.iter().map(describe).collect())
}

/// `GET /templates/aliases/{name}`.
pub fn find_template(request: &ControlRequest, name: &str) -> Answered {
    let name = template_name(name);
    let id =
        if TEMPLATES.contains(&name) { name.to_owned() } else { find_snapshot(request, name)? };
    found(json!({ "templateID": id, "public": TEMPLATES.contains(&name) }))
}
