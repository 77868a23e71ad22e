//! Differences that docs/deviations.md names, each recognised as narrowly as possible.

use crate::run::Outcome;

/// A rule: the deviation, and whether it is the one at hand.
type Rule = (&'static str, fn(&[u8], &Outcome, &Outcome) -> bool);

const RULES: &[Rule] = &[];

/// The deviation that explains a difference.
pub fn reason(script: &[u8], bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
    RULES.iter().find(|(_, rule)| rule(script, bash, ours)).map(|(name, _)| *name)
}
