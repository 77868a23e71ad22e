//! The typed program to instructions.
//!
//! | file | contents |
//! |---|---|
//! | `compile/stmt` | statements: jumps of loops, conditions |
//! | `compile/expr` | expressions, assignments |
//! | `compile/call` | functions of the program and built-in ones |

mod call;
mod expr;
mod stmt;

use std::collections::HashMap;

use crate::ast::{AwkPattern, AwkProgram, AwkRule, AwkVar, SourceLine, Stmt};
use crate::code::{ArrayPlace, AwkCode, AwkOp, FunctionCode, Pc};
use crate::resolve::ArrayParams;
use crate::special::Special;
use crate::value::AwkValue;

/// Compiles a program.
pub fn compile_program(program: &AwkProgram) -> AwkCode {
    let mut c = AwkCompiler {
        code: AwkCode { globals: program.globals.clone(), ..AwkCode::default() },
        params: ArrayParams::from_program(program),
        patterns: HashMap::new(),
        consts: HashMap::new(),
        line: SourceLine::default(),
        loops: Vec::new(),
    };
    c.code.functions = program
        .functions
        .iter()
        .map(|f| FunctionCode {
            name: f.name.clone(),
            params: f.params as u32,
            entry: 0,
            missing: !f.defined,
        })
        .collect();
    c.code.begin = c.compile_blocks(&program.begin);
    c.code.rules = c.compile_rules(&program.rules);
    c.code.end = c.compile_blocks(&program.end);
    c.code.begin_file = c.compile_blocks(&program.begin_file);
    c.code.end_file = c.compile_blocks(&program.end_file);
    for (n, f) in program.functions.iter().enumerate() {
        c.code.functions[n].entry = c.next_pc();
        if !f.defined {
            c.emit_op(AwkOp::Missing(n as u32));
            continue;
        }
        c.compile_stmts(&f.body);
        c.emit_op(AwkOp::Uninit);
        c.emit_op(AwkOp::Return);
    }
    c.code
}

struct AwkCompiler {
    code: AwkCode,
    params: ArrayParams,
    patterns: HashMap<Vec<u8>, u32>,
    consts: HashMap<Vec<u8>, u32>,
    line: SourceLine,
    loops: Vec<LoopJumps>,
}

/// The jumps of a loop or `switch` whose targets are not known yet.
#[derive(Default)]
struct LoopJumps {
    breaks: Vec<usize>,
    continues: Vec<usize>,
    /// Whether this is a `switch`, to which `continue` does not apply.
    is_switch: bool,
}

impl AwkCompiler {
    fn next_pc(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    fn emit_op(&mut self, op: AwkOp) {
        self.code.ops.push(op);
        self.code.lines.push(self.line);
    }

    /// Emits a jump without a target and returns its place, for [`AwkCompiler::patch_jump`].
    fn emit_jump(&mut self, op: AwkOp) -> usize {
        self.emit_op(op);
        self.code.ops.len() - 1
    }

    /// Makes the next instruction the target of the jump at `at`.
    fn patch_jump(&mut self, at: usize) {
        let here = self.next_pc();
        self.patch_to(at, here);
    }

    fn patch_to(&mut self, at: usize, to: Pc) {
        match &mut self.code.ops[at] {
            AwkOp::Jump(pc)
            | AwkOp::JumpIf(pc)
            | AwkOp::JumpUnless(pc)
            | AwkOp::JumpUnlessCmp(_, pc)
            | AwkOp::ForNext(_, pc)
            | AwkOp::InRange(_, pc) => *pc = to,
            _ => {}
        }
    }

    fn pattern_index(&mut self, text: &[u8]) -> u32 {
        if let Some(n) = self.patterns.get(text) {
            return *n;
        }
        let n = self.code.patterns.len() as u32;
        self.code.patterns.push(text.to_vec());
        self.patterns.insert(text.to_vec(), n);
        n
    }

    fn emit_string(&mut self, text: &[u8]) {
        let n = match self.consts.get(text) {
            Some(n) => *n,
            None => {
                let n = self.constant_index(AwkValue::str(text));
                self.consts.insert(text.to_vec(), n);
                n
            }
        };
        self.emit_op(AwkOp::Const(n));
    }

    fn constant_index(&mut self, v: AwkValue) -> u32 {
        self.code.consts.push(v);
        self.code.consts.len() as u32 - 1
    }

    fn compile_blocks(&mut self, blocks: &[Vec<Stmt>]) -> Option<Pc> {
        if blocks.is_empty() {
            return None;
        }
        let entry = self.next_pc();
        blocks.iter().for_each(|b| self.compile_stmts(b));
        self.emit_op(AwkOp::Done);
        Some(entry)
    }

    fn compile_rules(&mut self, rules: &[AwkRule]) -> Option<Pc> {
        if rules.is_empty() {
            return None;
        }
        let entry = self.next_pc();
        for rule in rules {
            self.line = rule.line;
            let mut skip = Vec::new();
            match &rule.pattern {
                AwkPattern::Always => {}
                AwkPattern::When(e) => skip.extend(self.jump_unless(e)),
                AwkPattern::Range(from, to) => {
                    let n = self.code.ranges;
                    self.code.ranges += 1;
                    let inside = self.emit_jump(AwkOp::InRange(n, 0));
                    skip.extend(self.jump_unless(from));
                    self.emit_op(AwkOp::SetRange(n, true));
                    self.patch_jump(inside);
                    let body = self.jump_unless(to);
                    self.emit_op(AwkOp::SetRange(n, false));
                    body.into_iter().for_each(|j| self.patch_jump(j));
                }
            }
            match &rule.action {
                Some(body) => self.compile_stmts(body),
                None => self.emit_op(AwkOp::Print(0, None)),
            }
            skip.into_iter().for_each(|j| self.patch_jump(j));
        }
        self.emit_op(AwkOp::Done);
        Some(entry)
    }

    fn place_of_array(&self, v: AwkVar) -> ArrayPlace {
        match v {
            AwkVar::Global(n) => ArrayPlace::Global(n),
            AwkVar::Local(n) => ArrayPlace::Local(n),
        }
    }

    fn special_variable(&self, v: AwkVar) -> Option<Special> {
        match v {
            AwkVar::Global(n) => Special::from_index(n),
            AwkVar::Local(_) => None,
        }
    }
}
