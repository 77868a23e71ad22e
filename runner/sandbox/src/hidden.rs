//! An image without some of its paths ([`crate::Policy::hidden`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use wasibox_vfs::{BaseFile, BaseKind, Folder, FolderEntry};

/// A tree of names that leads to the hidden paths: a name without names below it is hidden.
#[derive(Debug, Default)]
pub struct HiddenPaths(BTreeMap<Vec<u8>, Arc<HiddenPaths>>);

impl HiddenPaths {
    /// Builds the tree of these paths.
    pub fn new(paths: &[String]) -> Arc<HiddenPaths> {
        let mut root = HiddenPaths::default();
        for path in paths {
            let mut at = &mut root;
            for name in path.split('/').filter(|name| !name.is_empty()) {
                let next = at.0.entry(name.as_bytes().to_vec()).or_default();
                // There is no other reference to a node while the tree is built.
                let Some(next) = Arc::get_mut(next) else { break };
                at = next;
            }
        }
        Arc::new(root)
    }

    /// Returns the file without its hidden parts; `None` if it is hidden itself.
    pub fn of(self: &Arc<HiddenPaths>, file: BaseFile) -> Option<BaseFile> {
        let mut at = self.clone();
        for name in file.path.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
            let Some(next) = at.0.get(name).cloned() else { return Some(file) };
            if next.0.is_empty() {
                return None;
            }
            at = next;
        }
        Some(BaseFile { kind: at.within(file.kind), ..file })
    }

    fn within(self: Arc<HiddenPaths>, kind: BaseKind) -> BaseKind {
        match kind {
            BaseKind::Dir(whole) if !self.0.is_empty() => {
                BaseKind::Dir(Arc::new(FilteredFolder { whole, hidden: self }))
            }
            kind => kind,
        }
    }
}

/// A folder without some of its entries.
struct FilteredFolder {
    whole: Arc<dyn Folder>,
    hidden: Arc<HiddenPaths>,
}

impl Folder for FilteredFolder {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let seen = |e: FolderEntry| match self.hidden.0.get(&e.name) {
            None => Some(e),
            Some(hidden) if hidden.0.is_empty() => None,
            Some(hidden) => Some(FolderEntry { kind: hidden.clone().within(e.kind), ..e }),
        };
        Ok(self.whole.list_entries()?.into_iter().filter_map(seen).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the entries `a` and `b`, each of which is the folder itself.
    struct EndlessFolder;

    impl Folder for EndlessFolder {
        fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
            let dir = |name: &str| FolderEntry {
                name: name.into(),
                mode: 0o755,
                time: 0,
                kind: BaseKind::Dir(Arc::new(EndlessFolder)),
            };
            Ok(vec![dir("a"), dir("b")])
        }
    }

    fn names(kind: &BaseKind, path: &[&str]) -> Vec<String> {
        let BaseKind::Dir(folder) = kind else { panic!("a folder") };
        let listed = folder.list_entries().unwrap();
        match path {
            [] => listed.iter().map(|e| String::from_utf8(e.name.clone()).unwrap()).collect(),
            [first, rest @ ..] => {
                let next = listed.iter().find(|e| e.name == first.as_bytes()).unwrap();
                names(&next.kind, rest)
            }
        }
    }

    #[test]
    fn hidden_paths_are_not_listed() {
        let file = |path: &str| BaseFile {
            path: path.into(),
            mode: 0o755,
            time: 0,
            kind: BaseKind::Dir(Arc::new(EndlessFolder)),
        };
        let hidden = HiddenPaths::new(&["/a/b".into(), "/b/a/a".into(), "/none/x".into()]);
        let root = hidden.of(file("/")).unwrap().kind;
        assert_eq!(names(&root, &[]), ["a", "b"]);
        assert_eq!(names(&root, &["a"]), ["a"]);
        assert_eq!(names(&root, &["a", "a"]), ["a", "b"]);
        assert_eq!(names(&root, &["b", "a"]), ["b"]);
        assert_eq!(names(&root, &["b", "b", "a"]), ["a", "b"]);
        assert!(hidden.of(file("/a/b")).is_none() && hidden.of(file("/a/b/c")).is_none());
        assert_eq!(names(&hidden.of(file("/a")).unwrap().kind, &[]), ["a"]);
        assert_eq!(names(&hidden.of(file("/x/y")).unwrap().kind, &[]), ["a", "b"]);
    }
}
