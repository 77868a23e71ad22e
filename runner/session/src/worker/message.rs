//! The messages between parent and worker.

use super::check::ForeignFile;
use crate::error::Error;
use crate::local::{CellHead, CellTail, Touched};
use crate::spawned::TerminalSize;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::path::PathBuf;
use wasibox_protocol::Outcome;
use wasibox_sandbox::{PlacedExec, Policy, SandboxError};
use wasibox_vfs::Errno;
use wasibox_vfs::delta::Delta;
use wasibox_worker::jail::Walls;

/// Maximum bytes of output in one message.
pub const PART: usize = 1 << 20;

/// The version of these messages. Every change of a message raises it.
const VERSION: u32 = 5;

/// The first message to a worker. Its form never changes, so that a program of another version
/// understands it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerHello {
    version: u32,
    /// The version of the parent's program, for messages to the user.
    program: String,
}

impl WorkerHello {
    /// Makes the message of this program.
    pub fn own() -> WorkerHello {
        WorkerHello { version: VERSION, program: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Checks that this program understands the messages of the parent.
    ///
    /// # Errors
    /// If the parent's messages have another version.
    pub fn check_version(&self) -> Result<(), Error> {
        if self.version == VERSION {
            return Ok(());
        }
        let (own, theirs) = (WorkerHello::own(), super::bounds::cut_text(self.program.clone()));
        Err(Error::Refused(format!(
            "the program for workers is of another version: {} (messages {}) instead of {theirs} (messages {})",
            own.program, own.version, self.version
        )))
    }
}

/// Programs of an image, and the folders in which their machine code is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImageCode {
    pub image: PathBuf,
    /// The folder of machine code.
    pub artifacts: PathBuf,
    /// The folder of the key that authenticates it.
    pub key: Option<PathBuf>,
    /// The one program that a request concerns; `None` means all of them.
    pub program: Option<String>,
}

/// Machine code that is not kept yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MissingCode {
    /// The programs that lack it.
    pub programs: Vec<String>,
    /// The program that runs `sh`, if the image has one.
    pub shell: Option<String>,
}

/// A request from the parent. Requests are sent in this order.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerRequest {
    /// Opens the image and maps machine code of its programs; the number is the bytes of stack of a
    /// process. Answered by [`WorkerReply::Warm`], or by [`WorkerReply::NotKept`] if some of the
    /// code has not been made yet.
    Warm(ImageCode, usize),
    /// Compiles and prepares the programs that are not kept yet; sent instead of all other
    /// requests. The flag says whether the worker outlives its parent. Answered by
    /// [`WorkerReply::Warm`].
    Keep(ImageCode, bool),
    /// Reads the attached file of that kind in a jail, with this many bytes of memory; sent instead
    /// of all other requests. Answered by [`WorkerReply::Checked`].
    Check(ForeignFile, u64),
    /// Closes a jail for good, to probe the walls; sent instead of all other requests. Answered by
    /// [`WorkerReply::Ready`].
    Probe,
    /// Makes another worker like this one, as a child of the parent, with the two attached
    /// descriptors as its sockets. Answered by [`WorkerReply::Copied`].
    Copy,
    /// Makes the sandbox and closes the jail. The file of a zip workspace is attached, if there is
    /// one; the flag says whether the session begins with the original folder that the zip keeps.
    /// Answered by [`WorkerReply::Ready`].
    Begin(Box<Policy>, bool),
    /// A part of the session's files, sent between calls; true if it was made with another image.
    /// Not answered.
    Restore(Delta, bool),
    /// The shell's state. Not answered.
    Shell(ByteBuf),
    /// A piece of a layer of an interpreter's memory; the first piece of a layer has `begins`. Not
    /// answered.
    Layer { begins: bool, bytes: ByteBuf },
    /// Restores an interpreter from the layers that were sent. Answered by
    /// [`WorkerReply::Restored`].
    RestoreCell(CellHead),
    /// Ends the processes that earlier calls have left running. Not answered.
    EndBackground,
    /// Forgets an interpreter. Not answered.
    ForgetCell(String),
    /// A part of a request about files, which is an [`Asked`](crate::local::Asked) in postcard. The last part is
    /// answered by [`WorkerReply::Changed`]s and [`WorkerReply::Answer`]s.
    Files { is_last: bool, bytes: ByteBuf },
    /// Names the device nodes that the parent serves, by [`WorkerReply::Ask`]. Not answered.
    Serves(Vec<String>),
    /// Runs a command. A descriptor is attached for each of standard input, output and error that
    /// is neither given nor captured. Answered by [`WorkerReply::Changed`]s,
    /// [`WorkerReply::Shell`], [`WorkerReply::Layer`]s and [`WorkerReply::Cell`],
    /// [`WorkerReply::Output`]s and [`WorkerReply::Done`].
    Call(PlacedExec),
    /// Begins a program that runs beside calls, on a terminal if there is a size: its standard
    /// input and output are then the keyboard and the screen. Four descriptors are attached: its standard input,
    /// output and error, and one that receives a [`ProcessReport`](crate::spawned::ProcessReport)
    /// when it has ended. Answered by [`WorkerReply::Spawned`].
    Spawn(PlacedExec, Option<TerminalSize>),
}

