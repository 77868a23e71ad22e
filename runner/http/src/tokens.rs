//! The token file, and the usage of each owner.
//!
//! Tokens are kept only as SHA-256. A request's token is compared with all of them, in a time that
//! does not depend on the position of the first difference.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wasibox_actions::ToolScope;

/// The minimum number of characters of a token.
const SHORTEST: usize = 16;
/// The period after which usage is counted from zero again.
const WINDOW: Duration = Duration::from_secs(3600);

/// The reason why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: {why}")]
    Wrong { path: PathBuf, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default)]
    token: Vec<TokenEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TokenEntry {
    name: String,
    token: Option<String>,
    sha256: Option<String>,
    scopes: Option<Vec<String>>,
    #[serde(default)]
    tool_settings: bool,
    #[serde(default)]
    limits: TokenLimits,
}

/// The limits of a token's owner.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TokenLimits {
    /// The maximum number of sessions.
    pub sessions: usize,
    /// The maximum number of sessions that have a process at once.
    pub awake: usize,
    /// The maximum memory of these processes together, in bytes.
    pub memory: u64,
    /// The maximum number of requests at once.
    pub requests: usize,
    /// The maximum number of requests to ports of its sessions at once, WebSockets included.
    pub streams: usize,
    /// The maximum number of connections of the Model Context Protocol.
    pub connections: usize,
    /// The maximum number of CPU seconds of guests within an hour.
    pub cpu_seconds: u64,
    /// The maximum size of requests' bodies within an hour, in bytes.
    pub bytes: u64,
}

impl Default for TokenLimits {
    fn default() -> TokenLimits {
        TokenLimits {
            sessions: 20,
            awake: 16,
            memory: 8 << 30,
            requests: 16,
            streams: 128,
            connections: 100,
            cpu_seconds: 3600,
            bytes: 4 << 30,
        }
    }
}

/// The owners of tokens. Clones count the same usage.
#[derive(Clone)]
pub struct Tokens(Vec<([u8; 32], Arc<Owner>)>);

/// The owner of a token.
pub struct Owner {
    /// The prefix of the names of its sessions.
    pub name: String,
    pub scopes: Vec<ToolScope>,
    /// Whether it may change the settings of tools, which hold for all users of the server.
    pub may_set_tools: bool,
    pub limits: TokenLimits,
    running: AtomicUsize,
    streaming: AtomicUsize,
    used: Mutex<TokenUsage>,
}

struct TokenUsage {
    since: Instant,
    cpu: Duration,
    bytes: u64,
}

