//! The syntax tree as a program of steps.

use std::collections::{HashMap, HashSet};

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class, HirKind};

/// The maximum number of steps of a program.
const MOST_STEPS: usize = 200_000;

/// One step; numbers named `to` or `other` are places in the program.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Char {
        c: char,
        casei: bool,
    },
    Set(usize),
    Any {
        newline: bool,
    },
    /// A run, as long as possible, of characters that one step matches; it is never shortened by
    /// backtracking.
    Run {
        one: Box<Step>,
        least: usize,
        most: usize,
    },
    Newline,
    /// Continues, and tries `other` if that fails.
    Split {
        other: usize,
    },
    Jump {
        to: usize,
    },
    /// Stores the position.
    Save(usize),
    /// Returns to a stored position.
    Restore(usize),
    /// Stores the height of the stack of alternatives, for `Cut`.
    Mark(usize),
    /// Drops the alternatives since `Mark`.
    Cut(usize),
    /// Jumps to `to` if nothing was matched since the position was stored.
    LeaveIfEmpty {
        slot: usize,
        to: usize,
    },
    /// Moves back by this number of characters.
    Back(usize),
    Assert(Assertion),
    SearchStart,
    Call {
        group: usize,
    },
    Return,
    Repeated {
        group: usize,
        casei: bool,
    },
    /// Jumps to `other` unless the group has matched.
    IfGroup {
        group: usize,
        other: usize,
    },
    Fail,
    Match,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct PatternProgram {
    pub steps: Vec<Step>,
    /// Ranges of characters, sorted.
    pub sets: Vec<Vec<(char, char)>>,
    /// The index at which the steps of a called group begin.
    pub entries: HashMap<usize, usize>,
    /// The number of stored positions and heights; those of group `n` are 2n and 2n + 1.
    pub slots: usize,
}

/// Compiles a tree; the error is the text to report.
pub(super) fn compile_program(tree: &Expr) -> Result<PatternProgram, String> {
    let (mut groups, mut wanted) = (Vec::new(), HashSet::new());
    collect_groups(tree, &mut groups, &mut wanted);
    let numbers = groups.iter().enumerate().map(|(i, g)| (std::ptr::from_ref(*g), i + 1));
    let slots = 2 * (groups.len() + 1);
    let program =
        PatternProgram { steps: Vec::new(), sets: Vec::new(), entries: HashMap::new(), slots };
    let mut compiler = ProgramCompiler { numbers: numbers.collect(), wanted, program };
    compiler.emit_tree(tree)?;
    compiler.push(Step::Match)?;
    // A group that is called gets a second copy of its steps, because these end with a return.
    while let Some(group) = compiler.next_missing() {
        let body = match group.checked_sub(1) {
            None => tree,
            Some(at) => groups.get(at).ok_or("reference to non-existent subpattern")?,
        };
        compiler.program.entries.insert(group, compiler.program.steps.len());
        compiler.emit_tree(body)?;
        compiler.push(Step::Return)?;
    }
    Ok(compiler.program)
}

/// Collects the groups in the order of their numbers, and the numbers of those that something
/// refers to.
fn collect_groups<'t>(tree: &'t Expr, groups: &mut Vec<&'t Expr>, wanted: &mut HashSet<usize>) {
    match tree {
        Expr::Group(_) => groups.push(tree),
        Expr::Backref { group, .. } | Expr::BackrefExistsCondition { group, .. } => {
            wanted.insert(*group);
        }
        _ => {}
    }
    tree.children_iter().for_each(|child| collect_groups(child, groups, wanted));
}

struct ProgramCompiler {
    /// The number of each group.
    numbers: HashMap<*const Expr, usize>,
    /// The groups whose matched text is used.
    wanted: HashSet<usize>,
    program: PatternProgram,
}

impl ProgramCompiler {
    fn push(&mut self, step: Step) -> Result<usize, String> {
        if self.program.steps.len() >= MOST_STEPS {
            return Err("regular expression is too large".to_string());
        }
        self.program.steps.push(step);
        Ok(self.program.steps.len() - 1)
    }

    fn here(&self) -> usize {
        self.program.steps.len()
    }

    fn new_slot(&mut self) -> usize {
        self.program.slots += 1;
        self.program.slots - 1
    }

    /// Returns a group that is called and has no steps yet.
    fn next_missing(&self) -> Option<usize> {
        let called = self.program.steps.iter().filter_map(|s| match s {
            Step::Call { group } => Some(*group),
            _ => None,
        });
        called.into_iter().find(|g| !self.program.entries.contains_key(g))
    }

