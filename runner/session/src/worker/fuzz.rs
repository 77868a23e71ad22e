//! A fuzzer that speaks as a worker (`cargo xtask fuzz worker`): random messages, and valid ones
//! with random bytes changed, are decoded, counted and kept as the parent does it.
//!
//! Each message must cost time and memory in proportion to its bytes. As a test the fuzzer runs for
//! a second.

use super::bounds::{ReportBounds, check_outcome, cut_text};
use super::message::WorkerReply;
use crate::kept::{CallNote, StateLocation};
use crate::local::{CallResult, CellTail, CellUpdate};
use serde_bytes::ByteBuf;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use wasibox_protocol::{FileChange, FileChangeKind, Outcome};
use wasibox_sandbox::Limits;
use wasibox_store::Store;
use wasibox_store::snapshot::Digest;
use wasibox_vfs::delta::{Delta, FileTotals, Id, Layer, NodeChange, NodeContent, TreeNode};
use wasibox_worker::channel::{Channel, MAX_MESSAGE};

/// The variable that says how many seconds to run, and the one that repeats a run.
const SECONDS: &str = "WASIBOX_FUZZ_SECONDS";
const SEED: &str = "WASIBOX_FUZZ_SEED";
/// The longest time for the messages of one call, of at most 4 MiB each.
const SLOWEST: Duration = Duration::from_secs(10);
/// Maximum number of items in the lists of a message.
const ITEMS: u64 = 20_000;