/// A request that counts as running until this is dropped.
pub struct RunningRequest(Arc<Owner>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A request to a port that counts until this is dropped.
pub struct RunningStream(Arc<Owner>);

impl Drop for RunningStream {
    fn drop(&mut self) {
        self.0.streaming.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Owner {
    fn new(name: String, scopes: Vec<ToolScope>, limits: TokenLimits) -> Owner {
        let used = TokenUsage { since: Instant::now(), cpu: Duration::ZERO, bytes: 0 };
        let (running, streaming) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let used = Mutex::new(used);
        Owner { name, scopes, may_set_tools: false, limits, running, streaming, used }
    }

    /// Counts one more running request, or returns the limit that prevents it.
    pub fn begin_request(self: &Arc<Owner>) -> Result<RunningRequest, &'static str> {
        let before = self.running.fetch_add(1, Ordering::AcqRel);
        let running = RunningRequest(self.clone());
        if before >= self.limits.requests {
            return Err("requests at once");
        }
        self.with_used(|used| {
            if used.cpu.as_secs() >= self.limits.cpu_seconds {
                return Err("CPU seconds within an hour");
            }
            Ok(running)
        })
    }

    /// Counts one more request to a port of a session, or returns the limit that prevents it.
    pub fn begin_stream(self: &Arc<Owner>) -> Result<RunningStream, &'static str> {
        let before = self.streaming.fetch_add(1, Ordering::AcqRel);
        let stream = RunningStream(self.clone());
        if before >= self.limits.streams {
            return Err("requests to ports at once");
        }
        self.with_used(|used| {
            if used.cpu.as_secs() >= self.limits.cpu_seconds {
                return Err("CPU seconds within an hour");
            }
            Ok(stream)
        })
    }

    /// Adds CPU time to the usage.
    pub fn spend_cpu(&self, cpu: Duration) {
        self.with_used(|used| used.cpu += cpu);
    }

    /// Adds bytes to the usage; returns false if they exceed the limit.
    pub fn spend_bytes(&self, bytes: u64) -> bool {
        self.with_used(|used| {
            used.bytes = used.bytes.saturating_add(bytes);
            used.bytes <= self.limits.bytes
        })
    }

    fn with_used<T>(&self, act: impl FnOnce(&mut TokenUsage) -> T) -> T {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.since.elapsed() >= WINDOW {
            *used = TokenUsage { since: Instant::now(), cpu: Duration::ZERO, bytes: 0 };
        }
        act(&mut used)
    }
}

impl Tokens {
    /// Reads a token file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn read(path: &Path) -> Result<Tokens, TokenError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TokenError::Read { path: path.into(), source })?;
        Tokens::parse(&text).map_err(|why| TokenError::Wrong { path: path.into(), why })
    }

    fn parse(text: &str) -> Result<Tokens, String> {
        // The error omits the line of the file, because it may contain a token.
        let file: TokenFile = toml::from_str(text).map_err(|e| e.message().to_owned())?;
        let mut names = HashSet::new();
        let mut all: Vec<([u8; 32], Arc<Owner>)> = Vec::new();
        for entry in file.token {
            let name = entry.name.clone();
            let wrong = |why: &str| format!("token '{}': {why}", name.escape_default());
            let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if !(1..=32).contains(&name.len()) || !name.bytes().all(fine) {
                return Err(wrong("a name has 1 to 32 lower-case letters, digits and '-'"));
            }
            if !names.insert(name.clone()) {
                return Err(wrong("the name is there twice"));
            }
            let digest = match (&entry.token, &entry.sha256) {
                (Some(token), None) if token.len() < SHORTEST => {
                    return Err(wrong("a token has 16 characters at least"));
                }
                (Some(token), None) if !can_be_sent(token) => {
                    return Err(wrong(
                        "a token has letters, digits and any of -._~+/ only, and may end with '=': \
                         an Authorization header carries nothing else (RFC 6750)",
                    ));
                }
                (Some(token), None) => Sha256::digest(token).into(),
                (None, Some(hex)) => {
                    parse_digest(hex).ok_or_else(|| wrong("sha256 has 64 hex digits"))?
                }
                _ => return Err(wrong("either token or sha256 is needed")),
            };
            if all.iter().any(|(other, _)| *other == digest) {
                return Err(wrong("the same token is there twice"));
            }
            let scopes = match &entry.scopes {
                None => ToolScope::ALL.to_vec(),
                Some(names) => names
                    .iter()
                    .map(|n| {
                        ToolScope::from_name(n)
                            .ok_or_else(|| wrong("scopes are read, write, run, manage"))
                    })
                    .collect::<Result<_, _>>()?,
            };
            let owner = Owner::new(entry.name, scopes, entry.limits);
            all.push((digest, Arc::new(Owner { may_set_tools: entry.tool_settings, ..owner })));
        }
        if all.is_empty() { Err("there is no [[token]]".into()) } else { Ok(Tokens(all)) }
    }

    /// Returns the owner of a token.
    pub fn owner_of(&self, token: &str) -> Option<&Arc<Owner>> {
        let given: [u8; 32] = Sha256::digest(token).into();
        let mut found = None;
        for (digest, owner) in &self.0 {
            let differs = digest.iter().zip(given).fold(0, |all, (a, b)| all | (a ^ b));
            if std::hint::black_box(differs) == 0 {
                found = Some(owner);
            }
        }
        found
    }

    /// Returns the owner of that name.
    pub fn owner_named(&self, name: &str) -> Option<&Arc<Owner>> {
        self.all_owners().find(|owner| owner.name == name)
    }

    /// Returns all owners.
    pub fn all_owners(&self) -> impl Iterator<Item = &Arc<Owner>> {
        self.0.iter().map(|(_, owner)| owner)
    }
}

/// Returns the owner of all requests to a server without tokens.
pub fn anonymous_owner() -> Arc<Owner> {
    let limits = TokenLimits {
        sessions: usize::MAX,
        awake: usize::MAX,
        memory: u64::MAX,
        requests: 256,
        streams: 1000,
        connections: 1000,
        cpu_seconds: u64::MAX,
        bytes: u64::MAX,
    };
    Arc::new(Owner::new(String::new(), ToolScope::ALL.to_vec(), limits))
}