    fn emit_tree(&mut self, tree: &Expr) -> Result<(), String> {
        match tree {
            Expr::Empty | Expr::DefineGroup { .. } => {}
            Expr::Literal { val, casei } => {
                for c in val.chars() {
                    self.push(Step::Char { c, casei: *casei })?;
                }
            }
            Expr::Any { .. } | Expr::Delegate { .. } => {
                let step = self.one_character(tree)?.ok_or("unsupported character class")?;
                self.push(step)?;
            }
            Expr::Concat(parts) => parts.iter().try_for_each(|p| self.emit_tree(p))?,
            Expr::Alt(branches) => self.emit_branches(branches)?,
            Expr::Group(inner) => {
                self.emit_group(tree, inner)?;
            }
            Expr::Repeat { child, lo, hi, greedy } => self.emit_repeat(child, *lo, *hi, *greedy)?,
            Expr::AtomicGroup(inner) => self.emit_atomic(inner)?,
            Expr::LookAround(inner, kind) => self.emit_look(inner, *kind)?,
            Expr::Conditional { condition, true_branch, false_branch } => {
                self.emit_condition(condition, true_branch, false_branch)?;
            }
            other => {
                let step = simple_step(other)?;
                self.push(step)?;
            }
        }
        Ok(())
    }

    /// Emits a group. Its beginning is stored only at its end, because while a group is being
    /// matched, its previous match still counts.
    fn emit_group(&mut self, tree: &Expr, inner: &Expr) -> Result<(), String> {
        let number = self.numbers.get(&std::ptr::from_ref(tree)).copied().unwrap_or(0);
        if !self.wanted.contains(&number) {
            return self.emit_tree(inner);
        }
        let begin = self.new_slot();
        self.push(Step::Save(begin))?;
        self.emit_tree(inner)?;
        self.push(Step::Save(2 * number + 1))?;
        self.push(Step::Restore(begin))?;
        self.push(Step::Save(2 * number))?;
        self.push(Step::Restore(2 * number + 1))?;
        Ok(())
    }

