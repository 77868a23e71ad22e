//! Line numbers of code that is stored as text. Printing a tree loses the lines of its commands, so
//! they are stored in a list beside the text, in the order in which a walk over the tree visits the
//! commands.

use std::rc::Rc;

use sh_syntax::ast::{
    AssignValue, Assignment, Command, CommandKind, CommandList, CommandWord, WordPart,
};

/// Calls `f` on every command's line, outer commands first. Skips an `Rc` that has another owner;
/// freshly parsed trees have none.
fn each_mut(list: &mut CommandList, f: &mut dyn FnMut(&mut u32)) {
    for item in &mut list.items {
        let rest = item.and_or.rest.iter_mut().map(|(_, p)| p);
        for pipeline in std::iter::once(&mut item.and_or.first).chain(rest) {
            for stage in &mut pipeline.stages {
                command_mut(&mut stage.command, f);
            }
        }
    }
}

fn command_mut(c: &mut Command, f: &mut dyn FnMut(&mut u32)) {
    f(&mut c.line);
    match &mut c.kind {
        CommandKind::Brace(l) => each_mut(l, f),
        CommandKind::Subshell(l) => {
            if let Some(l) = Rc::get_mut(l) {
                each_mut(l, f);
            }
        }
        CommandKind::If(i) => {
            for (condition, body) in &mut i.branches {
                each_mut(condition, f);
                each_mut(body, f);
            }
            if let Some(l) = &mut i.otherwise {
                each_mut(l, f);
            }
        }
        CommandKind::While(w) => {
            each_mut(&mut w.condition, f);
            each_mut(&mut w.body, f);
        }
        CommandKind::For(l) | CommandKind::Select(l) => each_mut(&mut l.body, f),
        CommandKind::ArithFor(l) => each_mut(&mut l.body, f),
        CommandKind::Case(k) => k.arms.iter_mut().for_each(|a| each_mut(&mut a.body, f)),
        CommandKind::Function(d) => {
            if let Some(d) = Rc::get_mut(d) {
                command_mut(&mut d.body, f);
            }
        }
        CommandKind::Coproc(k) => {
            if let Some(b) = Rc::get_mut(&mut k.body) {
                command_mut(b, f);
            }
        }
        CommandKind::Simple(s) => {
            s.words.iter_mut().for_each(|word| match word {
                CommandWord::Word(word) => parts_mut(&mut word.parts, f),
                CommandWord::Assignment(a) => value_mut(a, f),
            });
            s.assignments.iter_mut().for_each(|a| value_mut(a, f));
        }
        CommandKind::Arith(_) | CommandKind::Cond(_) => {}
    }
}

fn value_mut(a: &mut Assignment, f: &mut dyn FnMut(&mut u32)) {
    if let AssignValue::Scalar(word) = &mut a.value {
        parts_mut(&mut word.parts, f);
    }
}

/// Visits the commands of substitutions in a word.
fn parts_mut(parts: &mut [WordPart], f: &mut dyn FnMut(&mut u32)) {
    for part in parts {
        match part {
            WordPart::DoubleQuoted(parts) => parts_mut(parts, f),
            WordPart::CommandSub(sub) => {
                if let Some(sub) = Rc::get_mut(sub) {
                    each_mut(&mut sub.body, f);
                }
            }
            WordPart::ProcessSub(sub) => {
                if let Some(sub) = Rc::get_mut(sub) {
                    each_mut(&mut sub.body, f);
                }
            }
            _ => {}
        }
    }
}

/// Collects the lines of all commands in a list.
pub fn of_list(list: &CommandList, out: &mut Vec<u32>) {
    for item in &list.items {
        for pipeline in
            std::iter::once(&item.and_or.first).chain(item.and_or.rest.iter().map(|(_, p)| p))
        {
            pipeline.stages.iter().for_each(|s| of_command(&s.command, out));
        }
    }
}

/// Collects the lines of a command and of all commands in it.
pub fn of_command(c: &Command, out: &mut Vec<u32>) {
    out.push(c.line);
    match &c.kind {
        CommandKind::Brace(l) => of_list(l, out),
        CommandKind::Subshell(l) => of_list(l, out),
        CommandKind::If(i) => {
            for (condition, body) in &i.branches {
                of_list(condition, out);
                of_list(body, out);
            }
            if let Some(l) = &i.otherwise {
                of_list(l, out);
            }
        }
        CommandKind::While(w) => {
            of_list(&w.condition, out);
            of_list(&w.body, out);
        }
        CommandKind::For(l) | CommandKind::Select(l) => of_list(&l.body, out),
        CommandKind::ArithFor(l) => of_list(&l.body, out),
        CommandKind::Case(k) => k.arms.iter().for_each(|a| of_list(&a.body, out)),
        CommandKind::Function(d) => of_command(&d.body, out),
        CommandKind::Coproc(k) => of_command(&k.body, out),
        CommandKind::Simple(s) => {
            s.words.iter().for_each(|word| match word {
                CommandWord::Word(word) => of_parts(&word.parts, out),
                CommandWord::Assignment(a) => of_value(a, out),
            });
            s.assignments.iter().for_each(|a| of_value(a, out));
        }
        CommandKind::Arith(_) | CommandKind::Cond(_) => {}
    }
}

fn of_value(a: &Assignment, out: &mut Vec<u32>) {
    if let AssignValue::Scalar(word) = &a.value {
        of_parts(&word.parts, out);
    }
}

fn of_parts(parts: &[WordPart], out: &mut Vec<u32>) {
    for part in parts {
        match part {
            WordPart::DoubleQuoted(parts) => of_parts(parts, out),
            WordPart::CommandSub(sub) => of_list(&sub.body, out),
            WordPart::ProcessSub(sub) => of_list(&sub.body, out),
            _ => {}
        }
    }
}

/// Restores the lines of a freshly parsed list. A list of a different length changes nothing.
pub fn restore_lines(list: &mut CommandList, lines: &[u32]) {
    let mut now = Vec::new();
    of_list(list, &mut now);
    if now.len() != lines.len() {
        return;
    }
    let mut next = lines.iter();
    each_mut(list, &mut |line| {
        if let Some(l) = next.next() {
            *line = *l;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{of_list, restore_lines};
    use sh_syntax::parse::{ParseOptions, parse_all};

    #[test]
    fn lines_survive_printing() {
        let source = b"\n\nif a; then\n b | c\nfi; f() {\n (x; for i in 1; do\n y\n done) ;}; { case a in b) c\n;; esac; }\nd $(e\nf) x=\"`g\n`\"";
        let tree = parse_all(source, &ParseOptions::default()).unwrap();
        let mut lines = Vec::new();
        of_list(&tree, &mut lines);
        let printed = sh_syntax::print::print_list(&tree);
        let mut again = parse_all(&printed, &ParseOptions::default()).unwrap();
        restore_lines(&mut again, &lines);
        let mut restored = Vec::new();
        of_list(&again, &mut restored);
        assert_eq!(restored, lines);
        assert_eq!(lines.first(), Some(&3));
    }
}
