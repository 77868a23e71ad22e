//! The reasons why a provider has given nothing.

use crate::settings::SettingsError;
use wasibox_bridge::RequestError;

/// The reason why a search, a page or a picture is not there. No text of it contains a key.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The arguments do not fit the tool.
    #[error("{0}")]
    Invalid(String),
    /// The provider cannot do this.
    #[error("{provider} {text}")]
    Unsupported { provider: &'static str, text: String },
    /// A setting is missing.
    #[error("{tool} is not set up: {text}")]
    Setup { tool: &'static str, text: String },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(
        "{tool} has made the {most} requests that its setting 'daily' allows; the count begins again at 00:00 UTC"
    )]
    Daily { tool: &'static str, most: u64 },
    #[error("too many searches wait for their turn; try again in {0} seconds")]
    Pace(u64),
    #[error("{provider} does not accept the key (status {status}): {text}")]
    Key { provider: String, status: u16, text: String },
    #[error("{provider} has had too many requests{}: {text}", after(.retry_after))]
    Quota { provider: String, retry_after: Option<u64>, text: String },
    #[error("{provider} answers with status {status}: {text}")]
    Status { provider: String, status: u16, text: String },
    #[error("{provider}'s answer is not what its interface promises: {text}")]
    Answer { provider: String, text: String },
    /// A page that is not text.
    #[error("{url} is {kind}, not a page to read; get it with curl in the sandbox")]
    Kind { url: String, kind: String },
    #[error("{0} is a server of the sandbox itself; read it with curl in the sandbox")]
    Inside(String),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("the call was stopped")]
    Stopped,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn after(seconds: &Option<u64>) -> String {
    seconds.map_or(String::new(), |seconds| format!("; it asks to wait {seconds} seconds"))
}
