//! Requests about files, their answers and errors. `wasibox-files` carries them out.

mod answer;
mod error;
mod request;

pub use answer::{
    Cut, FileAnswer, FileBytes, FileEntry, FileEntryKind, FileText, GrepAnswer, GrepHit, GrepLine,
    PatchAnswer, PatchedFile, SearchAnswer, Snippet,
};
pub use error::{FilesError, Nearest};
pub use request::{
    EditOf, EditReplacement, FileRequest, GlobOf, GrepOf, GrepOutput, LsOf, PatchLines, PatchOf,
    PatternSyntax, ReadOf, SearchOf, TextEncoding, UploadOf, WriteOf,
};
