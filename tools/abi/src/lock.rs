//! Locks of files, as arguments and answers of requests at the node
//! [`TERMINAL`](crate::terminal::TERMINAL), which takes the place of the calls on descriptors that
//! preview 1 lacks: `flock(2)` and the record locks of `fcntl(2)`.

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LockKind {
    /// Others may share it: `LOCK_SH`, `F_RDLCK`.
    Shared = 0,
    /// Nobody else may have one: `LOCK_EX`, `F_WRLCK`.
    Exclusive = 1,
    /// None: `LOCK_UN`, `F_UNLCK`.
    Release = 2,
}

impl LockKind {
    fn from_number(number: u8) -> Option<LockKind> {
        [LockKind::Shared, LockKind::Exclusive, LockKind::Release]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// A request of `flock(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeLock {
    pub kind: LockKind,
    /// Whether the request waits while another one has the lock (without `LOCK_NB`).
    pub waits: bool,
}

impl WholeLock {
    /// Encodes the request: the kind, and 1 if it waits.
    pub fn encode(&self) -> [u8; 2] {
        [self.kind as u8, u8::from(self.waits)]
    }

    /// Decodes a request.
    pub fn decode(bytes: &[u8]) -> Option<WholeLock> {
        match bytes {
            [kind, waits @ (0 | 1)] => {
                Some(WholeLock { kind: LockKind::from_number(*kind)?, waits: *waits == 1 })
            }
            _ => None,
        }
    }
}

/// The operation on a record lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordRequest {
    /// `F_GETLK`: answers with the lock that is in the way, or with the request and
    /// [`LockKind::Release`].
    Get = 0,
    /// `F_SETLK`.
    Set = 1,
    /// `F_SETLKW`.
    SetAndWait = 2,
}

/// A record lock (`struct flock`): a request or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLock {
    pub request: RecordRequest,
    pub kind: LockKind,
    /// The process that holds it, in an answer.
    pub pid: u32,
    /// The first byte, from the start of the file.
    pub start: u64,
    /// The number of bytes; 0 stands for all that follow.
    pub length: u64,
}

/// The length of an encoded [`RecordLock`].
pub const RECORD_LEN: usize = 24;

impl RecordLock {
    /// Encodes it: request, kind, 2 bytes that are zero, pid, start, length.
    pub fn encode(&self) -> [u8; RECORD_LEN] {
        let mut out = [0; RECORD_LEN];
        out[0] = self.request as u8;
        out[1] = self.kind as u8;
        out[4..8].copy_from_slice(&self.pid.to_le_bytes());
        out[8..16].copy_from_slice(&self.start.to_le_bytes());
        out[16..].copy_from_slice(&self.length.to_le_bytes());
        out
    }

    /// Decodes it.
    pub fn decode(bytes: &[u8]) -> Option<RecordLock> {
        let bytes: &[u8; RECORD_LEN] = bytes.try_into().ok()?;
        let request = [RecordRequest::Get, RecordRequest::Set, RecordRequest::SetAndWait]
            .into_iter()
            .find(|request| *request as u8 == bytes[0])?;
        let (pid, rest) = bytes[4..].split_first_chunk()?;
        let (start, rest) = rest.split_first_chunk()?;
        Some(RecordLock {
            request,
            kind: LockKind::from_number(bytes[1])?,
            pid: u32::from_le_bytes(*pid),
            start: u64::from_le_bytes(*start),
            length: u64::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_as_they_were() {
        let whole = WholeLock { kind: LockKind::Exclusive, waits: true };
        assert_eq!(WholeLock::decode(&whole.encode()), Some(whole));
        let record = RecordLock {
            request: RecordRequest::SetAndWait,
            kind: LockKind::Shared,
            pid: 7,
            start: 1 << 40,
            length: 3,
        };
        assert_eq!(RecordLock::decode(&record.encode()), Some(record));
        for bytes in [&[][..], &[3, 0], &[0, 2], &[0; 3]] {
            assert_eq!(WholeLock::decode(bytes), None);
        }
        for (at, value) in [(0, 3), (1, 3)] {
            let mut bytes = record.encode();
            bytes[at] = value;
            assert_eq!(RecordLock::decode(&bytes), None);
        }
        assert_eq!(RecordLock::decode(&[0; 23]), None);
    }
}
