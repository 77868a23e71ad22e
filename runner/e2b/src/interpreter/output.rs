//! An execution's output: text, and reports of the driver among it.

use serde_json::{Value, json};

/// The byte that begins a report, before the execution's mark.
const BEGIN: u8 = 0x1e;
/// The maximum bytes of a report; a longer one is passed on as text.
const REPORT: usize = 64 << 20;

/// Separates reports from text in the standard output of an execution.
pub struct OutputSplitter {
    mark: Vec<u8>,
    rest: Vec<u8>,
}

/// A part of the output.
#[derive(Debug, PartialEq)]
pub enum OutputPart {
    Text(Vec<u8>),
    Report(Value),
}

impl OutputSplitter {
    /// Returns the bytes that begin the reports of an execution with this random text.
    pub fn mark(random: &str) -> String {
        format!("{}{random} ", char::from(BEGIN))
    }

    /// Separates output whose reports begin with `mark`.
    pub fn new(mark: &str) -> OutputSplitter {
        OutputSplitter { mark: mark.as_bytes().to_vec(), rest: Vec::new() }
    }

    /// Takes more output, and returns the parts that are whole.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<OutputPart> {
        self.rest.extend_from_slice(bytes);
        let mut parts = Vec::new();
        loop {
            let Some(at) = memchr::memmem::find(&self.rest, &self.mark) else {
                let sure = self.rest.len() - self.begun_mark();
                self.add_text(sure, &mut parts);
                return parts;
            };
            self.add_text(at, &mut parts);
            let from = self.mark.len();
            let Some(length) = memchr::memchr(b'\n', &self.rest[from..]) else {
                if self.rest.len() > REPORT {
                    let all = self.rest.len();
                    self.add_text(all, &mut parts);
                }
                return parts;
            };
            let report = serde_json::from_slice(&self.rest[from..from + length]);
            self.rest.drain(..from + length + 1);
            parts.extend(report.ok().map(OutputPart::Report));
        }
    }

    /// Returns the rest at the end of the output.
    pub fn finish(mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }

    fn add_text(&mut self, length: usize, parts: &mut Vec<OutputPart>) {
        if length > 0 {
            parts.push(OutputPart::Text(self.rest.drain(..length).collect()));
        }
    }

    /// Returns the length of an incomplete mark at the end.
    fn begun_mark(&self) -> usize {
        let longest = self.rest.len().min(self.mark.len());
        (1..=longest).rev().find(|n| self.rest.ends_with(&self.mark[..*n])).unwrap_or(0)
    }
}

/// Makes the event of text on a stream.
pub fn text_event(is_error: bool, text: &str) -> Value {
    let kind = if is_error { "stderr" } else { "stdout" };
    let time = crate::time::format_ms(crate::time::now_ms());
    json!({ "type": kind, "text": text, "timestamp": time })
}

/// Makes the event of an error.
pub fn error_event(name: &str, value: &str, traceback: &str) -> Value {
    json!({ "type": "error", "name": name, "value": value, "traceback": traceback })
}

/// Returns the name and the value of the error that a trace of JavaScript ends with.
pub fn javascript_error(trace: &str) -> (String, String) {
    let is_name = |name: &str| {
        name.ends_with("Error") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    for line in trace.lines() {
        let line = line.trim().trim_start_matches("Uncaught ");
        match line.split_once(": ") {
            Some((name, value)) if is_name(name) => return (name.into(), value.into()),
            None if is_name(line) => return (line.into(), String::new()),
            _ => {}
        }
    }
    (
        "Error".into(),
        trace.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_found_in_any_pieces() {
        let mark = OutputSplitter::mark("abc");
        let all = format!("one\x1e\n{mark}{{\"a\":1}}\ntwo\x1eabd{mark}[2]\n\x1ea");
        for step in [1, 2, 5, 1000] {
            let mut splitter = OutputSplitter::new(&mark);
            let (mut text, mut reports) = (Vec::new(), Vec::new());
            for piece in all.as_bytes().chunks(step) {
                for part in splitter.take(piece) {
                    match part {
                        OutputPart::Text(bytes) => text.extend(bytes),
                        OutputPart::Report(value) => reports.push(value),
                    }
                }
            }
            text.extend(splitter.finish());
            assert_eq!(text, b"one\x1e\ntwo\x1eabd\x1ea", "{step}");
            assert_eq!(reports, [json!({"a": 1}), json!([2])], "{step}");
        }
    }

    #[test]
    fn errors_of_javascript_have_names() {
        let of = |trace| javascript_error(trace);
        let trace = "Uncaught ReferenceError: x is not defined\n    at <anonymous>:1:1";
        assert_eq!(of(trace), ("ReferenceError".into(), "x is not defined".into()));
        assert_eq!(of("\nodd\n"), ("Error".into(), "odd".into()));
    }
}
