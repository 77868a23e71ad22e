//! `runner run-json`: one request on standard input, one answer on standard output, both JSON
//! objects.
//!
//! The request's zip is the folder in which the program runs, and the answer's zip is that folder
//! afterwards. The guest sees nothing else of the host.

use crate::args::exec::RunJsonArgs;
use crate::{CliFailure, call, print_text};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use wasibox::{Exec, Workspace, WorkspaceKind};

/// Maximum bytes of a request, and of a program's output.
const MAX_REQUEST: u64 = 256 << 20;
const MAX_OUTPUT: u64 = 16 << 20;
/// Maximum number of arguments and variables, and of their bytes.
const MAX_WORDS: usize = 10_000;
const MAX_WORD_BYTES: usize = 1 << 20;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunJsonRequest {
    /// The folder; empty by default.
    #[serde(default)]
    zip_base64: String,
    /// The program, relative to the folder.
    entry_path: String,
    #[serde(default, deserialize_with = "bounded_words")]
    argv: Vec<String>,
    #[serde(default, deserialize_with = "bounded_variables")]
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
}

/// Reads a list, of which it keeps one word more than is allowed: empty words take two bytes of the
/// request and many more in memory.
fn bounded_words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct WordsVisitor;
    impl<'de> Visitor<'de> for WordsVisitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of words")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut words = Vec::new();
            while words.len() <= MAX_WORDS
                && let Some(word) = seq.next_element()?
            {
                words.push(word);
            }
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(words)
        }
    }
    from.deserialize_seq(WordsVisitor)
}

/// Reads a map in the same way.
fn bounded_variables<'de, D>(from: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    struct VariablesVisitor;
    impl<'de> Visitor<'de> for VariablesVisitor {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of words")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut variables = BTreeMap::new();
            while variables.len() <= MAX_WORDS
                && let Some((name, value)) = map.next_entry()?
            {
                variables.insert(name, value);
            }
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(variables)
        }
    }
    from.deserialize_map(VariablesVisitor)
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJsonAnswer {
    /// Whether the program has ended by itself with status 0.
    ok: bool,
    stdout: String,
    stderr: String,
    exit_code: u8,
    zip_base64: String,
}

/// The answer to an invalid request.
#[derive(Serialize)]
struct RunJsonRefusal {
    ok: bool,
    error: String,
}

/// The reason why a request is invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
enum RunJsonFault {
    #[error("the request is longer than {MAX_REQUEST} bytes")]
    TooLong,
    #[error("the request cannot be read: {0}")]
    Json(String),
    #[error("zipBase64: {0}")]
    Base64(String),
    #[error("entryPath: '{0}' is not a path within the folder")]
    Path(String),
    #[error("entryPath: '{0}' is not there")]
    Missing(String),
    #[error(
        "entryPath: '{0}' has none of the extensions .sh, .py, .js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx"
    )]
    Kind(String),
    #[error("argv and env: more than {MAX_WORDS} words, or {MAX_WORD_BYTES} bytes")]
    Words,
    #[error("argv and env: a NUL, or a name with '='")]
    Nul,
    #[error("{0}")]
    Workspace(String),
}

/// Reads a request and answers it; the status is 2 for an invalid request.
pub fn run(args: &RunJsonArgs) -> Result<u8, CliFailure> {
    match read_request().and_then(|request| Ok((program_exec(&request)?, request))) {
        Ok((program, request)) => match run_request(args, program, &request)? {
            Ok(answer) => print_answer(&answer).map(|()| 0),
            Err(wrong) => print_refusal(&wrong),
        },
        Err(wrong) => print_refusal(&wrong),
    }
}

fn print_refusal(wrong: &RunJsonFault) -> Result<u8, CliFailure> {
    print_answer(&RunJsonRefusal { ok: false, error: wrong.to_string() }).map(|()| 2)
}

fn print_answer(answer: &impl Serialize) -> Result<(), CliFailure> {
    let text = serde_json::to_string(answer).map_err(|e| CliFailure::new(125, e))?;
    print_text(&(crate::message::json_shown(text) + "\n"))
}

fn read_request() -> Result<RunJsonRequest, RunJsonFault> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_REQUEST + 1).read_to_end(&mut text);
    read.map_err(|e| RunJsonFault::Json(e.to_string()))?;
    if text.len() as u64 > MAX_REQUEST {
        return Err(RunJsonFault::TooLong);
    }
    parse(&text)
}

