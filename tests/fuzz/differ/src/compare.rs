//! The definition of a difference.

use std::time::Duration;

use anyhow::Result;

use crate::explained;
use crate::rewrite;
use crate::run::{Outcome, Place, Shell};

/// The number of times that a script that differs is run again, because the stages of a pipeline
/// may race.
const REPEATS: usize = 20;

/// The two shells and where they run.
pub struct Pair {
    pub place: Place,
    pub bash: Shell,
    pub ours: Shell,
    /// Whether error output is compared, too.
    pub stderr: bool,
}

/// The result of comparing two runs of a script.
#[derive(Debug)]
pub enum Verdict {
    Same,
    /// Bash itself does not end in time or does not behave the same each time.
    Useless,
    /// Different for a reason that docs/deviations.md names.
    Explained(&'static str),
    Differs(Box<Difference>),
}

/// Two outcomes that should have been equal.
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
    /// Our shell panics, whatever the rest of the outcome is.
    Panic,
    /// Our shell does not end in time.
    Hang,
}

impl Pair {
    /// Runs the script with both shells and compares the outcomes.
    pub fn judge(&self, script: &[u8], limit: Duration) -> Result<Verdict> {
        let bash = self.place.run(&self.bash, script, limit)?;
        // Bash did not end in time, crashed, or wrote more than it may.
        if matches!(bash.status, None | Some(134 | 139 | 153)) {
            return Ok(Verdict::Useless);
        }
        let ours = self.place.run(&self.ours, script, limit)?;
        let Some(kind) = self.kind(&bash, &ours) else { return Ok(Verdict::Same) };
        if starved(&bash) || starved(&ours) || races(script, &bash, &ours) {
            return Ok(Verdict::Useless);
        }
        // Whether a background command has already written to a file is not promised. So the script
        // is compared without the `&`.
        let alone = in_order(script);
        if alone != script {
            match self.judge(&alone, limit)? {
                Verdict::Same => return Ok(Verdict::Useless),
                Verdict::Explained(reason) => return Ok(Verdict::Explained(reason)),
                Verdict::Useless | Verdict::Differs(_) => {}
            }
        }
        let mut rerun = |script: &[u8]| {
            let bash = self.place.run(&self.bash, script, limit).ok()?;
            Some((bash, self.place.run(&self.ours, script, limit).ok()?))
        };
        if let Some(reason) = explained::reason(script, &bash, &ours, &mut rerun) {
            return Ok(Verdict::Explained(reason));
        }
        for (reason, other) in rewrite::spellings(script) {
            let again = self.place.run(&self.ours, &other, limit)?;
            if explained::agree(&other, &with_its_text(script, &bash, &ours, &again), &ours)
                && explained::agree(&other, &self.place.run(&self.bash, &other, limit)?, &again)
            {
                return Ok(Verdict::Explained(reason));
            }
        }
        Ok(Verdict::Differs(Box::new(Difference { kind, bash, ours })))
    }

