//! Finds out which parameters of functions are arrays.
//!
//! An unset variable that is passed to a function becomes an array if the function uses the
//! parameter as one, or passes it to a function that does. This is determined before the program
//! runs, by following calls until nothing changes.

use crate::ast::{AwkExpr, AwkProgram, AwkVar, GetlineSource, Stmt, StmtKind};
use crate::builtin::AwkBuiltin;

/// For each function and each of its parameters, whether it is used as an array.
pub struct ArrayParams(Vec<Vec<bool>>);

impl ArrayParams {
    /// Finds the array parameters of a whole program.
    pub fn from_program(program: &AwkProgram) -> ArrayParams {
        let mut walker = ParamWalker {
            arrays: program.functions.iter().map(|f| vec![false; f.params]).collect(),
            passes: Vec::new(),
            function: 0,
        };
        for (n, f) in program.functions.iter().enumerate() {
            walker.function = n;
            walker.visit_stmts(&f.body);
        }
        let ParamWalker { mut arrays, passes, .. } = walker;
        loop {
            let mut changed = false;
            for (from, to) in &passes {
                let is_array = arrays.get(to.0).and_then(|p| p.get(to.1)).copied();
                if is_array == Some(true)
                    && let Some(mine) = arrays.get_mut(from.0).and_then(|p| p.get_mut(from.1))
                {
                    changed |= !*mine;
                    *mine = true;
                }
            }
            if !changed {
                return ArrayParams(arrays);
            }
        }
    }

    /// Returns whether parameter `n` of a function is an array.
    pub fn is_array(&self, function: u32, n: usize) -> bool {
        self.0.get(function as usize).and_then(|p| p.get(n)).copied().unwrap_or(false)
    }
}

struct ParamWalker {
    arrays: Vec<Vec<bool>>,
    /// Pairs of parameters, each as (function, index): the first one is passed as the second one.
    passes: Vec<((usize, usize), (usize, usize))>,
    function: usize,
}

impl ParamWalker {
    fn visit_array(&mut self, v: AwkVar) {
        if let AwkVar::Local(i) = v
            && let Some(p) = self.arrays[self.function].get_mut(i as usize)
        {
            *p = true;
        }
    }

    fn visit_stmts(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.visit_stmt(s));
    }

    fn opt_stmt(&mut self, s: &Option<Box<Stmt>>) {
        if let Some(s) = s {
            self.visit_stmt(s);
        }
    }

    fn visit_stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Block(list) => self.visit_stmts(list),
            StmtKind::Expr(e) => self.visit_expr(e),
            StmtKind::Print(args, target) | StmtKind::Printf(args, target) => {
                self.visit_exprs(args);
                if let Some((_, e)) = target {
                    self.visit_expr(e);
                }
            }
            StmtKind::If(arms, last) => {
                for (cond, body) in arms {
                    self.visit_expr(cond);
                    self.visit_stmt(body);
                }
                self.opt_stmt(last);
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) => {
                self.visit_expr(cond);
                self.visit_stmt(body);
            }
            StmtKind::For(init, cond, step, body) => {
                self.opt_stmt(init);
                cond.iter().for_each(|c| self.visit_expr(c));
                self.opt_stmt(step);
                self.visit_stmt(body);
            }
            StmtKind::ForIn(_, array, subs, body) => {
                self.visit_array(*array);
                subs.iter().for_each(|s| self.visit_exprs(s));
                self.visit_stmt(body);
            }
            StmtKind::Switch(e, cases) => {
                self.visit_expr(e);
                cases.iter().for_each(|c| self.visit_stmts(&c.body));
            }
            StmtKind::Exit(e) | StmtKind::Return(e) => e.iter().for_each(|e| self.visit_expr(e)),
            StmtKind::Delete(v, subs) => {
                self.visit_array(*v);
                subs.iter().for_each(|s| self.visit_exprs(s));
            }
            StmtKind::DeleteAll(v) => self.visit_array(*v),
            StmtKind::Break | StmtKind::Continue | StmtKind::Next | StmtKind::NextFile => {}
        }
    }

    fn visit_exprs(&mut self, list: &[AwkExpr]) {
        list.iter().for_each(|e| self.visit_expr(e));
    }

    fn visit_expr(&mut self, e: &AwkExpr) {
        match e {
            AwkExpr::Num(_)
            | AwkExpr::Str(_)
            | AwkExpr::Regex(_)
            | AwkExpr::TypedRegex(_)
            | AwkExpr::Var(_) => {}
            AwkExpr::Index(v, subs) => {
                self.visit_array(*v);
                subs.iter().for_each(|s| self.visit_exprs(s));
            }
            AwkExpr::In(keys, v, subs) => {
                self.visit_array(*v);
                self.visit_exprs(keys);
                subs.iter().for_each(|s| self.visit_exprs(s));
            }
            AwkExpr::Field(e)
            | AwkExpr::Group(e)
            | AwkExpr::Neg(e)
            | AwkExpr::Plus(e)
            | AwkExpr::Not(e) => {
                self.visit_expr(e);
            }
            AwkExpr::List(list)
            | AwkExpr::Concat(list)
            | AwkExpr::And(list)
            | AwkExpr::Or(list) => {
                self.visit_exprs(list);
            }
            AwkExpr::Chain(first, rest) => {
                self.visit_expr(first);
                rest.iter().for_each(|(_, e)| self.visit_expr(e));
            }
            AwkExpr::Compare(_, a, b) | AwkExpr::Assign(a, b) | AwkExpr::Update(a, _, b) => {
                self.visit_expr(a);
                self.visit_expr(b);
            }
            AwkExpr::Match { text, pattern, .. } => {
                self.visit_expr(text);
                self.visit_expr(pattern);
            }
            AwkExpr::Cond(arms, last) => {
                for (c, v) in arms {
                    self.visit_expr(c);
                    self.visit_expr(v);
                }
                self.visit_expr(last);
            }
            AwkExpr::Step { target, .. } => self.visit_expr(target),
            AwkExpr::Indirect(_, args) => self.visit_exprs(args),
            AwkExpr::Call(f, args) => {
                for (n, arg) in args.iter().enumerate() {
                    if let AwkExpr::Var(AwkVar::Local(i)) = arg {
                        self.passes.push(((self.function, *i as usize), (*f as usize, n)));
                    }
                    self.visit_expr(arg);
                }
            }
            AwkExpr::Builtin(b, args) => {
                for (n, arg) in args.iter().enumerate() {
                    if let (true, AwkExpr::Var(v)) = (array_argument(*b, n), arg) {
                        self.visit_array(*v);
                    }
                    self.visit_expr(arg);
                }
            }
            AwkExpr::Getline(input, target) => {
                if let GetlineSource::File(e)
                | GetlineSource::Command(e)
                | GetlineSource::Coprocess(e) = input
                {
                    self.visit_expr(e);
                }
                target.iter().for_each(|t| self.visit_expr(t));
            }
        }
    }
}

/// Returns whether argument `n` of a built-in function is an array.
pub fn array_argument(b: AwkBuiltin, n: usize) -> bool {
    matches!(
        (b, n),
        (AwkBuiltin::Asort | AwkBuiltin::Asorti, 0 | 1)
            | (AwkBuiltin::Split | AwkBuiltin::Patsplit, 1 | 3)
            | (AwkBuiltin::Match, 2)
    )
}
