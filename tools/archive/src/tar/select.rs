//! Selects members by operands and patterns, and determines their new names: removal of components
//! and of the leading slash, and `--transform`.

use box_applet::Ctx;
use box_sys::path::strip_slashes;
use box_text::glob::{GlobOptions, GlobPattern};

use super::transform::{NameKind, NameTransforms};

/// The options for matching patterns (GNU tar manual, "Controlling Pattern-Matching").
#[derive(Clone, Copy, Debug)]
pub struct PatternRules {
    /// Whether a pattern matches only from the start of a name, and not also after each slash.
    pub anchored: bool,
    pub ignore_case: bool,
    pub wildcards: bool,
    /// Whether wildcards match a slash.
    pub match_slash: bool,
    /// Whether to warn if an operand that is not found looks like a pattern.
    pub warns: bool,
}

impl PatternRules {
    /// Returns the default rules for exclusion.
    pub fn for_excludes() -> PatternRules {
        PatternRules {
            anchored: false,
            ignore_case: false,
            wildcards: true,
            match_slash: true,
            warns: false,
        }
    }

    /// Returns the default rules for member operands.
    pub fn for_operands() -> PatternRules {
        PatternRules { anchored: true, wildcards: false, warns: true, ..Self::for_excludes() }
    }

    fn compile(self, pattern: &[u8]) -> GlobPattern {
        let options = GlobOptions {
            ignore_case: self.ignore_case,
            no_slash: !self.match_slash,
            ..GlobOptions::default()
        };
        if self.wildcards {
            GlobPattern::new(pattern, options)
        } else {
            GlobPattern::literal(pattern, options)
        }
    }
}

/// A pattern, compiled by the rules in effect at its position on the command line.
struct NamePattern {
    glob: GlobPattern,
    anchored: bool,
}

impl NamePattern {
    /// Returns whether a name or a directory above it matches. A pattern that is not anchored also
    /// matches the parts of these after each slash.
    fn matches_name(&self, name: &[u8]) -> bool {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let slashes = || name.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(i, _)| i);
        let starts = std::iter::once(0).chain(slashes().map(|i| i + 1));
        let starts = starts.take(if self.anchored { 1 } else { usize::MAX });
        starts.into_iter().any(|from| {
            let ends = slashes().chain(std::iter::once(name.len()));
            ends.filter(|to| *to > from).any(|to| self.glob.is_match(&name[from..to]))
        })
    }
}

/// The patterns that exclude files (GNU tar manual, "Excluding Some Files").
#[derive(Default)]
pub struct Excludes(Vec<NamePattern>);

impl Excludes {
    /// Adds a pattern without its trailing slash.
    pub fn add_pattern(&mut self, pattern: &[u8], rules: PatternRules) {
        let pattern = pattern.strip_suffix(b"/").filter(|p| !p.is_empty()).unwrap_or(pattern);
        self.0.push(NamePattern { glob: rules.compile(pattern), anchored: rules.anchored });
    }

    /// Returns whether any pattern matches a name or a directory above it.
    pub fn matches_name(&self, name: &[u8]) -> bool {
        self.0.iter().any(|p| p.matches_name(name))
    }
}

/// The name of the file that marks a directory as a cache.
pub const CACHE_TAG: &[u8] = b"CACHEDIR.TAG";
/// The beginning of that file (the Cache Directory Tagging Specification).
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The part of a directory with a tag that is archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagContents {
    /// The directory and the tag are archived.
    Tag,
    /// Only the directory is archived.
    Nothing,
    /// Nothing is archived.
    NoDirectory,
}

/// A file whose presence excludes the content of a directory.
#[derive(Clone, Debug)]
pub struct DirectoryTag {
    pub name: Vec<u8>,
    pub contents: TagContents,
    /// Whether the file must begin with the signature of a cache tag.
    pub is_cache: bool,
}

impl DirectoryTag {
    /// Returns whether a directory has the tag.
    pub fn is_in(&self, dir: &std::path::Path) -> bool {
        let file = dir.join(box_sys::path::from_bytes(&self.name));
        if !self.is_cache {
            return box_sys::meta::stat(&file, false).is_ok();
        }
        let mut head = [0; CACHE_SIGNATURE.len()];
        let read = std::fs::File::open(file)
            .and_then(|mut f| std::io::Read::read_exact(&mut f, &mut head));
        read.is_ok() && head == *CACHE_SIGNATURE
    }
}

