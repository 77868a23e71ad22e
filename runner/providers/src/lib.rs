//! Web search, pages and pictures from servers of others, and the settings of built-in tools.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | which tools are on, and their values; keys, encrypted; one table of all settings |
//! | `tools` | [`WebTools`]: the state that all calls share |
//! | `search` | web search; a file for each provider |
//! | `page` | a page as Markdown |
//! | `picture` | a picture from a text |
//! | `client` | requests by the bridge; [`RequestStop`] |
//! | `usage` | requests in a day |
//! | `text`, `clock` | texts of others without markup; times |
//!
//! # Invariants
//! - A key is in the file of settings only encrypted, goes only to the server for which it was set,
//!   and is in no error and no log.
//! - Requests to a provider go to its address alone, and follow no redirect. A page is fetched
//!   under the rules that the caller passes.
//! - Texts of others are cleaned and bounded before a model gets them.
//!
//! # Deliberately absent
//! Scraping of pages that providers make for people, because their terms forbid it and their markup
//! changes. Scripts of pages: a page that is made by its scripts has no text here.
#![forbid(unsafe_code)]

mod client;
mod clock;
mod error;
mod page;
mod picture;
mod search;
pub mod settings;
mod text;
mod tools;
mod usage;

pub use client::RequestStop;
pub use clock::rfc3339;
pub use error::ProviderError;
pub use page::{PageAnswer, PageQuery};
pub use picture::{PictureAnswer, PictureQuality, PictureQuery, PictureStyle};
pub use search::{
    MAX_QUERY, MAX_RESULTS, RESULTS, SearchAnswer, SearchFreshness, SearchQuery, SearchResult,
};
pub use text::clean_text;
pub use tools::WebTools;
pub use wasibox_bridge::{BridgePolicy, RequestError};
