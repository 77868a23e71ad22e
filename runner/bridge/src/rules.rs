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
//! A rule for git is written `git-fetch URL [at ...]` or `git-push URL [REF...] [ACTIONS] [at ...]`,
//! for example `git-push https://git.example.com/team/project.git refs/heads/agent/*`. Its URL is
//! that of one repository, or ends in `/*` and means all below a folder ([`mod@crate::git`]):
//!
//! - REF: a name or a pattern as in git's refspecs; the default is every ref.
//! - ACTIONS: `create`, `update`, `delete` and `push-options` with commas. The default is
//!   `create,update` for a rule that allows, and everything for one that denies.
//!
//! `git-push` also allows `git-fetch`. A request that a rule for requests allows needs no rule for git.
//!
//! A request that no rule allows is refused, and so is one that a rule denies, even if others allow
//! it. A denying rule is read broadly, an allowing one narrowly ([`crate::path`]).
//!
//! Naming a host does not open private addresses, because the owner of the name's zone could lead
//! the guest anywhere in the host's networks. `at` opens them.

use crate::error::{RequestError, RuleRefusal};
use crate::git::endpoint::RepositoryPattern;
use crate::git::operation::{GitOperationKind, PushScope};
use crate::git::{GitOperation, GitRequest, GitService};
use crate::path::{PathPrefix, PathReadings};
use crate::request::GuestRequest;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use url::{Host, Url};

mod notation;
mod permit;

use notation::RuleSource;
#[cfg(feature = "transport")]
pub(crate) use notation::parse_target;
pub(crate) use notation::plain_name;
pub(crate) use permit::{Permit, PushRefusal};

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
    subject: RuleSubject,
    target: UrlPattern,
    at: Vec<IpNet>,
}

/// A rule as a table, for policy files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Names of methods, or `git-fetch` or `git-push` alone.
    pub methods: Vec<String>,
    pub url: String,
    /// The refs of `git-push`, and the actions.
    #[serde(default)]
    pub refs: Vec<String>,
    #[serde(default)]
    pub actions: Vec<String>,
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
    #[error("the rules for git are 'git-fetch URL' and 'git-push URL [REF...] [ACTIONS]', alone")]
    Git,
    #[error(
        "a ref is a full name, as in refs/heads/main, or a pattern with one *, as in \
         refs/heads/agent/*"
    )]
    Ref,
    #[error("the actions of git-push are create, update, delete and push-options, with commas")]
    Action,
    #[error(
        "whether an update is forced can only be known by the server; 'create' alone changes no \
         ref that exists"
    )]
    Force,
}

/// The subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RuleSubject {
    Requests(Methods),
    Git(GitOperation),
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

/// A request as rules see it.
struct RequestView<'a> {
    method: &'a str,
    url: &'a Url,
    path: PathReadings,
    git: Option<GitRequest>,
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

    /// Checks a request, and its head if a rule for git is about it.
    ///
    /// # Errors
    /// The same as [`RequestRules::check_allowed`], and if it is a push that cannot be judged.
    pub(crate) fn check_request(&self, request: &GuestRequest) -> Result<Permit<'_>, RequestError> {
        let permit = self.check(request.method.as_str(), &request.url);
        let permit = permit.map_err(RequestError::Refused)?;
        permit.check_head(&request.headers, request.body)?;
        Ok(permit)
    }

    /// Checks whether a redirect from one request to another may be followed. The other one is
    /// judged by itself as well.
    ///
    /// # Errors
    /// If it leads out of the repository to which the rules bind the first one.
    pub(crate) fn check_redirect(
        &self,
        from: &GuestRequest,
        to: &GuestRequest,
    ) -> Result<(), RequestError> {
        self.check_request(from)?.check_redirect(&from.url, &to.url)
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
            rule.subject == RuleSubject::Requests(Methods::All)
                && rule.at.is_empty()
                && scheme.is_none()
                && *host == HostPattern::Any
                && *port == Port::Any
                && *path == PathPrefix::every_path()
        };
        self.deny.is_empty() && self.allow.iter().any(every)
    }

    /// Checks like [`RequestRules::check_allowed`], and returns the checks that remain.
    pub(crate) fn check(&self, method: &str, url: &Url) -> Result<Permit<'_>, RuleRefusal> {
        let refusal = |git: Option<&GitRequest>, denied_by: Option<&RequestRule>| RuleRefusal {
            target: url_authority(url),
            denied_by: denied_by.map(ToString::to_string),
            needed: needed_rule(method, url, git),
        };
        let Some(path) = PathReadings::from_path(url.path()) else {
            return Err(refusal(None, None));
        };
        let git = GitRequest::new(method, url, &path);
        let view = RequestView { method, url, path, git };
        if let Some(rule) = self.deny.iter().find(|r| r.denies(&view)) {
            return Err(refusal(view.git.as_ref(), Some(rule)));
        }
        let allow: Vec<&RequestRule> = self.allow.iter().filter(|r| r.allows(&view)).collect();
        if allow.is_empty() {
            return Err(refusal(view.git.as_ref(), None));
        }
        Ok(Permit::new(allow, &self.deny, view))
    }
}

