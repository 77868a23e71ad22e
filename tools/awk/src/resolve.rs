//! Which parameters are arrays.
//!
//! An unset variable passed to a function becomes an array if the function, or one it passes
//! the parameter on to, uses it as one. That is settled here, before anything runs, by
//! following the calls until nothing changes.

use crate::ast::{Expr, Input, Program, Stmt, StmtKind, Var};
use crate::builtin::Builtin;

/// For each function and parameter: is it used as an array?
pub struct Params(Vec<Vec<bool>>);

impl Params {
    /// Looks through a whole program.
    pub fn of(program: &Program) -> Params {
        let mut walker = Walker {
            arrays: program.functions.iter().map(|f| vec![false; f.params]).collect(),
            passes: Vec::new(),
            function: 0,
        };
        for (n, f) in program.functions.iter().enumerate() {
            walker.function = n;
            walker.stmts(&f.body);
        }
        let Walker { mut arrays, passes, .. } = walker;
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
                return Params(arrays);
            }
        }
    }

    /// Whether parameter `n` of a function is an array.
    pub fn is_array(&self, function: u32, n: usize) -> bool {
        self.0.get(function as usize).and_then(|p| p.get(n)).copied().unwrap_or(false)
    }
}

struct Walker {
    arrays: Vec<Vec<bool>>,
    /// Parameter (function, number) passed on as parameter.
    passes: Vec<((usize, usize), (usize, usize))>,
    function: usize,
}

impl Walker {
    fn array(&mut self, v: Var) {
        if let Var::Local(i) = v
            && let Some(p) = self.arrays[self.function].get_mut(i as usize)
        {
            *p = true;
        }
    }

    fn stmts(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.stmt(s));
    }

    fn opt_stmt(&mut self, s: &Option<Box<Stmt>>) {
        if let Some(s) = s {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Block(list) => self.stmts(list),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Print(args, target) | StmtKind::Printf(args, target) => {
                self.exprs(args);
                if let Some((_, e)) = target {
                    self.expr(e);
                }
            }
            StmtKind::If(arms, last) => {
                for (cond, body) in arms {
                    self.expr(cond);
                    self.stmt(body);
                }
                self.opt_stmt(last);
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) => {
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::For(init, cond, step, body) => {
                self.opt_stmt(init);
                cond.iter().for_each(|c| self.expr(c));
                self.opt_stmt(step);
                self.stmt(body);
            }
            StmtKind::ForIn(_, array, subs, body) => {
                self.array(*array);
                subs.iter().for_each(|s| self.exprs(s));
                self.stmt(body);
            }
            StmtKind::Switch(e, cases) => {
                self.expr(e);
                cases.iter().for_each(|c| self.stmts(&c.body));
            }
            StmtKind::Exit(e) | StmtKind::Return(e) => e.iter().for_each(|e| self.expr(e)),
            StmtKind::Delete(v, subs) => {
                self.array(*v);
                subs.iter().for_each(|s| self.exprs(s));
            }
            StmtKind::DeleteAll(v) => self.array(*v),
            StmtKind::Break | StmtKind::Continue | StmtKind::Next | StmtKind::NextFile => {}
        }
    }

    fn exprs(&mut self, list: &[Expr]) {
        list.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Num(_) | Expr::Str(_) | Expr::Regex(_) | Expr::TypedRegex(_) | Expr::Var(_) => {}
            Expr::Index(v, subs) => {
                self.array(*v);
                subs.iter().for_each(|s| self.exprs(s));
            }
            Expr::In(keys, v, subs) => {
                self.array(*v);
                self.exprs(keys);
                subs.iter().for_each(|s| self.exprs(s));
            }
            Expr::Field(e) | Expr::Group(e) | Expr::Neg(e) | Expr::Plus(e) | Expr::Not(e) => {
                self.expr(e);
            }
            Expr::List(list) | Expr::Concat(list) | Expr::And(list) | Expr::Or(list) => {
                self.exprs(list);
            }
            Expr::Chain(first, rest) => {
                self.expr(first);
                rest.iter().for_each(|(_, e)| self.expr(e));
            }
            Expr::Compare(_, a, b) | Expr::Assign(a, b) | Expr::Update(a, _, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Match { text, pattern, .. } => {
                self.expr(text);
                self.expr(pattern);
            }
            Expr::Cond(arms, last) => {
                for (c, v) in arms {
                    self.expr(c);
                    self.expr(v);
                }
                self.expr(last);
            }
            Expr::Step { target, .. } => self.expr(target),
            Expr::Indirect(_, args) => self.exprs(args),
            Expr::Call(f, args) => {
                for (n, arg) in args.iter().enumerate() {
                    if let Expr::Var(Var::Local(i)) = arg {
                        self.passes.push(((self.function, *i as usize), (*f as usize, n)));
                    }
                    self.expr(arg);
                }
            }
            Expr::Builtin(b, args) => {
                for (n, arg) in args.iter().enumerate() {
                    if let (true, Expr::Var(v)) = (array_argument(*b, n), arg) {
                        self.array(*v);
                    }
                    self.expr(arg);
                }
            }
            Expr::Getline(input, target) => {
                if let Input::File(e) | Input::Command(e) | Input::Coprocess(e) = input {
                    self.expr(e);
                }
                target.iter().for_each(|t| self.expr(t));
            }
        }
    }
}

/// Whether a built-in function's argument is an array.
pub fn array_argument(b: Builtin, n: usize) -> bool {
    matches!(
        (b, n),
        (Builtin::Asort | Builtin::Asorti, 0 | 1)
            | (Builtin::Split | Builtin::Patsplit, 1 | 3)
            | (Builtin::Match, 2)
    )
}
