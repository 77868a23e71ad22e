//! The rules of `--exclude` and `--include` (rsync(1), "FILTER RULES"): the first rule that matches
//! decides; a name that no rule matches takes part.

/// Rules in order.
#[derive(Debug, Default)]
pub(super) struct Filter {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    includes: bool,
    pattern: Vec<u8>,
    /// The pattern begins at the top of the transfer.
    anchored: bool,
    only_folders: bool,
    /// The pattern is compared with the path and not only with its last name.
    whole_path: bool,
}

impl Filter {
    /// Adds a rule at the end.
    pub(super) fn add_rule(&mut self, includes: bool, pattern: &[u8]) {
        let anchored = pattern.starts_with(b"/");
        let body = pattern.strip_prefix(b"/").unwrap_or(pattern);
        // `x/***` is the folder and all that is in it.
        if let Some(folder) = body.strip_suffix(b"/***") {
            let lead: &[u8] = if anchored { b"/" } else { b"" };
            self.add_rule(includes, &[lead, folder, b"/"].concat());
            self.add_rule(includes, &[lead, folder, b"/**"].concat());
            return;
        }
        let only_folders = body.ends_with(b"/");
        let body = body.strip_suffix(b"/").unwrap_or(body);
        let whole_path = body.contains(&b'/') || body.windows(2).any(|w| w == b"**");
        let pattern = body.to_vec();
        self.rules.push(Rule { includes, pattern, anchored, only_folders, whole_path });
    }

    /// Adds a rule of `--filter`; `Err` is a message.
    pub(super) fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        let (sign, pattern) = match line {
            [sign @ (b'+' | b'-'), b' ' | b'_', pattern @ ..] => (*sign, pattern),
            _ if line.starts_with(b"include ") => (b'+', &line[8..]),
            _ if line.starts_with(b"exclude ") => (b'-', &line[8..]),
            _ => {
                let shown = String::from_utf8_lossy(line).into_owned();
                return Err(format!(
                    "unknown filter rule: '{shown}'; '- PATTERN' and '+ PATTERN' are known"
                ));
            }
        };
        self.add_rule(sign == b'+', pattern);
        Ok(())
    }

    /// Adds the patterns of a file, one a line; lines with `#` or `;` are comments.
    pub(super) fn add_patterns(&mut self, includes: bool, text: &[u8]) {
        for line in text.split(|c| *c == b'\n').map(<[u8]>::trim_ascii) {
            match line {
                [] | [b'#' | b';', ..] => {}
                [b'+', b' ', rest @ ..] => self.add_rule(true, rest),
                [b'-', b' ', rest @ ..] => self.add_rule(false, rest),
                _ => self.add_rule(includes, line),
            }
        }
    }

    /// Returns whether a path, relative to the top of the transfer, takes part.
    pub(super) fn allows(&self, path: &[u8], is_folder: bool) -> bool {
        let found = self.rules.iter().find(|r| r.matches(path, is_folder));
        found.is_none_or(|r| r.includes)
    }
}

impl Rule {
    fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        if self.anchored {
            return matches_glob(&self.pattern, path);
        }
        let starts = std::iter::once(0)
            .chain(path.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(at, _)| at + 1));
        if self.whole_path {
            return starts.into_iter().any(|at| matches_glob(&self.pattern, &path[at..]));
        }
        starts.last().is_some_and(|at| matches_glob(&self.pattern, &path[at..]))
    }
}

/// Matches a text: `*` and `?` match no slash, `**` matches anything. Goes back to the last star
/// only, and to the last double star, so that the time is bounded by the product of the lengths
/// for each of them.
fn matches_glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    loop {
        if pattern[p..].starts_with(b"**") {
            p += pattern[p..].iter().take_while(|c| **c == b'*').count();
            double = Some((p, t));
            star = None;
            continue;
        }
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
            continue;
        }
        match (match_one(&pattern[p..], text.get(t).copied()), t == text.len()) {
            (None, true) if p == pattern.len() => return true,
            (Some(length), _) => {
                p += length;
                t += 1;
                continue;
            }
            _ => {}
        }
        // The last star takes one more character; if it cannot, the last double star does.
        match (star, double) {
            (Some((after, at)), _) if at < text.len() && text[at] != b'/' => {
                star = Some((after, at + 1));
                (p, t) = (after, at + 1);
            }
            (_, Some((after, at))) if at < text.len() => {
                double = Some((after, at + 1));
                star = None;
                (p, t) = (after, at + 1);
            }
            _ => return false,
        }
    }
}

/// Returns the length of the pattern's first element if it matches a character.
fn match_one(pattern: &[u8], c: Option<u8>) -> Option<usize> {
    let c = c?;
    match pattern {
        [b'?', ..] => (c != b'/').then_some(1),
        [b'\\', literal, ..] => (*literal == c).then_some(2),
        [b'[', rest @ ..] => {
            let negated = matches!(rest.first(), Some(b'!' | b'^'));
            let from = usize::from(negated);
            let end = rest.iter().skip(from + 1).position(|x| *x == b']').map(|n| n + from + 1);
            let Some(end) = end else { return (c == b'[').then_some(1) };
            let set = &rest[from..end];
            let mut found = false;
            let mut at = 0;
            while at < set.len() {
                if at + 2 < set.len() && set[at + 1] == b'-' {
                    found |= (set[at]..=set[at + 2]).contains(&c);
                    at += 3;
                } else {
                    found |= set[at] == c;
                    at += 1;
                }
            }
            (found != negated && c != b'/').then_some(end + 2)
        }
        [literal, ..] => (*literal == c).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of rsync 3.2.
    #[test]
    fn rules() {
        let allows = |rules: &[&str], path: &str, is_folder: bool| {
            let mut filter = Filter::default();
            rules.iter().for_each(|r| filter.add_line(r.as_bytes()).expect("a rule"));
            filter.allows(path.as_bytes(), is_folder)
        };
        for (rules, path, is_folder, expected) in [
            (&["- *.o"][..], "a/b.o", false, false),
            (&["- *.o"], "a.o/b", false, true),
            (&["- /a"], "a", false, false),
            (&["- /a"], "b/a", false, true),
            (&["- a/"], "x/a", true, false),
            (&["- a/"], "x/a", false, true),
            (&["- a/b"], "x/a/b", false, false),
            (&["- a/*"], "a/b/c", false, true),
            (&["- a/**"], "a/b/c", false, false),
            (&["- a/***"], "a", true, false),
            (&["+ *.c", "- *"], "x.c", false, true),
            (&["+ *.c", "- *"], "x.h", false, false),
            (&["- [a-c]?"], "bx", false, false),
            (&["- [!a]"], "a", false, true),
            (&["- **/cache/**"], "x/cache/y", false, false),
            (&[], "x", false, true),
        ] {
            assert_eq!(allows(rules, path, is_folder), expected, "{rules:?} {path}");
        }
    }
}