fn parse(text: &[u8]) -> Result<RunJsonRequest, RunJsonFault> {
    let request: RunJsonRequest =
        serde_json::from_slice(text).map_err(|e| RunJsonFault::Json(e.to_string()))?;
    let words = || request.argv.iter().chain(request.env.iter().flat_map(|(k, v)| [k, v]));
    if words().count() > MAX_WORDS || words().map(String::len).sum::<usize>() > MAX_WORD_BYTES {
        return Err(RunJsonFault::Words);
    }
    Ok(request)
}

/// A program and the call that runs it.
struct ProgramExec {
    /// The program's path in the guest.
    path: String,
    exec: Exec,
}

/// Returns the call that runs the program.
fn program_exec(request: &RunJsonRequest) -> Result<ProgramExec, RunJsonFault> {
    let path = &request.entry_path;
    let plain = |p: &str| !matches!(p, "" | "." | "..") && !p.contains(['\\', '\0']);
    // A `~` that no shell has expanded means the request's folder, the only folder that the program
    // has. A folder with that name is written `./~`.
    let relative = path.strip_prefix("./").or(path.strip_prefix("~/")).unwrap_or(path);
    if !relative.split('/').all(plain) || path.len() > 4096 {
        return Err(RunJsonFault::Path(path.clone()));
    }
    let interpreter = match Path::new(path).extension().and_then(|e| e.to_str()) {
        Some("sh") => "bash",
        Some("py") => "python3",
        Some("js" | "mjs" | "cjs" | "jsx") => "node",
        Some("ts" | "mts" | "cts" | "tsx") => "tsx",
        _ => return Err(RunJsonFault::Kind(path.clone())),
    };
    let path = format!("{}/{relative}", Workspace::GUEST);
    let argv = [interpreter, &path].into_iter().chain(request.argv.iter().map(String::as_str));
    let mut exec = Exec::new(argv);
    exec.env = request.env.iter().map(|(k, v)| (k.clone().into(), v.clone().into())).collect();
    exec.cwd = Some(Workspace::GUEST.into());
    exec.list_files = false;
    exec.timeout = request.timeout_ms.map(Duration::from_millis);
    // The only faults that can be left are NULs and invalid names, because `parse` has checked the
    // number and the length of the words.
    exec.check().map_err(|_| RunJsonFault::Nul)?;
    Ok(ProgramExec { path, exec })
}

fn run_request(
    args: &RunJsonArgs,
    program: ProgramExec,
    request: &RunJsonRequest,
) -> Result<Result<RunJsonAnswer, RunJsonFault>, CliFailure> {
    let zip = match BASE64_STANDARD.decode(&request.zip_base64) {
        Ok(zip) => zip,
        Err(e) => return Ok(Err(RunJsonFault::Base64(e.to_string()))),
    };
    let dir = ScratchFolder::new()?;
    let path = dir.0.join("work.zip");
    if !zip.is_empty() {
        std::fs::write(&path, &zip)?;
    }
    drop(zip);
    let (mut policy, pool) = args.grants.policy()?;
    if policy.workspace.is_some() {
        return Err(CliFailure::usage("--workspace: the request has it"));
    }
    let guest = Workspace::GUEST.to_owned();
    policy.workspace = Some(Workspace { kind: WorkspaceKind::Zip, path: path.clone(), guest });
    let limits = policy.limits;
    let engine = call::open_engine(&args.image, pool)?;
    let session = match engine.session(policy) {
        Ok(session) => session,
        Err(e @ (wasibox::Error::Workspace(_) | wasibox::Error::Foreign(_))) => {
            return Ok(Err(RunJsonFault::Workspace(e.to_string())));
        }
        Err(e) => return Err(e.into()),
    };
    let stat = wasibox::files::Request::Stat { path: program.path, follow: true };
    if let Err(wasibox::Error::Files(_)) = session.files(&stat) {
        return Ok(Err(RunJsonFault::Missing(request.entry_path.clone())));
    }
    let mut exec = program.exec;
    exec.output = wasibox::Output::Capture { limit: limits.output.unwrap_or(MAX_OUTPUT) };
    // A request cannot extend the time that the policy allows.
    exec.cap_timeout(limits.timeout);
    let running = call::RunningCall::default();
    call::watch_signals(call::take_signals()?, session.interrupter(), running.clone(), || {});
    let outcome = running.run_during(|| session.exec(exec))?;
    call::report_left_out(&session);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    // If the program has changed nothing, this is the zip of the request.
    let zip = if path.exists() { std::fs::read(&path)? } else { Vec::new() };
    Ok(Ok(RunJsonAnswer {
        ok: outcome.exit_code == 0,
        stdout: text(outcome.stdout),
        stderr: text(outcome.stderr),
        exit_code: outcome.exit_code,
        zip_base64: BASE64_STANDARD.encode(zip),
    }))
}

