//! Tests `runner chat` with a server that answers by a script, as OpenAI's reference of the chat
//! completions API describes answers.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that gives the next answer to each request, and keeps the requests.
struct Model {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
}

/// An answer: text, or a call of a tool with its arguments.
#[derive(Clone)]
enum Say {
    Text(&'static str),
    Call(&'static str, Value),
    Error(u16),
    /// Never answers.
    Silence,
}

impl Model {
    fn new(answers: Vec<Say>) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        std::thread::spawn(move || {
            let mut answers = answers.into_iter();
            for stream in listener.incoming().flatten() {
                let Some(say) = answers.next() else { break };
                // A client that has gone is no failure of the model.
                let _ = answer(stream, &say, &kept);
            }
        });
        Model { address, requests }
    }

    fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("requests").clone()
    }

    /// Runs the chat with these arguments and lines of input.
    fn chat(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.command(args).spawn().expect("runner");
        let mut stdin = child.stdin.take().expect("standard input");
        stdin.write_all(input.as_bytes()).expect("input");
        drop(stdin);
        child.wait_with_output().expect("an end")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(wasibox_sessions::dist().join("runner"));
        command.args(["chat", "--model", "script", "--endpoint"]);
        command.arg(format!("http://{}/v1", self.address));
        command.arg("--image").arg(wasibox_sessions::dist().join("image.webc")).args(args);
        command.env("OPENAI_API_KEY", "key-of-the-test");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn answer(stream: TcpStream, say: &Say, kept: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut is_authorized) = (0, false);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    assert_eq!(first.trim(), "POST /v1/chat/completions HTTP/1.1");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.trim().to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        is_authorized |= lower == "authorization: bearer key-of-the-test";
        if lower.is_empty() {
            break;
        }
    }
    assert!(is_authorized);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((&request["model"], &request["stream"]), (&json!("script"), &json!(true)));
    let number = {
        let mut all = kept.lock().expect("requests");
        all.push(request);
        all.len()
    };
    let mut stream = stream;
    let delta = match say {
        Say::Silence => {
            let _ = reader.read(&mut [0]);
            return Ok(());
        }
        Say::Error(status) => {
            let body = json!({"error": {"message": "no tokens left"}}).to_string();
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len());
            return stream.write_all((head + &body).as_bytes());
        }
        Say::Text(text) => json!({ "content": text }),
        Say::Call(name, arguments) => json!({ "tool_calls": [{
            "index": 0, "id": format!("call_{number}"), "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() },
        }] }),
    };
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 2 } });
    let text = format!("data: {chunk}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all((head.to_owned() + &text).as_bytes())
}

