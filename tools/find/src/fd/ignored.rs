//! Lists of what is left out: `.fdignore`, `.ignore`, `.gitignore`, a repository's and the user's
//! own list, files of `--ignore-file`. The rules are those of the crate `ignore`, whose walk is not
//! used, because it knows no loops of links on WASI.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_applet::Ctx;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::options::FdOptions;
use super::{Fault, print_error};

/// The lists of one folder, and those above.
pub(crate) struct FolderRules {
    above: Option<Rc<FolderRules>>,
    custom: Gitignore,
    plain: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
}

/// The lists for all folders.
pub(crate) struct GlobalRules {
    git: Gitignore,
    given: Vec<Gitignore>,
    /// `--exclude`, which nothing overrules.
    excludes: Gitignore,
}

/// Whether a file is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A rule leaves it out.
    Left,
    /// A rule with `!` takes it in, even if it is hidden.
    Taken,
    /// No rule is about it.
    Open,
}

impl GlobalRules {
    /// Reads the lists that do not depend on a folder.
    pub(crate) fn read(ctx: &mut Ctx<'_>, options: &FdOptions) -> Result<GlobalRules, Fault> {
        let mut excludes = GitignoreBuilder::new(&options.roots[0].path);
        for pattern in &options.excludes {
            let added = excludes.add_line(None, pattern);
            added.map_err(|e| Fault(format!("Malformed exclude pattern: {e}")))?;
        }
        let excludes =
            excludes.build().map_err(|_| Fault("Mismatch in exclude patterns".to_string()))?;
        let folder = match (ctx.env.get(b"XDG_CONFIG_HOME"), ctx.env.get(b"HOME")) {
            (Some(dir), _) if !dir.is_empty() => Some(ctx.path(dir)),
            (_, Some(home)) => Some(ctx.path(home).join(".config")),
            _ => None,
        };
        let mut files = options.ignore_files.clone();
        files.extend(folder.as_ref().filter(|_| options.reads_global).map(|f| f.join("fd/ignore")));
        let mut given = Vec::new();
        for (n, file) in files.iter().enumerate() {
            if n >= options.ignore_files.len() && !file.is_file() {
                continue;
            }
            let mut list = GitignoreBuilder::new(&ctx.cwd);
            if let Some(e) = list.add(file)
                && !matches!(e, ignore::Error::Partial(_))
            {
                print_error(ctx, &format!("Malformed pattern in custom ignore file. {e}."));
            }
            given.push(list.build().unwrap_or_else(|_| Gitignore::empty()));
        }
        let git = match folder.filter(|_| options.reads_vcs) {
            Some(folder) => read_list(&ctx.cwd, &folder.join("git/ignore")),
            None => Gitignore::empty(),
        };
        Ok(GlobalRules { git, given, excludes })
    }

    /// Returns what the rules say about a file in the folder of `rules`.
    pub(crate) fn judge(
        &self,
        rules: &FolderRules,
        options: &FdOptions,
        path: &Path,
        is_dir: bool,
    ) -> Verdict {
        if self.excludes.matched(path, is_dir).is_ignore() {
            return Verdict::Left;
        }
        let in_git = !options.needs_git || rules.and_above().any(|r| r.is_repository);
        let mut first: [Verdict; 4] = [Verdict::Open; 4];
        let mut in_repository = true;
        for folder in rules.and_above() {
            let lists = [&folder.custom, &folder.plain, &folder.git, &folder.exclude];
            for (n, list) in lists.into_iter().enumerate() {
                let counts = n < 2 || (in_git && in_repository);
                if counts && first[n] == Verdict::Open {
                    first[n] = verdict(&list.matched(path, is_dir));
                }
            }
            in_repository &= !folder.is_repository;
        }
        let git = if in_git { verdict(&self.git.matched(path, is_dir)) } else { Verdict::Open };
        let given = self.given.iter().rev().map(|list| verdict(&list.matched(path, is_dir)));
        let mut all = first.into_iter().chain([git]).chain(given);
        all.find(|v| *v != Verdict::Open).unwrap_or(Verdict::Open)
    }
}

impl FolderRules {
    /// Reads the lists of a folder below another one.
    pub(crate) fn read(
        folder: &Path,
        options: &FdOptions,
        above: Option<Rc<FolderRules>>,
    ) -> Rc<FolderRules> {
        let list = |wanted: bool, name: &str| {
            if wanted { read_list(folder, &folder.join(name)) } else { Gitignore::empty() }
        };
        let reads = options.reads_ignore;
        Rc::new(FolderRules {
            custom: list(reads, ".fdignore"),
            plain: list(reads, ".ignore"),
            git: list(options.reads_vcs, ".gitignore"),
            exclude: list(options.reads_vcs, ".git/info/exclude"),
            is_repository: options.reads_vcs && folder.join(".git").exists(),
            above,
        })
    }

    /// Reads the lists of a root and, if the options want them, of all folders above it.
    pub(crate) fn read_root(root: &Path, options: &FdOptions) -> Rc<FolderRules> {
        let whole = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let mut above: Vec<PathBuf> = whole.ancestors().skip(1).map(Path::to_path_buf).collect();
        if !options.reads_parents || !(options.reads_ignore || options.reads_vcs) {
            above.clear();
        }
        let mut rules = None;
        for folder in above.iter().rev() {
            rules = Some(FolderRules::read(folder, options, rules));
        }
        FolderRules::read(root, options, rules)
    }

    fn and_above(&self) -> impl Iterator<Item = &FolderRules> {
        std::iter::successors(Some(self), |rules| rules.above.as_deref())
    }
}

/// Reads a list for files below `root`; one that does not exist is empty.
fn read_list(root: &Path, file: &Path) -> Gitignore {
    if !file.is_file() {
        return Gitignore::empty();
    }
    let mut list = GitignoreBuilder::new(root);
    let _ = list.add(file);
    list.build().unwrap_or_else(|_| Gitignore::empty())
}

fn verdict<T>(found: &Match<T>) -> Verdict {
    match found {
        Match::Ignore(_) => Verdict::Left,
        Match::Whitelist(_) => Verdict::Taken,
        Match::None => Verdict::Open,
    }
}
