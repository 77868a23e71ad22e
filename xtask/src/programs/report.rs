//! The comparison of both sides: the table, and the list of differences.

use super::results::{Tests, Verdict};
use super::side::SuiteRun;

/// The head of the table.
pub const HEAD: &str = "\
| suite | passed natively | of these here | % | s natively | s here |
|---|---|---|---|---|---|";

/// The number of tests that pass natively, the number of these that pass in the guest, and the
/// seconds of both sides.
#[derive(Default)]
pub struct Score {
    native: usize,
    here: usize,
    seconds: [f64; 2],
}

impl Score {
    pub fn compare_runs(
        native: &Tests,
        here: &Tests,
        native_run: &SuiteRun,
        here_run: &SuiteRun,
    ) -> Score {
        let counted = native.iter().filter(|(_, verdict)| verdict.is_counted());
        let kept = counted.clone().filter(|(name, verdict)| here.get(*name) == Some(verdict));
        Score {
            native: counted.count(),
            here: kept.count(),
            seconds: [native_run.seconds, here_run.seconds],
        }
    }

    pub fn add(&mut self, other: &Score) {
        self.native += other.native;
        self.here += other.here;
        self.seconds[0] += other.seconds[0];
        self.seconds[1] += other.seconds[1];
    }

    /// Returns the number of tests that pass natively but not in the guest.
    pub fn lost_tests(&self) -> usize {
        self.native - self.here
    }

    /// Returns a row of the table.
    pub fn table_row(&self, name: &str) -> String {
        let percent = 100.0 * self.here as f64 / (self.native.max(1)) as f64;
        format!(
            "| {name} | {} | {} | {percent:.1} | {:.1} | {:.1} |",
            self.native, self.here, self.seconds[0], self.seconds[1]
        )
    }
}

/// Returns a line for each test that passes natively only: file, test, reason.
pub fn list_differences(file: &str, native: &Tests, here: &Tests, run: &SuiteRun) -> String {
    let mut lines = String::new();
    for (name, wanted) in native.iter().filter(|(_, verdict)| verdict.is_counted()) {
        let why = match (wanted, here.get(name)) {
            (wanted, Some(got)) if wanted == got => continue,
            (_, Some(Verdict::Failed(why))) => why.clone(),
            (_, Some(Verdict::Skipped)) => "skipped".to_string(),
            (Verdict::Printed(wanted), Some(Verdict::Printed(got))) => {
                format!("printed {got:?} instead of {wanted:?}")
            }
            (_, Some(other)) => format!("{other:?}"),
            (_, None) => format!("not reached: {}", run.end),
        };
        lines += &format!("{file}\t{name}\t{}\n", why.replace('\t', " ").replace('\n', " | "));
    }
    lines
}
