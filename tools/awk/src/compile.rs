//! The typed program to instructions.
//!
//! | file | what |
//! |---|---|
//! | `compile/stmt` | statements: jumps of loops, conditions |
//! | `compile/expr` | expressions, assignments |
//! | `compile/call` | functions of the program and built-in ones |

mod call;
mod expr;
mod stmt;

use std::collections::HashMap;

use crate::ast::{Line, Pattern, Program, Rule, Stmt, Var};
use crate::code::{Code, FunctionCode, Op, Pc, Place};
use crate::resolve::Params;
use crate::special::Special;
use crate::value::Value;

/// Compiles a program.
pub fn compile(program: &Program) -> Code {
    let mut c = Compiler {
        code: Code { globals: program.globals.clone(), ..Code::default() },
        params: Params::of(program),
        patterns: HashMap::new(),
        consts: HashMap::new(),
        line: Line::default(),
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
    c.code.begin = c.blocks(&program.begin);
    c.code.rules = c.rules(&program.rules);
    c.code.end = c.blocks(&program.end);
    c.code.begin_file = c.blocks(&program.begin_file);
    c.code.end_file = c.blocks(&program.end_file);
    for (n, f) in program.functions.iter().enumerate() {
        c.code.functions[n].entry = c.here();
        if !f.defined {
            c.emit(Op::Missing(n as u32));
            continue;
        }
        c.stmts(&f.body);
        c.emit(Op::Uninit);
        c.emit(Op::Return);
    }
    c.code
}

struct Compiler {
    code: Code,
    params: Params,
    patterns: HashMap<Vec<u8>, u32>,
    consts: HashMap<Vec<u8>, u32>,
    line: Line,
    loops: Vec<Loop>,
}

/// Jumps of a loop or switch to be filled in.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
    /// `continue` passes a `switch` by.
    is_switch: bool,
}

impl Compiler {
    fn here(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
        self.code.lines.push(self.line);
    }

    /// Emits a jump that does not lead anywhere yet; where it is, for [`Compiler::patch`].
    fn jump(&mut self, op: Op) -> usize {
        self.emit(op);
        self.code.ops.len() - 1
    }

    /// Makes the jump at `at` lead here.
    fn patch(&mut self, at: usize) {
        let here = self.here();
        self.patch_to(at, here);
    }

    fn patch_to(&mut self, at: usize, to: Pc) {
        match &mut self.code.ops[at] {
            Op::Jump(pc)
            | Op::JumpIf(pc)
            | Op::JumpUnless(pc)
            | Op::JumpUnlessCmp(_, pc)
            | Op::ForNext(_, pc)
            | Op::InRange(_, pc) => *pc = to,
            _ => {}
        }
    }

    fn pattern(&mut self, text: &[u8]) -> u32 {
        if let Some(n) = self.patterns.get(text) {
            return *n;
        }
        let n = self.code.patterns.len() as u32;
        self.code.patterns.push(text.to_vec());
        self.patterns.insert(text.to_vec(), n);
        n
    }

    fn string(&mut self, text: &[u8]) {
        let n = match self.consts.get(text) {
            Some(n) => *n,
            None => {
                let n = self.constant(Value::str(text));
                self.consts.insert(text.to_vec(), n);
                n
            }
        };
        self.emit(Op::Const(n));
    }

    fn constant(&mut self, v: Value) -> u32 {
        self.code.consts.push(v);
        self.code.consts.len() as u32 - 1
    }

    fn blocks(&mut self, blocks: &[Vec<Stmt>]) -> Option<Pc> {
        if blocks.is_empty() {
            return None;
        }
        let entry = self.here();
        blocks.iter().for_each(|b| self.stmts(b));
        self.emit(Op::Done);
        Some(entry)
    }

    fn rules(&mut self, rules: &[Rule]) -> Option<Pc> {
        if rules.is_empty() {
            return None;
        }
        let entry = self.here();
        for rule in rules {
            self.line = rule.line;
            let mut skip = Vec::new();
            match &rule.pattern {
                Pattern::Always => {}
                Pattern::When(e) => skip.extend(self.jump_unless(e)),
                Pattern::Range(from, to) => {
                    let n = self.code.ranges;
                    self.code.ranges += 1;
                    let inside = self.jump(Op::InRange(n, 0));
                    skip.extend(self.jump_unless(from));
                    self.emit(Op::SetRange(n, true));
                    self.patch(inside);
                    let body = self.jump_unless(to);
                    self.emit(Op::SetRange(n, false));
                    body.into_iter().for_each(|j| self.patch(j));
                }
            }
            match &rule.action {
                Some(body) => self.stmts(body),
                None => self.emit(Op::Print(0, None)),
            }
            skip.into_iter().for_each(|j| self.patch(j));
        }
        self.emit(Op::Done);
        Some(entry)
    }

    fn place(&self, v: Var) -> Place {
        match v {
            Var::Global(n) => Place::Global(n),
            Var::Local(n) => Place::Local(n),
        }
    }

    fn special(&self, v: Var) -> Option<Special> {
        match v {
            Var::Global(n) => Special::from_index(n),
            Var::Local(_) => None,
        }
    }
}