/// A message on the control socket, sent at any time.
#[derive(Debug, Serialize, Deserialize)]
pub enum ControlMessage {
    /// Ends the running call or, if there is none, the next one.
    Interrupt,
    /// Connects the attached descriptor to this port of the session's loopback.
    Connect(u16),
    /// Writes the list of listening sockets to the attached descriptor.
    Ports,
    /// Sends a signal to a process that runs beside calls.
    Signal { pid: u32, signal: u8 },
    /// The answer to the request with this number, or an errno.
    Answer(u64, Result<ByteBuf, u16>),
}

/// A message from the worker. Any request can be answered by [`WorkerReply::Failed`].
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerReply {
    /// A line about progress for the user.
    Progress(String),
    Warm,
    NotKept(MissingCode),
    /// The reason why a file is refused, or `None` if it is sound.
    Checked(Option<String>),
    /// The process ID of the new worker.
    Copied(u32),
    Ready(Walls),
    /// A part of the captured output.
    Output {
        error: bool,
        bytes: ByteBuf,
    },
    /// A guest's request at a device node, while a call runs. Answered by
    /// [`ControlMessage::Answer`].
    Ask {
        number: u64,
        name: String,
        request: ByteBuf,
    },
    /// The guest no longer waits for the answer to the request with this number. The parent answers
    /// it nevertheless.
    GaveUp(u64),
    /// The changes that the call has made to the session.
    Changed(Delta),
    /// The original entries of the workspace, a host's folder, at the paths that the call has
    /// changed.
    Touched(Touched),
    /// The new state of the shell.
    Shell(ByteBuf),
    /// A piece of the new memory layer of the interpreter that ran, on top of those reported
    /// before.
    Layer(ByteBuf),
    /// The rest of the interpreter's state, sent after its layer.
    Cell(CellTail),
    /// The reason why an interpreter could not be restored, or `None` if it was.
    Restored(Option<String>),
    /// A part of the answer to a request about files, which is an [`Answered`](crate::local::Answered) in postcard.
    Answer {
        is_last: bool,
        bytes: ByteBuf,
    },
    /// The number of the process that runs beside calls.
    Spawned(u32),
    /// The outcome, without the output that was sent before.
    Done(Box<Outcome>),
    Failed(ErrorMessage),
}

/// An [`Error`] in the form in which it is sent to the parent: the variants that callers
/// distinguish, and text for all others.
#[derive(Debug, Serialize, Deserialize)]
pub enum ErrorMessage {
    NotFound { name: String, advice: Option<String> },
    NotExecutable { name: String, why: String },
    Damaged(String),
    Cwd { path: String, why: u16 },
    Other(String),
}

impl ErrorMessage {
    /// Returns the error with texts of a length that can be shown.
    pub fn cut_texts(self) -> ErrorMessage {
        let cut = super::bounds::cut_text;
        match self {
            ErrorMessage::NotFound { name, advice } => {
                ErrorMessage::NotFound { name: cut(name), advice: advice.map(cut) }
            }
            ErrorMessage::NotExecutable { name, why } => {
                ErrorMessage::NotExecutable { name: cut(name), why: cut(why) }
            }
            ErrorMessage::Damaged(what) => ErrorMessage::Damaged(cut(what)),
            ErrorMessage::Cwd { path, why } => ErrorMessage::Cwd { path: cut(path), why },
            ErrorMessage::Other(text) => ErrorMessage::Other(cut(text)),
        }
    }
}

impl From<Error> for ErrorMessage {
    fn from(e: Error) -> ErrorMessage {
        match e {
            Error::Sandbox(SandboxError::NotFound { name, advice }) => {
                ErrorMessage::NotFound { name, advice }
            }
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
            ErrorMessage::NotFound { name, advice } => {
                SandboxError::NotFound { name, advice }.into()
            }
            ErrorMessage::NotExecutable { name, why } => {
                SandboxError::NotExecutable { name, why }.into()
            }
            ErrorMessage::Damaged(what) => SandboxError::Damaged(what).into(),
            ErrorMessage::Cwd { path, why } => SandboxError::Cwd { path, why: Errno(why) }.into(),
            ErrorMessage::Other(text) => Error::Refused(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_refuses_messages_of_another_version() {
        assert!(WorkerHello::own().check_version().is_ok());
        let other = WorkerHello { version: VERSION + 1, program: "9.9".into() };
        let text = other.check_version().unwrap_err().to_string();
        assert!(text.contains("instead of 9.9 (messages 6)"), "{text}");
    }
}
