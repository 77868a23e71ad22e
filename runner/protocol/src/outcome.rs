//! The outcome of a call.

use base64::Engine as _;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// A limit that a call ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitHit {
    /// The run was ended.
    Timeout,
    /// The run was ended.
    Cpu,
    /// A process was refused memory and then failed, or was ended because the refusal could not be
    /// reported to it. A process that handles the refusal is not counted.
    Memory,
    /// The run was ended.
    Output,
    /// A process could not be started; its parent got an error.
    Processes,
    /// A process got ENOSPC because the session's files may hold no more bytes.
    Disk,
    /// A process got ENOSPC because there may be no more files and folders.
    Inodes,
    /// A process got EFBIG because a file may not be longer.
    FileSize,
    /// A process got ENOSPC because no more may be added to a mount.
    MountQuota,
    /// A process got ENFILE because there may be no more pipes.
    Pipes,
}

impl LimitHit {
    /// Returns the limit's name.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::LimitHit::FileSize.name(), "file_size");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            LimitHit::Timeout => "timeout",
            LimitHit::Cpu => "cpu",
            LimitHit::Memory => "memory",
            LimitHit::Output => "output",
            LimitHit::Processes => "processes",
            LimitHit::Disk => "disk",
            LimitHit::Inodes => "inodes",
            LimitHit::FileSize => "file_size",
            LimitHit::MountQuota => "mount_quota",
            LimitHit::Pipes => "pipes",
        }
    }
}

/// The cause of a call's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The first process has exited with this status.
    Exited(u8),
    /// The first process was ended by the signal of this number (Linux numbering).
    Signaled(u8),
    /// The caller has ended the call. A guest that itself exits with 130 has [`End::Exited`].
    Interrupted,
    /// The limit has ended the call.
    Limit(LimitHit),
}

impl Default for End {
    fn default() -> End {
        End::Exited(0)
    }
}

impl End {
    /// Returns the exit code as a shell would report it: the program's own, 128 plus a signal, 124
    /// after the time limit, 152 after that of CPU time, 137 after another limit, 130 after an
    /// interrupt.
    ///
    /// ```
    /// use wasibox_protocol::{End, LimitHit};
    ///
    /// assert_eq!(End::Signaled(9).exit_code(), 137);
    /// assert_eq!(End::Limit(LimitHit::Timeout).exit_code(), 124);
    /// ```
    pub fn exit_code(self) -> u8 {
        match self {
            End::Exited(code) => code,
            End::Signaled(signal) => signal.wrapping_add(128),
            End::Interrupted => 130,
            End::Limit(LimitHit::Timeout) => 124,
            // SIGXCPU, which also ends a command at a shell's limit `ulimit -S -t`.
            End::Limit(LimitHit::Cpu) => 152,
            // SIGKILL.
            End::Limit(_) => 137,
        }
    }

    /// Returns the cause of a run's end. `first` is the end of its first process, `limit` the limit
    /// that was hit, if any. Only the limits of time, CPU time and output end a whole run; guests
    /// continue after the others.
    ///
    /// ```
    /// use wasibox_protocol::{End, LimitHit};
    ///
    /// // The first process may have finished its work before it was killed.
    /// let end = End::of_run(End::Exited(0), Some(LimitHit::Output), false);
    /// assert_eq!(end, End::Limit(LimitHit::Output));
    /// assert_eq!(End::of_run(End::Exited(1), Some(LimitHit::Disk), false), End::Exited(1));
    /// ```
    pub fn of_run(first: End, limit: Option<LimitHit>, is_interrupted: bool) -> End {
        match limit {
            Some(limit @ (LimitHit::Timeout | LimitHit::Cpu | LimitHit::Output)) => {
                End::Limit(limit)
            }
            _ if is_interrupted => End::Interrupted,
            _ => first,
        }
    }
}

/// The kind of change; in JSON `created`, `modified` or `deleted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    Created,
    Modified,
    Deleted,
}

impl FileChangeKind {
    /// Returns the kind's name in JSON.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::FileChangeKind::Deleted.name(), "deleted");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            FileChangeKind::Created => "created",
            FileChangeKind::Modified => "modified",
            FileChangeKind::Deleted => "deleted",
        }
    }
}

/// A file that a command has created, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// Absolute path in the guest; bytes that are not UTF-8 are replaced.
    pub path: String,
    pub change: FileChangeKind,
    /// Size in bytes.
    pub size: u64,
    /// The media type, by extension or otherwise by content.
    pub mime_type: Option<String>,
    /// Absent for deleted, special and very large files.
    pub sha256: Option<String>,
}