/// A xorshift generator (Marsaglia 2003), and the items that the present message may still have.
struct Random(u64, u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns a length: mostly short, sometimes long.
    fn length(&mut self) -> usize {
        let most = [1, 4, 30, 3000][self.below(4) as usize];
        let length = self.below(most).min(self.1);
        self.1 -= length;
        length as usize
    }

    fn bytes(&mut self) -> ByteBuf {
        let n = self.length();
        (0..n).map(|_| self.next() as u8).collect::<Vec<u8>>().into()
    }

    fn text(&mut self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    fn id(&mut self) -> Id {
        if self.below(4) == 0 {
            Id::Given((0..self.below(4)).map(|_| self.bytes()).collect())
        } else {
            Id::Made(self.below(50))
        }
    }

    fn content(&mut self) -> NodeContent {
        match self.below(5) {
            0 => NodeContent::Dir {
                parent: self.id(),
                put: (0..self.length()).map(|_| (self.bytes(), self.id())).collect(),
                gone: (0..self.length()).map(|_| self.bytes()).collect(),
                hidden: (0..self.length()).map(|_| self.bytes()).collect(),
            },
            1 => NodeContent::File {
                len: self.next(),
                base: (self.below(2) == 0).then(|| self.next()),
                program: (self.below(2) == 0).then(|| self.next() as u32),
                put: (0..self.length()).map(|_| (self.below(100), self.bytes())).collect(),
                gone: (0..self.length()).map(|_| self.below(100)).collect(),
            },
            2 => NodeContent::Symlink(self.bytes()),
            3 => NodeContent::Fifo,
            _ => NodeContent::Same,
        }
    }

    fn change(&mut self) -> NodeChange {
        match self.below(4) {
            0 => NodeChange::Gone,
            1 => NodeChange::Given,
            _ => NodeChange::Is(TreeNode {
                mode: self.next() as u16,
                nlink: self.next() as u32,
                atime: self.next(),
                mtime: self.next(),
                ctime: self.next(),
                what: self.content(),
            }),
        }
    }

    fn delta(&mut self) -> Delta {
        let totals = FileTotals { made: self.next(), bytes: self.next(), entries: self.next() };
        Delta { totals, nodes: (0..self.length()).map(|_| (self.id(), self.change())).collect() }
    }

    fn outcome(&mut self) -> Outcome {
        let file = |random: &mut Random| FileChange {
            path: random.text(),
            change: FileChangeKind::Created,
            size: random.next(),
            mime_type: Some(random.text()),
            sha256: None,
        };
        let files = (0..self.length()).map(|_| file(self)).collect();
        let ended = (0..self.below(30)).map(|_| self.text()).collect();
        Outcome { files, ended, value: Some(self.text()), ..Outcome::default() }
    }

    fn reply(&mut self) -> WorkerReply {
        match self.below(10) {
            0 => WorkerReply::Progress(self.text()),
            1 => WorkerReply::Output { error: self.below(2) == 0, bytes: self.bytes() },
            2 => WorkerReply::Shell(self.bytes()),
            3 => WorkerReply::Layer(self.bytes()),
            4 => WorkerReply::Cell(CellTail {
                name: self.text(),
                module: [0; 32],
                keep: self.below(3) as usize,
                rest: self.bytes(),
            }),
            5 => WorkerReply::Done(Box::new(self.outcome())),
            _ => WorkerReply::Changed(self.delta()),
        }
    }

    /// Returns a message: whole, or with some bytes changed.
    fn message(&mut self) -> Vec<u8> {
        self.1 = ITEMS;
        let mut bytes = postcard::to_stdvec(&self.reply()).expect("a message");
        if self.below(2) == 0 && !bytes.is_empty() {
            for _ in 0..=self.below(4) {
                let at = self.below(bytes.len() as u64) as usize;
                match self.below(3) {
                    0 => bytes[at] = self.next() as u8,
                    1 => bytes[at] = 0xff,
                    _ => bytes.truncate(at.max(1)),
                }
            }
        }
        bytes.truncate(MAX_MESSAGE);
        bytes
    }
}

/// Sends a call's messages over a socket, and keeps them as the parent does. Returns the number of
/// accepted messages.
fn keep_messages(state: &mut StateLocation, messages: Vec<Vec<u8>>) -> usize {
    let (mut ours, theirs) = Channel::pair().expect("a pair");
    let sender = std::thread::spawn(move || {
        for bytes in messages {
            let mut whole = (bytes.len() as u32).to_le_bytes().to_vec();
            whole.push(0);
            whole.extend(bytes);
            let mut rest = &whole[..];
            while !rest.is_empty() {
                match rustix::io::write(theirs.as_fd(), rest) {
                    Ok(n) => rest = &rest[n..],
                    Err(_) => return,
                }
            }
        }
    });
    let limits = Limits::default();
    let (mut bounds, mut layer) = (ReportBounds::new(&limits), Layer::default());
    let mut called = CallResult { is_gone: false, ..CallResult::lost(Ok(Outcome::default())) };
    let mut accepted = 0;
    while let Ok(Some((reply, _))) = ours.receive::<WorkerReply>(None) {
        accepted += 1;
        let is_fine = match reply {
            WorkerReply::Changed(delta) => {
                let fits = bounds.add_delta(&delta);
                if fits.is_ok() {
                    layer.add_delta(delta.clone(), u64::MAX);
                    called.changed.push(delta);
                }
                fits
            }
            WorkerReply::Shell(shell) => {
                called.shell = Some(shell.into_vec().into());
                Ok(())
            }
            WorkerReply::Layer(bytes) => bounds.add_bytes(bytes.len(), 0),
            WorkerReply::Cell(tail) => {
                called.cell = Some(CellUpdate { tail, layer: Vec::new() });
                Ok(())
            }
            WorkerReply::Done(outcome) => {
                let fits = check_outcome(&outcome);
                if fits.is_ok() {
                    called.result = Ok(*outcome);
                }
                fits
            }
            WorkerReply::Progress(line) => {
                assert!(cut_text(line).len() <= 16 << 10);
                Ok(())
            }
            _ => Ok(()),
        };
        if is_fine.is_err() {
            break;
        }
    }
    drop(ours);
    sender.join().expect("the sender");
    let note = CallNote::from_command(b"fuzz".to_vec());
    // The call may also be refused, which leaves the session as it was.
    let _ = state.keep_call(called, note, &limits);
    accepted
}

fn memory_state() -> StateLocation {
    let store = Store::in_memory().expect("a store");
    let session = store.create("fuzz", None).expect("a session");
    StateLocation::from_store(session, Digest([0; 32]), None, None)
}

#[test]
fn messages_cost_what_they_weigh() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seconds = number(SECONDS).unwrap_or(1);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let first = number(SEED).unwrap_or_else(|| clock.map_or(1, |d| d.as_nanos() as u64));
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut calls, mut accepted) = (0, 0);
    let mut state = memory_state();
    while Instant::now() < end {
        let seed = first.wrapping_add(calls);
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, ITEMS);
        let messages = (0..=random.below(6)).map(|_| random.message()).collect();
        let begun = Instant::now();
        accepted += keep_messages(&mut state, messages);
        assert!(begun.elapsed() < SLOWEST, "{SEED}={seed}: {:?}", begun.elapsed());
        calls += 1;
        if calls % 1000 == 0 {
            state = memory_state();
        }
    }
    println!("{calls} calls, {accepted} messages accepted");
    assert!(accepted > 0);
}

/// A message of 3 MB that once stopped all sessions: it removes a node with many parts again and
/// again.
#[test]
fn a_node_that_is_removed_again_and_again_costs_no_time() {
    let what = NodeContent::File {
        len: 0,
        base: None,
        program: None,
        put: (0..30_000).map(|n| (n, ByteBuf::new())).collect(),
        gone: Vec::new(),
    };
    let node = TreeNode { mode: 0o644, nlink: 1, atime: 0, mtime: 0, ctime: 0, what };
    let one = Delta { nodes: vec![(Id::Made(0), NodeChange::Is(node))], ..Delta::default() };
    let many = Delta { nodes: vec![(Id::Made(0), NodeChange::Gone); 900_000], ..Delta::default() };
    let messages = [one, many]
        .map(|delta| postcard::to_stdvec(&WorkerReply::Changed(delta)).expect("a message"));
    assert!(messages[1].len() < MAX_MESSAGE);
    let begun = Instant::now();
    keep_messages(&mut memory_state(), messages.into());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