/// The changes to members' names.
#[derive(Default)]
pub struct MemberNames {
    pub strip: usize,
    pub absolute: bool,
    pub transforms: NameTransforms,
}

/// The prefixes that were removed from names so far. Each of them is reported once.
#[derive(Default)]
pub struct RemovedPrefixes(Vec<(Vec<u8>, NameKind)>);

impl RemovedPrefixes {
    /// Removes the prefix of a name that leads out of a directory: leading slashes, and everything
    /// up to the last `..`. Reports each prefix once.
    fn remove_prefix(&mut self, ctx: &mut Ctx<'_>, name: &[u8], kind: NameKind) -> Vec<u8> {
        let (prefix, rest) = split_prefix(name);
        if !prefix.is_empty() && !self.0.iter().any(|(p, k)| p == prefix && *k == kind) {
            self.0.push((prefix.to_vec(), kind));
            let names = match kind {
                NameKind::Member => "member names",
                NameKind::HardLink | NameKind::Symlink => "hard link targets",
            };
            let from = format!("' from {names}");
            ctx.error_bytes(&[b"Removing leading `", prefix, from.as_bytes()]);
        }
        if rest.is_empty() { b".".to_vec() } else { rest.to_vec() }
    }
}

/// Splits a name into the prefix that leads out of a directory and the rest.
pub fn split_prefix(name: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    let mut at = 0;
    for part in name.split(|c| *c == b'/') {
        at += part.len();
        if part == b".." {
            end = at;
        }
        at += 1;
    }
    end += name[end..].iter().take_while(|c| **c == b'/').count();
    name.split_at(end)
}

impl MemberNames {
    /// Returns the name under which a new member, or the target of a link, is stored.
    pub fn stored_name(
        &self,
        ctx: &mut Ctx<'_>,
        removed: &mut RemovedPrefixes,
        name: &[u8],
        kind: NameKind,
    ) -> Vec<u8> {
        let safe = match kind {
            NameKind::Symlink => name.to_vec(),
            _ if self.absolute => name.to_vec(),
            _ => removed.remove_prefix(ctx, name, kind),
        };
        self.transforms.apply_to(&safe, kind)
    }

    /// Returns the name under which a member, or the target of a link, is extracted. Returns `None`
    /// if nothing is left of the name.
    pub fn extracted_name(
        &self,
        ctx: &mut Ctx<'_>,
        removed: &mut RemovedPrefixes,
        name: &[u8],
        kind: NameKind,
    ) -> Option<Vec<u8>> {
        let mut name = self.transforms.apply_to(name, kind);
        if kind == NameKind::Symlink {
            return Some(name);
        }
        if !self.absolute {
            let is_dir = name.ends_with(b"/");
            name = removed.remove_prefix(ctx, &name, kind);
            if is_dir && !name.ends_with(b"/") {
                name.push(b'/');
            }
        }
        let name = strip_components(&name, self.strip)?;
        (!name.is_empty()).then(|| name.to_vec())
    }
}

/// Returns a name without its first `count` components, each with the slash after it. Returns
/// `None` if one has no slash after it.
fn strip_components(name: &[u8], count: usize) -> Option<&[u8]> {
    let mut rest = name;
    for _ in 0..count {
        let start = rest.iter().position(|c| *c != b'/')?;
        let slash = rest[start..].iter().position(|c| *c == b'/')?;
        rest = &rest[start + slash + 1..];
    }
    Some(rest)
}

/// A member operand.
struct WantedMember {
    name: Vec<u8>,
    pattern: Option<NamePattern>,
    /// Whether the operand also selects the contents of a directory with this name.
    recursive: bool,
    count: u64,
}

/// The member operands of a run that reads an archive, with the number of members found for each.
pub struct WantedMembers {
    list: Vec<WantedMember>,
    occurrence: Option<u64>,
    warns: bool,
}

