//! The limit of a history's commits as policy files write it: `[history]`.

use serde::Deserialize;
use std::num::NonZeroUsize;

/// How many commits stay (`keep`) when there are more than `most`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenCommits")]
pub(super) struct HistoryCommits {
    pub kept: Option<usize>,
    /// `Some(None)` is no limit.
    pub most: Option<Option<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCommits {
    keep: Option<NonZeroUsize>,
    most: Option<usize>,
}

impl TryFrom<WrittenCommits> for HistoryCommits {
    type Error = &'static str;

    fn try_from(written: WrittenCommits) -> Result<HistoryCommits, &'static str> {
        let kept = written.keep.map(NonZeroUsize::get);
        let most = written.most.map(|most| NonZeroUsize::new(most).map(NonZeroUsize::get));
        match (kept, most) {
            (Some(kept), Some(Some(most))) if most < kept => Err("`most` is less than `keep`"),
            _ => Ok(HistoryCommits { kept, most }),
        }
    }
}