/// The outcome of a command. In JSON, invalid bytes of output that is not UTF-8 are replaced, and
/// `stdout_base64` or `stderr_base64` has the exact bytes in addition. In binary form all fields
/// are written as they are.
///
/// A new field needs a line in `serialize`, and code that sets it; `cargo xtask generate` then adds
/// it to the packages and the documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = describe_exact_bytes))]
#[serde(remote = "Self")]
pub struct Outcome {
    /// The cause of the end.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub end: End,
    /// The exit code as a shell would report it: the program's own, or 128 plus a signal; 124 after
    /// the time limit, 130 after an interrupt, 152 after the limit of CPU time, 137 after another
    /// limit.
    pub exit_code: u8,
    /// Captured standard output; empty if it was not captured.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub stdout: Vec<u8>,
    /// Captured standard error; empty if it was not captured.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
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
    /// The arguments of processes that continue, because `keep_background` was set: 20 at most.
    pub background: Vec<String>,
    /// The value of a cell's last expression, as written by `repr` or `util.inspect`. It is limited
    /// to 64 KiB and to the capture limit; a longer value is cut to its beginning and end, or to
    /// its beginning and `...`.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub value: Option<String>,
    /// The same value as JSON, if it is plain data and not longer than 1 MiB or the capture limit.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Json", skip_serializing_if = "Option::is_none")
    )]
    pub value_json: Option<String>,
    /// The minimum length of the value in bytes, if it was cut or left out for its length: beyond
    /// 64 KiB of text, 1 MiB of JSON, or the capture limit.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub value_bytes: Option<u64>,
    /// Whether the cell's interpreter ended or was ended, so that the next cell continues from the
    /// state before this one.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "std::ops::Not::not"))]
    pub put_back: bool,
    /// The number of the commit that the call has made; none without a history.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub commit: Option<u64>,
}

/// Adds the fields that have the exact bytes of output.
#[cfg(feature = "schema")]
fn describe_exact_bytes(schema: &mut schemars::Schema) {
    let Some(Json::Object(fields)) = schema.get_mut("properties") else { return };
    for stream in ["stdout", "stderr"] {
        let text = format!("The exact bytes of `{stream}`, if they are not text.");
        let field = serde_json::json!({
            "type": "string", "contentEncoding": "base64", "description": text,
        });
        fields.insert(format!("{stream}_base64"), field);
    }
}

impl Outcome {
    /// Makes the outcome of a call that ended by `end`, with nothing else known.
    ///
    /// ```
    /// use wasibox_protocol::{End, Outcome};
    ///
    /// assert_eq!(Outcome::from_end(End::Interrupted).exit_code, 130);
    /// ```
    pub fn from_end(end: End) -> Outcome {
        let limit_hit = match end {
            End::Limit(limit) => Some(limit),
            _ => None,
        };
        Outcome { end, exit_code: end.exit_code(), limit_hit, ..Outcome::default() }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if !s.is_human_readable() {
            return Outcome::serialize(self, s);
        }
        let ms = |t: f64| (t * 1000.0).round() / 1000.0;
        let mut o = s.serialize_struct("Outcome", 18)?;
        o.serialize_field("exit_code", &self.exit_code)?;
        for (name, raw, bytes) in
            [("stdout", "stdout_base64", &self.stdout), ("stderr", "stderr_base64", &self.stderr)]
        {
            o.serialize_field(name, &String::from_utf8_lossy(bytes))?;
            let is_text = std::str::from_utf8(bytes).is_ok();
            let whole = (!is_text).then(|| base64::prelude::BASE64_STANDARD.encode(bytes));
            serialize_some(&mut o, raw, &whole)?;
        }
        o.serialize_field("truncated", &self.truncated)?;
        o.serialize_field("duration_ms", &ms(self.duration_ms))?;
        o.serialize_field("cpu_ms", &ms(self.cpu_ms))?;
        o.serialize_field("peak_memory", &self.peak_memory)?;
        o.serialize_field("limit_hit", &self.limit_hit)?;
        o.serialize_field("files", &self.files)?;
        o.serialize_field("files_truncated", &self.files_truncated)?;
        o.serialize_field("ended", &self.ended)?;
        o.serialize_field("background", &self.background)?;
        serialize_some(&mut o, "value", &self.value)?;
        serialize_some(&mut o, "value_json", &self.value_json.as_deref().and_then(to_raw))?;
        serialize_some(&mut o, "value_bytes", &self.value_bytes)?;
        serialize_some(&mut o, "put_back", &self.put_back.then_some(true))?;
        serialize_some(&mut o, "commit", &self.commit)?;
        o.end()
    }
}

