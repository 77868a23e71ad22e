//! Differences that docs/deviations.md names, each recognised as narrowly as possible.
//!
//! | module | how a deviation is recognised |
//! |---|---|
//! | `compare` | by the outcomes: they are equal except for the effect of the deviation |
//! | `repair` | by another run: without text that bash reads differently, both do the same |
//! | `repaired` | the scripts for that |
//! | `minimal` | by the rest of a script that was made smaller |
//! | `numbers` | line numbers, in messages and from `LINENO`, which no rule compares |

mod compare;
mod minimal;
mod numbers;
mod repair;
mod repaired;

use crate::run::Outcome;

pub use minimal::reason as reason_of_minimal;
pub use numbers::masked;

/// The outcomes of another script: bash's and ours.
pub type Rerun<'r> = dyn FnMut(&[u8]) -> Option<(Outcome, Outcome)> + 'r;

/// The deviation that explains a difference.
pub fn reason(
    script: &[u8],
    bash: &Outcome,
    ours: &Outcome,
    rerun: &mut Rerun<'_>,
) -> Option<&'static str> {
    compare::reason(script, bash, ours).or_else(|| repair::reason(script, bash, ours, rerun))
}

/// Returns whether two outcomes of a script are equal except for differences that the rules of
/// `compare` explain.
pub fn agree(script: &[u8], a: &Outcome, b: &Outcome) -> bool {
    a.main() == b.main() || compare::reason(script, a, b).is_some()
}

/// Whether a shell said so, wherever its error output went.
fn says(o: &Outcome, text: &[u8]) -> bool {
    use crate::compare::contains;
    contains(&o.stderr, text)
        || contains(&o.stdout, text)
        || o.files.values().any(|file| contains(file, text))
}

#[cfg(test)]
pub(crate) fn outcome(stdout: &str, stderr: &str) -> Outcome {
    let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
    Outcome { stdout, stderr, status: Some(0), ..Outcome::default() }
}
