//! `pstree` (psmisc 23.6): the running processes as a tree.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::AccountNames;

use super::processes::{self, ProcessInfo};

#[derive(Clone, Copy, PartialEq, Eq)]
enum PstreeFlag {
    Arguments,
    Ascii,
    Groups,
    Ignored,
    IgnoredValue,
    Numeric,
    Parents,
    Pids,
    Unicode,
    Version,
    Whole,
}

const SPEC: Spec<PstreeFlag> = Spec::new(
    "[OPTION]... [PID|USER]",
    "Print the processes as a tree: all, those from PID on, or those of USER.",
    &[
        Opt::new(PstreeFlag::Arguments, 'a', "arguments").with_help("Print arguments, too"),
        Opt::new(PstreeFlag::Whole, 'c', "compact-not")
            .with_help("Print each of several equal branches"),
        Opt::new(PstreeFlag::Groups, 'g', "show-pgids").with_help("Print the process groups"),
        Opt::new(PstreeFlag::Numeric, 'n', "numeric-sort")
            .with_help("Sort by number instead of name"),
        Opt::new(PstreeFlag::Pids, 'p', "show-pids").with_help("Print the numbers of processes"),
        Opt::new(PstreeFlag::Parents, 's', "show-parents").with_help("Begin above PID"),
        Opt::new(PstreeFlag::Ascii, 'A', "ascii").with_help("Draw with ASCII (the default)"),
        Opt::new(PstreeFlag::Unicode, 'U', "unicode").with_help("Draw with box characters"),
        Opt::new(PstreeFlag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(PstreeFlag::Ignored, 'h', "highlight-all").with_help(words::IGNORED),
        Opt::new(PstreeFlag::Ignored, 'l', "long").with_help(words::SAME),
        Opt::new(PstreeFlag::Ignored, 't', "thread-names"),
        Opt::new(PstreeFlag::Ignored, 'T', "hide-threads"),
        Opt::new(PstreeFlag::Ignored, 'u', "uid-changes"),
        Opt::new(PstreeFlag::IgnoredValue, 'H', "highlight-pid").with_argument("PID", ""),
    ],
);

/// The strokes between processes.
struct Strokes {
    single: &'static str,
    first: &'static str,
    middle: &'static str,
    last: &'static str,
    line: &'static str,
}

const ASCII: Strokes =
    Strokes { single: "---", first: "-+-", middle: " |-", last: " `-", line: " | " };
const UNICODE: Strokes =
    Strokes {
        single: "───", first: "─┬─", middle: " ├─", last: " └─", line: " │ "
    };

/// A process with its children, as they are shown.
#[derive(PartialEq)]
struct TreeNode {
    label: String,
    children: Vec<(usize, TreeNode)>,
}

struct TreePlan {
    arguments: bool,
    pids: bool,
    groups: bool,
    numeric: bool,
    compact: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(PstreeFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    let list = processes::all_processes(ctx);
    let roots = find_roots(ctx, &p, &list)?;
    let (arguments, pids) = (p.has_option(PstreeFlag::Arguments), p.has_option(PstreeFlag::Pids));
    let groups = p.has_option(PstreeFlag::Groups);
    let compact = !(arguments || pids || groups || p.has_option(PstreeFlag::Whole));
    let numeric = p.has_option(PstreeFlag::Numeric);
    let plan = TreePlan { arguments, pids, groups, numeric, compact };
    let unicode = p.last_of(&[PstreeFlag::Ascii, PstreeFlag::Unicode]);
    let strokes = if unicode == Some(PstreeFlag::Unicode) { &UNICODE } else { &ASCII };
    let mut out = String::new();
    for root in roots {
        let node = make_node(&list, root, &plan, 0);
        if plan.arguments {
            draw_rows(&node, "", strokes, &mut out);
        } else {
            draw(&node, "", strokes, &mut out);
        }
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    Ok(Exit::SUCCESS)
}

/// Returns the processes to begin with. Without an operand these are the ones whose parent is not
/// in the list.
fn find_roots<'l>(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<PstreeFlag>,
    list: &'l [ProcessInfo],
) -> Result<Vec<&'l ProcessInfo>, Exit> {
    let is_top = |i: &&ProcessInfo| i.parent == i.pid || !list.iter().any(|o| o.pid == i.parent);
    let Some(word) = p.operands.first() else { return Ok(list.iter().filter(is_top).collect()) };
    let word = String::from_utf8_lossy(word).into_owned();
    let Ok(pid) = word.parse::<u32>() else {
        if AccountNames::load().user_id(&word).is_none() {
            let _ = writeln!(ctx.stderr, "No such user name: {word}");
            return Err(Exit::FAILURE);
        }
        // All processes are those of the only user.
        return Ok(list.iter().filter(is_top).collect());
    };
    let mut found = list.iter().find(|i| i.pid == pid);
    while let (true, Some(info)) = (p.has_option(PstreeFlag::Parents), found) {
        match list.iter().find(|o| o.pid == info.parent && o.pid != info.pid) {
            Some(parent) => found = Some(parent),
            None => break,
        }
    }
    Ok(found.into_iter().collect())
}

fn make_label(info: &ProcessInfo, plan: &TreePlan) -> String {
    let mut numbers = Vec::new();
    if plan.pids {
        numbers.push(info.pid.to_string());
    }
    if plan.groups {
        numbers.push(info.group.to_string());
    }
    let mut label = info.command.clone();
    if plan.arguments {
        numbers.iter().for_each(|n| label.push_str(&format!(",{n}")));
        if let Some((_, rest)) = info.args.split_once(' ') {
            label.push(' ');
            label.push_str(rest);
        }
    } else if !numbers.is_empty() {
        label.push_str(&format!("({})", numbers.join(",")));
    }
    label
}

fn make_node(list: &[ProcessInfo], root: &ProcessInfo, plan: &TreePlan, depth: usize) -> TreeNode {
    /// A list with a circle would have no end.
    const DEEPEST: usize = 256;
    let mut children: Vec<&ProcessInfo> =
        list.iter().filter(|i| i.parent == root.pid && i.pid != root.pid).collect();
    if plan.numeric {
        children.sort_by_key(|i| i.pid);
    } else {
        children.sort_by(|a, b| a.command.cmp(&b.command).then(a.pid.cmp(&b.pid)));
    }
    let mut nodes: Vec<(usize, TreeNode)> = Vec::new();
    if depth < DEEPEST {
        for child in children {
            let node = make_node(list, child, plan, depth + 1);
            match nodes.iter_mut().find(|(_, known)| plan.compact && *known == node) {
                Some((count, _)) => *count += 1,
                None => nodes.push((1, node)),
            }
        }
    }
    TreeNode { label: make_label(root, plan), children: nodes }
}

/// Draws a process and its children to the right of it. `lead` is drawn before further lines.
fn draw(node: &TreeNode, lead: &str, strokes: &Strokes, out: &mut String) {
    out.push_str(&node.label);
    let blank = format!("{lead}{}", " ".repeat(node.label.chars().count()));
    let last = node.children.len().saturating_sub(1);
    for (n, (count, child)) in node.children.iter().enumerate() {
        let stroke = match (n, last) {
            (0, 0) => strokes.single,
            (0, _) => strokes.first,
            (n, last) if n == last => strokes.last,
            _ => strokes.middle,
        };
        if n > 0 {
            out.push_str(&blank);
        }
        out.push_str(stroke);
        let mut below = format!("{blank}{}", if n == last { "   " } else { strokes.line });
        if *count > 1 {
            let times = format!("{count}*[");
            out.push_str(&times);
            below.push_str(&" ".repeat(times.len()));
        }
        let before = out.len();
        draw(child, &below, strokes, out);
        if *count > 1 {
            close_bracket(out, before);
        }
    }
    if node.children.is_empty() {
        out.push('\n');
    }
}

/// Puts the bracket of equal branches at the end of the first line from `start` on.
fn close_bracket(out: &mut String, start: usize) {
    if let Some(at) = out[start..].find('\n') {
        out.insert(start + at, ']');
    }
}

/// Draws a process in a line of its own, and its children below it (`-a`).
fn draw_rows(node: &TreeNode, lead: &str, strokes: &Strokes, out: &mut String) {
    out.push_str(&node.label);
    out.push('\n');
    let last = node.children.len().saturating_sub(1);
    for (n, (_, child)) in node.children.iter().enumerate() {
        let (stroke, below) =
            if n == last { (strokes.last, "   ") } else { (strokes.middle, strokes.line) };
        out.push_str(&format!("{lead} {stroke}"));
        draw_rows(child, &format!("{lead} {below}"), strokes, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, command: &str, args: &str) -> ProcessInfo {
        let (command, args) = (command.to_string(), args.to_string());
        ProcessInfo { pid, parent, group: 1, session: 1, time: 0, command, args }
    }

    /// The expected values are those of pstree 23.6.
    #[test]
    fn trees() {
        let list = [
            process(1, 0, "bash", "bash -c x"),
            process(2, 1, "sleep", "sleep 1"),
            process(3, 1, "sleep", "sleep 2"),
            process(4, 1, "bash", "bash"),
            process(5, 4, "cat", "cat"),
        ];
        let shown = |arguments: bool, pids: bool, compact: bool| {
            let plan = TreePlan { arguments, pids, groups: false, numeric: false, compact };
            let node = make_node(&list, &list[0], &plan, 0);
            let mut out = String::new();
            if arguments {
                draw_rows(&node, "", &ASCII, &mut out);
            } else {
                draw(&node, "", &ASCII, &mut out);
            }
            out
        };
        assert_eq!(shown(false, false, true), "bash-+-bash---cat\n     `-2*[sleep]\n");
        assert_eq!(
            shown(false, true, false),
            "bash(1)-+-bash(4)---cat(5)\n        |-sleep(2)\n        `-sleep(3)\n"
        );
        assert_eq!(
            shown(true, false, false),
            "bash -c x\n  |-bash\n  |   `-cat\n  |-sleep 1\n  `-sleep 2\n"
        );
    }
}