/// Returns JSON as it was written, so that the order of keys and the digits of long integers are
/// kept, but on one line, because some readers take a line for an outcome. Text that is not JSON,
/// or is too deep to be parsed, has none; `value` has the text of the value anyway.
fn to_raw(json: &str) -> Option<Box<RawValue>> {
    serde_json::from_str::<Json>(json).ok()?;
    // Strings have no line breaks in JSON, so these are all between tokens.
    RawValue::from_string(json.replace(['\r', '\n'], " ")).ok()
}

/// Writes a field if it has a value, and leaves it out otherwise.
fn serialize_some<O: SerializeStruct>(
    o: &mut O,
    name: &'static str,
    value: &Option<impl Serialize>,
) -> Result<(), O::Error> {
    match value {
        Some(value) => o.serialize_field(name, value),
        None => o.skip_field(name),
    }
}

impl<'de> Deserialize<'de> for Outcome {
    /// Reads the binary form.
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Outcome, D::Error> {
        Outcome::deserialize(d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_outcome() -> Outcome {
        Outcome {
            exit_code: 1,
            stdout: b"a\xff".to_vec(),
            stderr: b"e".to_vec(),
            duration_ms: 1.23456,
            peak_memory: 65536,
            files_truncated: true,
            ended: vec!["sleep 9".into()],
            background: vec!["sleep 8".into()],
            value: Some("[1]".into()),
            value_json: Some("[1]".into()),
            ..Outcome::from_end(End::Limit(LimitHit::Timeout))
        }
    }

    #[test]
    fn output_that_is_not_text_is_given_whole() {
        let j = serde_json::to_value(some_outcome()).unwrap();
        assert_eq!(j["stdout"], "a\u{fffd}");
        assert_eq!(j["stdout_base64"], "Yf8=");
        assert!(j.get("stderr_base64").is_none());
        assert_eq!(j["duration_ms"], 1.235);
        assert_eq!(j["limit_hit"], "timeout");
        assert_eq!(j["files_truncated"], true);
        assert_eq!((&j["value"], &j["value_json"]), (&"[1]".into(), &serde_json::json!([1])));
        assert!(j.get("put_back").is_none() && j.get("value_bytes").is_none());
        assert!(j.get("commit").is_none() && j.get("end").is_none());
        assert_eq!(j["ended"], serde_json::json!(["sleep 9"]));
        assert_eq!(j["background"], serde_json::json!(["sleep 8"]));
    }

    #[test]
    fn json_of_a_value_is_written_as_it_is_on_one_line() {
        let written = |json: &str| {
            let outcome = Outcome { value_json: Some(json.into()), ..Outcome::default() };
            let text = serde_json::to_string(&outcome).unwrap();
            text.split_once(r#""value_json":"#)
                .map(|(_, rest)| rest.trim_end_matches('}').to_owned())
        };
        let long = "[1208925819614629174706176]";
        assert_eq!(written(long).as_deref(), Some(long));
        assert_eq!(written("{\"b\":1,\r\n\"a\":[]}").as_deref(), Some("{\"b\":1,  \"a\":[]"));
        for refused in ["[1", "1} ,{\"a\":1", &"[".repeat(200), ""] {
            assert_eq!(written(refused), None);
        }
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_schema_names_exactly_the_fields_in_json() {
        let full =
            Outcome { value_bytes: Some(1), commit: Some(3), put_back: true, ..some_outcome() };
        let full = Outcome { stderr: b"\xff".to_vec(), ..full };
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Outcome>();
        let schema = Json::from(schema);
        let names = |of: &Json| of.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
        let (mut described, mut written) =
            (names(&schema["properties"]), names(&serde_json::to_value(full).unwrap()));
        described.sort();
        written.sort();
        assert_eq!(described, written);
        // Those that a plain outcome leaves out are not required.
        let plain = serde_json::to_value(Outcome::default()).unwrap();
        for name in schema["required"].as_array().unwrap() {
            assert!(plain.get(name.as_str().unwrap()).is_some(), "{name}");
        }
    }

    #[test]
    fn the_binary_form_has_everything() {
        let outcome = Outcome { commit: Some(3), put_back: true, ..some_outcome() };
        let bytes = postcard::to_stdvec(&outcome).unwrap();
        assert_eq!(postcard::from_bytes::<Outcome>(&bytes).unwrap(), outcome);
    }

    #[test]
    fn an_interrupt_is_no_exit_with_130() {
        let own = End::of_run(End::Exited(130), None, false);
        let interrupted = End::of_run(End::Signaled(9), Some(LimitHit::Memory), true);
        assert_eq!((own.exit_code(), interrupted.exit_code()), (130, 130));
        assert_eq!((own, interrupted), (End::Exited(130), End::Interrupted));
        // The limit ended the run first.
        let limit = End::of_run(End::Signaled(9), Some(LimitHit::Cpu), true);
        assert_eq!((limit, limit.exit_code()), (End::Limit(LimitHit::Cpu), 152));
    }
}
