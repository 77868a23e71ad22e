//! Parses the output of suites into the names of tests and their results.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The format of a suite's results.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ResultsFormat {
    /// Test Anything Protocol.
    Tap,
    /// `pytest -v -rfE`.
    Pytest,
    /// `OK: name`, and `DIFF:`, `ERROR:` or `FAIL DIFF:` otherwise.
    Jqjq,
    /// shunit2: a test's name, then `ASSERT:` lines if it failed.
    Shunit2,
    /// No verdicts: the text after each line with `## NAME` has to be the same as natively.
    Same,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Skipped,
    /// Failed, with the first lines of the suite's explanation.
    Failed(String),
    /// The test's output, which is compared with the other side's.
    Printed(String),
}

impl Verdict {
    /// Returns whether this native result is one that the guest has to match.
    pub fn is_counted(&self) -> bool {
        matches!(self, Verdict::Passed | Verdict::Printed(_))
    }
}

/// Tests by name. A repeated name gets a number.
pub type Tests = BTreeMap<String, Verdict>;

/// The maximum number of lines of an explanation that are kept.
const REASON: usize = 12;

impl ResultsFormat {
    /// Parses the whole output of a suite.
    pub fn read(self, text: &str) -> Tests {
        let mut tests = Reading::default();
        for line in text.lines() {
            match self {
                ResultsFormat::Tap => read_tap(line, &mut tests),
                ResultsFormat::Pytest => read_pytest(line, &mut tests),
                ResultsFormat::Jqjq => read_jqjq(line, &mut tests),
                ResultsFormat::Shunit2 => read_shunit2(line, &mut tests),
                ResultsFormat::Same => read_same(line, &mut tests),
            }
        }
        tests.close_test();
        tests.all
    }
}

/// The tests so far, and the test that the next lines may belong to.
#[derive(Default)]
struct Reading {
    all: Tests,
    open: Option<(String, Verdict)>,
}

impl Reading {
    fn begin_test(&mut self, name: &str, verdict: Verdict) {
        self.close_test();
        self.open = Some((name.to_string(), verdict));
    }

    fn close_test(&mut self) {
        let Some((name, verdict)) = self.open.take() else { return };
        let mut unique = name.clone();
        let mut number = 1;
        while self.all.contains_key(&unique) {
            number += 1;
            unique = format!("{name} #{number}");
        }
        self.all.insert(unique, verdict);
    }