impl WantedMembers {
    /// Collects member operands. The flag of each says whether it includes the contents of a
    /// directory.
    pub fn new(
        operands: impl Iterator<Item = (Vec<u8>, bool)>,
        rules: PatternRules,
        occurrence: Option<u64>,
    ) -> WantedMembers {
        let list = operands.map(|(name, recursive)| {
            let name = strip_slashes(&name).to_vec();
            let has_rules = rules.wildcards || !rules.anchored || rules.ignore_case;
            let glob = has_rules.then(|| rules.compile(&name));
            let pattern = glob.map(|glob| NamePattern { glob, anchored: rules.anchored });
            WantedMember { name, pattern, recursive, count: 0 }
        });
        WantedMembers { list: list.collect(), occurrence, warns: rules.warns }
    }

    /// Returns whether a member is selected, and counts it. It is selected if there are no
    /// operands, or if one matches its name or a directory above it.
    pub fn take_member(&mut self, member: &[u8]) -> bool {
        if self.list.is_empty() {
            return true;
        }
        let member = member.strip_suffix(b"/").unwrap_or(member);
        let mut is_taken = false;
        for wanted in &mut self.list {
            let is_hit = match &wanted.pattern {
                Some(p) => p.matches_name(member),
                None => member
                    .strip_prefix(&wanted.name[..])
                    .is_some_and(|rest| rest.is_empty() || wanted.recursive && rest[0] == b'/'),
            };
            if is_hit {
                wanted.count += 1;
                is_taken |= self.occurrence.is_none_or(|n| n == wanted.count);
            }
        }
        is_taken
    }

    /// Returns whether no further member can be selected, because `--occurrence` is given and each
    /// operand has had that occurrence.
    pub fn is_complete(&self) -> bool {
        let Some(n) = self.occurrence else { return false };
        !self.list.is_empty() && self.list.iter().all(|w| w.count >= n)
    }

    /// Reports operands for which no member was found; returns whether all were found.
    pub fn report_missing(&self, ctx: &mut Ctx<'_>) -> bool {
        let needed = self.occurrence.unwrap_or(1);
        let mut has_all = true;
        let mut is_warned = !self.warns;
        for wanted in self.list.iter().filter(|w| w.count < needed) {
            if !is_warned && wanted.name.iter().any(|c| b"*?[".contains(c)) {
                is_warned = true;
                ctx.error("Pattern matching characters used in file names");
                ctx.error(
                    "Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning",
                );
            }
            let text: &[u8] = match wanted.count {
                0 => b": Not found in archive",
                _ => b": Required occurrence not found in archive",
            };
            ctx.error_bytes(&[&wanted.name, text]);
            has_all = false;
        }
        has_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `tar --exclude` of GNU tar 1.34.
    #[test]
    fn exclusion_is_unanchored() {
        let mut e = Excludes::default();
        e.add_pattern(b"*.o", PatternRules::for_excludes());
        e.add_pattern(b"build/", PatternRules::for_excludes());
        for name in ["a.o", "./x/b.o", "src/build", "build/x", "a/build/deep/y"] {
            assert!(e.matches_name(name.as_bytes()), "{name}");
        }
        for name in ["a.c", "builds", "o"] {
            assert!(!e.matches_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn anchored_patterns_match_from_the_start() {
        let mut e = Excludes::default();
        let rules = PatternRules { anchored: true, ..PatternRules::for_excludes() };
        e.add_pattern(b"e", rules);
        assert!(e.matches_name(b"e/f") && !e.matches_name(b"d/e"));
    }

    #[test]
    fn components_are_stripped() {
        assert_eq!(strip_components(b"a/b/c", 1), Some(&b"b/c"[..]));
        assert_eq!(strip_components(b"a//b", 1), Some(&b"/b"[..]));
        assert_eq!(strip_components(b"a/", 1), Some(&b""[..]));
        assert_eq!(strip_components(b"a", 1), None);
    }

    /// Expected values: the messages of GNU tar 1.34.
    #[test]
    fn what_leads_out_is_split_off() {
        for (name, prefix) in [
            ("/a", "/"),
            ("../a", "../"),
            ("a/../../b", "a/../../"),
            ("//a", "//"),
            ("a", ""),
            ("..", ".."),
            ("a..b/c", ""),
        ] {
            assert_eq!(split_prefix(name.as_bytes()).0, prefix.as_bytes(), "{name}");
        }
    }
}