impl RequestRule {
    /// Makes a rule from a table.
    ///
    /// # Errors
    /// The fault of the rule.
    pub fn new(spec: &RuleSpec) -> Result<Self, RuleError> {
        let mut text = format!("{} {}", spec.methods.join(","), spec.url);
        for name in &spec.refs {
            text = format!("{text} {name}");
        }
        if !spec.actions.is_empty() {
            text = format!("{text} {}", spec.actions.join(","));
        }
        if !spec.at.is_empty() {
            let at: Vec<String> = spec.at.iter().map(ToString::to_string).collect();
            text = format!("{text} at {}", at.join(","));
        }
        text.parse()
    }

    /// Returns whether the rule allows a request, read narrowly.
    fn allows(&self, view: &RequestView<'_>) -> bool {
        let place = self.target.matches_host(view.url) && self.target.matches_place(view.url);
        place
            && match &self.subject {
                RuleSubject::Requests(methods) => {
                    methods.contain_method(view.method, MatchBreadth::Narrowly)
                        && view.path.is_within(&self.target.path)
                }
                RuleSubject::Git(git) => view.git.as_ref().is_some_and(|request| {
                    let reads = request.service == GitService::UploadPack;
                    self.repositories(git).matches(&request.repository)
                        && (reads || matches!(git.kind, GitOperationKind::Push(_)))
                }),
            }
    }

    /// Returns whether the rule denies a request, read widely. A rule about some pushes denies none
    /// whose commands can be judged.
    fn denies(&self, view: &RequestView<'_>) -> bool {
        let some_pushes = self.push_scope().is_some_and(|scope| !scope.is_everything());
        self.concerns(view) && !(some_pushes && view.git.is_some())
    }

    /// Returns whether the rule is about a request, read widely.
    fn concerns(&self, view: &RequestView<'_>) -> bool {
        self.target.matches_host(view.url) && self.concerns_but_host(view)
    }

    fn concerns_but_host(&self, view: &RequestView<'_>) -> bool {
        let wide = match &self.subject {
            RuleSubject::Requests(methods) => {
                methods.contain_method(view.method, MatchBreadth::Widely)
                    && view.path.touches_prefix(&self.target.path)
            }
            RuleSubject::Git(git) => {
                let service = match git.kind {
                    GitOperationKind::Fetch => GitService::UploadPack,
                    GitOperationKind::Push(_) => GitService::ReceivePack,
                };
                self.repositories(git).may_mean(service, view.url, &view.path)
            }
        };
        wide && self.target.matches_place(view.url)
    }

    fn repositories(&self, git: &GitOperation) -> RepositoryPattern<'_> {
        RepositoryPattern { path: &self.target.path, is_folder: git.is_folder }
    }

    fn is_for_git(&self) -> bool {
        matches!(self.subject, RuleSubject::Git(_))
    }

    /// Returns which pushes the rule is about; `None` if it is not about pushes.
    fn push_scope(&self) -> Option<&PushScope> {
        match &self.subject {
            RuleSubject::Git(GitOperation { kind: GitOperationKind::Push(scope), .. }) => {
                Some(scope)
            }
            _ => None,
        }
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
            && self.matches_place(url)
            && path.is_some_and(|path| path.is_within(&self.path))
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
}

/// Returns `host:port`.
pub(crate) fn url_authority(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// Returns the narrowest rule that allows a request.
fn needed_rule(method: &str, url: &Url, git: Option<&GitRequest>) -> String {
    let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
    let (scheme, host) = (url.scheme(), url.host_str().unwrap_or_default());
    if let Some(git) = git {
        let repository = git.strip_end(url.path());
        let place = format!("{scheme}://{host}{port}{repository}");
        let rule = match git.service {
            GitService::UploadPack => format!("git-fetch {place}"),
            // The commands of the push are not known yet.
            GitService::ReceivePack => format!("git-push {place} refs/heads/*"),
        };
        if allows_request(&rule, method, url) {
            return rule;
        }
    }
    let exact = format!("{method} {scheme}://{host}{port}{}", url.path());
    let parses = allows_request(&exact, method, url);
    if parses { exact } else { format!("{method} {scheme}://{host}{port}/") }
}

/// Returns whether a text is a rule that allows a request.
fn allows_request(rule: &str, method: &str, url: &Url) -> bool {
    let Some(path) = PathReadings::from_path(url.path()) else { return false };
    let git = GitRequest::new(method, url, &path);
    let view = RequestView { method, url, path, git };
    rule.parse::<RequestRule>().is_ok_and(|rule| rule.allows(&view))
}

#[cfg(test)]
mod tests;