    /// Adds a line to the open test.
    fn add_line(&mut self, line: &str) {
        match &mut self.open {
            Some((_, Verdict::Failed(why))) if why.lines().count() < REASON => {
                if !why.is_empty() {
                    why.push('\n');
                }
                why.push_str(line);
            }
            Some((_, Verdict::Printed(text))) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
}

fn read_tap(line: &str, tests: &mut Reading) {
    let (passed, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => {
            if let Some(why) = line.strip_prefix("# ") {
                tests.add_line(why);
            }
            return;
        }
    };
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = name.trim_start_matches(" -").trim();
    let (name, note) = name.split_once(" # ").unwrap_or((name, ""));
    // Bats can append a test's duration, so only the beginning of the note counts.
    let note = note.to_ascii_lowercase();
    let verdict = if note.starts_with("skip") || note.starts_with("todo") {
        Verdict::Skipped
    } else if passed {
        Verdict::Passed
    } else {
        Verdict::Failed(String::new())
    };
    tests.begin_test(name, verdict);
}

fn read_pytest(line: &str, tests: &mut Reading) {
    // The summary lists the failures with their reasons; an error in a fixture is a second verdict.
    for word in ["FAILED ", "ERROR "] {
        if let Some(rest) = line.strip_prefix(word) {
            tests.close_test();
            let (name, why) = rest.split_once(" - ").unwrap_or((rest, ""));
            if name.contains(".py") {
                tests.all.insert(name.to_string(), Verdict::Failed(why.to_string()));
            }
            return;
        }
    }
    let head = line.rsplit_once(" [").map_or(line, |(head, _)| head).trim_end();
    let Some((name, word)) = head.rsplit_once(' ') else { return };
    let (name, word) = match name.rsplit_once(" SKIPPED") {
        Some((name, _)) if head.contains(" SKIPPED (") => (name, "SKIPPED"),
        _ => (name, word),
    };
    let verdict = match word {
        "PASSED" | "XPASS" | "SUBPASSED" => Verdict::Passed,
        "SKIPPED" | "XFAIL" => Verdict::Skipped,
        "FAILED" | "ERROR" => Verdict::Failed(String::new()),
        _ => return,
    };
    if name.contains(".py") {
        tests.close_test();
        tests.all.insert(name.to_string(), verdict);
    }
}

fn read_jqjq(line: &str, tests: &mut Reading) {
    if let Some(name) = line.strip_prefix("OK: ") {
        return tests.begin_test(name, Verdict::Passed);
    }
    for word in ["DIFF: ", "FAIL DIFF: ", "ERROR: "] {
        if let Some(name) = line.strip_prefix(word) {
            return tests.begin_test(name, Verdict::Failed(String::new()));
        }
    }
    tests.add_line(line);
}

fn read_shunit2(line: &str, tests: &mut Reading) {
    let plain: String =
        line.split('\u{1b}').map(|p| p.split_once('m').map_or(p, |(_, t)| t)).collect();
    let plain = if line.contains('\u{1b}') { plain.as_str() } else { line };
    if plain.starts_with("test") && plain.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return tests.begin_test(plain, Verdict::Passed);
    }
    if plain.contains("ASSERT:") || plain.contains("FATAL") {
        if let Some((_, verdict @ Verdict::Passed)) = &mut tests.open {
            *verdict = Verdict::Failed(String::new());
        }
        tests.add_line(plain);
    } else if plain.starts_with("---") || plain.starts_with("Ran ") {
        tests.close_test();
    }
}

fn read_same(line: &str, tests: &mut Reading) {
    if let Some((before, name)) = line.split_once("## ") {
        // An interpreter that prints a string adds quotes.
        let name_alone = name.strip_suffix('"');
        let before = name_alone.and_then(|_| before.strip_suffix('"')).unwrap_or(before);
        if !before.is_empty() {
            tests.add_line(before);
        }
        return tests.begin_test(name_alone.unwrap_or(name), Verdict::Printed(String::new()));
    }
    tests.add_line(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tap_is_read() {
        let text = "1..4\nok 1 a # in 3 ms\nnot ok 2 - b\n# because\nok 3 c # skip no\nok 4 a\n";
        let tests = ResultsFormat::Tap.read(text);
        assert_eq!(tests["a"], Verdict::Passed);
        assert_eq!(tests["a #2"], Verdict::Passed);
        assert_eq!(tests["b"], Verdict::Failed("because".into()));
        assert_eq!(tests["c"], Verdict::Skipped);
    }

    #[test]
    fn pytest_is_read() {
        let text = "\
t.py::a PASSED                      [ 10%]
t.py::b[x y] FAILED                 [ 20%]
t.py::c SKIPPED (no such thing)     [ 30%]
t.py::d PASSED                      [ 40%]
FAILED t.py::b[x y] - assert 1 == 2
ERROR t.py::d - OSError
";
        let tests = ResultsFormat::Pytest.read(text);
        assert_eq!(tests["t.py::a"], Verdict::Passed);
        assert_eq!(tests["t.py::b[x y]"], Verdict::Failed("assert 1 == 2".into()));
        assert_eq!(tests["t.py::c"], Verdict::Skipped);
        assert_eq!(tests["t.py::d"], Verdict::Failed("OSError".into()));
    }

    #[test]
    fn verdicts_of_the_others_are_read() {
        let tests = ResultsFormat::Jqjq.read("OK: a\nDIFF: b\n  Expected: 1\nERROR: c\n");
        assert_eq!(tests["a"], Verdict::Passed);
        assert_eq!(tests["b"], Verdict::Failed("  Expected: 1".into()));
        let tests = ResultsFormat::Shunit2
            .read("testA\ntestB\n\u{1b}[1;31mASSERT:\u{1b}[0mno\n\nRan 2 tests\n");
        assert_eq!(tests["testA"], Verdict::Passed);
        assert_eq!(tests["testB"], Verdict::Failed("ASSERT:no".into()));
        let tests = ResultsFormat::Same.read("user> ## 1\nx\n\"## 2\"\ny\nz\n");
        assert_eq!(tests["1"], Verdict::Printed("x\n".into()));
        assert_eq!(tests["2"], Verdict::Printed("y\nz\n".into()));
    }
}