/// A temporary folder, removed when this is dropped.
struct ScratchFolder(std::path::PathBuf);

impl ScratchFolder {
    fn new() -> Result<ScratchFolder, CliFailure> {
        use std::os::unix::fs::DirBuilderExt;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|e| CliFailure::new(125, e))?;
        let name = format!("wasibox-run-{:016x}", u64::from_le_bytes(random));
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(ScratchFolder(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasibox::Command;

    fn parse_words(text: &str) -> usize {
        bounded_words(&mut serde_json::Deserializer::from_str(text)).unwrap().len()
    }

    fn of(text: &str) -> Result<Vec<String>, RunJsonFault> {
        let Command::Program(argv) = program_exec(&parse(text.as_bytes())?)?.exec.command else {
            panic!("{text}");
        };
        Ok(argv.into_iter().map(|word| String::from_utf8(word).unwrap()).collect())
    }

    #[test]
    fn the_end_of_the_name_says_what_runs_it() {
        let argv = of(r#"{"entryPath":"./a/b.sh","argv":["-x"]}"#).unwrap();
        assert_eq!(argv, ["bash", "/work/a/b.sh", "-x"]);
        assert_eq!(of(r#"{"entryPath":"m.py"}"#).unwrap(), ["python3", "/work/m.py"]);
        assert_eq!(of(r#"{"entryPath":"~/main.ts"}"#).unwrap(), ["tsx", "/work/main.ts"]);
        assert_eq!(of(r#"{"entryPath":"./~/main.ts"}"#).unwrap(), ["tsx", "/work/~/main.ts"]);
        for (name, program) in [
            ("a.js", "node"),
            ("a.cjs", "node"),
            ("d/a.mjs", "node"),
            ("a.ts", "tsx"),
            ("a.tsx", "tsx"),
        ] {
            let argv = of(&format!(r#"{{"entryPath":"{name}"}}"#)).unwrap();
            assert_eq!(argv, [program.to_string(), format!("/work/{name}")]);
        }
        assert_eq!(of(r#"{"entryPath":"a"}"#).unwrap_err(), RunJsonFault::Kind("a".into()));
    }

    #[test]
    fn wrong_requests_are_refused() {
        for path in ["", "/etc/a.sh", "../a.sh", "a/../b.sh", "a//b.sh", "a\\\\b.sh", "a/./b.sh"] {
            let e = of(&format!(r#"{{"entryPath":"{path}"}}"#)).unwrap_err();
            assert!(matches!(e, RunJsonFault::Path(_)), "{path}: {e}");
        }
        for text in [
            "",
            "[]",
            "{}",
            r#"{"entryPath":"a.sh","entry":1}"#,
            r#"{"entryPath":"a.sh","timeoutMs":-1}"#,
            r#"{"entryPath":"a.sh","argv":"x"}"#,
            r#"{"entryPath":"a.sh"} x"#,
        ] {
            assert!(matches!(of(text), Err(RunJsonFault::Json(_))), "{text}");
        }
        for text in [r#""argv":["a\u0000"]"#, r#""env":{"A=B":"c"}"#, r#""env":{"":"c"}"#] {
            let e = of(&format!(r#"{{"entryPath":"a.sh",{text}}}"#)).unwrap_err();
            assert_eq!(e, RunJsonFault::Nul, "{text}");
        }
        // Of a list that is too long, no more is kept than shows that.
        let many = vec!["\"\""; MAX_WORDS * 50].join(",");
        let kept = parse_words(&format!("[{many}]"));
        assert_eq!(kept, MAX_WORDS + 1);
        let many = vec!["\"x\""; MAX_WORDS + 1].join(",");
        let e = of(&format!(r#"{{"entryPath":"a.sh","argv":[{many}]}}"#)).unwrap_err();
        assert_eq!(e, RunJsonFault::Words);
    }
}
