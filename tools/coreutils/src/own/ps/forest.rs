//! The order and the branches that show processes below their parents (`ps --forest`).

use super::super::processes::ProcessInfo;
use super::options::Forest;

/// Returns the processes with children after their parents, and for each process the text that
/// precedes its command.
pub(super) fn arrange_forest(
    list: Vec<ProcessInfo>,
    kind: Forest,
) -> (Vec<ProcessInfo>, Vec<String>) {
    let known = |pid: u32| list.iter().any(|process| process.pid == pid);
    let is_root = |process: &ProcessInfo| process.parent == process.pid || !known(process.parent);
    let children = |pid: u32| -> Vec<usize> {
        let all = list.iter().enumerate();
        all.filter(|(_, p)| p.parent == pid && !is_root(p)).map(|(at, _)| at).collect()
    };
    let mut order: Vec<(usize, String)> = Vec::new();
    // The stack of the processes still to be shown, the next one last. Each entry has the
    // process's index, the stem of its branch, its depth, and whether a sibling follows.
    let mut open: Vec<(usize, String, usize, bool)> = Vec::new();
    let roots: Vec<usize> = (0..list.len()).filter(|at| is_root(&list[*at])).collect();
    open.extend(roots.into_iter().rev().map(|at| (at, String::new(), 0, false)));
    while let Some((at, stem, depth, has_next)) = open.pop() {
        let (own, below) = match (kind, depth) {
            (Forest::Indented, _) => ("  ".repeat(depth), String::new()),
            (Forest::Drawn, 0) => (String::new(), String::new()),
            (Forest::Drawn, _) => {
                let rest = if has_next { " |  " } else { "    " };
                (format!("{stem} \\_ "), format!("{stem}{rest}"))
            }
        };
        let below_all = children(list[at].pid);
        let last = below_all.last().copied();
        for child in below_all.iter().rev() {
            open.push((*child, below.clone(), depth + 1, Some(*child) != last));
        }
        order.push((at, own));
    }
    let mut list: Vec<Option<ProcessInfo>> = list.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(at, own)| Some((list[at].take()?, own))).unzip()
}

#[cfg(test)]
mod tests {
    use super::super::super::processes::ProcessInfo;
    use super::{Forest, arrange_forest};

    // Expected values: ps 4.0.2.
    #[test]
    fn trees() {
        let process = |pid, parent| ProcessInfo {
            pid,
            parent,
            group: 1,
            session: 1,
            time: 0,
            command: pid.to_string(),
            args: String::new(),
        };
        let drawn = |kind| {
            let list =
                vec![process(1, 0), process(2, 1), process(3, 2), process(4, 1), process(5, 4)];
            let (list, before) = arrange_forest(list, kind);
            let lines: Vec<String> = list
                .iter()
                .zip(before)
                .map(|(p, before)| format!("{before}{}", p.command))
                .collect();
            lines.join("\n")
        };
        assert_eq!(drawn(Forest::Drawn), "1\n \\_ 2\n |   \\_ 3\n \\_ 4\n     \\_ 5");
        assert_eq!(drawn(Forest::Indented), "1\n  2\n    3\n  4\n    5");
    }
}
