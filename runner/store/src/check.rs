//! Looking whether a store is whole, and what it costs if not.

use crate::db::Db;
use crate::gc::Needed;
use crate::{CommitRow, Error, SESSION, SessionRow, Store, history};
use rusqlite::OptionalExtension;
use std::collections::{BTreeMap, HashMap, HashSet};
use wasibox_snapshot::files::walk;
use wasibox_snapshot::tree::read::Records;
use wasibox_snapshot::tree::{Key, Part, Root, Value};
use wasibox_snapshot::{Commit, Digest, Packed, files};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub objects: u64,
    pub commits: u64,
    /// What SQLite says of its file, if anything.
    pub file: Vec<String>,
    pub damage: Vec<Damage>,
}

/// Something that is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    pub session: String,
    /// Numbers of the commits that have it.
    pub commits: Vec<u64>,
    pub what: Lost,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    /// A file, by path.
    File(Vec<u8>),
    /// All files of those commits: a page of the tree is damaged.
    Files,
    /// What the shell knew.
    Shell,
    /// The memory of the interpreter of that name.
    Cell(String),
    /// All of it: what is written of the commit itself.
    Commit,
    /// The command or the list of changed files.
    Call,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.file.is_empty() && self.damage.is_empty()
    }
}

impl Store {
    /// Hashes every object and follows every reference.
    ///
    /// # Errors
    /// If the store cannot be read at all.
    pub fn check(&self) -> Result<Report, Error> {
        // Alone, so that nothing goes meanwhile.
        self.transaction(|db| {
            let mut report = Report { file: integrity(db)?, ..Report::default() };
            let good = whole(db, &mut report)?;
            let mut all = db.0.prepare_cached(&format!("{SESSION} ORDER BY name"))?;
            let sessions = all.query_map([], SessionRow::of)?.collect::<Result<Vec<_>, _>>()?;
            let mut checked = HashSet::new();
            let mut costs = HashMap::new();
            for session in sessions {
                let mut lost: BTreeMap<Lost, Vec<u64>> = BTreeMap::new();
                for id in history::all(db, &session)? {
                    report.commits += u64::from(checked.insert(id));
                    let row = match CommitRow::get(db, id) {
                        Ok(row) => row,
                        Err(_) => {
                            lost.entry(Lost::Commit).or_default().push(number(db, id)?);
                            continue;
                        }
                    };
                    let own = costs.entry(id);
                    let own = match own {
                        std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                        std::collections::hash_map::Entry::Vacant(new) => {
                            new.insert(cost(db, &row, &good)?)
                        }
                    };
                    for what in own.iter() {
                        lost.entry(what.clone()).or_default().push(row.commit.number);
                    }
                }
                report.damage.extend(lost.into_iter().map(|(what, commits)| Damage {
                    session: session.name.clone(),
                    commits,
                    what,
                }));
            }
            Ok(report)
        })
    }
}

/// The number of a commit that cannot be read.
fn number(db: &Db, id: i64) -> Result<u64, Error> {
    let number = db.0.query_row("SELECT number FROM commits WHERE id = ?", [id], |r| r.get(0));
    Ok(crate::db::unsigned(number.optional()?.unwrap_or(0)))
}

fn integrity(db: &Db) -> Result<Vec<String>, Error> {
    let mut check = db.0.prepare("PRAGMA integrity_check(20)")?;
    let lines = check.query_map([], |r| r.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// The objects that are what their digests say.
fn whole(db: &Db, report: &mut Report) -> Result<HashSet<Digest>, Error> {
    let mut good = HashSet::new();
    let mut all = db.0.prepare_cached("SELECT digest, len, compressed, bytes FROM objects")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        report.objects += 1;
        let packed = (|| {
            let digest = Digest::from_slice(&row.get::<_, Vec<u8>>(0).ok()?)?;
            let (len, compressed) = (row.get(1).ok()?, row.get(2).ok()?);
            Some((digest, Packed { len, compressed, bytes: row.get(3).ok()? }))
        })();
        let Some((digest, packed)) = packed else { continue };
        if packed.unpacked().is_some_and(|bytes| Digest::of(&bytes) == digest) {
            good.insert(digest);
        }
    }
    Ok(good)
}

/// What of a commit is lost.
fn cost(db: &Db, row: &CommitRow, good: &HashSet<Digest>) -> Result<Vec<Lost>, Error> {
    let commit = &row.commit;
    let mut lost = Vec::new();
    let bad = |digests: &[Digest]| digests.iter().any(|d| !good.contains(d));
    if bad(commit.state.shell.objects()) {
        lost.push(Lost::Shell);
    }
    for cell in &commit.state.cells {
        if cell.blobs().any(|blob| bad(blob.objects())) {
            lost.push(Lost::Cell(cell.name.clone()));
        }
    }
    if bad(commit.call.command.objects()) || bad(commit.call.changed.objects()) {
        lost.push(Lost::Call);
    }
    let (pages, objects) = needed(db, commit.state.files.root)?;
    if !pages || files::check::check(db, &commit.state.files).is_err() {
        lost.push(Lost::Files);
    } else if objects.iter().any(|d| !good.contains(d)) {
        lost.extend(lost_files(db, commit, good)?);
    }
    lost.sort();
    lost.dedup();
    Ok(lost)
}

/// Whether all pages of a tree can be read, and the objects that it needs.
fn needed(db: &Db, root: Root) -> Result<(bool, HashSet<Digest>), Error> {
    let (mut needed, mut pages) = (Needed::default(), true);
    needed.tree(db, root, &mut |_| {
        pages = false;
        Ok(())
    })?;
    Ok((pages, needed.all))
}

fn lost_files(db: &Db, commit: &Commit, good: &HashSet<Digest>) -> Result<Vec<Lost>, Error> {
    let root = &commit.state.files.root;
    let mut lost = Vec::new();
    walk::walk(db, root, &mut |found| {
        let mut records = Records::from(db, root, &Key::data(found.id.clone(), 0))?;
        while let Some((key, value)) = records.advance_within(found.id)? {
            match (key.part, value) {
                (Part::Data(_), Value::Pieces(p))
                    if p.iter().any(|p| !good.contains(&p.object)) =>
                {
                    lost.push(Lost::File(found.path.to_vec()));
                    break;
                }
                _ => {}
            }
        }
        Ok::<_, Error>(())
    })?;
    Ok(lost)
}
