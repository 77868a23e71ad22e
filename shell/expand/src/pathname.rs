//! The third phase: pathname expansion (POSIX XCU 2.6.6, bash manual 3.5.8). A field that holds an
//! active pattern character becomes the paths that match, or stays as it is.
//!
//! The pattern is split at its slashes; each component turns the list of paths so far into the next
//! one. Only components with active characters read a directory. There is no recursion, neither
//! over components nor over the tree below `**`.

use box_text::glob::{self, GlobOptions, GlobPattern};

use crate::env::{ExpandEnv, ExpandOptions, PathnameEntry};
use crate::error::{ExpandCause, ExpandError};
use crate::field::SplitField;
use crate::value::{Str, VarValue};

/// Fields that are patterns. They become paths when all words of a command have been expanded, so
/// that `rm * $(make one)` finds the file that the command made.
#[derive(Debug, Default)]
pub struct PendingPathnames {
    /// The place among the fields, the pattern, and the field to use if nothing matches.
    patterns: Vec<(usize, Vec<u8>, SplitField)>,
}

impl PendingPathnames {
    /// Appends a field to `out`, or reserves its place there if it is a pattern.
    pub(crate) fn add_field(
        &mut self,
        options: &ExpandOptions,
        field: SplitField,
        out: &mut Vec<Str>,
    ) {
        match if options.noglob { None } else { field.active_pattern(options.extglob) } {
            Some(pattern) => {
                self.patterns.push((out.len(), pattern, field));
                out.push(Str::default());
            }
            None => out.push(field.strip_quotes()),
        }
    }

    /// Replaces the patterns by paths. Returns the place of each pattern and the number of fields
    /// that it adds.
    ///
    /// # Errors
    /// `no match: word` with `failglob`; a budget hit.
    pub fn finish_paths(
        self,
        env: &mut dyn ExpandEnv,
        out: &mut Vec<Str>,
    ) -> Result<Vec<(usize, isize)>, ExpandError> {
        let Some((first, ..)) = self.patterns.first() else { return Ok(Vec::new()) };
        let mut rest = out.split_off((*first).min(out.len())).into_iter();
        let mut next = *first;
        let mut moved = Vec::with_capacity(self.patterns.len());
        for (at, pattern, field) in self.patterns {
            out.extend(rest.by_ref().take(at - next));
            rest.next();
            next = at + 1;
            let before = out.len();
            expand_pathname(env, &pattern, field, out)?;
            moved.push((at, out.len() as isize - before as isize - 1));
        }
        out.extend(rest);
        Ok(moved)
    }
}

/// Replaces a field by the paths its pattern matches, sorted by bytes.
///
/// # Errors
/// `no match: word` with `failglob`; a budget hit.
fn expand_pathname(
    env: &mut dyn ExpandEnv,
    pattern: &[u8],
    field: SplitField,
    out: &mut Vec<Str>,
) -> Result<(), ExpandError> {
    let shell = env.options();
    let (nullglob, failglob) = (shell.nullglob, shell.failglob);
    let mut search = PathnameSearch {
        extglob: shell.extglob,
        globstar: shell.globstar,
        dotglob: shell.dotglob,
        skip_dots: shell.globskipdots,
        nocase: shell.nocaseglob,
        utf8: !shell.c_locale,
        ignore: Vec::new(),
    };
    search.read_globignore(env);
    let mut paths = search.run(env, pattern)?;
    paths.retain(|path| {
        !search.ignore.iter().any(|(pattern, star)| {
            if *star { pattern.shortest_prefix(path).is_some() } else { pattern.is_match(path) }
        })
    });
    if paths.is_empty() {
        if failglob {
            return Err(ExpandCause::NoMatch(field.strip_quotes().to_vec()).into());
        }
        if !nullglob {
            out.push(field.strip_quotes());
        }
        return Ok(());
    }
    paths.sort_unstable();
    paths.dedup();
    out.extend(paths.into_iter().map(Str::new));
    Ok(())
}

