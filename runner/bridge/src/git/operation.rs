//! Operations that a rule for git allows or denies: `git-fetch URL`, or `git-push URL [REF...] [ACTIONS]`.

use super::commands::{PushCommand, PushList};
use super::pattern::RefPattern;
use super::report::PushAction;
use std::fmt;

/// The operations of git that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitOperation {
    pub(crate) kind: GitOperationKind,
    /// Whether the rule is about all repositories below its path.
    pub(crate) is_folder: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GitOperationKind {
    Fetch,
    Push(PushScope),
}

/// The pushes of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PushScope {
    /// Patterns of refs; none stand for every ref.
    refs: Vec<RefPattern>,
    /// The actions as written, in order; `None` stands for the default.
    actions: Option<Vec<ScopeAction>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ScopeAction {
    Create,
    Update,
    Delete,
    Options,
}

/// The fault of the words after a rule's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationFault {
    Ref,
    Action,
    Force,
}

const ACTIONS: [(&str, ScopeAction); 4] = [
    ("create", ScopeAction::Create),
    ("update", ScopeAction::Update),
    ("delete", ScopeAction::Delete),
    ("push-options", ScopeAction::Options),
];
/// The actions of an allowing rule that names none.
const DEFAULT: [ScopeAction; 2] = [ScopeAction::Create, ScopeAction::Update];

impl PushScope {
    /// Parses the words between a rule's URL and `at`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, OperationFault> {
        let (refs, actions) = match words.split_last() {
            Some((last, refs)) if !last.starts_with("refs/") => (refs, Some(*last)),
            _ => (words, None),
        };
        let refs = refs
            .iter()
            .map(|text| RefPattern::parse(text).ok_or(OperationFault::Ref))
            .collect::<Result<_, _>>()?;
        Ok(Self { refs, actions: actions.map(parse_actions).transpose()? })
    }

    /// Returns whether a rule with this scope concerns every push.
    pub(crate) fn is_everything(&self) -> bool {
        self.refs.is_empty() && self.actions.is_none()
    }

    /// Returns whether an allowing rule with this scope allows a command of a push.
    pub(crate) fn allows(&self, command: &PushCommand, list: &PushList) -> bool {
        self.has_ref(|pattern| pattern.matches(&command.name))
            && self.allows_action(command.action())
            && (list.options.is_empty() || self.has_action(ScopeAction::Options))
    }

    /// Returns whether an allowing rule with this scope names the ref of a command.
    pub(crate) fn names(&self, command: &PushCommand) -> bool {
        self.has_ref(|pattern| pattern.matches(&command.name))
    }

    /// Returns whether an allowing rule with this scope allows an action.
    pub(crate) fn allows_action(&self, action: PushAction) -> bool {
        self.has_action(ScopeAction::from(action))
    }

    /// Returns whether a denying rule with this scope denies a command.
    pub(crate) fn denies(&self, command: &PushCommand, list: &PushList) -> bool {
        self.has_ref(|pattern| pattern.matches_widely(&command.name))
            && self.actions.as_ref().is_none_or(|actions| {
                actions.contains(&ScopeAction::from(command.action()))
                    || (actions.contains(&ScopeAction::Options) && !list.options.is_empty())
            })
    }

    fn has_ref(&self, test: impl Fn(&RefPattern) -> bool) -> bool {
        self.refs.is_empty() || self.refs.iter().any(test)
    }

    fn has_action(&self, action: ScopeAction) -> bool {
        self.actions.as_deref().unwrap_or(&DEFAULT).contains(&action)
    }
}

impl From<PushAction> for ScopeAction {
    fn from(action: PushAction) -> Self {
        match action {
            PushAction::Create => Self::Create,
            PushAction::Update => Self::Update,
            PushAction::Delete => Self::Delete,
        }
    }
}

fn parse_actions(text: &str) -> Result<Vec<ScopeAction>, OperationFault> {
    let mut all = Vec::new();
    for name in text.split(',') {
        match ACTIONS.iter().find(|(known, _)| *known == name) {
            Some((_, action)) => all.push(*action),
            None if name == "force" => return Err(OperationFault::Force),
            None if name.contains('/') => return Err(OperationFault::Ref),
            None => return Err(OperationFault::Action),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

impl fmt::Display for PushScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pattern in &self.refs {
            write!(f, " {pattern}")?;
        }
        for (i, action) in self.actions.iter().flatten().enumerate() {
            let name = ACTIONS.iter().find(|(_, known)| known == action).map_or("", |(n, _)| n);
            write!(f, "{}{name}", if i == 0 { " " } else { "," })?;
        }
        Ok(())
    }
}
