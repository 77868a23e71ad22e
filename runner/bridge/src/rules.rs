//! Rules: the requests that a guest may make.
//!
//! A rule is written `METHODS SCHEME://HOST[:PORT][/PATH] [at NETWORK,...]`, for example `GET
//! https://*.example.com/v1`:
//!
//! - METHODS: names separated by commas, or `*`. GET includes HEAD.
//! - SCHEME: `http`, `https` or `*`.
//! - HOST: a name, an address, `*.domain` for all names below a domain (not itself), or `*`.
//! - PORT: a number or `*`; the default is the scheme's port.
//! - PATH: a prefix of whole segments.
//! - NETWORK: the only networks in which the host may be. The default is public addresses for a
//!   name, loopback addresses for `localhost`, and the address itself if HOST is one.
//!
//! A request that no rule allows is refused, and so is one that a rule denies, even if others allow
//! it. A denying rule is read broadly, an allowing one narrowly ([`crate::path`]).
//!
//! Naming a host does not open private addresses, because the owner of the name's zone could lead
//! the guest anywhere in the host's networks. `at` opens them.

use crate::address::{AddressClass, address_class};
use crate::error::RuleRefusal;
use crate::path::{PathPrefix, PathReadings};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use url::{Host, Url};

/// Maximum length of a rule as text.
const MAX_RULE: usize = 4096;

/// The requests that a guest may make. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestRules {
    pub allow: Vec<RequestRule>,
    pub deny: Vec<RequestRule>,
}

/// One rule. Its text form is its `Display`, its `FromStr`, and the form that serde writes; serde
/// also reads [`RuleSpec`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleSource", into = "String")]
pub struct RequestRule {
    methods: Methods,
    target: UrlPattern,
    at: Vec<IpNet>,
}

/// A rule as a table, for policy files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    pub methods: Vec<String>,
    pub url: String,
    #[serde(default)]
    pub at: Vec<IpNet>,
}

/// The reason why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a rule: {fault}")]
pub struct RuleError {
    pub text: String,
    pub fault: RuleFault,
}

/// The fault of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleFault {
    #[error("expected METHODS URL, as in 'GET,POST https://example.com/api/'")]
    Form,
    #[error("methods are names with commas, or *")]
    Method,
    #[error("the URL begins with http://, https:// or *://")]
    Scheme,
    #[error("the host is a name, an address, *.domain or *")]
    Host,
    #[error("the port is a number or *")]
    Port,
    #[error("the path is a prefix without queries, wildcards, doubled slashes and encoded slashes")]
    Path,
    #[error("a rule has no user and password")]
    User,
    #[error("after 'at' come addresses or networks with commas, as in 10.0.0.0/8")]
    At,
    #[error("it is too long")]
    Long,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Methods {
    All,
    Some(Vec<String>),
}

/// The URLs to which a rule or a secret applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlPattern {
    pub(crate) scheme: Option<Scheme>,
    pub(crate) host: HostPattern,
    port: Port,
    path: PathPrefix,
    /// The pattern as written, in canonical form.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPattern {
    Any,
    /// `.domain`, including the dot, so that the end of a name is compared by whole labels.
    Beneath(String),
    Name(String),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Any,
    Default,
    Number(u16),
}

/// The reading of an ambiguous text: the one that matches more, or the one that matches less.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchBreadth {
    Widely,
    Narrowly,
}

/// The rules that allow a request; its addresses are judged by these as well.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    rules: Vec<&'a RequestRule>,
    denying: Vec<&'a RequestRule>,
}

impl RequestRules {
    /// Returns whether nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }

    /// Checks whether the rules allow a request, before its host is resolved.
    ///
    /// # Errors
    /// The rule that denies it, or the rule that would allow it.
    pub fn check_allowed(&self, method: &str, url: &Url) -> Result<(), RuleRefusal> {
        self.check(method, url).map(|_| ())
    }

    /// Returns whether an allowing rule names this host, a name or an address, and this port, for
    /// any method and path. `*` and `*.domain` do not name a host.
    #[must_use]
    pub fn names_host(&self, host: &str, port: u16) -> bool {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        ["http", "https"].iter().any(|scheme| {
            let Ok(url) = Url::parse(&format!("{scheme}://{host}:{port}/")) else { return false };
            self.allow.iter().any(|rule| rule.target.names(&url))
        })
    }

