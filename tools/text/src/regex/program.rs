//! Compiles nodes to instructions, for the matcher of groups and back-references.

use super::ast::{Look, RegexNode};
use super::class::{CharSet, decode_char};
use super::error::RegexError;

/// The maximum number of instructions of a program.
const MAX_INSTS: usize = 1 << 20;

/// The index of an instruction.
pub(super) type Pc = u32;

#[derive(Clone, Debug)]
pub(super) enum Inst {
    Byte(u8),
    /// A character of a set, by its index in [`RegexProgram::sets`].
    Set(u32),
    Look(Look),
    /// Stores the position in a slot (2n: start of group n, 2n+1: its end).
    Save(u32),
    /// Continues at the first instruction, and if that fails, at the second. The third number
    /// identifies the split in the table of visited states.
    Split(Pc, Pc, u32),
    /// `x*` for one character: matches as many characters of a set as possible, then fewer. `enter`
    /// and `leave` number the two ways, into the loop and out of it, in the table of visited
    /// states; the byte, if known, must follow.
    Star {
        set: u32,
        enter: u32,
        leave: u32,
        next: Option<u8>,
    },
    Jump(Pc),
    Backref(u32),
    Match,
}

/// A set prepared for lookups.
#[derive(Clone, Debug)]
pub(super) struct SetLookup {
    ascii: u128,
    ranges: Vec<(u32, u32)>,
}

impl SetLookup {
    fn new(set: &CharSet) -> SetLookup {
        let ranges = set.ranges();
        let ascii = (0..128u32)
            .filter(|c| ranges.iter().any(|(a, b)| a <= c && c <= b))
            .fold(0u128, |bits, c| bits | 1 << c);
        SetLookup { ascii, ranges }
    }

    /// Returns the end of the run of members from `at` on.
    pub(super) fn run(&self, text: &[u8], mut at: usize, utf8: bool) -> usize {
        while let Some(&byte) = text.get(at) {
            if byte < 128 {
                if self.ascii >> byte & 1 == 0 {
                    break;
                }
                at += 1;
                continue;
            }
            let (code, width) = match decode_char(&text[at..]) {
                Some(found) if utf8 => found,
                None if utf8 => break,
                _ => (u32::from(byte), 1),
            };
            if !self.contains(code) {
                break;
            }
            at += width;
        }
        at
    }

    /// Returns whether the set has this code point (or byte).
    pub(super) fn contains(&self, code: u32) -> bool {
        if code < 128 {
            return self.ascii >> code & 1 != 0;
        }
        let at = self.ranges.partition_point(|r| r.1 < code);
        self.ranges.get(at).is_some_and(|r| r.0 <= code)
    }
}

#[derive(Clone, Debug)]
pub(super) struct RegexProgram {
    pub insts: Vec<Inst>,
    pub sets: Vec<SetLookup>,
    pub splits: u32,
    /// The groups to which back-references refer, sorted.
    pub referenced: Vec<u32>,
    stars: bool,
}

impl RegexProgram {
    /// Compiles a pattern. With back-references, the state of a search is more than a position, so
    /// there are no star instructions.
    pub(super) fn new(node: &RegexNode) -> Result<RegexProgram, RegexError> {
        let mut p = RegexProgram {
            insts: Vec::new(),
            sets: Vec::new(),
            splits: 0,
            referenced: Vec::new(),
            stars: !node.has_backref(),
        };
        p.compile_node(node)?;
        p.push(Inst::Match)?;
        p.look_ahead();
        p.referenced.sort_unstable();
        p.referenced.dedup();
        Ok(p)
    }

    fn next_pc(&self) -> Pc {
        self.insts.len() as Pc
    }

    fn push(&mut self, inst: Inst) -> Result<usize, RegexError> {
        if self.insts.len() >= MAX_INSTS {
            return Err(RegexError::TooBig);
        }
        self.insts.push(inst);
        Ok(self.insts.len() - 1)
    }

    fn push_split(&mut self) -> Result<usize, RegexError> {
        self.splits += 1;
        self.push(Inst::Split(0, 0, self.splits - 1))
    }

    /// Fills in the bytes that must follow stars.
    fn look_ahead(&mut self) {
        for at in 0..self.insts.len() {
            let mut follower = at + 1;
            while let Some(Inst::Save(_)) = self.insts.get(follower) {
                follower += 1;
            }
            let byte = match self.insts.get(follower) {
                Some(Inst::Byte(b)) => Some(*b),
                _ => None,
            };
            if let Inst::Star { next, .. } = &mut self.insts[at] {
                *next = byte;
            }
        }
    }

