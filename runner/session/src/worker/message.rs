//! What parent and worker say to each other.

use crate::action::Exec;
use crate::live::Touched;
use crate::outcome::{FileChange, Outcome};
use crate::session::Error;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::path::PathBuf;
use wasibox_sandbox::{LimitHit, Policy, SandboxError};
use wasibox_vfs::Errno;
use wasibox_vfs::delta::Delta;
use wasibox_worker::jail::Walls;

/// Bytes of output in one message.
pub const PART: usize = 1 << 20;

/// From the parent, in this order.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerRequest {
    /// Open the image and map all machine code, which is known by the key in a folder. Answered by
    /// [`Reply::Warm`], or by [`Reply::NotKept`] if there is some that was not made yet.
    Warm { image: PathBuf, artifacts: PathBuf, key: Option<PathBuf>, stack: usize },
    /// Instead of all others: compile and prepare what is not kept. Answered by [`Reply::Warm`].
    Keep { image: PathBuf, artifacts: PathBuf, key: Option<PathBuf> },
    /// Instead of all others: close a jail without a way out. Answered by [`Reply::Ready`].
    Probe,
    /// Make another worker like this one, a child of the parent's, with the two descriptors that come
    /// along as its sockets. Answered by [`Reply::Copied`].
    Copy,
    /// Make the sandbox and close the jail. With it comes the file of a zip that is to be the workspace, and
    /// whether it begins with what the zip has kept of a first session. Answered by [`Reply::Ready`].
    Begin(Policy, bool),
    /// A part of the session's files, between calls; true if they were so with another image. Not answered.
    Restore(Delta, bool),
    /// What the shell knows. Not answered.
    Shell(ByteBuf),
    /// A piece of a layer of an interpreter's memory; the first one of it has `begins`. Not answered.
    Layer { begins: bool, bytes: ByteBuf },
    /// Bring an interpreter back with the layers that were sent. Answered by [`Reply::Restored`].
    RestoreCell(CellHead),
    /// End what earlier calls have left running. Not answered.
    EndBackground,
    /// Forget an interpreter. Not answered.
    ForgetCell(String),
    /// A part of a request about files: [`Asked`] in postcard, of which the last is followed by an answer:
    /// [`Reply::Changed`]s and [`Reply::Answer`]s.
    Files { is_last: bool, bytes: ByteBuf },
    /// Which of the bridge's nodes the parent serves, by [`Reply::Ask`]. Not answered.
    Serves(Vec<String>),
    /// Run a command. With it come descriptors for what is not given or captured: standard
    /// input, output, error. Answered by [`Reply::Changed`]s, [`Reply::Shell`],
    /// [`Reply::Layer`]s and [`Reply::Cell`], [`Reply::Output`]s and [`Reply::OutcomeHead`].
    Call(Exec),
}

/// A request about files, with the directory that relative paths are from.
pub type Asked = (String, wasibox_files::Request);
/// What has come of it.
pub type Answered = Result<wasibox_files::Answer, wasibox_files::FilesError>;

/// An interpreter but for its memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellHead {
    pub name: String,
    /// What its memory is of use with.
    pub module: [u8; 32],
    pub rest: ByteBuf,
    /// It is a copy of one that may go on elsewhere.
    pub is_fork: bool,
}

/// What has changed in an interpreter, but for its memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellTail {
    pub name: String,
    pub module: [u8; 32],
    /// How many of the layers of its memory stay that were told before.
    pub keep: usize,
    pub rest: ByteBuf,
}

/// On the control socket, at any time.
#[derive(Debug, Serialize, Deserialize)]
pub enum ControlMessage {
    /// End what runs, or what runs next.
    Interrupt,
    /// Connects the descriptor that comes with it to that port of the session's loopback.
    Connect(u16),
    /// The answer to the request of that number, or the number of an error.
    Answer(u64, Result<ByteBuf, u16>),
}

