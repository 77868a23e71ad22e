//! The messages of the service `process.Process`.

use super::json;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A request or an answer without fields.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct Empty {}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TerminalSize {
    #[prost(uint32, tag = "1")]
    pub cols: u32,
    #[prost(uint32, tag = "2")]
    pub rows: u32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminal {
    #[prost(message, optional, tag = "1")]
    pub size: Option<TerminalSize>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessConfig {
    #[prost(string, tag = "1")]
    pub cmd: String,
    #[prost(string, repeated, tag = "2")]
    pub args: Vec<String>,
    #[prost(map = "string, string", tag = "3")]
    pub envs: HashMap<String, String>,
    #[prost(string, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessInfo {
    #[prost(message, optional, tag = "1")]
    pub config: Option<ProcessConfig>,
    #[prost(uint32, tag = "2")]
    pub pid: u32,
    #[prost(string, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListResponse {
    #[prost(message, repeated, tag = "1")]
    pub processes: Vec<ProcessInfo>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartRequest {
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessConfig>,
    #[prost(message, optional, tag = "2")]
    pub pty: Option<Terminal>,
    #[prost(string, optional, tag = "3")]
    pub tag: Option<String>,
    #[prost(bool, optional, tag = "4")]
    pub stdin: Option<bool>,
}

/// The process that a request is about.
#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Selector {
    #[prost(uint32, tag = "1")]
    Pid(u32),
    #[prost(string, tag = "2")]
    Tag(String),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessSelector {
    #[prost(oneof = "Selector", tags = "1, 2")]
    #[serde(flatten)]
    pub selector: Option<Selector>,
}

/// A request about one process.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessRequest {
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputBytes {
    #[prost(bytes = "vec", tag = "1")]
    Stdin(#[serde(with = "json::bytes")] Vec<u8>),
    #[prost(bytes = "vec", tag = "2")]
    Pty(#[serde(with = "json::bytes")] Vec<u8>),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessInput {
    #[prost(oneof = "InputBytes", tags = "1, 2")]
    #[serde(flatten)]
    pub input: Option<InputBytes>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendInputRequest {
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    #[prost(message, optional, tag = "2")]
    pub input: Option<ProcessInput>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InputData {
    #[prost(message, optional, tag = "2")]
    pub input: Option<ProcessInput>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputEvent {
    #[prost(message, tag = "1")]
    Start(ProcessRequest),
    #[prost(message, tag = "2")]
    Data(InputData),
    #[prost(message, tag = "3")]
    Keepalive(Empty),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamInputRequest {
    #[prost(oneof = "InputEvent", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub event: Option<InputEvent>,
}

/// Changes a process's terminal.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateRequest {
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    #[prost(message, optional, tag = "2")]
    pub pty: Option<Terminal>,
}

/// The signals that clients send.
pub struct SignalNames;

impl json::EnumNames for SignalNames {
    const NAMES: &'static [(i32, &'static str)] =
        &[(0, "SIGNAL_UNSPECIFIED"), (15, "SIGNAL_SIGTERM"), (9, "SIGNAL_SIGKILL")];
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendSignalRequest {
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    #[prost(int32, tag = "2")]
    #[serde(
        serialize_with = "json::write_enum::<SignalNames, _>",
        deserialize_with = "json::read_enum::<SignalNames, _>"
    )]
    pub signal: i32,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartEvent {
    #[prost(uint32, tag = "1")]
    pub pid: u32,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputBytes {
    #[prost(bytes = "vec", tag = "1")]
    Stdout(#[serde(with = "json::bytes")] Vec<u8>),
    #[prost(bytes = "vec", tag = "2")]
    Stderr(#[serde(with = "json::bytes")] Vec<u8>),
    #[prost(bytes = "vec", tag = "3")]
    Pty(#[serde(with = "json::bytes")] Vec<u8>),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputData {
    #[prost(oneof = "OutputBytes", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub output: Option<OutputBytes>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndEvent {
    #[prost(sint32, tag = "1")]
    pub exit_code: i32,
    #[prost(bool, tag = "2")]
    pub exited: bool,
    #[prost(string, tag = "3")]
    pub status: String,
    #[prost(string, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    #[prost(message, tag = "1")]
    Start(StartEvent),
    #[prost(message, tag = "2")]
    Data(OutputData),
    #[prost(message, tag = "3")]
    End(EndEvent),
    #[prost(message, tag = "4")]
    Keepalive(Empty),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessEvent {
    #[prost(oneof = "EventKind", tags = "1, 2, 3, 4")]
    #[serde(flatten)]
    pub event: Option<EventKind>,
}

/// A message of the streams of `Start` and `Connect`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventResponse {
    #[prost(message, optional, tag = "1")]
    pub event: Option<ProcessEvent>,
}

impl EventResponse {
    /// Makes the message of an event.
    pub fn new(event: EventKind) -> EventResponse {
        EventResponse { event: Some(ProcessEvent { event: Some(event) }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Codec;

    #[test]
    fn messages_are_read_from_json_and_protobuf() {
        // As the packages for Python and JavaScript write it.
        let json = br#"{"process":{"cmd":"/bin/bash","args":["-l","-c","echo hi"],"envs":{"A":"b"},"cwd":"/tmp"},"stdin":false,"more":1}"#;
        let message: StartRequest = Codec::Json.decode(json).unwrap();
        let process = message.process.clone().unwrap();
        assert_eq!(
            (&*process.cmd, process.args.len(), process.cwd.as_deref()),
            ("/bin/bash", 3, Some("/tmp"))
        );
        assert_eq!(message.stdin, Some(false));
        let again: StartRequest =
            Codec::Protobuf.decode(&Codec::Protobuf.encode(&message)).unwrap();
        assert_eq!(again, message);
        // Field 1 with a message of field 1 "ls", by the wire format of protobuf.
        let wire: StartRequest = Codec::Protobuf.decode(b"\x0a\x04\x0a\x02ls").unwrap();
        assert_eq!(wire.process.unwrap().cmd, "ls");
    }

    #[test]
    fn choices_are_fields_of_their_message() {
        let text = br#"{"process":{"pid":7},"signal":"SIGNAL_SIGKILL"}"#;
        let message: SendSignalRequest = Codec::Json.decode(text).unwrap();
        assert_eq!(message.process.unwrap().selector, Some(Selector::Pid(7)));
        assert_eq!(message.signal, 9);
        let end = EventKind::End(EndEvent { exit_code: 1, exited: true, ..EndEvent::default() });
        let json = Codec::Json.encode(&EventResponse::new(end));
        let text = r#"{"event":{"end":{"exitCode":1,"exited":true,"status":""}}}"#;
        assert_eq!(json, text.as_bytes());
        let out = OutputData { output: Some(OutputBytes::Stdout(b"hi\n".to_vec())) };
        let json = Codec::Json.encode(&EventResponse::new(EventKind::Data(out)));
        assert_eq!(json, &br#"{"event":{"data":{"stdout":"aGkK"}}}"#[..]);
        let nothing: ProcessRequest = Codec::Json.decode(br#"{"process":{}}"#).unwrap();
        assert_eq!(nothing.process.unwrap().selector, None);
    }
}
