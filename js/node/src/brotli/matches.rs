//! Finds repetitions in a window, by chains of places that have the same hash of four bytes. A
//! repetition is not used if a longer one begins at the next byte.

/// A number of literals, followed by a copy of earlier bytes. The last copy of a block may be
/// empty.
#[derive(Clone, Copy, Debug)]
pub struct CopyCommand {
    /// The number of literals.
    pub insert: usize,
    /// The number of bytes to copy.
    pub copy: usize,
    /// The number of bytes between the copy and its source.
    pub distance: usize,
}

/// The length of the shortest copy that is worth its cost.
const SHORTEST: usize = 4;
/// The length of the longest repetition that is searched for.
const LONGEST: usize = 1 << 14;
/// The length from which a copy is used without looking for a longer one.
const ENOUGH: usize = 128;
/// The binary logarithm of the number of hashes.
const HEADS: u32 = 15;
/// The binary logarithm of the number of places that the chains hold.
const CHAIN: u32 = 18;
/// The position from which all places are forgotten, because positions are numbers of 32 bits.
const LAST: usize = u32::MAX as usize / 2;

/// The part of a stream's text that is still needed: the window, and after it the pending bytes.
pub struct MatchFinder {
    text: Vec<u8>,
    /// The index at which the pending part begins.
    begin: usize,
    /// The position in the stream of the first byte that is kept, counted from 1. Position 0 means
    /// that there is no place.
    base: usize,
    /// For each hash, the position of the last place that has it.
    heads: Vec<u32>,
    /// For each place, the position of the place before it with the same hash.
    chain: Vec<u32>,
    /// The maximum number of places that a search visits.
    depth: usize,
    /// The largest distance of a copy.
    window: usize,
}

impl MatchFinder {
    /// Creates a finder; `window` is the largest distance.
    pub fn new(quality: u32, window: usize) -> MatchFinder {
        let depth = match quality {
            0..=1 => 2,
            2..=4 => 12,
            5..=9 => 48,
            _ => 200,
        };
        MatchFinder {
            text: Vec::new(),
            begin: 0,
            base: 1,
            heads: vec![0; 1 << HEADS],
            chain: vec![0; 1 << CHAIN],
            depth,
            window: window.min(1 << CHAIN),
        }
    }

    pub fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// Returns the number of pending bytes: those that were pushed but not marked as written.
    pub fn pending_len(&self) -> usize {
        self.text.len() - self.begin
    }

    /// Returns the pending bytes.
    pub fn pending_text(&self) -> &[u8] {
        &self.text[self.begin..]
    }

    /// Marks the pending bytes as written, and forgets text that the window no longer reaches.
    pub fn mark_written(&mut self) {
        self.begin = self.text.len();
        if self.begin > 2 * self.window {
            let gone = self.begin - self.window;
            self.text.drain(..gone);
            self.begin -= gone;
            self.base += gone;
        }
        if self.base > LAST {
            self.heads.fill(0);
            self.chain.fill(0);
            self.base = 1;
        }
    }

    /// Splits the pending bytes into commands.
    pub fn find_commands(&mut self) -> Vec<CopyCommand> {
        let mut out = Vec::new();
        let (mut at, mut literals) = (self.begin, self.begin);
        let mut found = None;
        while at < self.text.len() {
            let here = found.take().unwrap_or_else(|| self.longest(at));
            let Some((copy, distance)) = here else {
                self.enter_place(at);
                at += 1;
                continue;
            };
            self.enter_place(at);
            // The next byte may begin a longer repetition.
            let mut entered = at + 1;
            if copy < ENOUGH {
                let next = self.longest(at + 1);
                if next.is_some_and(|(n, _)| n > copy) {
                    at += 1;
                    found = Some(next);
                    continue;
                }
            }
            out.push(CopyCommand { insert: at - literals, copy, distance });
            at += copy;
            while entered < at {
                self.enter_place(entered);
                entered += 1;
            }
            literals = at;
        }
        if literals < at {
            out.push(CopyCommand { insert: at - literals, copy: 0, distance: 0 });
        }
        out
    }

    fn hash(&self, at: usize) -> Option<usize> {
        let four = self.text.get(at..at + SHORTEST)?;
        let word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Some((word.wrapping_mul(0x9e37_79b1) >> (32 - HEADS)) as usize)
    }

    /// Lets later places find this one.
    fn enter_place(&mut self, at: usize) {
        let Some(hash) = self.hash(at) else { return };
        let position = self.base + at;
        self.chain[position & ((1 << CHAIN) - 1)] = self.heads[hash];
        self.heads[hash] = position as u32;
    }

    /// Returns the length and distance of the longest repetition at a place.
    fn longest(&self, at: usize) -> Option<(usize, usize)> {
        let hash = self.hash(at)?;
        let position = self.base + at;
        let most = (self.text.len() - at).min(LONGEST);
        let (mut best, mut place) = (SHORTEST - 1, self.heads[hash] as usize);
        let mut distance = 0;
        for _ in 0..self.depth {
            // The entry of the chain was overwritten, or its text is no longer kept.
            if place < self.base || place >= position || position - place > self.window {
                break;
            }
            let from = place - self.base;
            if best < most && self.text[from + best] == self.text[at + best] {
                let same =
                    (0..most).take_while(|n| self.text[from + n] == self.text[at + n]).count();
                if same > best {
                    (best, distance) = (same, position - place);
                    if best >= ENOUGH {
                        break;
                    }
                }
            }
            let older = self.chain[place & ((1 << CHAIN) - 1)] as usize;
            if older >= place {
                break;
            }
            place = older;
        }
        // A short copy from far back costs more than its literals.
        let is_worth = best >= SHORTEST && (best > SHORTEST || distance < 1 << 12);
        is_worth.then_some((best, distance))
    }
}
