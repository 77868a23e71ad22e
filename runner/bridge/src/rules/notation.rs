//! The notation of rules: their text, and the tables of policy files.

use super::{
    HostPattern, Methods, Port, RequestRule, RuleError, RuleFault, RuleSpec, RuleSubject, Scheme,
    UrlPattern,
};
use crate::git::operation::{GitOperationKind, PushScope};
use crate::git::{GitOperation, OperationFault};
use crate::path::PathPrefix;
use ipnet::IpNet;
use serde::Deserialize;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use url::{Host, Url};

/// Maximum length of a rule as text.
const MAX_RULE: usize = 4096;

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
    let (words, at) = match words.as_slice() {
        [words @ .., "at", at] => (words, Some(*at)),
        words => (words, None),
    };
    let [methods, url, rest @ ..] = words else { return Err(RuleFault::Form) };
    let at = at.map_or(Ok(Vec::new()), |at| at.split(',').map(parse_network).collect())?;
    let kind = match (methods.to_ascii_lowercase().as_str(), rest) {
        ("git-fetch", []) => Some(GitOperationKind::Fetch),
        ("git-fetch", _) => return Err(RuleFault::Git),
        ("git-push", refs) => Some(GitOperationKind::Push(PushScope::parse(refs)?)),
        (_, []) => None,
        _ => return Err(RuleFault::Form),
    };
    if let Some(kind) = kind {
        let (target, is_folder) = parse_repository(url)?;
        return Ok(RequestRule {
            subject: RuleSubject::Git(GitOperation { kind, is_folder }),
            target,
            at,
        });
    }
    let methods = match *methods {
        "*" => Methods::All,
        names => Methods::Some(names.split(',').map(parse_method).collect::<Result<_, _>>()?),
    };
    Ok(RequestRule { subject: RuleSubject::Requests(methods), target: parse_target(url)?, at })
}

/// Parses the URL of a repository, or of all below a folder.
fn parse_repository(text: &str) -> Result<(UrlPattern, bool), RuleFault> {
    let (plain, is_folder) = match text.strip_suffix("/*") {
        // `*` alone is a host.
        Some(folder) if !folder.ends_with('/') => (folder, true),
        _ => (text, false),
    };
    let mut target = parse_target(plain.strip_suffix('/').unwrap_or(plain))?;
    let end = if is_folder { "/*" } else { "" };
    target.text = format!("{}{end}", target.text.trim_end_matches('/'));
    Ok((target, is_folder))
}

impl From<OperationFault> for RuleFault {
    fn from(fault: OperationFault) -> Self {
        match fault {
            OperationFault::Ref => Self::Ref,
            OperationFault::Action => Self::Action,
            OperationFault::Force => Self::Force,
        }
    }
}

fn parse_method(name: &str) -> Result<String, RuleFault> {
    // A mistaken name of a rule for git would deny nothing.
    if name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("git-")) {
        return Err(RuleFault::Git);
    }
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
        match &self.subject {
            RuleSubject::Requests(Methods::All) => write!(f, "* {}", self.target)?,
            RuleSubject::Requests(Methods::Some(names)) => {
                write!(f, "{} {}", names.join(","), self.target)?;
            }
            RuleSubject::Git(GitOperation { kind: GitOperationKind::Fetch, .. }) => {
                write!(f, "git-fetch {}", self.target)?;
            }
            RuleSubject::Git(GitOperation { kind: GitOperationKind::Push(scope), .. }) => {
                write!(f, "git-push {}{scope}", self.target)?;
            }
        }
        for (i, net) in self.at.iter().enumerate() {
            f.write_str(if i == 0 { " at " } else { "," })?;
            write!(f, "{net}")?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RuleSource {
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
