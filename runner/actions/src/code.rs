//! `execute_code`: runs one program in a session of its own, which is granted nothing and is
//! removed afterwards.

pub(crate) mod modules;

use crate::exec::ClientCall;
use crate::machine::Machine;
use crate::show;
use crate::tool::{ToolAction, ToolResult};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use modules::ModuleList;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use wasibox::files::{Answer, FileBytes, Request, UploadOf};
use wasibox::value::{CellValue, shorten_text};
use wasibox::{
    Exec, FileChange, FileChangeKind, HostToolPolicy, Limits, NetworkPolicy, Outcome, Policy,
    Session,
};
use wasibox::{Refusal, RefusalKind};

/// The maximum number of characters of a program.
const CODE: usize = 50_000;
/// The maximum number of files, and of their bytes, that a program is given and that it may return.
const FILES: usize = 100;
const BYTES: usize = 8 << 20;
/// The folder of this crate's own programs, and the files in it: the programs that run a client's
/// program, the client's program, the lists of modules, and the value.
const OWN: &str = "/tmp/.execute_code/";
const RUN: [&str; 2] = ["/tmp/.execute_code/run.py", "/tmp/.execute_code/run.cjs"];
const PROGRAM: [&str; 2] = ["/tmp/.execute_code/program.py", "/tmp/.execute_code/program.js"];
const LISTS: &str = "/tmp/.execute_code/lists.json";
const VALUE: &str = "/tmp/.execute_code/value.json";
/// The maximum number of bytes of each stream.
const OUTPUT: u64 = 256 << 10;
/// Limits of time in seconds and of memory in mebibytes: minimum, default, maximum.
const SECONDS: [f64; 3] = [5.0, 30.0, 120.0];
const MEGABYTES: [u64; 3] = [64, 256, 512];

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Language {
    Python,
    Javascript,
}

impl Language {
    /// Returns the language's name in policy files.
    fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Javascript => "javascript",
        }
    }
}

/// The arguments of `execute_code`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteCode {
    language: Language,
    /// 50,000 characters at most.
    code: String,
    #[serde(default)]
    stdin: Option<String>,
    /// Files to begin with.
    #[serde(default)]
    files: Vec<CodeFile>,
    /// 5 to 120 s, 30 by default.
    #[serde(default)]
    timeout: Option<f64>,
    /// 64 to 512 MB, 256 by default.
    #[serde(default)]
    memory: Option<u64>,
    /// The maximum bytes of each stream (256 KiB by default) and of the value (32 KiB).
    #[serde(default)]
    max_output: Option<u64>,
}

/// A file in the program's directory.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeFile {
    path: String,
    content: String,
    #[serde(default)]
    encoding: CodeFileEncoding,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
enum CodeFileEncoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

/// The result of a program.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteCodeAnswer {
    success: bool,
    stdout: String,
    stderr: String,
    /// The value of the last expression: as JSON if it is plain data, otherwise as the language
    /// writes it.
    return_value: Option<serde_json::Value>,
    /// The minimum length of the value in bytes, if it is too long and returnValue is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_value_bytes: Option<u64>,
    /// Beginning and end of that value.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_value_preview: Option<String>,
    execution_time_ms: f64,
    #[serde(rename = "memoryUsedMB")]
    memory_used_mb: f64,
    /// Files that were made or changed.
    files: Vec<CodeFile>,
    /// Output or the value was shortened.
    truncated: bool,
    /// The limit that the program hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_hit: Option<String>,
}

impl ToolAction for ExecuteCode {
    type Answer = ExecuteCodeAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ExecuteCodeAnswer>, Refusal> {
        if self.code.chars().count() > CODE {
            return Err(Refusal::invalid_request(format!("code: more than {CODE} characters")));
        }
        let machine = call.client.space().machine();
        let list = machine.modules().list_for(machine, self.language.name())?;
        let session = machine.engine().session(self.policy(machine, list.as_deref())?)?;
        self.put_files(&session)?;
        let has_value = self.language == Language::Python && list.is_none();
        let mut exec = match (self.language, &list) {
            (Language::Python, None) => Exec::python(self.code),
            (Language::Python, Some(list)) => python_exec(&session, self.code, list)?,
            (Language::Javascript, list) => {
                javascript_exec(machine, &session, self.code, list.as_deref())?
            }
        };
        if let Some(stdin) = self.stdin {
            exec.input = wasibox::Input::Bytes(stdin.into_bytes());
        }
        let outcome = call.exec(&session, exec)?;
        let value = if has_value {
            CellValue::new(outcome.value.clone(), outcome.value_json.clone())
        } else {
            read_value(&session)
        };
        let executed = execute_answer(&session, outcome, value, self.max_output);
        let text = in_words(&executed, self.max_output.unwrap_or(show::OUTPUT));
        Ok(ToolResult::new(executed, text))
    }
}