    fn set(&mut self, set: &CharSet) -> u32 {
        self.sets.push(SetLookup::new(set));
        self.sets.len() as u32 - 1
    }

    /// Returns the set that a node of exactly one character is.
    fn single_set(&mut self, node: &RegexNode) -> Option<u32> {
        match node {
            RegexNode::Class(set) => Some(self.set(set)),
            RegexNode::Char(bytes) => match bytes.as_slice() {
                [b] if b.is_ascii() => {
                    let mut set = CharSet::empty(true);
                    set.push(u32::from(*b), u32::from(*b));
                    Some(self.set(&set))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn aim_split(&mut self, at: usize, first: Pc, second: Pc) {
        if let Some(Inst::Split(a, b, _)) = self.insts.get_mut(at) {
            (*a, *b) = (first, second);
        }
    }

    fn compile_node(&mut self, node: &RegexNode) -> Result<(), RegexError> {
        match node {
            RegexNode::Empty => {}
            RegexNode::Char(bytes) => {
                for &b in bytes {
                    self.push(Inst::Byte(b))?;
                }
            }
            RegexNode::Class(set) => {
                let index = self.set(set);
                self.push(Inst::Set(index))?;
            }
            RegexNode::Look(look) => {
                self.push(Inst::Look(*look))?;
            }
            RegexNode::Group(n, inner) => {
                self.push(Inst::Save(2 * n))?;
                self.compile_node(inner)?;
                self.push(Inst::Save(2 * n + 1))?;
            }
            RegexNode::Backref(n) => {
                self.referenced.push(*n);
                self.push(Inst::Backref(*n))?;
            }
            RegexNode::Concat(all) => {
                for n in all {
                    self.compile_node(n)?;
                }
            }
            RegexNode::Alternate(all) => self.compile_alternate(all)?,
            RegexNode::Repeat { min, max, node } => self.compile_repeat(*min, *max, node)?,
        }
        Ok(())
    }

    fn compile_alternate(&mut self, all: &[RegexNode]) -> Result<(), RegexError> {
        let mut jumps = Vec::new();
        for (i, n) in all.iter().enumerate() {
            if i + 1 == all.len() {
                self.compile_node(n)?;
                break;
            }
            let split = self.push_split()?;
            let first = self.next_pc();
            self.compile_node(n)?;
            jumps.push(self.push(Inst::Jump(0))?);
            let second = self.next_pc();
            self.aim_split(split, first, second);
        }
        let end = self.next_pc();
        for at in jumps {
            self.insts[at] = Inst::Jump(end);
        }
        Ok(())
    }

    fn compile_repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        node: &RegexNode,
    ) -> Result<(), RegexError> {
        let Some(max) = max else {
            if self.stars
                && min <= 1
                && let Some(set) = self.single_set(node)
            {
                if min == 1 {
                    self.push(Inst::Set(set))?;
                }
                let enter = self.splits;
                self.splits += 2;
                self.push(Inst::Star { set, enter, leave: enter + 1, next: None })?;
                return Ok(());
            }
            if min == 0 && !node.nullable() {
                // L: split(body, out); body; jump L
                let split = self.push_split()?;
                let body = self.next_pc();
                self.compile_node(node)?;
                self.push(Inst::Jump(split as Pc))?;
                let out = self.next_pc();
                self.aim_split(split, body, out);
                return Ok(());
            }
            // A part that can be empty is entered once even for an empty match, so that its groups
            // are set. So x* becomes (x+)?.
            let skip = if min == 0 { Some(self.push_split()?) } else { None };
            for _ in 1..min {
                self.compile_node(node)?;
            }
            let body = self.next_pc();
            self.compile_node(node)?;
            let split = self.push_split()?;
            let out = self.next_pc();
            self.aim_split(split, body, out);
            if let Some(skip) = skip {
                self.aim_split(skip, skip as Pc + 1, out);
            }
            return Ok(());
        };
        for _ in 0..min {
            self.compile_node(node)?;
        }
        // x{0,2} becomes (x(x)?)?.
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push_split()?);
            self.compile_node(node)?;
        }
        let out = self.next_pc();
        for at in splits {
            self.aim_split(at, at as Pc + 1, out);
        }
        Ok(())
    }
}