    /// Returns whether the difference is repeatable: bash does the same each time and, if commands
    /// run at the same time, our shell never does the same as bash.
    pub fn stable(&self, script: &[u8], limit: Duration, seen: &Outcome) -> Result<bool> {
        let beside = at_once(script);
        for _ in 0..REPEATS {
            if self.place.run(&self.bash, script, limit)? != *seen
                || beside && self.place.run(&self.ours, script, limit)?.main() == seen.main()
            {
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
        } else if self.stderr {
            let (main, stderr) = (bash.main() != ours.main(), bash.stderr != ours.stderr);
            main.then_some(Kind::Main).or(stderr.then_some(Kind::Stderr))
        } else {
            (bash.main() != ours.main()).then_some(Kind::Main)
        }
    }
}

/// Returns the outcome `again` of another spelling, with the first spelling's text in the file that
/// is sourced. That text is part of the script, so it is replaced only if both shells wrote the
/// same text there.
fn with_its_text(script: &[u8], bash: &Outcome, ours: &Outcome, again: &Outcome) -> Outcome {
    const TEXT: &str = "f9";
    let sourced = contains(script, b". ./f9") || contains(script, b"source ./f9");
    let text = ours.files.get(TEXT).filter(|text| sourced && bash.files.get(TEXT) == Some(text));
    let mut again = again.clone();
    if let (Some(text), Some(other)) = (text, again.files.get_mut(TEXT)) {
        other.clone_from(text);
    }
    again
}

/// Returns whether the system had no more processes to give, which is not a fault of the script.
fn starved(o: &Outcome) -> bool {
    const TEXT: &[u8] = b": Resource temporarily unavailable";
    contains(&o.stderr, TEXT) || contains(&o.stdout, TEXT)
}

/// Returns whether the outcomes differ only in the order of lines, and the script has commands that
/// run at the same time: one in the background, the stages of a traced pipeline, or a process
/// substitution. The order of their lines is not promised.
fn races(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let traced = contains(script, b"set -x") && script.contains(&b'|');
    let beside = contains(script, b"<(") || contains(script, b">(");
    if bash.status != ours.status || !traced && !beside && in_order(script) == script {
        return false;
    }
    let sorted = |text: &[u8]| {
        let text = explained::masked(script, text);
        let mut lines: Vec<Vec<u8>> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    let files = |o: &Outcome| -> Vec<(String, Vec<Vec<u8>>)> {
        o.files.iter().map(|(name, text)| (name.clone(), sorted(text))).collect()
    };
    sorted(&bash.stdout) == sorted(&ours.stdout) && files(bash) == files(ours)
}

/// Returns whether a script has commands that run at the same time.
fn at_once(script: &[u8]) -> bool {
    [&b"|"[..], b"<(", b">("].iter().any(|part| contains(script, part))
        || in_order(script) != script
}

/// Returns the script with `;` in place of each `&` that starts a background command.
fn in_order(script: &[u8]) -> Vec<u8> {
    let is = |at: Option<usize>, bytes: &[u8]| {
        at.and_then(|at| script.get(at)).is_some_and(|b| bytes.contains(b))
    };
    let quoted = |at: usize| {
        let before = &script[..at];
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    };
    let alone =
        |at: usize| !is(at.checked_sub(1), b"&><|;") && !is(Some(at + 1), b"&>") && !quoted(at);
    let replaced = |(at, byte): (usize, &u8)| match byte {
        b'&' if alone(at) => b';',
        other => *other,
    };
    script.iter().enumerate().map(replaced).collect()
}

/// Returns whether `part` occurs in `text`.
pub fn contains(text: &[u8], part: &[u8]) -> bool {
    position(text, part).is_some()
}

/// Returns the first position of `part`, which must not be empty, in `text`.
pub fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|w| w == part)
}

/// Returns the text with each `what` replaced by `by`.
pub fn replaced(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = position(rest, what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_at_once_is_put_in_order() {
        assert_eq!(
            in_order(b"a & b && c |& d &> e <&3 \\& f&"),
            b"a ; b && c |& d &> e <&3 \\& f;"
        );
        assert!(at_once(b"a & b") && at_once(b"a | b") && at_once(b"a <(b)"));
        assert!(!at_once(b"a && b; c > d 2>&1"));
    }

    #[test]
    fn a_sourced_text_counts_as_the_script() {
        let wrote = |text: &[u8]| {
            let files = [("f9".to_owned(), text.to_vec()), ("f1".to_owned(), text.to_vec())];
            Outcome { files: files.into(), ..Outcome::default() }
        };
        let (one, other) = (wrote(b"p $*"), wrote(b"p $@"));
        let text = |script: &[u8], bash| with_its_text(script, bash, &one, &other).files;
        assert_eq!(text(b". ./f9", &one)["f9"], b"p $*");
        assert_eq!(text(b". ./f9", &one)["f1"], b"p $@");
        assert_eq!(text(b". ./f9", &other)["f9"], b"p $@");
        assert_eq!(text(b"cat f9", &one)["f9"], b"p $@");
    }
}