    /// Returns a rule that restricts the addresses of its host.
    pub(crate) fn with_place(&self) -> Option<&RequestRule> {
        self.allow.iter().chain(&self.deny).find(|rule| !rule.at.is_empty())
    }

    /// Returns whether a rule allows every possible request, and none denies any.
    pub(crate) fn allow_everything(&self) -> bool {
        let every = |rule: &RequestRule| {
            let UrlPattern { scheme, host, port, path, .. } = &rule.target;
            rule.methods == Methods::All
                && rule.at.is_empty()
                && scheme.is_none()
                && *host == HostPattern::Any
                && *port == Port::Any
                && *path == PathPrefix::every_path()
        };
        self.deny.is_empty() && self.allow.iter().any(every)
    }

    pub(crate) fn check(&self, method: &str, url: &Url) -> Result<Permit<'_>, RuleRefusal> {
        let refusal = |denied_by: Option<&RequestRule>| RuleRefusal {
            target: url_authority(url),
            denied_by: denied_by.map(ToString::to_string),
            needed: needed_rule(method, url),
        };
        let Some(readings) = PathReadings::from_path(url.path()) else { return Err(refusal(None)) };
        if let Some(rule) =
            self.deny.iter().find(|r| r.matches(method, url, &readings, MatchBreadth::Widely))
        {
            return Err(refusal(Some(rule)));
        }
        let rules: Vec<&RequestRule> = self
            .allow
            .iter()
            .filter(|r| r.matches(method, url, &readings, MatchBreadth::Narrowly))
            .collect();
        if rules.is_empty() {
            return Err(refusal(None));
        }
        // Rules that deny an address also apply to names that lead to it.
        let denying = self
            .deny
            .iter()
            .filter(|r| matches!(r.target.host, HostPattern::Address(_)))
            .filter(|r| r.matches_but_host(method, url, &readings, MatchBreadth::Widely))
            .collect();
        Ok(Permit { rules, denying })
    }
}

impl Permit<'_> {
    /// Returns the rule, for the log.
    pub(crate) fn rule(&self) -> String {
        self.rules.first().map(ToString::to_string).unwrap_or_default()
    }

    /// Checks whether the host of the request may be at this address.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), AddressClass> {
        let denied = |r: &&RequestRule| r.target.host == HostPattern::Address(address);
        if self.denying.iter().any(denied) {
            return Err(address_class(address).unwrap_or(AddressClass::Reserved));
        }
        match address_class(address) {
            _ if self.rules.iter().any(|r| r.names_address(address)) => Ok(()),
            // Rules that restrict the addresses of their host allow no others.
            None if self.rules.iter().any(|r| r.at.is_empty()) => Ok(()),
            None => Err(AddressClass::Reserved),
            Some(class) => Err(class),
        }
    }
}

impl RequestRule {
    /// Makes a rule from a table.
    ///
    /// # Errors
    /// The fault of the rule.
    pub fn new(spec: &RuleSpec) -> Result<Self, RuleError> {
        let mut text = format!("{} {}", spec.methods.join(","), spec.url);
        if !spec.at.is_empty() {
            let at: Vec<String> = spec.at.iter().map(ToString::to_string).collect();
            text = format!("{text} at {}", at.join(","));
        }
        text.parse()
    }

    fn matches(&self, method: &str, url: &Url, path: &PathReadings, read: MatchBreadth) -> bool {
        self.target.matches_host(url) && self.matches_but_host(method, url, path, read)
    }

    fn matches_but_host(
        &self,
        method: &str,
        url: &Url,
        path: &PathReadings,
        read: MatchBreadth,
    ) -> bool {
        self.methods.contain_method(method, read) && self.target.matches_but_host(url, path, read)
    }

    /// Returns whether the rule names this address although names may not lead to it.
    fn names_address(&self, address: IpAddr) -> bool {
        if !self.at.is_empty() {
            return self.at.iter().any(|n| n.contains(&address));
        }
        match &self.target.host {
            HostPattern::Address(named) => *named == address,
            HostPattern::Name(name) => is_localhost(name) && address.is_loopback(),
            HostPattern::Any | HostPattern::Beneath(_) => false,
        }
    }
}

/// Returns whether a name means the machine itself (RFC 6761, 6.3).
pub(crate) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

