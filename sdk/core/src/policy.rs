//! Makes a policy from a policy file and from data with the same terms.

use serde_json::Value;
use std::path::Path;
use wasibox::Refusal;
use wasibox::policy::PolicyFile;
use wasibox::{HostToolPolicy, Policy};

/// Returns the policy that a file (if any) and an object with the terms of a policy file describe,
/// and whether walls are required.
///
/// The object takes precedence. It may name another preset, change single limits, and add mounts
/// and rules; its host tools replace the file's. Relative host paths in the object are relative to
/// `dir`, and those in the file to the file's folder.
///
/// # Errors
/// Returns an error for a file that cannot be read, and for an invalid policy.
pub fn policy_from(
    file: Option<&Path>,
    said: &Value,
    dir: &Path,
) -> Result<(Policy, bool), Refusal> {
    let mut policy = match file {
        Some(file) => PolicyFile::read(file).map_err(Refusal::invalid_request)?,
        None => PolicyFile::default(),
    };
    let table: toml::Table = serde_json::from_value(without_nulls(said))
        .map_err(|e| Refusal::invalid_request(format!("policy: {e}")))?;
    let text = toml::to_string(&table).map_err(Refusal::invalid_request)?;
    let said = PolicyFile::parse(&text, dir)
        .map_err(|mistake| Refusal::invalid_request(format!("policy: {}", mistake.message)))?;
    if !policy.tools_from.is_empty() || !said.tools_from.is_empty() {
        let why = "MCP servers give tools to the runner (--tools-from), not to packages";
        return Err(Refusal::invalid_request(format!("policy: host-tools: from: {why}")));
    }
    if said.prepare_timeout.or(policy.prepare_timeout).is_some() {
        return Err(Refusal::invalid_request(
            "policy: prepare-timeout is an option of the engine here (prepare_timeout)",
        ));
    }
    policy.preset = said.preset.or(policy.preset);
    policy.limits = said.limits.merge_over(&policy.limits);
    policy.mounts.retain(|old| said.mounts.iter().all(|new| new.guest != old.guest));
    policy.mounts.extend(said.mounts);
    policy.workspace = said.workspace.or(policy.workspace);
    policy.network.allow.extend(said.network.allow);
    policy.network.deny.extend(said.network.deny);
    policy.network.secrets.extend(said.network.secrets);
    policy.network.proxy = said.network.proxy.or(policy.network.proxy);
    if said.host_tools != HostToolPolicy::default() {
        policy.host_tools = said.host_tools;
    }
    policy.fresh_programs |= said.fresh_programs;
    policy.no_javascript_eval |= said.no_javascript_eval;
    policy.require_walls |= said.require_walls;
    Ok((policy.policy(), policy.require_walls))
}

/// Removes null values, which mean the default, because TOML has no null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(o) => {
            let some = o.iter().filter(|(_, v)| !v.is_null());
            Value::Object(some.map(|(k, v)| (k.clone(), without_nulls(v))).collect())
        }
        Value::Array(a) => Value::Array(a.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn what_is_said_comes_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p.toml");
        let text = "preset = 'strict'\n[limits]\nmemory = '1G'\ntimeout = 5\n\
                    [[mount]]\nhost = 'a'\nguest = '/a'\n[[mount]]\nhost = 'b'\nguest = '/b'\n";
        std::fs::write(&file, text).unwrap();
        let said = json!({
            "preset": null,
            "limits": {"timeout": 7.5},
            "mount": [{"host": "c", "guest": "/b", "writable": true, "quota": "1M"}],
            "network": {"allow": ["GET http://127.0.0.1:1/"]},
        });
        let (policy, walls) = policy_from(Some(&file), &said, Path::new("/here")).unwrap();
        assert!(!walls);
        assert_eq!(policy.limits.timeout, Some(Duration::from_secs_f64(7.5)));
        assert_eq!((policy.limits.memory, policy.limits.processes), (1 << 30, 16));
        let mounts: Vec<_> = policy.mounts.iter().map(|m| (m.guest.as_str(), m.writable)).collect();
        assert_eq!(mounts, [("/a", false), ("/b", true)]);
        assert_eq!(policy.mounts[0].host, dir.path().join("a"));
        assert_eq!(policy.mounts[1].host, Path::new("/here/c"));
        assert_eq!(policy.network.allow.len(), 1);
    }

    #[test]
    fn mistakes_are_reported() {
        let wrong = |said: Value| policy_from(None, &said, Path::new("/")).unwrap_err().text;
        assert!(wrong(json!({"limits": {"memorie": 1}})).contains("memorie"));
        let from = json!({"host-tools": {"from": ["calc=stdio:calc"]}});
        assert!(wrong(from).contains("not to packages"));
        assert!(wrong(json!({"preset": "lax"})).contains("lax"));
        assert!(wrong(json!({"network": {"allow": ["what"]}})).starts_with("policy: "));
        assert!(wrong(json!({"mount": [{"host": "a", "guest": "b"}]})).contains("absolute"));
    }
}
