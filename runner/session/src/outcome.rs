//! What became of a command.

use base64::Engine as _;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
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
}

/// What happened to a file; in JSON `created`, `modified` or `deleted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    Created,
    Modified,
    Deleted,
}

/// A file that the command made, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Absolute path in the guest; bytes that are not UTF-8 are replaced.
    pub path: String,
    pub change: FileChangeKind,
    /// Size in bytes.
    pub size: u64,
    /// By extension, else by content.
    pub mime_type: Option<String>,
    /// Absent for deleted, special and very large files.
    pub sha256: Option<String>,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ms = |t: f64| (t * 1000.0).round() / 1000.0;
        let mut o = s.serialize_struct("Outcome", 12)?;
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
        };
        let j = serde_json::to_value(&o).unwrap();
        assert_eq!(j["stdout"], "a\u{fffd}");
        assert_eq!(j["stdout_base64"], "Yf8=");
        assert!(j.get("stderr_base64").is_none());
        assert_eq!(j["duration_ms"], 1.235);
        assert_eq!(j["limit_hit"], "timeout");
        assert_eq!(j["files_truncated"], true);
    }
}
