//! Whole files of any length, by requests for parts of them.

use crate::{Answer, FileBytes, Request, UploadOf};
use wasibox_protocol::{Refusal, RefusalKind};

/// Maximum bytes of a file in one request.
const PART: u64 = 8 << 20;

/// Returns a file's bytes. `apply` carries out a request.
///
/// # Errors
/// The errors of `apply`; Conflict if there is no memory for the bytes.
pub fn read_whole(
    path: &str,
    mut apply: impl FnMut(&Request) -> Result<Answer, Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let no_room =
        |_| Refusal::new(RefusalKind::Conflict, "there is no memory for the file's bytes");
    let mut all = Vec::new();
    loop {
        let offset = all.len() as u64;
        let part = Request::Download { path: path.to_owned(), offset, limit: Some(PART) };
        let Answer::Data { data, next_offset, size, .. } = apply(&part)? else {
            return Err(Refusal::mismatch());
        };
        if all.is_empty() {
            all = data.0;
            let rest = usize::try_from(size).unwrap_or(0).saturating_sub(all.len());
            all.try_reserve_exact(rest).map_err(no_room)?;
        } else {
            all.try_reserve(data.0.len()).map_err(no_room)?;
            all.extend_from_slice(&data.0);
        }
        match next_offset {
            // A file that shrinks meanwhile ends here, too.
            Some(next) if next > offset => {}
            _ => return Ok(all),
        }
    }
}

/// Replaces a file's contents. Up to 8 MiB are replaced atomically; a longer file is written in
/// parts. `apply` carries out a request.
///
/// # Errors
/// The errors of `apply`.
pub fn write_whole(
    path: &str,
    bytes: &[u8],
    mode: Option<u16>,
    mut apply: impl FnMut(&Request) -> Result<Answer, Refusal>,
) -> Result<(), Refusal> {
    let is_whole = bytes.len() as u64 <= PART;
    let mut offset = 0;
    loop {
        let part = &bytes[offset..bytes.len().min(offset + PART as usize)];
        apply(&Request::Upload(UploadOf {
            path: path.to_owned(),
            data: FileBytes(part.to_vec()),
            offset: (!is_whole).then_some(offset as u64),
            mode,
        }))?;
        offset += part.len();
        if offset >= bytes.len() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes and reads a file of that length by a store of one file; returns the number of
    /// requests of each kind.
    fn round_trip(len: usize) -> (usize, usize) {
        let bytes: Vec<u8> = (0..len).map(|n| n as u8).collect();
        let (mut kept, mut writes) = (Vec::new(), 0);
        let written = write_whole("/a", &bytes, None, |request| {
            let Request::Upload(part) = request else { panic!("{request:?}") };
            assert_eq!(part.offset, (len as u64 > PART).then_some(kept.len() as u64));
            writes += 1;
            kept.extend_from_slice(&part.data.0);
            Ok(Answer::Written { path: "/a".into(), created: writes == 1, size: kept.len() as u64 })
        });
        written.unwrap();
        let mut reads = 0;
        let read = read_whole("/a", |request| {
            let Request::Download { offset, limit, .. } = request else { panic!("{request:?}") };
            reads += 1;
            let end = kept.len().min((offset + limit.unwrap()) as usize);
            Ok(Answer::Data {
                path: "/a".into(),
                size: kept.len() as u64,
                mime: String::new(),
                data: FileBytes(kept[*offset as usize..end].to_vec()),
                next_offset: (end < kept.len()).then_some(end as u64),
            })
        });
        assert_eq!(read.unwrap(), bytes);
        (writes, reads)
    }

    #[test]
    fn files_of_any_length_are_written_and_read_in_parts() {
        assert_eq!(round_trip(0), (1, 1));
        assert_eq!(round_trip(PART as usize), (1, 1));
        assert_eq!(round_trip(PART as usize + 1), (2, 2));
    }

    #[test]
    fn an_answer_of_another_kind_is_refused() {
        let other = |_: &Request| Ok(Answer::Deleted { path: "/a".into(), count: 1 });
        assert_eq!(read_whole("/a", other), Err(Refusal::mismatch()));
    }
}
