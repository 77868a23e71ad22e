//! The map of records, compared with a map of the standard library.

use std::collections::BTreeMap;
use wasibox_snapshot::delta::Id;
use wasibox_snapshot::tree::edit::{Edits, edit_tree};
use wasibox_snapshot::tree::read::{Differences, TreeRecords, find_record};
use wasibox_snapshot::tree::{Record, RecordKey, RecordValue, Root};
use wasibox_snapshot::{MemoryObjects, Objects, SnapshotError};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn all(objects: &dyn Objects, root: &Root) -> Result<Vec<Record>, SnapshotError> {
    let (mut records, mut out) = (TreeRecords::new(objects, root)?, Vec::new());
    while let Some(record) = records.next_record()? {
        out.push(record);
    }
    Ok(out)
}

fn key(n: u64) -> RecordKey {
    let name = format!("{n:05}{}", "x".repeat(n as usize % 60));
    let id = if n.is_multiple_of(3) {
        Id::Given(vec![b"tmp".to_vec().into()])
    } else {
        Id::Made(n % 50)
    };
    match n % 5 {
        0 => RecordKey::for_data(Id::Made(n / 7), n),
        _ => RecordKey::for_entry(id, name),
    }
}

fn value(r: u64) -> RecordValue {
    match r % 4 {
        0 => RecordValue::Bytes(vec![r as u8; r as usize % 900].into()),
        _ => RecordValue::Entry(Id::Made(r)),
    }
}

fn fits(key: &RecordKey, value: RecordValue) -> RecordValue {
    match (&key.part, value) {
        (wasibox_snapshot::tree::RecordPart::Data(_), RecordValue::Entry(_)) => {
            RecordValue::Bytes(vec![1].into())
        }
        (wasibox_snapshot::tree::RecordPart::Entry(_), RecordValue::Bytes(b)) => {
            RecordValue::Entry(Id::Made(b.len() as u64))
        }
        (_, value) => value,
    }
}

#[test]
fn edits_agree_with_a_map() {
    for seed in 0..3 {
        let mut random = Random(seed);
        let (objects, mut root, mut model) = (MemoryObjects::default(), None, BTreeMap::new());
        let mut states = vec![(root, model.clone())];
        for _ in 0..60 {
            let range = [50, 800, 6000][random.below(3) as usize];
            let many = [1, 20, 1500][random.below(3) as usize];
            let removing = random.below(3) == 0;
            let mut edits = Edits::new();
            for _ in 0..random.below(many) + 1 {
                let key = key(random.below(range));
                let value = (!removing && random.below(4) > 0)
                    .then(|| fits(&key, value(random.below(1 << 20))));
                edits.insert(key, value);
            }
            if removing && many == 1500 {
                let from = random.below(range);
                edits.extend(
                    model.keys().skip(from as usize).map(|k: &RecordKey| (k.clone(), None)),
                );
            }
            for (k, v) in &edits {
                match v {
                    Some(v) => drop(model.insert(k.clone(), v.clone())),
                    None => drop(model.remove(k)),
                }
            }
            root = edit_tree(&objects, &root, edits).unwrap();
            assert_eq!(root.is_none(), model.is_empty());
            let want: Vec<Record> = model.clone().into_iter().collect();
            assert!(all(&objects, &root).unwrap() == want, "seed {seed}");
            let k = key(random.below(range));
            assert_eq!(find_record(&objects, &root, &k).unwrap().as_ref(), model.get(&k));
            let mut from = TreeRecords::from(&objects, &root, &k).unwrap();
            let next = model.range(k..).next().map(|(k, v)| (k.clone(), v.clone()));
            assert_eq!(from.next_record().unwrap(), next);
            let (old, before) = &states[random.below(states.len() as u64) as usize];
            compare(&objects, (old, before), (&root, &model));
            states.push((root, model.clone()));
        }
    }
}

fn compare(
    objects: &MemoryObjects,
    (old, before): (&Root, &BTreeMap<RecordKey, RecordValue>),
    (new, after): (&Root, &BTreeMap<RecordKey, RecordValue>),
) {
    let mut keys: Vec<&RecordKey> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut want = keys.into_iter().filter(|k| before.get(k) != after.get(k));
    let mut differences = Differences::new(objects, old, new).unwrap();
    while let Some((k, a, b)) = differences.next_difference().unwrap() {
        assert_eq!(Some(&k), want.next());
        assert_eq!((a.as_ref(), b.as_ref()), (before.get(&k), after.get(&k)));
    }
    assert_eq!(want.next(), None);
}

#[test]
fn a_change_costs_a_page_of_each_level_and_a_difference_too() {
    let objects = MemoryObjects::default();
    let dir = Id::Made(0);
    let edits: Edits = (0..200_000_u64)
        .map(|n| {
            (
                RecordKey::for_entry(dir.clone(), format!("file {n}")),
                Some(RecordValue::Entry(Id::Made(n + 1))),
            )
        })
        .collect();
    let root = edit_tree(&objects, &None, edits).unwrap();
    let (count, bytes) = objects.size();
    let one = Edits::from([(
        RecordKey::for_entry(dir, *b"file 1000"),
        Some(RecordValue::Entry(Id::Made(7))),
    )]);
    let new = edit_tree(&objects, &root, one).unwrap();
    let (more, after) = objects.size();
    assert!(more - count <= 3 && after - bytes < 16 << 10, "{} {}", more - count, after - bytes);
    let mut differences = Differences::new(&objects, &root, &new).unwrap();
    assert!(differences.next_difference().unwrap().is_some());
    assert!(differences.next_difference().unwrap().is_none());
}