impl ExecuteCode {
    /// Returns a policy without grants, whose limits are at most those of other sessions.
    fn policy(&self, machine: &Machine, list: Option<&ModuleList>) -> Result<Policy, Refusal> {
        let (most, settings) = (&machine.policy().limits, &machine.tools().execute_code);
        // The owner's policy comes before the user's settings.
        let user = |name| machine.set_count("execute_code", name);
        let set = settings.timeout.map(|t| t.as_secs_f64());
        let set = set.or(user("timeout").map(|n| n as f64)).unwrap_or(SECONDS[1]);
        let seconds = self.timeout.unwrap_or(set.clamp(SECONDS[0], SECONDS[2]));
        let set = settings.memory.map(|n| n >> 20).or(user("memory")).unwrap_or(MEGABYTES[1]);
        let megabytes = self.memory.unwrap_or(set.clamp(MEGABYTES[0], MEGABYTES[2]));
        if !(SECONDS[0]..=SECONDS[2]).contains(&seconds) {
            return Err(Refusal::invalid_request("timeout: 5 to 120 seconds"));
        }
        if !(MEGABYTES[0]..=MEGABYTES[2]).contains(&megabytes) {
            return Err(Refusal::invalid_request("memory: 64 to 512 MB"));
        }
        let time = Duration::from_secs_f64(seconds);
        let limits = Limits {
            timeout: Some(most.timeout.map_or(time, |t| t.min(time))),
            memory: most.memory.min(megabytes << 20),
            ..*most
        };
        let limits = list.map_or(limits, |l| l.limits_for(limits));
        // A prepared interpreter of Python has already loaded modules that are not on the list.
        let fresh_programs = list.is_some() && self.language == Language::Python;
        let hidden = list.map(|l| l.absent_paths().to_vec()).unwrap_or_default();
        let no_javascript_eval = machine.policy().no_javascript_eval;
        Ok(Policy {
            limits,
            fresh_programs,
            no_javascript_eval,
            hidden,
            network: NetworkPolicy::default(),
            host_tools: HostToolPolicy::none(),
            ..Policy::default()
        })
    }

    fn put_files(&self, session: &Session) -> Result<(), Refusal> {
        let bytes: usize = self.files.iter().map(|f| f.content.len()).sum();
        if self.files.len() > FILES || bytes > BYTES {
            let text = format!("files: more than {FILES}, or {BYTES} bytes");
            return Err(Refusal::invalid_request(text));
        }
        for file in &self.files {
            let bytes = match file.encoding {
                CodeFileEncoding::Utf8 => file.content.clone().into_bytes(),
                CodeFileEncoding::Base64 => BASE64_STANDARD
                    .decode(&file.content)
                    .map_err(|e| Refusal::invalid_request(format!("{}: {e}", file.path)))?,
            };
            put_file(session, &file.path, bytes)?;
        }
        Ok(())
    }
}

fn execute_answer(
    session: &Session,
    outcome: Outcome,
    value: CellValue,
    most: Option<u64>,
) -> ExecuteCodeAnswer {
    let files = collect_files(session, &outcome);
    let most_of = |default: u64| most.unwrap_or(default).min(show::MOST_OUTPUT);
    let [(stdout, cut), (stderr, cut_too)] =
        [&outcome.stdout, &outcome.stderr].map(|s| shorten_text(s, most_of(OUTPUT)));
    let value = value.bounded(most_of(show::OUTPUT));
    let plain = value.json.as_deref().and_then(|j| serde_json::from_str(j).ok());
    let (text, preview) = match value.bytes {
        // A part of a value could be mistaken for a different value.
        Some(_) => (None, value.text.filter(|_| plain.is_none())),
        None => (value.text, None),
    };
    ExecuteCodeAnswer {
        success: outcome.exit_code == 0,
        stdout,
        stderr,
        return_value_bytes: value.bytes.filter(|_| plain.is_none()),
        truncated: outcome.truncated || cut || cut_too || value.bytes.is_some() && plain.is_none(),
        return_value: plain.or_else(|| text.map(serde_json::Value::from)),
        return_value_preview: preview,
        execution_time_ms: outcome.duration_ms,
        memory_used_mb: outcome.peak_memory as f64 / f64::from(1 << 20),
        files,
        limit_hit: outcome.limit_hit.map(|l| l.name().to_owned()),
    }
}