struct PathnameSearch {
    extglob: bool,
    globstar: bool,
    dotglob: bool,
    skip_dots: bool,
    nocase: bool,
    utf8: bool,
    /// The patterns of `GLOBIGNORE`. The flag says whether a star at the pattern's end was removed;
    /// such a star matches slashes, too.
    ignore: Vec<(GlobPattern, bool)>,
}

/// A component of the pattern with the slashes after it.
struct Component<'p> {
    text: &'p [u8],
    slashes: &'p [u8],
}

impl PathnameSearch {
    /// Reads `GLOBIGNORE`, which also turns on `dotglob` if it is not null.
    fn read_globignore(&mut self, env: &mut dyn ExpandEnv) {
        let Some(VarValue::Scalar(text)) = env.get(b"GLOBIGNORE") else { return };
        if text.is_empty() {
            return;
        }
        self.dotglob = true;
        self.skip_dots = true;
        let options = GlobOptions {
            extglob: self.extglob,
            ignore_case: self.nocase,
            utf8: self.utf8,
            no_slash: true,
            ..GlobOptions::default()
        };
        let ignored = |pattern: &[u8]| match pattern.strip_suffix(b"*") {
            Some(head) if !head.ends_with(b"\\") => (GlobPattern::new(head, options), true),
            _ => (GlobPattern::new(pattern, options), false),
        };
        self.ignore = split_colons(&text).map(ignored).collect();
    }

    fn pattern_options(&self) -> GlobOptions {
        GlobOptions {
            extglob: self.extglob,
            ignore_case: self.nocase,
            utf8: self.utf8,
            period: !self.dotglob,
            ..GlobOptions::default()
        }
    }

    fn run(&self, env: &mut dyn ExpandEnv, pattern: &[u8]) -> Result<Vec<Vec<u8>>, ExpandError> {
        let root = pattern.iter().take_while(|&&b| b == b'/').count();
        let mut paths: Vec<Vec<u8>> = vec![pattern[..root].to_vec()];
        // Whether the paths are known to exist.
        let mut exists = true;
        let components = pattern_components(&pattern[root..]);
        let mut k = 0;
        while let Some(component) = components.get(k) {
            let last = k + 1 == components.len();
            k += 1;
            if self.globstar && component.text == b"**" {
                // `**/**` has the same meaning as `**`.
                let repeats = components[k..].iter().take_while(|c| c.text == b"**").count();
                k += repeats;
                let component = &components[k - 1];
                paths = self.match_tree(env, paths, component.slashes, k == components.len())?;
                exists = true;
            } else if glob::has_magic(component.text, self.extglob) {
                paths = self.match_directory(env, paths, component, last)?;
                exists = true;
            } else {
                // A backslash at the component's end quotes nothing and is dropped.
                let open = component.text.iter().rev().take_while(|b| **b == b'\\').count() % 2;
                let name = glob::unescape_pattern(&component.text[..component.text.len() - open]);
                for path in &mut paths {
                    path.extend_from_slice(&name);
                    path.extend_from_slice(component.slashes);
                }
                exists = false;
            }
            if paths.is_empty() {
                return Ok(paths);
            }
        }
        if !exists {
            paths.retain(|path| {
                if path.ends_with(b"/") { env.is_dir(path) } else { env.path_exists(path) }
            });
        }
        Ok(paths)
    }

