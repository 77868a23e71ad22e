//! The decision of the rules about one request, and the facts that they still need: the address of
//! its host, and the commands of a push.

use super::{HostPattern, RequestRule, RequestView};
use crate::address::{AddressClass, address_class};
use crate::error::{RequestError, RuleRefusal};
use crate::git::{GitRequest, PushAction, PushCommand, PushList, PushedRef, refusal_report};
use crate::message::BodyLength;
use http::header::HeaderMap;
use std::net::IpAddr;
use url::Url;

/// Maximum number of refused refs for which the client gets the missing rule.
const MAX_HINTS: usize = 5;

/// The rules that allow a request; its addresses are judged by these as well.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    /// Groups of allowing rules, of which each must allow the address: one group, or one for each
    /// way in which commands of a push are allowed.
    groups: Vec<Vec<&'a RequestRule>>,
    denying: Vec<&'a RequestRule>,
    push: Option<PushPermit<'a>>,
    git: Option<GitRequest>,
    /// Whether a rule for requests allows it, so that it is not bound to a repository.
    is_free: bool,
}

/// The rules for the commands of a push.
#[derive(Debug)]
struct PushPermit<'a> {
    allow: Vec<&'a RequestRule>,
    deny: Vec<&'a RequestRule>,
    /// The repository's URL.
    repository: String,
}

/// The judgement of a push.
#[derive(Debug)]
pub(crate) struct PushVerdict {
    pub(crate) refs: Vec<PushedRef>,
    /// If the push is refused: the first refusal, and the answer to the client.
    pub(crate) refusal: Option<PushRefusal>,
}

#[derive(Debug)]
pub(crate) struct PushRefusal {
    pub(crate) first: RuleRefusal,
    /// The body of a server's answer; `None` if the client reads none.
    pub(crate) report: Option<Vec<u8>>,
}

/// The reason why one command is refused.
struct CommandRefusal {
    why: String,
    denied_by: Option<String>,
    needed: String,
}

impl<'a> Permit<'a> {
    pub(super) fn new(
        allow: Vec<&'a RequestRule>,
        deny: &'a [RequestRule],
        view: RequestView<'_>,
    ) -> Self {
        // Rules that deny an address also apply to names that lead to it. Where the URL has the
        // address itself, those that do not deny the request by now are about other commands.
        let denying = deny
            .iter()
            .filter(|r| matches!(r.target.host, HostPattern::Address(_)))
            .filter(|r| r.concerns_but_host(&view) && !r.target.matches_host(view.url))
            .collect();
        let is_free = allow.iter().any(|rule| !rule.is_for_git());
        let scoped = |rule: &&RequestRule| rule.push_scope().is_some() && rule.concerns(&view);
        let deny_pushes: Vec<&RequestRule> = deny.iter().filter(scoped).collect();
        let push = view
            .git
            .as_ref()
            .filter(|git| git.is_push() && (!is_free || !deny_pushes.is_empty()))
            .map(|git| PushPermit {
                allow: allow.clone(),
                deny: deny_pushes,
                repository: repository_url(view.url, git),
            });
        Self { groups: vec![allow], denying, push, git: view.git, is_free }
    }

    /// Returns the rule, for the log.
    pub(crate) fn rule(&self) -> String {
        let first = self.groups.first().and_then(|group| group.first());
        first.map(ToString::to_string).unwrap_or_default()
    }

