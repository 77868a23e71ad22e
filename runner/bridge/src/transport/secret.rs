//! Headers that the owner adds: `[SCHEME://]HOST[:PORT][/PATH]: NAME=TEMPLATE`, for example
//! `api.example.com: Authorization=Bearer ${env:KEY}`.
//!
//! A template is text with `${env:NAME}`, `${file:PATH}` and `${call:NAME}`, a function of the
//! embedder. Environment variables are read once, when the bridge is made. Files are read, and
//! functions called, for each request to which the header applies, so that their values may change.
//!
//! A secret is sent over https only, or over http to the machine itself if the rule names it. This
//! crate's copies are overwritten when they are dropped; those in the buffers of hyper and rustls
//! are not.

use crate::rules::{HostPattern, RuleFault, Scheme, UrlPattern, is_localhost, parse_target};
use crate::transport::scrub::{MAX_SECRET, MIN_SECRET, SecretForms};
use base64::Engine as _;
use http::header::{HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use url::Url;
use zeroize::Zeroizing;

/// A function that returns a secret. It may block.
pub type SecretFn = Arc<dyn Fn() -> Result<Zeroizing<String>, SecretError> + Send + Sync>;

/// Maximum number of values of one secret that are searched for in responses: the newest ones.
const REMEMBERED: usize = 8;

/// A header that is added to requests, as written.
#[derive(Clone)]
pub struct SecretRule {
    target: UrlPattern,
    header: HeaderName,
    parts: Vec<SecretPart>,
}

#[derive(Clone)]
enum SecretPart {
    Text(Zeroizing<String>),
    Env(String),
    File(PathBuf),
    Call(String),
}

/// The reason why a secret is invalid, or cannot be read. It never contains the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error(
        "expected HOST: NAME=VALUE, as in 'api.example.com: Authorization=Bearer ${{env:KEY}}'"
    )]
    Form,
    #[error("{0}")]
    Target(RuleFault),
    #[error("a secret goes to https, or to http on localhost or a loopback address")]
    Plain,
    #[error("a secret needs a host")]
    AnyHost,
    #[error("{0} cannot be the name of an added header")]
    Header(String),
    #[error("expected ${{env:NAME}}, ${{file:PATH}} or ${{call:NAME}}")]
    Template,
    #[error("the environment has no {0}")]
    Env(String),
    #[error("{path}: {text}")]
    File { path: String, text: String },
    #[error("no function is named {0}")]
    Unknown(String),
    #[error("the function {name}: {text}")]
    Call { name: String, text: String },
    #[error("a secret has {MIN_SECRET} to {MAX_SECRET} bytes, and no control characters")]
    Value,
}

impl std::fmt::Debug for SecretRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretRule({}: {}=...)", self.target, self.header)
    }
}

impl FromStr for SecretRule {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let (place, rest) = text.split_once(": ").ok_or(SecretError::Form)?;
        let (name, template) = rest.split_once('=').ok_or(SecretError::Form)?;
        let place = place.trim();
        let url = if place.contains("://") { place.into() } else { format!("https://{place}") };
        let target = parse_target(&url).map_err(SecretError::Target)?;
        match (&target.host, target.scheme) {
            (HostPattern::Any, _) => return Err(SecretError::AnyHost),
            (_, Some(Scheme::Https)) => {}
            (HostPattern::Name(name), Some(Scheme::Http)) if is_localhost(name) => {}
            (HostPattern::Address(a), Some(Scheme::Http)) if a.is_loopback() => {}
            _ => return Err(SecretError::Plain),
        }
        let name = name.trim();
        let header = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .filter(|n| !crate::request::is_reserved_header(n))
            .ok_or_else(|| SecretError::Header(name.chars().take(80).collect()))?;
        Ok(Self { target, header, parts: parse_template(template.trim())? })
    }
}