/// Returns whether a token is RFC 6750's `b64token`, the only form that `Authorization: Bearer` can
/// carry.
fn can_be_sent(token: &str) -> bool {
    let text = token.trim_end_matches('=');
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/".contains(&b);
    !text.is_empty() && text.bytes().all(is_fine)
}

fn parse_digest(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_by_what_they_hash_to() {
        // printf %s abcdefghijklmnop | sha256sum
        let sum = "f39dac6cbaba535e2c207cd0cd8f154974223c848f727f98b3564cea569b41cf";
        let text = format!(
            "[[token]]\nname = 'a'\nsha256 = '{sum}'\nscopes = ['read']\nlimits = {{ sessions = 2 }}\n\
             tool-settings = true\n[[token]]\nname = 'b'\ntoken = 'ABCDEFGHIJKLMNOP'\n"
        );
        let tokens = Tokens::parse(&text).unwrap();
        let a = tokens.owner_of("abcdefghijklmnop").unwrap();
        assert_eq!((&*a.name, &*a.scopes, a.limits.sessions), ("a", &[ToolScope::Read][..], 2));
        let b = tokens.owner_of("ABCDEFGHIJKLMNOP").unwrap();
        assert_eq!((&*b.name, a.may_set_tools, b.may_set_tools), ("b", true, false));
        for other in ["", "abcdefghijklmno", "abcdefghijklmnopq", "Abcdefghijklmnop", sum] {
            assert!(tokens.owner_of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn wrong_files_are_refused_and_tell_no_token() {
        let entry = |more: &str| format!("[[token]]\nname = 'a'\n{more}\n");
        for text in [
            String::new(),
            entry(""),
            entry("token = 'short'"),
            entry("token = 'abcdefghijklmnop'\nsha256 = 'x'"),
            entry("token = 'abcdefgh ijklmnop'"),
            entry("token = ' abcdefghijklmnop'"),
            entry("token = 'abcdefghijklmnöp'"),
            entry("token = 'abcdefgh,ijklmnop'"),
            entry("token = 'abcdefgh=ijklmnop'"),
            entry("token = '================'"),
            entry("token = \"abcdefgh\\tijklmnop\""),
            entry("sha256 = 'zz'"),
            entry("token = 'abcdefghijklmnop'\nscopes = ['all']"),
            entry("token = 'abcdefghijklmnop'\nadmin = true"),
            entry("token = 'abcdefghijklmnop'\nlimits = { sessions = -1 }"),
            entry("token = 'abcdefghijklmnop'") + &entry("token = 'abcdefghijklmnoq'"),
            "[[token]]\nname = 'A'\ntoken = 'abcdefghijklmnop'".into(),
            "[[token]]\nname = 'a.b'\ntoken = 'abcdefghijklmnop'".into(),
            "[[token]]\nname = 'a'\ntoken = 'abcdefghijklmnop".into(),
        ] {
            let why = Tokens::parse(&text).err().expect(&text);
            assert!(!why.contains("abcdefgh"), "{why}");
        }
    }

    #[test]
    fn tokens_have_what_a_header_carries() {
        for token in [
            "abcdefghijklmnop",
            "ABCDefgh-._~+/0123456789",
            "YWJjZGVmZ2hpams=",
            "a-b-c-d-e-f-g-h-==",
        ] {
            let tokens = Tokens::parse(&format!("[[token]]\nname = 'a'\ntoken = '{token}'\n"));
            assert_eq!(tokens.unwrap().owner_of(token).unwrap().name, "a");
        }
        let why = Tokens::parse("[[token]]\nname = 'a'\ntoken = 'a secret of my own'").err();
        assert!(why.unwrap().starts_with("token 'a': a token has letters, digits"));
    }

    #[test]
    fn requests_at_once_and_bytes_are_bounded() {
        let limits =
            TokenLimits { requests: 2, bytes: 10, cpu_seconds: 1, ..TokenLimits::default() };
        let owner = Arc::new(Owner::new("a".into(), vec![], limits));
        let (a, _b) = (owner.begin_request().ok().unwrap(), owner.begin_request().ok().unwrap());
        assert!(owner.begin_request().is_err());
        drop(a);
        drop(owner.begin_request().ok().unwrap());
        assert!(owner.spend_bytes(10) && !owner.spend_bytes(1));
        owner.spend_cpu(Duration::from_secs(1));
        assert_eq!(owner.begin_request().err(), Some("CPU seconds within an hour"));
    }
}