    fn emit_branches(&mut self, branches: &[Expr]) -> Result<(), String> {
        let mut jumps = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            if i + 1 == branches.len() {
                self.emit_tree(branch)?;
                break;
            }
            let split = self.push(Step::Split { other: 0 })?;
            self.emit_tree(branch)?;
            jumps.push(self.push(Step::Jump { to: 0 })?);
            self.program.steps[split] = Step::Split { other: self.here() };
        }
        let to = self.here();
        jumps.into_iter().for_each(|j| self.program.steps[j] = Step::Jump { to });
        Ok(())
    }

    fn emit_repeat(
        &mut self,
        child: &Expr,
        lo: usize,
        hi: usize,
        greedy: bool,
    ) -> Result<(), String> {
        for _ in 0..lo {
            self.emit_tree(child)?;
        }
        if hi == usize::MAX {
            let slot = self.new_slot();
            let top = self.emit_choice(greedy)?;
            self.push(Step::Save(slot))?;
            self.emit_tree(child)?;
            let leave = self.push(Step::Fail)?;
            self.push(Step::Jump { to: top.0 })?;
            let to = self.here();
            self.program.steps[leave] = Step::LeaveIfEmpty { slot, to };
            self.close_choice(top, to);
            return Ok(());
        }
        let mut choices = Vec::new();
        for _ in lo..hi {
            choices.push(self.emit_choice(greedy)?);
            self.emit_tree(child)?;
        }
        let to = self.here();
        choices.into_iter().for_each(|c| self.close_choice(c, to));
        Ok(())
    }

    /// Emits the choice between continuing and leaving a repetition; returns the place of the
    /// choice, and that of the step that leaves.
    fn emit_choice(&mut self, greedy: bool) -> Result<(usize, usize), String> {
        let first = self.push(Step::Split { other: 0 })?;
        if greedy {
            return Ok((first, first));
        }
        let leave = self.push(Step::Jump { to: 0 })?;
        self.program.steps[first] = Step::Split { other: self.here() };
        Ok((first, leave))
    }

    fn close_choice(&mut self, (_, leave): (usize, usize), to: usize) {
        self.program.steps[leave] = match self.program.steps[leave] {
            Step::Split { .. } => Step::Split { other: to },
            _ => Step::Jump { to },
        };
    }

    fn emit_atomic(&mut self, inner: &Expr) -> Result<(), String> {
        if let Expr::Repeat { child, lo, hi, greedy: true } = inner
            && let Some(one) = self.one_character(child)?
        {
            self.push(Step::Run { one: Box::new(one), least: *lo, most: *hi })?;
            return Ok(());
        }
        let slot = self.new_slot();
        self.push(Step::Mark(slot))?;
        self.emit_tree(inner)?;
        self.push(Step::Cut(slot))?;
        Ok(())
    }

    fn emit_look(&mut self, inner: &Expr, kind: LookAround) -> Result<(), String> {
        let (mark, place) = (self.new_slot(), self.new_slot());
        self.push(Step::Mark(mark))?;
        self.push(Step::Save(place))?;
        let is_negative = matches!(kind, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        let split = if is_negative { Some(self.push(Step::Split { other: 0 })?) } else { None };
        match kind {
            LookAround::LookAhead | LookAround::LookAheadNeg => self.emit_tree(inner)?,
            LookAround::LookBehind | LookAround::LookBehindNeg => self.emit_behind(inner)?,
        }
        self.push(Step::Cut(mark))?;
        match split {
            None => {
                self.push(Step::Restore(place))?;
            }
            Some(split) => {
                self.push(Step::Fail)?;
                self.program.steps[split] = Step::Split { other: self.here() };
            }
        }
        Ok(())
    }

    /// Emits the content of a look-behind, each of whose branches has a fixed length.
    fn emit_behind(&mut self, inner: &Expr) -> Result<(), String> {
        let branches = match inner {
            Expr::Alt(branches) => branches.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut jumps = Vec::new();
        for branch in branches {
            let length = fixed_length(branch).ok_or("lookbehind assertion is not fixed length")?;
            let split = self.push(Step::Split { other: 0 })?;
            self.push(Step::Back(length))?;
            self.emit_tree(branch)?;
            jumps.push(self.push(Step::Jump { to: 0 })?);
            self.program.steps[split] = Step::Split { other: self.here() };
        }
        self.push(Step::Fail)?;
        let to = self.here();
        jumps.into_iter().for_each(|j| self.program.steps[j] = Step::Jump { to });
        Ok(())
    }

    fn emit_condition(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> Result<(), String> {
        if let Expr::BackrefExistsCondition { group, relative_recursion_level: None } = test {
            let step = self.push(Step::Fail)?;
            self.emit_tree(yes)?;
            let jump = self.push(Step::Jump { to: 0 })?;
            self.program.steps[step] = Step::IfGroup { group: *group, other: self.here() };
            self.emit_tree(no)?;
            self.program.steps[jump] = Step::Jump { to: self.here() };
            return Ok(());
        }
        let mark = self.new_slot();
        self.push(Step::Mark(mark))?;
        let split = self.push(Step::Split { other: 0 })?;
        self.emit_tree(test)?;
        self.push(Step::Cut(mark))?;
        self.emit_tree(yes)?;
        let jump = self.push(Step::Jump { to: 0 })?;
        self.program.steps[split] = Step::Split { other: self.here() };
        self.emit_tree(no)?;
        self.program.steps[jump] = Step::Jump { to: self.here() };
        Ok(())
    }

    /// Returns the step for a tree that matches exactly one character; `None` for any other.
    fn one_character(&mut self, tree: &Expr) -> Result<Option<Step>, String> {
        Ok(match tree {
            Expr::Any { newline, .. } => Some(Step::Any { newline: *newline }),
            Expr::Literal { val, casei } => {
                let mut chars = val.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Some(Step::Char { c, casei: *casei }),
                    _ => None,
                }
            }
            Expr::Delegate { inner, casei } => {
                self.program.sets.push(parse_set(inner, *casei)?);
                Some(Step::Set(self.program.sets.len() - 1))
            }
            _ => None,
        })
    }
}

/// Returns the step for a tree that needs only one, or an error if this machine does not support
/// it.
fn simple_step(tree: &Expr) -> Result<Step, String> {
    Ok(match tree {
        Expr::Assertion(assertion) => Step::Assert(*assertion),
        Expr::GeneralNewline { .. } => Step::Newline,
        Expr::Backref { group, casei } => Step::Repeated { group: *group, casei: *casei },
        Expr::KeepOut => Step::Save(0),
        Expr::ContinueFromPreviousMatchEnd => Step::SearchStart,
        Expr::SubroutineCall(group) => Step::Call { group: *group },
        _ => return Err("this feature is not supported beside subroutine calls".to_string()),
    })
}

/// Returns the characters of a class, as ranges.
fn parse_set(class: &str, casei: bool) -> Result<Vec<(char, char)>, String> {
    let mut parser = regex_syntax::ParserBuilder::new().case_insensitive(casei).build();
    let hir = parser.parse(class).map_err(|e| e.to_string())?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(set)) => {
            Ok(set.iter().map(|r| (r.start(), r.end())).collect())
        }
        HirKind::Class(Class::Bytes(set)) => {
            Ok(set.iter().map(|r| (char::from(r.start()), char::from(r.end()))).collect())
        }
        HirKind::Literal(text) => {
            let text = std::str::from_utf8(&text.0).map_err(|e| e.to_string())?;
            Ok(text.chars().map(|c| (c, c)).collect())
        }
        _ => Err("unsupported character class".to_string()),
    }
}

/// Returns the number of characters that a tree matches, if it is always the same.
fn fixed_length(tree: &Expr) -> Option<usize> {
    match tree {
        Expr::Empty
        | Expr::DefineGroup { .. }
        | Expr::Assertion(_)
        | Expr::LookAround(..)
        | Expr::KeepOut => Some(0),
        Expr::Any { .. } | Expr::Delegate { .. } => Some(1),
        Expr::Literal { val, .. } => Some(val.chars().count()),
        Expr::Concat(parts) => parts.iter().map(fixed_length).sum(),
        Expr::Alt(branches) => {
            let mut lengths = branches.iter().map(fixed_length);
            let first = lengths.next()??;
            lengths.all(|l| l == Some(first)).then_some(first)
        }
        Expr::Group(inner) => fixed_length(inner),
        Expr::AtomicGroup(inner) => fixed_length(inner),
        Expr::Repeat { child, lo, hi, .. } if lo == hi => fixed_length(child)?.checked_mul(*lo),
        _ => None,
    }
}