fn parse_template(mut template: &str) -> Result<Vec<SecretPart>, SecretError> {
    let text = |t: &str| SecretPart::Text(Zeroizing::new(t.to_string()));
    let mut out = Vec::new();
    while let Some((before, rest)) = template.split_once("${") {
        if !before.is_empty() {
            out.push(text(before));
        }
        let (inner, after) = rest.split_once('}').ok_or(SecretError::Template)?;
        out.push(match inner.split_once(':') {
            Some(("env", name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                SecretPart::Env(name.to_string())
            }
            Some(("file", path)) if !path.is_empty() => SecretPart::File(path.into()),
            Some(("call", name)) if !name.is_empty() => SecretPart::Call(name.to_string()),
            _ => return Err(SecretError::Template),
        });
        template = after;
    }
    if !template.is_empty() {
        out.push(text(template));
    }
    Ok(out)
}

/// The secrets of a bridge: the requests that get them, and the values that responses must not
/// contain.
pub(crate) struct Secrets {
    rules: Vec<Arc<SecretEntry>>,
    functions: BTreeMap<String, SecretFn>,
    forms: RwLock<Arc<SecretForms>>,
}

struct SecretEntry {
    target: UrlPattern,
    header: HeaderName,
    parts: Vec<SecretPart>,
    /// Values of environment variables, by the template parts that name them.
    env: BTreeMap<String, Zeroizing<String>>,
    /// The latest values of the parts, newest last.
    values: Mutex<Vec<Vec<Zeroizing<Vec<u8>>>>>,
}

impl Secrets {
    /// Reads the secrets of a bridge for the first time.
    ///
    /// # Errors
    /// If one of the secrets cannot be read now.
    pub(crate) fn new(
        rules: Vec<SecretRule>,
        functions: BTreeMap<String, SecretFn>,
    ) -> Result<Self, SecretError> {
        let hold = |rule: SecretRule| {
            let mut env = BTreeMap::new();
            for part in &rule.parts {
                if let SecretPart::Env(name) = part {
                    let value = std::env::var(name).map_err(|_| SecretError::Env(name.clone()))?;
                    env.insert(name.clone(), Zeroizing::new(value));
                }
            }
            let SecretRule { target, header, parts } = rule;
            Ok(Arc::new(SecretEntry { target, header, parts, env, values: Mutex::default() }))
        };
        let rules = rules.into_iter().map(hold).collect::<Result<Vec<_>, _>>()?;
        let secrets = Self { rules, functions, forms: RwLock::default() };
        for rule in &secrets.rules {
            secrets.secret_value(rule)?;
        }
        Ok(secrets)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the headers for a request. May block on files and functions.
    pub(crate) fn headers(&self, url: &Url) -> Result<Vec<(HeaderName, HeaderValue)>, SecretError> {
        let meant = self.rules.iter().filter(|r| r.target.matches(url));
        meant.map(|rule| Ok((rule.header.clone(), self.secret_value(rule)?))).collect()
    }

    /// Returns whether a request gets headers.
    pub(crate) fn concern_url(&self, url: &Url) -> bool {
        self.rules.iter().any(|r| r.target.matches(url))
    }

    /// Returns the forms to search for in responses: those of all recent values.
    pub(crate) fn forms(&self) -> Arc<SecretForms> {
        Arc::clone(&self.forms.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn secret_value(&self, rule: &SecretEntry) -> Result<HeaderValue, SecretError> {
        let mut whole = Zeroizing::new(String::new());
        let mut values = Vec::new();
        for part in &rule.parts {
            let value = match part {
                SecretPart::Text(text) => {
                    whole.push_str(text);
                    continue;
                }
                SecretPart::Env(name) => {
                    rule.env.get(name).cloned().ok_or_else(|| SecretError::Env(name.clone()))?
                }
                SecretPart::File(path) => read(path)?,
                SecretPart::Call(name) => {
                    let call = self.functions.get(name);
                    call.ok_or_else(|| SecretError::Unknown(name.clone()))?()?
                }
            };
            let value = value.trim_end_matches(['\r', '\n']);
            if !(MIN_SECRET..=MAX_SECRET).contains(&value.len()) {
                return Err(SecretError::Value);
            }
            whole.push_str(value);
            values.push(Zeroizing::new(value.as_bytes().to_vec()));
        }
        if values.is_empty() {
            // Without fetched parts, the text itself is the secret.
            if whole.len() < MIN_SECRET {
                return Err(SecretError::Value);
            }
            values.push(Zeroizing::new(whole.as_bytes().to_vec()));
        }
        if whole.len() > 2 * MAX_SECRET {
            return Err(SecretError::Value);
        }
        values.extend(basic_passwords(&whole));
        self.remember_values(rule, values);
        let mut value = HeaderValue::from_str(&whole).map_err(|_| SecretError::Value)?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn remember_values(&self, rule: &SecretEntry, new: Vec<Zeroizing<Vec<u8>>>) {
        let mut values = rule.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.last() == Some(&new) {
            return;
        }
        if values.len() == REMEMBERED {
            values.remove(0);
        }
        values.push(new);
        drop(values);
        // The forms are built under the lock, so that two concurrent changes are both kept.
        let mut forms = self.forms.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = SecretForms::default();
        for rule in &self.rules {
            let values = rule.values.lock().unwrap_or_else(PoisonError::into_inner);
            values.iter().flatten().for_each(|v| next.add(v));
        }
        *forms = Arc::new(next);
    }
}

/// Returns the secrets that `Basic` encodes in base64: user and password, and the password alone.
fn basic_passwords(header: &str) -> Vec<Zeroizing<Vec<u8>>> {
    let Some(coded) = header.strip_prefix("Basic ") else { return Vec::new() };
    let Ok(plain) = base64::prelude::BASE64_STANDARD.decode(coded.trim()) else {
        return Vec::new();
    };
    let plain = Zeroizing::new(plain);
    let mut out = Vec::new();
    if let Some(colon) = plain.iter().position(|b| *b == b':') {
        out.push(Zeroizing::new(plain[colon + 1..].to_vec()));
    }
    out.push(plain);
    out.retain(|v| v.len() >= MIN_SECRET);
    out
}

fn read(path: &PathBuf) -> Result<Zeroizing<String>, SecretError> {
    let failed = |text: String| SecretError::File { path: path.display().to_string(), text };
    let file = std::fs::File::open(path).map_err(|e| failed(e.to_string()))?;
    // The buffer is allocated in full size, because growing would leave copies.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_SECRET + 3));
    file.take(MAX_SECRET as u64 + 3).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| SecretError::Value)?;
    Ok(Zeroizing::new(text.to_string()))
}

/// Returns whether a secret may be sent to an address over http.
pub(crate) fn plain_allowed(address: IpAddr) -> bool {
    address.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(texts: &[&str]) -> Result<Secrets, SecretError> {
        let rules = texts.iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
        Secrets::new(rules, BTreeMap::new())
    }

    #[test]
    fn a_secret_goes_where_it_is_meant_to() {
        let s = secrets(&["api.a.com: Authorization=Bearer 0123456789"]).unwrap();
        let meant = |url: &str| s.concern_url(&Url::parse(url).unwrap());
        assert!(meant("https://api.a.com/x"));
        for other in [
            "http://api.a.com/",
            "https://api.a.com:8443/",
            "https://a.com/",
            "https://x.api.a.com/",
            "https://api.a.com.evil.org/",
        ] {
            assert!(!meant(other), "{other}");
        }
        let s = secrets(&["https://api.a.com/v1/: X-Key=0123456789"]).unwrap();
        assert!(s.concern_url(&Url::parse("https://api.a.com/v1/x").unwrap()));
        assert!(!s.concern_url(&Url::parse("https://api.a.com/v1%2f../x").unwrap()));
    }

    #[test]
    fn mistakes_are_named() {
        use SecretError as E;
        for (text, error) in [
            ("api.a.com", E::Form),
            ("api.a.com: Authorization", E::Form),
            ("api.a.com:Authorization=0123456789", E::Form),
            ("http://api.a.com: X=0123456789", E::Plain),
            ("*://api.a.com: X=0123456789", E::Plain),
            ("http://10.0.0.1: X=0123456789", E::Plain),
            ("*: X=0123456789", E::AnyHost),
            ("a.com: Host=0123456789", E::Header("Host".into())),
            ("a.com: Content-Length=0123456789", E::Header("Content-Length".into())),
            ("a.com: A B=0123456789", E::Header("A B".into())),
            ("a.com: X=${env:", E::Template),
            ("a.com: X=${HOME}", E::Template),
            ("a.com: X=${cmd:ls}", E::Template),
            ("a.com: X=short", E::Value),
            ("a.com: X=0123456789\r\nY: z", E::Value),
            ("a.com: X=${env:WASIBOX_NO_SUCH_VARIABLE}", E::Env("WASIBOX_NO_SUCH_VARIABLE".into())),
            ("a.com: X=${call:f}", E::Unknown("f".into())),
        ] {
            assert_eq!(secrets(&[text]).err(), Some(error), "{text}");
        }
        assert!(secrets(&["http://127.0.0.1:8000: X=0123456789"]).is_ok());
        assert!(secrets(&["http://[::1]:*: X=0123456789"]).is_ok());
        assert!(secrets(&["http://localhost: X=0123456789"]).is_ok());
    }

    #[test]
    fn functions_may_change_their_value_and_old_ones_are_remembered() {
        let count = Arc::new(Mutex::new(0));
        let next: SecretFn = Arc::new(move || {
            let mut n = count.lock().unwrap();
            *n += 1;
            Ok(Zeroizing::new(format!("secret-number-{n}")))
        });
        let rule = "a.com: X=${call:next}".parse().unwrap();
        let s = Secrets::new(vec![rule], BTreeMap::from([("next".into(), next)])).unwrap();
        let url = Url::parse("https://a.com/").unwrap();
        let sent = s.headers(&url).unwrap();
        assert_eq!(sent[0].1.as_bytes(), b"secret-number-2");
        assert!(sent[0].1.is_sensitive());
        let text = s.forms().scrub_bytes(b"secret-number-1 secret-number-2");
        assert_eq!(text, b"*************** ***************");
    }

    /// The example of RFC 7617.
    #[test]
    fn passwords_within_basic_are_looked_for() {
        let s = secrets(&["a.com: Authorization=Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]).unwrap();
        assert_eq!(s.forms().scrub_bytes(b"pw open sesame!"), b"pw ***********!");
    }

    #[test]
    fn debug_shows_nothing() {
        let rule: SecretRule = "a.com: X=0123456789".parse().unwrap();
        assert!(!format!("{rule:?}").contains("0123456789"));
    }
}