impl Methods {
    fn contain_method(&self, method: &str, read: MatchBreadth) -> bool {
        let Self::Some(names) = self else { return true };
        let same = |name: &String| match read {
            MatchBreadth::Narrowly => name == method,
            MatchBreadth::Widely => name.eq_ignore_ascii_case(method),
        };
        names.iter().any(same)
            || (method.eq_ignore_ascii_case("HEAD") && names.iter().any(|n| n == "GET"))
    }
}

impl UrlPattern {
    /// Returns whether the pattern matches this URL; read narrowly.
    pub(crate) fn matches(&self, url: &Url) -> bool {
        let path = PathReadings::from_path(url.path());
        self.matches_host(url)
            && path.is_some_and(|path| self.matches_but_host(url, &path, MatchBreadth::Narrowly))
    }

    fn matches_host(&self, url: &Url) -> bool {
        match (&self.host, url.host()) {
            (_, None) => false,
            (HostPattern::Any, Some(_)) => true,
            (HostPattern::Beneath(end), Some(Host::Domain(name))) => {
                name.len() > end.len() && name.ends_with(end.as_str())
            }
            (HostPattern::Name(name), Some(Host::Domain(host))) => name == host,
            (HostPattern::Address(IpAddr::V4(a)), Some(Host::Ipv4(b))) => *a == b,
            (HostPattern::Address(IpAddr::V6(a)), Some(Host::Ipv6(b))) => *a == b,
            _ => false,
        }
    }

    /// Returns whether the pattern has a single host, and matches the URL's scheme, host and port.
    fn names(&self, url: &Url) -> bool {
        matches!(self.host, HostPattern::Name(_) | HostPattern::Address(_))
            && self.matches_host(url)
            && self.matches_place(url)
    }

    fn matches_place(&self, url: &Url) -> bool {
        let scheme = match self.scheme {
            None => true,
            Some(Scheme::Http) => url.scheme() == "http",
            Some(Scheme::Https) => url.scheme() == "https",
        };
        let port = match self.port {
            Port::Any => true,
            Port::Default => url.port().is_none(),
            Port::Number(n) => url.port_or_known_default() == Some(n),
        };
        scheme && port
    }

    fn matches_but_host(&self, url: &Url, path: &PathReadings, read: MatchBreadth) -> bool {
        let path = match read {
            MatchBreadth::Widely => path.touches_prefix(&self.path),
            MatchBreadth::Narrowly => path.is_within(&self.path),
        };
        self.matches_place(url) && path
    }
}

impl FromStr for RequestRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        parse(text).map_err(|fault| RuleError { text: text.chars().take(200).collect(), fault })
    }
}

