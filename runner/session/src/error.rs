//! Why a request to a session fails.

use crate::tools::ToolDefinitionError;
use wasibox_files as files;
use wasibox_image::ImageError;
use wasibox_protocol::RequestFault;
use wasibox_sandbox::SandboxError;
use wasibox_worker::channel::ChannelError;
use wasibox_workspace::WorkspaceError;

/// The error of a request that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is invalid; nothing was begun.
    #[error(transparent)]
    Request(#[from] RequestFault),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("standard streams: {0}")]
    Streams(#[from] std::io::Error),
    /// No program that serves as a worker was found, see [`PoolOptions::program`](crate::PoolOptions::program).
    #[error("no program for workers: put `runner` beside this one, or name it in WASIBOX_WORKER")]
    NoWorker,
    /// The session's process is gone, and with it the running call. The session's state is as it
    /// was before that call.
    #[error("the process of the session {0}")]
    Worker(String),
    /// The session's process refused or failed to do something.
    #[error("{0}")]
    Refused(String),
    /// The policy requires walls ([`PoolOptions::require_walls`](crate::PoolOptions::require_walls)) that this host lacks.
    #[error("this host lacks walls that are required: {0}")]
    Walls(String),
    /// The image's programs took longer than [`prepare_timeout`](crate::PoolOptions::prepare_timeout) to be made ready.
    #[error(
        "the image's programs were not compiled and prepared within {} s, the limit of preparing \
         (--prepare-timeout)", .0.as_secs_f64()
    )]
    Unready(std::time::Duration),
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Store(#[from] wasibox_store::StoreError),
    /// The caller gave up on the call before it could begin.
    #[error("the caller no longer waits for the call")]
    Cancelled,
    /// The session has no process of that number, or has forgotten it.
    #[error("there is no process {0}")]
    NoProcess(u64),
    /// A process beside the session's calls cannot be begun or written to.
    #[error(transparent)]
    Process(#[from] ProcessFault),
    /// Another call of the session is running ([`Session::try_exec`](crate::Session::try_exec)).
    #[error("the session is busy")]
    Busy,
    /// A request to [`Session::files`](crate::Session::files) failed.
    #[error(transparent)]
    Files(#[from] files::FilesError),
    /// A kept interpreter cannot be restored, for the reason given. Files and shell are intact, and
    /// [`Session::reset`](crate::Session::reset) starts a new one.
    #[error("the interpreter cannot be restored: {0}; reset it to begin a new one")]
    Cell(String),
    /// The workspace cannot be opened or saved. A call whose result could not be saved is
    /// nevertheless complete and in the history; the next call that changes files saves it as well.
    #[error("workspace: {0}")]
    Workspace(#[from] WorkspaceError),
    /// A jailed process has refused a zip or a snapshot from elsewhere.
    #[error("the file is refused: {0}")]
    Foreign(String),
    /// The session and the workspace do not belong together.
    #[error("workspace: {0}")]
    Unfit(#[from] WorkspaceMismatch),
    /// A rule or a secret of the policy is unusable; the text names it and the reason.
    #[error("network policy: {0}")]
    Network(String),
    /// A host tool has an invalid definition.
    #[error("host tool: {0}")]
    Tool(#[from] ToolDefinitionError),
    /// The session has no history because it was made to run commands only.
    #[error("the session has no history")]
    NoHistory,
}

impl From<ImageError> for Error {
    fn from(e: ImageError) -> Error {
        Error::Sandbox(e.into())
    }
}

/// The reason why a process beside a session's calls cannot be begun or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessFault {
    #[error("process {0} has ended")]
    Ended(u64),
    #[error("the input of process {0} has ended")]
    InputEnded(u64),
    #[error("process {0} has not read its earlier input")]
    InputFull(u64),
    #[error("{0} programs run beside calls already")]
    TooMany(usize),
}

/// The reason why a session and a workspace do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceMismatch {
    #[error("the session works in a {0}, which is not given")]
    Missing(String),
    #[error("the session was begun without a workspace; make a new one")]
    Without,
    #[error("the session works in a {0}; this is another one")]
    Other(String),
    #[error("the zip carries a session of its own: make one of it (`session create --workspace`)")]
    CarriesOne,
    #[error(
        "the zip was changed by another program since the session worked in it; make a new one"
    )]
    Rewritten,
    #[error(
        "the folder was changed since the session began, in a place that the session has changed, too: {0}"
    )]
    Changed(String),
    #[error("changes of the session were brought back to the folder; make a new one to continue")]
    Applied,
    #[error("the session's store has a damaged record of its workspace")]
    Damaged,
    #[error("a session with a workspace is not forked while it is used")]
    Fork,
    #[error("the session has no folder of the host's")]
    NoOverlay,
    #[error("only a session of an engine has a workspace")]
    NoEngine,
    #[error("a mount and the workspace overlap: {0}")]
    Overlap(String),
}