/// Returns the call that runs a Python program through `run.py`, which lets it import only the
/// modules of a list.
fn python_exec(session: &Session, code: String, list: &ModuleList) -> Result<Exec, Refusal> {
    put_file(session, RUN[0], include_bytes!("code/run.py").to_vec())?;
    put_file(session, PROGRAM[0], code.into_bytes())?;
    put_file(session, LISTS, list.to_json())?;
    Ok(Exec::new(["python3", RUN[0], PROGRAM[0], VALUE, LISTS]))
}

/// Returns the call that runs a JavaScript program through `run.cjs`, with Node's library.
fn javascript_exec(
    machine: &Machine,
    session: &Session,
    code: String,
    list: Option<&ModuleList>,
) -> Result<Exec, Refusal> {
    if !machine.engine().image().commands().iter().any(|c| c.name == "node") {
        return Err(Refusal::new(
            RefusalKind::Missing,
            "this image has no JavaScript; python is there",
        ));
    }
    put_file(session, RUN[1], include_bytes!("code/run.cjs").to_vec())?;
    put_file(session, PROGRAM[1], code.into_bytes())?;
    let list = match list {
        Some(list) => list.to_json(),
        // If the policy forbids JavaScript code in strings, `run.cjs` must not use it for this
        // program either.
        None if session.policy().no_javascript_eval => b"{}".to_vec(),
        None => return Ok(Exec::new(["node", RUN[1], PROGRAM[1], VALUE])),
    };
    put_file(session, LISTS, list)?;
    Ok(Exec::new(["node", "--expose-internals", RUN[1], PROGRAM[1], VALUE, LISTS]))
}

fn put_file(session: &Session, path: &str, bytes: Vec<u8>) -> Result<(), Refusal> {
    let upload = UploadOf { path: path.into(), data: FileBytes(bytes), offset: None, mode: None };
    session.files(&Request::Upload(upload))?;
    Ok(())
}

/// Returns the value that `run.cjs` or `run.py` has written as JSON, or no value if there is none.
fn read_value(session: &Session) -> CellValue {
    let request = Request::Download { path: VALUE.into(), offset: 0, limit: Some(BYTES as u64) };
    match session.files(&request) {
        Ok(Answer::Data { data, size, next_offset, .. }) => {
            let text = String::from_utf8_lossy(&data.0).into_owned();
            match next_offset {
                Some(_) => CellValue { text: Some(text), json: None, bytes: Some(size) },
                None => CellValue { text: Some(text.clone()), json: Some(text), bytes: None },
            }
        }
        _ => CellValue::default(),
    }
}

/// Returns the answer for models: JSON with at most `most` bytes of each stream and of files. A
/// file that does not fit is listed with its size.
fn in_words(executed: &ExecuteCodeAnswer, most: u64) -> String {
    let mut answer = serde_json::to_value(executed).unwrap_or_default();
    for (name, text) in [("stdout", &executed.stdout), ("stderr", &executed.stderr)] {
        answer[name] = shorten_text(text.as_bytes(), most).0.into();
    }
    let mut left = most;
    for file in
        answer["files"].as_array_mut().into_iter().flatten().filter_map(|f| f.as_object_mut())
    {
        let bytes = file["content"].as_str().map_or(0, |c| c.len() as u64);
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => {
                file.remove("content");
                file.insert("contentBytesLeftOut".into(), bytes.into());
            }
        }
    }
    answer.to_string()
}

/// Collects the files that the program has left, as long as there is room.
fn collect_files(session: &Session, outcome: &Outcome) -> Vec<CodeFile> {
    let mut left = BYTES as u64;
    let mut out = Vec::new();
    let is_theirs =
        |f: &&FileChange| f.change != FileChangeKind::Deleted && !f.path.starts_with(OWN);
    for f in outcome.files.iter().filter(is_theirs).take(FILES) {
        if f.size > left {
            continue;
        }
        let request = Request::Download { path: f.path.clone(), offset: 0, limit: Some(left) };
        let Ok(Answer::Data { data, .. }) = session.files(&request) else { continue };
        left = left.saturating_sub(data.0.len() as u64);
        let (content, encoding) = match String::from_utf8(data.0) {
            Ok(text) => (text, CodeFileEncoding::Utf8),
            Err(e) => (BASE64_STANDARD.encode(e.as_bytes()), CodeFileEncoding::Base64),
        };
        out.push(CodeFile { path: f.path.clone(), content, encoding });
    }
    out
}