fn parse(text: &str) -> Result<RequestRule, RuleFault> {
    if text.len() > MAX_RULE {
        return Err(RuleFault::Long);
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (methods, url, at) = match *words.as_slice() {
        [methods, url] => (methods, url, None),
        [methods, url, "at", at] => (methods, url, Some(at)),
        _ => return Err(RuleFault::Form),
    };
    let methods = match methods {
        "*" => Methods::All,
        names => Methods::Some(names.split(',').map(parse_method).collect::<Result<_, _>>()?),
    };
    let at = at.map_or(Ok(Vec::new()), |at| at.split(',').map(parse_network).collect())?;
    Ok(RequestRule { methods, target: parse_target(url)?, at })
}

fn parse_method(name: &str) -> Result<String, RuleFault> {
    let token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    token.then(|| name.to_ascii_uppercase()).ok_or(RuleFault::Method)
}

fn parse_network(text: &str) -> Result<IpNet, RuleFault> {
    let one = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>().or_else(|_| one()).map_err(|_| RuleFault::At)
}

/// Parses the URL of a rule or a secret.
pub(crate) fn parse_target(text: &str) -> Result<UrlPattern, RuleFault> {
    let (scheme, rest) = text.split_once("://").ok_or(RuleFault::Scheme)?;
    let scheme = match scheme {
        "*" => None,
        "http" => Some(Scheme::Http),
        "https" => Some(Scheme::Https),
        _ => return Err(RuleFault::Scheme),
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    if authority.contains('@') {
        return Err(RuleFault::User);
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let port = match port {
        None => Port::Default,
        Some("*") => Port::Any,
        Some(n) if n.bytes().all(|b| b.is_ascii_digit()) => {
            let number = n.parse().ok().filter(|n| *n > 0).ok_or(RuleFault::Port)?;
            let default = match scheme {
                Some(Scheme::Http) => number == 80,
                Some(Scheme::Https) => number == 443,
                None => false,
            };
            if default { Port::Default } else { Port::Number(number) }
        }
        Some(_) => return Err(RuleFault::Port),
    };
    let host = host_pattern(host)?;
    if path.contains(['?', '#', '*']) {
        return Err(RuleFault::Path);
    }
    let url = Url::parse(&format!("http://h{path}")).map_err(|_| RuleFault::Path)?;
    // The URL parser would change `..` and backslashes to a path that the rule's author has not
    // written.
    let dots = path.split('/').any(|s| matches!(s, "." | ".."));
    if dots || path.contains('\\') {
        return Err(RuleFault::Path);
    }
    let prefix =
        if path == "/" { Some(PathPrefix::every_path()) } else { PathPrefix::new(url.path()) };
    let text = format!("{}://{host}{port}{}", scheme.map_or("*", Scheme::name), url.path());
    Ok(UrlPattern { scheme, host, port, path: prefix.ok_or(RuleFault::Path)?, text })
}

fn host_pattern(text: &str) -> Result<HostPattern, RuleFault> {
    if text == "*" {
        return Ok(HostPattern::Any);
    }
    let (beneath, name) = match text.strip_prefix("*.") {
        Some(name) => (true, name),
        None => (false, text),
    };
    if name.is_empty() || name.contains(['*', '?', '#', '\\', '%']) {
        return Err(RuleFault::Host);
    }
    let url = Url::parse(&format!("http://{name}/")).map_err(|_| RuleFault::Host)?;
    match (url.host(), beneath) {
        (Some(Host::Domain(_)), _) => {
            let name = plain_name(&url).ok_or(RuleFault::Host)?;
            Ok(if beneath {
                HostPattern::Beneath(format!(".{name}"))
            } else {
                HostPattern::Name(name)
            })
        }
        (Some(Host::Ipv4(a)), false) => Ok(HostPattern::Address(a.into())),
        (Some(Host::Ipv6(a)), false) => Ok(HostPattern::Address(a.into())),
        _ => Err(RuleFault::Host),
    }
}

/// Returns the URL's name without a dot at its end; `None` if it has empty labels.
pub(crate) fn plain_name(url: &Url) -> Option<String> {
    let name = url.domain()?;
    let name = name.strip_suffix('.').unwrap_or(name);
    let labels = name.split('.').all(|l| !l.is_empty() && l.len() <= 63);
    (labels && name.len() <= 253).then(|| name.to_string())
}

/// Returns `host:port`.
pub(crate) fn url_authority(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// Returns the narrowest rule that allows a request.
fn needed_rule(method: &str, url: &Url) -> String {
    let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
    let (scheme, host) = (url.scheme(), url.host_str().unwrap_or_default());
    let exact = format!("{method} {scheme}://{host}{port}{}", url.path());
    let parses = exact.parse::<RequestRule>().is_ok_and(|rule| {
        PathReadings::from_path(url.path())
            .is_some_and(|path| rule.matches(method, url, &path, MatchBreadth::Narrowly))
    });
    if parses { exact } else { format!("{method} {scheme}://{host}{port}/") }
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Beneath(end) => write!(f, "*{end}"),
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(a)) => write!(f, "{a}"),
            Self::Address(IpAddr::V6(a)) => write!(f, "[{a}]"),
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(":*"),
            Self::Default => Ok(()),
            Self::Number(n) => write!(f, ":{n}"),
        }
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for RequestRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.methods {
            Methods::All => f.write_str("*")?,
            Methods::Some(names) => f.write_str(&names.join(","))?,
        }
        write!(f, " {}", self.target)?;
        for (i, net) in self.at.iter().enumerate() {
            f.write_str(if i == 0 { " at " } else { "," })?;
            write!(f, "{net}")?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RuleSource {
    Text(String),
    Table(RuleSpec),
}

impl TryFrom<RuleSource> for RequestRule {
    type Error = RuleError;

    fn try_from(written: RuleSource) -> Result<Self, RuleError> {
        match written {
            RuleSource::Text(text) => text.parse(),
            RuleSource::Table(spec) => Self::new(&spec),
        }
    }
}

impl From<RequestRule> for String {
    fn from(rule: RequestRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests;
