//! Errors of the store as clients get them.

use crate::StoreError;
use wasibox_protocol::{Refusal, RefusalKind};

impl From<StoreError> for Refusal {
    fn from(e: StoreError) -> Refusal {
        use StoreError as E;
        let kind = match &e {
            E::NoSession(_) | E::NoCommit { .. } | E::NoTag(_) => RefusalKind::Missing,
            E::Exists(_) | E::Nothing(_) => RefusalKind::Conflict,
            E::HistoryFull(_) | E::DiskFull => RefusalKind::Limit,
            E::Name | E::TooLong | E::Snapshot(_) | E::NotAStore => RefusalKind::Invalid,
            E::Busy { .. } => RefusalKind::Busy,
            E::Lost(_) => RefusalKind::Closed,
            E::Open { .. } | E::Io(_) | E::Database(_) | E::Bucket(_) => {
                // The error may contain the store's path on the host or the bucket's address, which
                // remote clients do not get.
                let refusal = Refusal::new(RefusalKind::Internal, "the store of sessions failed");
                return Refusal { detail: Some(e.to_string()), ..refusal };
            }
            E::Version(_) | E::Damaged(_) | E::DiskFailed => RefusalKind::Internal,
        };
        Refusal::new(kind, e)
    }
}
