//! Recognises differences that docs/deviations.md names, each as narrowly as possible.
//!
//! | module | how a deviation is recognised |
//! |---|---|
//! | `compare` | by the outcomes: they are equal except for the effect of the deviation |
//! | `repair` | by another run: once text that bash reads differently is replaced, the shells agree |
//! | `repaired` | the replacements for `repair` |
//! | `minimal` | by the minimal script that still differs |
//! | `numbers` | masks line numbers in messages and from `LINENO`, which no rule compares |

mod compare;
mod minimal;
mod numbers;
mod repair;
mod repaired;

use crate::run::Outcome;

pub use minimal::reason as reason_of_minimal;
pub use numbers::masked;

/// A function that runs another script and returns bash's outcome and ours.
pub type Rerun<'r> = dyn FnMut(&[u8]) -> Option<(Outcome, Outcome)> + 'r;

/// Returns the deviation that explains a difference, if one does.
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

/// Returns whether a text is in the output of a shell or in a file that it wrote, because scripts
/// redirect error output.
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