    /// Returns the entries of each directory that match one component.
    fn match_directory(
        &self,
        env: &mut dyn ExpandEnv,
        paths: Vec<Vec<u8>>,
        component: &Component<'_>,
        last: bool,
    ) -> Result<Vec<Vec<u8>>, ExpandError> {
        let pattern = GlobPattern::new(component.text, self.pattern_options());
        let mut out = Vec::new();
        for path in paths {
            let Some(mut entries) = env.read_dir(directory_of(&path)) else { continue };
            if !self.skip_dots {
                entries.extend(
                    [b".", b"..".as_slice()]
                        .map(|n| PathnameEntry { name: n.to_vec(), is_dir: Some(true) }),
                );
            }
            for entry in entries {
                if !pattern.is_match(&entry.name)
                    || (self.is_dots(&entry.name) && !component.text.starts_with(b"."))
                {
                    continue;
                }
                let mut found = [path.as_slice(), &entry.name].concat();
                if (!last || !component.slashes.is_empty())
                    && !entry.is_dir.unwrap_or_else(|| env.is_dir(&found))
                {
                    continue;
                }
                if !component.slashes.is_empty() {
                    // A path gets one slash here, even if the pattern has several.
                    found.push(b'/');
                }
                env.charge(found.len())?;
                out.push(found);
            }
        }
        Ok(out)
    }

    fn is_dots(&self, name: &[u8]) -> bool {
        matches!(name, b"." | b"..")
    }

    /// Matches `**`: each directory and all directories below it, and as the last component all
    /// files, too. Symbolic links are listed but not followed.
    fn match_tree(
        &self,
        env: &mut dyn ExpandEnv,
        paths: Vec<Vec<u8>>,
        slashes: &[u8],
        last: bool,
    ) -> Result<Vec<Vec<u8>>, ExpandError> {
        let files = last && slashes.is_empty();
        let mut out = Vec::new();
        for root in paths {
            if !root.is_empty() && !env.is_dir(&root) {
                continue;
            }
            let mut todo = vec![root.clone()];
            // `a/**` lists `a/`; `**` alone does not list the empty path.
            if !last || !root.is_empty() {
                out.push(root);
            }
            while let Some(path) = todo.pop() {
                let Some(entries) = env.read_dir(directory_of(&path)) else { continue };
                for entry in entries {
                    if entry.name.starts_with(b".") && !self.dotglob {
                        continue;
                    }
                    let mut found = [path.as_slice(), &entry.name].concat();
                    env.charge(found.len())?;
                    let is_dir = entry.is_dir == Some(true);
                    if is_dir {
                        todo.push([found.as_slice(), b"/"].concat());
                    }
                    if files {
                        out.push(found);
                    } else if is_dir || (last && env.is_dir(&found)) {
                        found.push(b'/');
                        out.push(found);
                    }
                }
            }
        }
        Ok(out)
    }
}

fn directory_of(path: &[u8]) -> &[u8] {
    if path.is_empty() { b"." } else { path }
}

/// Splits a pattern without leading slashes into components. A backslash before a slash is dropped,
/// because a slash cannot be quoted in a path.
fn pattern_components(pattern: &[u8]) -> Vec<Component<'_>> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'/').unwrap_or(rest.len());
        let slashes = rest[end..].iter().take_while(|&&b| b == b'/').count();
        let text = &rest[..end];
        out.push(Component { text, slashes: &rest[end..end + slashes] });
        rest = &rest[end + slashes..];
    }
    out
}

/// Splits the patterns of `GLOBIGNORE`: colons within brackets and after backslashes do not
/// separate.
fn split_colons(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        let mut bracket = false;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => bracket = true,
                b']' => bracket = false,
                b':' if !bracket => break,
                _ => {}
            }
            at += 1;
        }
        let at = at.min(text.len());
        rest = text.get(at + 1..);
        Some(&text[..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_keep_their_slashes() {
        let parts = pattern_components(b"a*//b/[x]");
        let parts: Vec<_> = parts.iter().map(|c| (c.text, c.slashes)).collect();
        let wanted: [(&[u8], &[u8]); 3] = [(b"a*", b"//"), (b"b", b"/"), (b"[x]", b"")];
        assert_eq!(parts, wanted);
    }

    #[test]
    fn colons_in_brackets_do_not_separate() {
        let parts: Vec<_> = split_colons(b"*.o:[a:b]:x\\:y").collect();
        let wanted: [&[u8]; 3] = [b"*.o", b"[a:b]", b"x\\:y"];
        assert_eq!(parts, wanted);
    }
}
