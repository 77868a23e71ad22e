//! What counts as a difference.

use std::time::Duration;

use anyhow::Result;

use crate::explained;
use crate::run::{Outcome, Place, Shell};

/// The two shells and where they run.
pub struct Pair {
    pub place: Place,
    pub bash: Shell,
    pub ours: Shell,
    /// Compare error output, too.
    pub stderr: bool,
}

/// How two runs of a script relate.
#[derive(Debug)]
pub enum Verdict {
    Same,
    /// Bash itself did not end in time, or does not repeat itself.
    Useless,
    /// Different for a reason that docs/deviations.md names.
    Explained(&'static str),
    Differs(Box<Difference>),
}

/// Two outcomes that should have been one.
#[derive(Debug)]
pub struct Difference {
    pub kind: Kind,
    pub bash: Outcome,
    pub ours: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Standard output, status or files.
    Main,
    /// Error output alone.
    Stderr,
    /// A panic of ours, whatever else.
    Panic,
    /// Ours did not end in time.
    Hang,
}

impl Pair {
    /// Runs the script with both.
    pub fn judge(&self, script: &[u8], limit: Duration) -> Result<Verdict> {
        let bash = self.place.run(&self.bash, script, limit)?;
        if bash.status.is_none() {
            return Ok(Verdict::Useless);
        }
        let ours = self.place.run(&self.ours, script, limit)?;
        let Some(kind) = self.kind(&bash, &ours) else { return Ok(Verdict::Same) };
        Ok(match explained::reason(script, &bash, &ours) {
            Some(reason) => Verdict::Explained(reason),
            None => Verdict::Differs(Box::new(Difference { kind, bash, ours })),
        })
    }

    /// Whether bash says the same again: stages of a pipeline may race.
    pub fn stable(&self, script: &[u8], limit: Duration, seen: &Outcome) -> Result<bool> {
        for _ in 0..3 {
            let again = self.place.run(&self.bash, script, limit)?;
            if again != *seen {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn kind(&self, bash: &Outcome, ours: &Outcome) -> Option<Kind> {
        if contains(&ours.stderr, b"panicked at") || ours.status == Some(134) {
            Some(Kind::Panic)
        } else if ours.status.is_none() {
            Some(Kind::Hang)
        } else if bash.stdout != ours.stdout
            || bash.status != ours.status
            || bash.files != ours.files
        {
            Some(Kind::Main)
        } else if self.stderr && bash.stderr != ours.stderr {
            Some(Kind::Stderr)
        } else {
            None
        }
    }
}

/// Whether `part` stands in `text`.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}
