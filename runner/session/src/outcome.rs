//! What became of a command.

use base64::Engine as _;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value as Json;
pub use wasibox_files::{FileChange, FileChangeKind};
use wasibox_sandbox::LimitHit;

/// What became of a command. As JSON, output that is not UTF-8 has its bad bytes
/// replaced, and is given whole in `stdout_base64` or `stderr_base64` besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What a shell would report: the exit code, 128 plus a signal, 124 after the
    /// time limit, 137 after the output limit, 130 after an interruption.
    pub exit_code: u8,
    /// Empty unless captured.
    pub stdout: Vec<u8>,
    /// Empty unless captured.
    pub stderr: Vec<u8>,
    /// Output was cut at its limit.
    pub truncated: bool,
    /// Wall-clock milliseconds.
    pub duration_ms: f64,
    /// CPU milliseconds of all guest processes.
    pub cpu_ms: f64,
    /// Most bytes that the memories of all guest processes had together.
    pub peak_memory: u64,
    /// The limit that ended the command, else the first that it ran into.
    pub limit_hit: Option<LimitHit>,
    /// Changed files, by path: at most 10,000, with 4 MiB of paths, found within a second.
    pub files: Vec<FileChange>,
    /// More files may have changed than are listed.
    pub files_truncated: bool,
    /// Processes that were left when the command had ended, and were ended with it: their arguments, 20 at most.
    pub ended: Vec<String>,
    /// Those that go on instead, as [`Exec::keep_background`](crate::Exec::keep_background) has asked, likewise.
    pub background: Vec<String>,
    /// The value of a cell's last expression, as `repr` or `util.inspect` writes it; at most 64 KiB, and what is
    /// captured of output. Of a longer one the beginning and the end, or the beginning and `...`.
    pub value: Option<String>,
    /// The same as a text of JSON, where it is plain data and not longer than 1 MiB, nor than what is captured of output.
    pub value_json: Option<String>,
    /// How many bytes the value has at least, if `value` or `value_json` is cut or left out for its length.
    pub value_bytes: Option<u64>,
    /// The cell's interpreter ended, or was ended: the next cell goes on from before this one.
    pub put_back: bool,
    /// The commit that the call has made; absent without a history.
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
        // What is too deep to be read is left out: its text is there.
        let plain = self.value_json.as_deref().and_then(|j| serde_json::from_str::<Json>(j).ok());
        match plain {
            Some(plain) => o.serialize_field("value_json", &plain)?,
            None => o.skip_field("value_json")?,
        }
        match &self.value_bytes {
            Some(bytes) => o.serialize_field("value_bytes", bytes)?,
            None => o.skip_field("value_bytes")?,
        }
        match self.put_back {
            true => o.serialize_field("put_back", &true)?,
            false => o.skip_field("put_back")?,
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