fn exec(command: &str) -> Say {
    Say::Call("sandbox_exec", json!({ "command": command }))
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the names of the workspace's files in a zip, by Python's zipfile.
fn zip_names(path: &Path) -> Vec<String> {
    let script = "import sys, zipfile\nprint('\\n'.join(zipfile.ZipFile(sys.argv[1]).namelist()))";
    let listed = Command::new("python3").args(["-c", script]).arg(path).output().expect("python3");
    assert!(listed.status.success(), "{listed:?}");
    // The history is in the zip, too.
    let listed = stdout(&listed);
    let files = listed.lines().filter(|name| !name.starts_with(".wasibox/"));
    let mut names: Vec<String> = files.map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn one_prompt_gives_one_answer() {
    let model =
        Model::new(vec![exec("echo $((6 * 7)) > a; cat a"), Say::Text("The answer is 42.")]);
    let done = model.chat(&["--print", "What is six times seven?"], "");
    assert_eq!((done.status.code(), &*stdout(&done)), (Some(0), "The answer is 42.\n"), "{done:?}");
    let requests = model.requests();
    let tools = requests[0]["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "sandbox_exec"));
    let messages = requests[1]["messages"].as_array().expect("messages");
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
    assert!(messages[3]["content"].as_str().expect("text").contains("42"));
    // The key is in no message and no output.
    assert!(!format!("{requests:?}{done:?}").contains("key-of-the-test"));
}

#[test]
fn a_chat_on_a_workspace_is_kept_resumed_and_undone() {
    let dir = tempfile::tempdir().expect("a folder");
    let (zip, log) = (dir.path().join("project.zip"), dir.path().join("chat.jsonl"));
    let args = ["--workspace", zip.to_str().unwrap(), "--log", log.to_str().unwrap()];
    let first = Model::new(vec![
        exec("echo 1 > /work/a"),
        Say::Text("Made a."),
        exec("echo 2 > /work/b"),
        Say::Text("Made b."),
    ]);
    let done = first.chat(&args, "make a\nmake b\n:tokens\n");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let text = stdout(&done);
    assert!(text.contains("Made a.\n") && text.contains("Made b.\n"), "{text}");
    assert!(text.contains("40 sent, 8 received"), "{text}");
    assert_eq!(zip_names(&zip), ["a", "b"]);
    let second =
        Model::new(vec![exec("echo 3 > /work/c"), Say::Text("Made c."), Say::Text("It is there.")]);
    let done = second.chat(&args, "make c\n:undo\n:run ls /work\nis c there?\n:frob\n");
    let text = stdout(&done);
    assert!(text.contains("there is no command ':frob'"), "{text}");
    assert_eq!(zip_names(&zip), ["a", "b"], "{text}");
    // The chat went on with the messages of the first one.
    let messages = second.requests()[0]["messages"].as_array().expect("messages").len();
    assert_eq!(messages, 1 + 8 + 1);
    let lines = std::fs::read_to_string(&log).expect("a log").lines().count();
    assert_eq!(lines, 8 + 4 + 2);
}

#[test]
fn calls_are_approved_and_turns_are_bounded() {
    let model = Model::new(vec![exec("rm -r /home/user"), Say::Text("Then not.")]);
    let done = model.chat(&["--approve", "all", "--print", "clean up"], "");
    assert_eq!(stdout(&done), "Then not.\n", "{done:?}");
    let messages = model.requests()[1]["messages"].clone();
    assert_eq!(messages[3]["content"], "The user has not approved this call.");

    let model = Model::new(vec![exec("true"); 9]);
    let done = model.chat(&["--steps", "3", "--print", "loop"], "");
    assert_eq!((done.status.code(), model.requests().len()), (Some(1), 3), "{done:?}");
    let model = Model::new(vec![exec("true"); 9]);
    let done = model.chat(&["--max-tokens", "20", "--print", "spend"], "");
    assert_eq!((done.status.code(), model.requests().len()), (Some(1), 2), "{done:?}");
}

#[test]
fn mistakes_of_model_and_server_are_named() {
    let model = Model::new(vec![
        Say::Call("frob", json!({})),
        Say::Call("sandbox_exec", json!("ls")),
        Say::Call("sandbox_exec", json!({ "commands": "ls" })),
        Say::Text("I give up."),
    ]);
    let done = model.chat(&["--print", "try"], "");
    assert_eq!(stdout(&done), "I give up.\n", "{done:?}");
    let last = model.requests().pop().expect("a request");
    let results: Vec<&str> = last["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().expect("text"))
        .collect();
    assert!(results[0].contains("no tool 'frob'"), "{results:?}");
    assert!(results[1].contains("not a JSON object"), "{results:?}");
    assert!(results[2].starts_with("Refused: "), "{results:?}");

    let model = Model::new(vec![Say::Error(429)]);
    let done = model.chat(&["--print", "try"], "");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1));
    assert!(message.contains("429") && message.contains("no tokens left"), "{message}");
    let done = model.chat(&["--approve", "frob", "--print", "try"], "");
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

#[test]
fn an_interrupt_ends_the_turn() {
    for answers in [vec![Say::Silence], vec![exec("sleep 100"), Say::Text("never")]] {
        let model = Model::new(answers);
        let child = model.command(&["--print", "wait"]).spawn().expect("runner");
        let begun = Instant::now();
        while model.requests().is_empty() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(1000));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        let done = child.wait_with_output().expect("an end");
        assert_eq!(done.status.code(), Some(130), "{done:?}");
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