    /// Checks whether the host of the request may be at this address.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), AddressClass> {
        let denied = |r: &&RequestRule| r.target.host == HostPattern::Address(address);
        if self.denying.iter().any(denied) {
            return Err(address_class(address).unwrap_or(AddressClass::Reserved));
        }
        self.groups.iter().try_for_each(|rules| check_address_by(rules, address))
    }

    /// Returns whether the beginning of the body must be judged before anything is sent.
    pub(crate) fn must_judge_push(&self) -> bool {
        self.push.is_some()
    }

    /// Checks a request's head, so that its body is the one that the rules for git expect.
    pub(crate) fn check_head(
        &self,
        headers: &HeaderMap,
        body: BodyLength,
    ) -> Result<(), RequestError> {
        match &self.git {
            Some(git) if !self.is_free || self.must_judge_push() => {
                git.check_head(headers, body).map_err(RequestError::Push)
            }
            _ => Ok(()),
        }
    }

    /// Checks whether a redirect of the request may be followed: where only rules for git allow it,
    /// within its repository.
    pub(crate) fn check_redirect(&self, from: &Url, to: &Url) -> Result<(), RequestError> {
        let Some(git) = self.git.as_ref().filter(|_| !self.is_free) else { return Ok(()) };
        let place = repository_url(from, git);
        // Beneath the repository the rules judge the request as any other.
        let stays = from.origin() == to.origin()
            && to
                .path()
                .strip_prefix(git.strip_end(from.path()))
                .is_some_and(|r| r.starts_with('/'));
        if stays { Ok(()) } else { Err(RequestError::Repository(place)) }
    }

    /// Judges the commands of a push. The rules that allow it are those that its address needs from then
    /// on.
    pub(crate) fn judge_push(&mut self, list: &PushList) -> PushVerdict {
        let Some(push) = &self.push else {
            return PushVerdict { refs: Vec::new(), refusal: None };
        };
        let mut groups: Vec<Vec<&RequestRule>> = Vec::new();
        let mut refusals: Vec<(&PushCommand, CommandRefusal)> = Vec::new();
        let mut refs = Vec::with_capacity(list.commands.len());
        for command in &list.commands {
            let refusal = match push.judge_command(command, list) {
                Ok(group) => {
                    if !groups.contains(&group) {
                        groups.push(group);
                    }
                    None
                }
                Err(refusal) => Some(refusal),
            };
            refs.push(PushedRef {
                name: command.name.clone(),
                action: command.action(),
                old: command.old.clone(),
                new: command.new.clone(),
                refused: refusal.as_ref().map(|refusal| refusal.why.clone()),
            });
            refusals.extend(refusal.map(|refusal| (command, refusal)));
        }
        if refusals.is_empty() {
            if !groups.is_empty() {
                self.groups = groups;
            }
            return PushVerdict { refs, refusal: None };
        }
        let explained = refusals.into_iter().take(MAX_HINTS);
        let all: Vec<RuleRefusal> =
            explained.map(|(command, why)| push.refusal(command, why)).collect();
        let hints: Vec<String> = all.iter().map(ToString::to_string).collect();
        let report = refusal_report(list, &refs, &hints);
        let first = all.into_iter().next();
        PushVerdict { refs, refusal: first.map(|first| PushRefusal { first, report }) }
    }
}

impl<'a> PushPermit<'a> {
    /// Returns the rules that allow a command.
    fn judge_command(
        &self,
        command: &PushCommand,
        list: &PushList,
    ) -> Result<Vec<&'a RequestRule>, CommandRefusal> {
        let PushCommand { name, .. } = command;
        let denied = |rule: &&&RequestRule| {
            rule.push_scope().is_some_and(|scope| scope.denies(command, list))
        };
        if let Some(rule) = self.deny.iter().find(denied) {
            return Err(CommandRefusal {
                why: "denied by this sandbox's rules".into(),
                denied_by: Some(rule.to_string()),
                needed: String::new(),
            });
        }
        let allows = |rule: &&RequestRule| {
            rule.push_scope().is_none_or(|scope| scope.allows(command, list))
                && (rule.push_scope().is_some() || !rule.is_for_git())
        };
        let group: Vec<&RequestRule> = self.allow.iter().copied().filter(allows).collect();
        if !group.is_empty() {
            return Ok(group);
        }
        let mut scopes = self.allow.iter().filter_map(|rule| rule.push_scope());
        let action = command.action();
        let named: Vec<_> = scopes.by_ref().filter(|scope| scope.names(command)).collect();
        let why = if named.is_empty() {
            "not allowed by this sandbox's rules".into()
        } else if !named.iter().any(|scope| scope.allows_action(action)) {
            let noun = match action {
                PushAction::Create => "creating it",
                PushAction::Update => "updating it",
                PushAction::Delete => "deleting it",
            };
            format!("{noun} is not allowed by this sandbox's rules")
        } else {
            "push options are not allowed by this sandbox's rules".into()
        };
        let options = if list.options.is_empty() { "" } else { ",push-options" };
        let mut needed = format!("git-push {} {name}", self.repository);
        if action == PushAction::Delete || !options.is_empty() {
            needed = format!("{needed} {}{options}", action.name());
        }
        Err(CommandRefusal { why, denied_by: None, needed })
    }

    fn refusal(&self, command: &PushCommand, refusal: CommandRefusal) -> RuleRefusal {
        RuleRefusal {
            target: format!("{} in {}", command.name, self.repository),
            denied_by: refusal.denied_by,
            needed: refusal.needed,
        }
    }
}

fn check_address_by(rules: &[&RequestRule], address: IpAddr) -> Result<(), AddressClass> {
    match address_class(address) {
        _ if rules.iter().any(|r| r.names_address(address)) => Ok(()),
        // Rules that restrict the addresses of their host allow no others.
        None if rules.iter().any(|r| r.at.is_empty()) => Ok(()),
        None => Err(AddressClass::Reserved),
        Some(class) => Err(class),
    }
}

fn repository_url(url: &Url, git: &GitRequest) -> String {
    let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), git.strip_end(url.path()))
}

#[cfg(test)]
mod tests;
