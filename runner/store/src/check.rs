//! Checks whether a store is whole, and reports which commits damage affects.

use crate::db::Db;
use crate::gc::NeededObjects;
use crate::{CommitRow, SESSION, SessionRow, Store, StoreError, history};
use rusqlite::OptionalExtension;
use std::collections::{BTreeMap, HashMap, HashSet};
use wasibox_snapshot::files::walk;
use wasibox_snapshot::tree::read::TreeRecords;
use wasibox_snapshot::tree::{RecordKey, RecordPart, RecordValue, Root};
use wasibox_snapshot::{Commit, Digest, StoredObject, files};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub objects: u64,
    pub commits: u64,
    /// Messages of SQLite's own check of the file; empty if it is sound.
    pub file: Vec<String>,
    pub damage: Vec<Damage>,
}

/// A part of the store that is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    pub session: String,
    /// Numbers of the commits that contain it.
    pub commits: Vec<u64>,
    pub what: LostPart,
}

/// The kind of a lost part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LostPart {
    /// A file, by path.
    File(Vec<u8>),
    /// All files of those commits, because a page of the tree is damaged.
    Files,
    /// The state of the shell.
    Shell,
    /// The memory of the interpreter with that name.
    Cell(String),
    /// The whole commit, because its own record is damaged.
    Commit,
    /// The command or the list of changed files.
    Call,
}

impl CheckReport {
    /// Returns whether the store has no damage.
    pub fn is_whole(&self) -> bool {
        self.file.is_empty() && self.damage.is_empty()
    }
}

impl Store {
    /// Hashes every object and follows every reference.
    ///
    /// # Errors
    /// If the store cannot be read at all.
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        if let Some(remote) = self.remote() {
            remote.read_all(self)?;
        }
        self.read_with(CheckReport::make)
    }
}

impl CheckReport {
    fn make(db: &Db) -> Result<CheckReport, StoreError> {
        let mut report = CheckReport { file: check_integrity(db)?, ..CheckReport::default() };
        let good = whole_objects(db, &mut report)?;
        let mut all = db.0.prepare_cached(&format!("{SESSION} ORDER BY name"))?;
        let sessions = all.query_map([], SessionRow::from_row)?.collect::<Result<Vec<_>, _>>()?;
        let mut checked = HashSet::new();
        let mut costs = HashMap::new();
        for session in sessions {
            let mut lost: BTreeMap<LostPart, Vec<u64>> = BTreeMap::new();
            for id in history::all_commits(db, &session)? {
                report.commits += u64::from(checked.insert(id));
                let row = match CommitRow::get(db, id) {
                    Ok(row) => row,
                    Err(_) => {
                        lost.entry(LostPart::Commit).or_default().push(commit_number(db, id)?);
                        continue;
                    }
                };
                let own = costs.entry(id);
                let own = match own {
                    std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::hash_map::Entry::Vacant(new) => {
                        new.insert(lost_parts(db, &row, &good)?)
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
    }
}

/// Returns the number of a commit whose record cannot be read, or 0 if its row is missing.
fn commit_number(db: &Db, id: i64) -> Result<u64, StoreError> {
    let number = db.0.query_row("SELECT number FROM commits WHERE id = ?", [id], |r| r.get(0));
    Ok(crate::db::to_unsigned(number.optional()?.unwrap_or(0)))
}

fn check_integrity(db: &Db) -> Result<Vec<String>, StoreError> {
    let mut check = db.0.prepare("PRAGMA integrity_check(20)")?;
    let lines = check.query_map([], |r| r.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Returns the objects whose bytes match their digests, and records the others in the report.
fn whole_objects(db: &Db, report: &mut CheckReport) -> Result<HashSet<Digest>, StoreError> {
    let mut good = HashSet::new();
    let mut all = db.0.prepare_cached("SELECT digest, len, compressed, bytes FROM objects")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        report.objects += 1;
        let packed = (|| {
            let digest = Digest::from_slice(&row.get::<_, Vec<u8>>(0).ok()?)?;
            let (len, compressed) = (row.get(1).ok()?, row.get(2).ok()?);
            Some((digest, StoredObject { len, compressed, bytes: row.get(3).ok()? }))
        })();
        let Some((digest, packed)) = packed else { continue };
        if packed.unpack_object().is_some_and(|bytes| Digest::hash_bytes(&bytes) == digest) {
            good.insert(digest);
        }
    }
    Ok(good)
}

/// Returns the parts of a commit that are lost.
fn lost_parts(
    db: &Db,
    row: &CommitRow,
    good: &HashSet<Digest>,
) -> Result<Vec<LostPart>, StoreError> {
    let commit = &row.commit;
    let mut lost = Vec::new();
    let bad = |digests: &[Digest]| digests.iter().any(|d| !good.contains(d));
    if bad(commit.state.shell.objects()) {
        lost.push(LostPart::Shell);
    }
    for cell in &commit.state.cells {
        if cell.blobs().any(|blob| bad(blob.objects())) {
            lost.push(LostPart::Cell(cell.name.clone()));
        }
    }
    if bad(commit.call.command.objects()) || bad(commit.call.changed.objects()) {
        lost.push(LostPart::Call);
    }
    let (pages, objects) = needed_objects(db, commit.state.files.root)?;
    if !pages || files::check::check_records(db, &commit.state.files).is_err() {
        lost.push(LostPart::Files);
    } else if objects.iter().any(|d| !good.contains(d)) {
        lost.extend(lost_files(db, commit, good)?);
    }
    lost.sort();
    lost.dedup();
    Ok(lost)
}

/// Returns whether all pages of a tree can be read, and the objects that the tree needs.
fn needed_objects(db: &Db, root: Root) -> Result<(bool, HashSet<Digest>), StoreError> {
    let (mut needed, mut pages) = (NeededObjects::default(), true);
    needed.add_tree(db, root, &mut |_| {
        pages = false;
        Ok(())
    })?;
    Ok((pages, needed.all))
}

fn lost_files(
    db: &Db,
    commit: &Commit,
    good: &HashSet<Digest>,
) -> Result<Vec<LostPart>, StoreError> {
    let root = &commit.state.files.root;
    let mut lost = Vec::new();
    walk::walk_tree(db, root, &mut |found| {
        let mut records = TreeRecords::from(db, root, &RecordKey::for_data(found.id.clone(), 0))?;
        while let Some((key, value)) = records.advance_within(found.id)? {
            match (key.part, value) {
                (RecordPart::Data(_), RecordValue::Pieces(p))
                    if p.iter().any(|p| !good.contains(&p.object)) =>
                {
                    lost.push(LostPart::File(found.path.to_vec()));
                    break;
                }
                _ => {}
            }
        }
        Ok::<_, StoreError>(())
    })?;
    Ok(lost)
}
