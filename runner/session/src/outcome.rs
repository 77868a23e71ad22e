//! The outcome of a command.

use base64::Engine as _;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value as Json;
pub use wasibox_files::{FileChange, FileChangeKind};
use wasibox_sandbox::LimitHit;

/// The outcome of a command. In JSON, invalid bytes of output that is not UTF-8 are replaced, and
/// `stdout_base64` or `stderr_base64` has the exact bytes in addition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The exit code as a shell would report it: the program's own, 128 plus a signal, 124 after
    /// the time limit, 137 after the output limit, 130 after an interrupt.
    pub exit_code: u8,
    /// Captured standard output; empty if it was not captured.
    pub stdout: Vec<u8>,
    /// Captured standard error; empty if it was not captured.
    pub stderr: Vec<u8>,
    /// Whether output was cut at its limit.
    pub truncated: bool,
    /// Wall-clock time in milliseconds.
    pub duration_ms: f64,
    /// CPU time of all guest processes in milliseconds.
    pub cpu_ms: f64,
    /// Peak memory of all guest processes together, in bytes.
    pub peak_memory: u64,
    /// The limit that ended the command, or otherwise the first one that it reached.
    pub limit_hit: Option<LimitHit>,
    /// Changed files, sorted by path: at most 10,000 with 4 MiB of paths, found within one second.
    pub files: Vec<FileChange>,
    /// Whether more files may have changed than are listed.
    pub files_truncated: bool,
    /// The arguments of processes that still ran when the command had ended, and were ended with
    /// it: 20 at most.
    pub ended: Vec<String>,
    /// The arguments of processes that continue, because
    /// [`Exec::keep_background`](crate::Exec::keep_background) was set: 20 at most.
    pub background: Vec<String>,
    /// The value of a cell's last expression, as written by `repr` or `util.inspect`. It is limited
    /// to 64 KiB and to the capture limit; a longer value is cut to its beginning and end, or to
    /// its beginning and `...`.
    pub value: Option<String>,
    /// The same value as JSON, if it is plain data and longer than neither 1 MiB nor the capture
    /// limit.
    pub value_json: Option<String>,
    /// The minimum length of the value in bytes, if `value` or `value_json` was cut or left out for
    /// its length.
    pub value_bytes: Option<u64>,
    /// Whether the cell's interpreter ended or was ended, so that the next cell continues from the
    /// state before this one.
    pub put_back: bool,
    /// The number of the commit that the call has made; `None` without a history.
    pub commit: Option<u64>,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ms = |t: f64| (t * 1000.0).round() / 1000.0;
        let mut o = s.serialize_struct("Outcome", 18)?;
        o.serialize_field("exit_code", &self.exit_code)?;
        for (name, raw, bytes) in
            [("stdout", "stdout_base64", &self.stdout), ("stderr", "stderr_base64", &self.stderr)]
        {
            o.serialize_field(name, &String::from_utf8_lossy(bytes))?;
            if std::str::from_utf8(bytes).is_err() {
                o.serialize_field(raw, &base64::prelude::BASE64_STANDARD.encode(bytes))?;
            } else {
                o.skip_field(raw)?;
            }
        }
        o.serialize_field("truncated", &self.truncated)?;
        o.serialize_field("duration_ms", &ms(self.duration_ms))?;
        o.serialize_field("cpu_ms", &ms(self.cpu_ms))?;
        o.serialize_field("peak_memory", &self.peak_memory)?;
        o.serialize_field("limit_hit", &self.limit_hit.map(LimitHit::name))?;
        o.serialize_field("files", &self.files)?;
        o.serialize_field("files_truncated", &self.files_truncated)?;
        o.serialize_field("ended", &self.ended)?;
        o.serialize_field("background", &self.background)?;
        match &self.value {
            Some(value) => o.serialize_field("value", value)?,
            None => o.skip_field("value")?,
        }
        // JSON that is too deep to be parsed is left out, because its text is there anyway.
        let plain = self.value_json.as_deref().and_then(|j| serde_json::from_str::<Json>(j).ok());
        match plain {
            Some(plain) => o.serialize_field("value_json", &plain)?,
            None => o.skip_field("value_json")?,
        }
        match &self.value_bytes {
            Some(bytes) => o.serialize_field("value_bytes", bytes)?,
            None => o.skip_field("value_bytes")?,
        }
        if self.put_back {
            o.serialize_field("put_back", &true)?
        } else {
            o.skip_field("put_back")?
        }
        match self.commit {
            Some(number) => o.serialize_field("commit", &number)?,
            None => o.skip_field("commit")?,
        }
        o.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_not_text_is_given_whole() {
        let o = Outcome {
            exit_code: 1,
            stdout: b"a\xff".to_vec(),
            stderr: b"e".to_vec(),
            truncated: false,
            duration_ms: 1.23456,
            cpu_ms: 0.0,
            peak_memory: 65536,
            limit_hit: Some(LimitHit::Timeout),
            files: vec![],
            files_truncated: true,
            ended: vec!["sleep 9".into()],
            background: vec!["sleep 8".into()],
            value: Some("[1]".into()),
            value_json: Some("[1]".into()),
            value_bytes: None,
            put_back: false,
            commit: None,
        };
        let j = serde_json::to_value(&o).unwrap();
        assert_eq!(j["stdout"], "a\u{fffd}");
        assert_eq!(j["stdout_base64"], "Yf8=");
        assert!(j.get("stderr_base64").is_none());
        assert_eq!(j["duration_ms"], 1.235);
        assert_eq!(j["limit_hit"], "timeout");
        assert_eq!(j["files_truncated"], true);
        assert_eq!((&j["value"], &j["value_json"]), (&"[1]".into(), &serde_json::json!([1])));
        assert!(j.get("put_back").is_none() && j.get("value_bytes").is_none());
        assert!(j.get("commit").is_none());
        assert_eq!(j["ended"], serde_json::json!(["sleep 9"]));
        assert_eq!(j["background"], serde_json::json!(["sleep 8"]));
    }
}