/// From the worker. Any request can be answered by [`Reply::Failed`].
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerReply {
    /// A line for whoever waits.
    Progress(String),
    Warm,
    NotKept,
    /// The new worker's process.
    Copied(u32),
    Ready(Walls),
    /// Captured output.
    Output {
        error: bool,
        bytes: ByteBuf,
    },
    /// A guest's request at one of the bridge's nodes, while a call runs. Answered by [`Control::Answer`].
    Ask {
        number: u64,
        name: String,
        request: ByteBuf,
    },
    /// No guest waits for the answer to the request of that number any more. It is answered all the same.
    GaveUp(u64),
    /// What the call has changed of the session.
    Changed(Delta),
    /// What the workspace, a folder of the host, had where the call has changed something.
    Touched(Touched),
    /// What the shell knows now.
    Shell(ByteBuf),
    /// A piece of the layer upon what was told before of the interpreter that ran.
    Layer(ByteBuf),
    /// All else that the interpreter is, behind that.
    Cell(CellTail),
    /// Why an interpreter cannot come back, if it cannot.
    Restored(Option<String>),
    /// A part of the answer to a request about files: [`Answered`] in postcard.
    Answer {
        is_last: bool,
        bytes: ByteBuf,
    },
    Done(OutcomeHead),
    Failed(ErrorMessage),
}

/// An [`Outcome`] but for its output.
#[derive(Debug, Serialize, Deserialize)]
pub struct OutcomeHead {
    exit_code: u8,
    truncated: bool,
    duration_ms: f64,
    cpu_ms: f64,
    peak_memory: u64,
    limit_hit: Option<LimitHit>,
    files: Vec<FileChange>,
    files_truncated: bool,
    ended: Vec<String>,
    background: Vec<String>,
    value: Option<String>,
    value_json: Option<String>,
    value_bytes: Option<u64>,
    put_back: bool,
}

impl OutcomeHead {
    /// Takes the outcome apart: standard output, standard error, all else.
    pub fn split(o: Outcome) -> (Vec<u8>, Vec<u8>, OutcomeHead) {
        let done = OutcomeHead {
            exit_code: o.exit_code,
            truncated: o.truncated,
            duration_ms: o.duration_ms,
            cpu_ms: o.cpu_ms,
            peak_memory: o.peak_memory,
            limit_hit: o.limit_hit,
            files: o.files,
            files_truncated: o.files_truncated,
            ended: o.ended,
            background: o.background,
            value: o.value,
            value_json: o.value_json,
            value_bytes: o.value_bytes,
            put_back: o.put_back,
        };
        (o.stdout, o.stderr, done)
    }

    /// Puts it together again.
    pub fn with_output(self, stdout: Vec<u8>, stderr: Vec<u8>) -> Outcome {
        Outcome {
            exit_code: self.exit_code,
            stdout,
            stderr,
            truncated: self.truncated,
            duration_ms: self.duration_ms,
            cpu_ms: self.cpu_ms,
            peak_memory: self.peak_memory,
            limit_hit: self.limit_hit,
            files: self.files,
            files_truncated: self.files_truncated,
            ended: self.ended,
            background: self.background,
            value: self.value,
            value_json: self.value_json,
            value_bytes: self.value_bytes,
            put_back: self.put_back,
            commit: None,
        }
    }
}

/// An [`Error`] on its way to the parent: those that callers tell apart, and texts.
#[derive(Debug, Serialize, Deserialize)]
pub enum ErrorMessage {
    NotFound(String),
    NotExecutable { name: String, why: String },
    Damaged(String),
    Cwd { path: String, why: u16 },
    Other(String),
}

impl From<Error> for ErrorMessage {
    fn from(e: Error) -> ErrorMessage {
        match e {
            Error::Sandbox(SandboxError::NotFound(name)) => ErrorMessage::NotFound(name),
            Error::Sandbox(SandboxError::NotExecutable { name, why }) => {
                ErrorMessage::NotExecutable { name, why }
            }
            Error::Sandbox(SandboxError::Damaged(what)) => ErrorMessage::Damaged(what),
            Error::Sandbox(SandboxError::Cwd { path, why }) => {
                ErrorMessage::Cwd { path, why: why.0 }
            }
            e => ErrorMessage::Other(e.to_string()),
        }
    }
}

impl From<ErrorMessage> for Error {
    fn from(f: ErrorMessage) -> Error {
        match f {
            ErrorMessage::NotFound(name) => SandboxError::NotFound(name).into(),
            ErrorMessage::NotExecutable { name, why } => {
                SandboxError::NotExecutable { name, why }.into()
            }
            ErrorMessage::Damaged(what) => SandboxError::Damaged(what).into(),
            ErrorMessage::Cwd { path, why } => SandboxError::Cwd { path, why: Errno(why) }.into(),
            ErrorMessage::Other(text) => Error::Refused(text),
        }
    }
}
