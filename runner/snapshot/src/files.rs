//! From changes of a session to a state ([`Writer`]), from states to changes ([`changes`]).

pub mod check;
mod part;
pub mod walk;

use crate::commit::Files;
use crate::delta::{CHUNK, Change, Delta, Id, Node, What};
use crate::error::Error;
use crate::object::Objects;
use crate::tree::edit::{Edits, edit};
use crate::tree::read::{Differences, Records, find};
use crate::tree::{Key, Part, Record, Root, Value};
use part::{Loader, Run};
use serde_bytes::ByteBuf;

/// Records after which what was collected is written.
const BATCH: usize = 1 << 15;

/// Bytes of content and names after which a delta goes on in another one.
const PART: usize = 1 << 20;

/// Makes a state of another one and the changes after it.
pub struct Writer<'a> {
    objects: &'a dyn Objects,
    files: Files,
    edits: Edits,
    run: Run,
    /// Through the records of the state before the edits.
    known: Option<Records<'a>>,
}

impl<'a> Writer<'a> {
    /// Begins with a state.
    pub fn new(objects: &'a dyn Objects, files: Files) -> Writer<'a> {
        Writer { objects, files, edits: Edits::new(), run: Run::default(), known: None }
    }

    /// Adds changes.
    ///
    /// # Errors
    /// If objects cannot be read or written, or the changes are not of a session.
    pub fn add(&mut self, delta: Delta) -> Result<(), Error> {
        self.files.totals = delta.totals;
        for (id, change) in delta.nodes {
            match change {
                Change::Is(node) => self.node(id, node)?,
                Change::Given => self.forget(&id)?,
                Change::Gone => {
                    self.forget(&id)?;
                    if matches!(id, Id::Given(_)) {
                        self.edits.insert(Key::node(id), Some(Value::Gone));
                    }
                }
            }
            if self.edits.len() > BATCH {
                self.write()?;
            }
        }
        Ok(())
    }

    /// The state.
    ///
    /// # Errors
    /// As [`Writer::add`].
    pub fn finish(mut self) -> Result<Files, Error> {
        self.run.end(self.objects, &mut self.edits)?;
        self.write()?;
        Ok(self.files)
    }

    fn write(&mut self) -> Result<(), Error> {
        let edits = std::mem::take(&mut self.edits);
        self.known = None;
        self.files.root = edit(self.objects, &self.files.root, edits)?;
        Ok(())
    }

    /// Takes all records of a node away.
    fn forget(&mut self, id: &Id) -> Result<(), Error> {
        self.run.end(self.objects, &mut self.edits)?;
        let first = Key::node(id.clone());
        let known = self.edits.range(first.clone()..).take_while(|(key, _)| key.id == *id);
        let known: Vec<Key> = known.map(|(key, _)| key.clone()).collect();
        self.edits.extend(known.into_iter().map(|key| (key, None)));
        let mut records = match self.known.take().filter(|records| records.is_before(&first)) {
            Some(records) => records,
            None => Records::new(self.objects, &self.files.root)?,
        };
        records.seek(&first)?;
        while let Some((key, _)) = records.advance_within(id)? {
            self.edits.insert(key, None);
        }
        self.known = Some(records);
        Ok(())
    }

    fn node(&mut self, id: Id, mut node: Node) -> Result<(), Error> {
        match &mut node.what {
            What::Dir { put, gone, hidden, .. } => {
                for name in gone.drain(..) {
                    self.edits.insert(Key::entry(id.clone(), name.into_vec()), None);
                }
                for name in hidden.drain(..) {
                    self.edits.insert(Key::entry(id.clone(), name.into_vec()), Some(Value::Gone));
                }
                for (name, child) in put.drain(..) {
                    self.edits
                        .insert(Key::entry(id.clone(), name.into_vec()), Some(Value::Entry(child)));
                }
            }
            What::File { put, gone, .. } => {
                if !gone.is_empty() {
                    self.run.end(self.objects, &mut self.edits)?;
                }
                for index in gone.drain(..) {
                    self.edits.insert(Key::data(id.clone(), index), None);
                }
                for (index, bytes) in put.drain(..) {
                    self.run.add(self.objects, &mut self.edits, &id, index, &bytes)?;
                }
            }
            What::Symlink(_) | What::Fifo | What::Same => {}
        }
        self.edits.insert(Key::node(id), Some(Value::Node(Box::new(node))));
        Ok(())
    }
}

/// Tells `emit` how to make the files `new` of the files `old`; of a new session's if `old` is the
/// empty state. It costs what differs, and all of a directory of the image in which something does.
///
/// # Errors
/// If objects cannot be read; what `emit` says first.
pub fn changes<E: From<Error>>(
    objects: &dyn Objects,
    old: &Files,
    new: &Files,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<(), E> {
    tell(objects, old, new, Loader::new(objects), emit).map(drop)
}

/// The same for a new session and a store that is damaged: bytes of objects that are damaged or missing are
/// zeros. Gives the files that have such.
///
/// # Errors
/// As [`changes`], but for such objects.
pub fn salvage<E: From<Error>>(
    objects: &dyn Objects,
    files: &Files,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<Vec<Id>, E> {
    tell(objects, &Files::default(), files, Loader::forgiving(objects), emit)
}

fn tell<E: From<Error>>(
    objects: &dyn Objects,
    old: &Files,
    new: &Files,
    loader: Loader<'_>,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<Vec<Id>, E> {
    let delta = Delta { totals: new.totals, nodes: Vec::new() };
    let records = Records::new(objects, &new.root)?;
    let lost = Vec::new();
    let mut teller = Teller { new: &new.root, records, loader, lost, delta, size: 0, emit };
    let mut all = Differences::new(objects, &old.root, &new.root)?;
    let mut next = all.advance()?;
    while let Some((key, before, after)) = next {
        let id = key.id.clone();
        if matches!(id, Id::Given(_)) {
            next = all.advance()?;
            while next.as_ref().is_some_and(|(key, ..)| key.id == id) {
                next = all.advance()?;
            }
            teller.given(id, old.root.is_some())?;
            continue;
        }
        let mut node = Vec::new();
        let head = if key.part == Part::Node {
            after
        } else {
            node.push((key.part, before, after));
            find(objects, teller.new, &Key::node(id.clone()))?
        };
        // Its parts follow; many of a large file, so they are told as they come.
        let mut state = teller.begin(id.clone(), head)?;
        loop {
            for (part, _, after) in node.drain(..) {
                state = teller.part(state, part, after)?;
            }
            next = all.advance()?;
            match next.take_if(|(key, ..)| key.id == id) {
                Some((key, before, after)) => node.push((key.part, before, after)),
                None => break,
            }
        }
        teller.end(state)?;
    }
    if teller.delta.nodes.is_empty() && old == new {
        return Ok(teller.lost);
    }
    teller.flush()?;
    Ok(teller.lost)
}

/// A node that is being told of.
struct Telling {
    id: Id,
    /// None for one that is gone.
    node: Option<Node>,
}

struct Teller<'a, E> {
    new: &'a Root,
    records: Records<'a>,
    loader: Loader<'a>,
    /// Files with bytes that could not be had.
    lost: Vec<Id>,
    delta: Delta,
    size: usize,
    emit: &'a mut dyn FnMut(Delta) -> Result<(), E>,
}

impl<E: From<Error>> Teller<'_, E> {
    /// A node that the session began with: as it began, and then all that is known of it.
    fn given(&mut self, id: Id, again: bool) -> Result<(), E> {
        if again {
            self.push(id.clone(), Change::Given, 0)?;
        }
        // They come in their order.
        self.records.seek(&Key::node(id.clone()))?;
        let Some((key, value)) = self.records.advance_within(&id)? else { return Ok(()) };
        if key.part != Part::Node {
            return Err(Error::Malformed("parts of no node").into());
        }
        let mut state = self.begin(id.clone(), Some(value))?;
        while let Some((key, value)) = self.records.advance_within(&id)? {
            state = self.part(state, key.part, Some(value))?;
        }
        self.end(state)
    }

    fn begin(&mut self, id: Id, head: Option<Value>) -> Result<Telling, E> {
        match head {
            Some(Value::Node(node)) => Ok(Telling { id, node: Some(*node) }),
            Some(Value::Gone) | None => Ok(Telling { id, node: None }),
            Some(_) => Err(Error::Malformed("a record").into()),
        }
    }

    fn part(&mut self, mut state: Telling, part: Part, value: Option<Value>) -> Result<Telling, E> {
        // What was of a node that is gone now.
        let Some(node) = &mut state.node else {
            let gone = value.is_none();
            return if gone { Ok(state) } else { Err(Error::Malformed("parts of no node").into()) };
        };
        match (&mut node.what, part, value) {
            (What::Dir { gone, .. }, Part::Entry(name), None) => gone.push(name),
            (What::Dir { hidden, .. }, Part::Entry(name), Some(Value::Gone)) => hidden.push(name),
            (What::Dir { put, .. }, Part::Entry(name), Some(Value::Entry(child))) => {
                put.push((name, child));
            }
            (What::File { gone, .. }, Part::Data(index), None) => gone.push(index),
            (What::File { put, .. }, Part::Data(index), Some(value)) => {
                put.push((index, ByteBuf::from(self.loader.part(value)?)));
                if std::mem::take(&mut self.loader.forgave) && self.lost.last() != Some(&state.id) {
                    self.lost.push(state.id.clone());
                }
            }
            // Of a node that has become another one.
            (_, _, None) => {}
            _ => return Err(Error::Malformed("parts of another kind of node").into()),
        }
        if node.what_is_large() {
            let rest = node.without_lists();
            let full = std::mem::replace(node, rest);
            let size = full.weight();
            self.push(state.id.clone(), Change::Is(full), size)?;
        }
        Ok(state)
    }

    fn end(&mut self, state: Telling) -> Result<(), E> {
        let (change, size) = match state.node {
            Some(node) => {
                let size = node.weight();
                (Change::Is(node), size)
            }
            None => (Change::Gone, 0),
        };
        self.push(state.id, change, size)
    }

    fn push(&mut self, id: Id, change: Change, size: usize) -> Result<(), E> {
        self.delta.nodes.push((id, change));
        self.size += size + 64;
        if self.size > PART { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), E> {
        self.size = 0;
        let nodes = std::mem::take(&mut self.delta.nodes);
        (self.emit)(Delta { totals: self.delta.totals, nodes })
    }
}

impl Node {
    /// Whether it is time to tell of it. Kept cheap: looked at after each part.
    fn what_is_large(&self) -> bool {
        match &self.what {
            What::Dir { put, gone, hidden, .. } => {
                put.len() + gone.len() + hidden.len() >= PART / 256
            }
            What::File { put, gone, .. } => {
                put.len() >= PART / CHUNK as usize || gone.len() >= PART / 16
            }
            _ => false,
        }
    }

    fn without_lists(&self) -> Node {
        let what = match &self.what {
            What::Dir { parent, .. } => {
                let parent = parent.clone();
                What::Dir { parent, put: Vec::new(), gone: Vec::new(), hidden: Vec::new() }
            }
            What::File { len, base, program, .. } => {
                let (len, base, program) = (*len, *base, *program);
                What::File { len, base, program, put: Vec::new(), gone: Vec::new() }
            }
            what => what.clone(),
        };
        Node { what, ..*self }
    }
}

/// The bytes of a file from `from` on: what was written, over what it has of the image's, which are `image`.
/// Fewer than `most` at the end of the file.
///
/// # Errors
/// If objects cannot be read.
pub fn read(
    objects: &dyn Objects,
    root: &Root,
    id: &Id,
    node: &Node,
    from: u64,
    most: usize,
    image: &[u8],
) -> Result<Vec<u8>, Error> {
    let What::File { len, .. } = &node.what else { return Err(Error::Malformed("not a file")) };
    let size = len.saturating_sub(from).min(most as u64) as usize;
    let mut out = vec![0; size];
    let visible = usize::try_from(from).ok().and_then(|from| image.get(from..)).unwrap_or_default();
    let n = visible.len().min(size);
    out[..n].copy_from_slice(&visible[..n]);
    let mut loader = Loader::new(objects);
    let mut records = Records::from(objects, root, &Key::data(id.clone(), from / CHUNK))?;
    while let Some((Key { part: Part::Data(index), .. }, value)) = records.advance_within(id)? {
        let begin = index.saturating_mul(CHUNK);
        if begin >= from + size as u64 {
            break;
        }
        let mut bytes = loader.part(value)?;
        // A part hides all that the image has there.
        bytes.resize(CHUNK as usize, 0);
        let skip = from.saturating_sub(begin) as usize;
        let at = begin.saturating_sub(from) as usize;
        let n = (bytes.len() - skip).min(size - at);
        out[at..at + n].copy_from_slice(&bytes[skip..skip + n]);
    }
    Ok(out)
}

/// The node of that name; none if no record has it.
///
/// # Errors
/// If objects cannot be read.
pub fn node(objects: &dyn Objects, root: &Root, id: &Id) -> Result<Option<Record>, Error> {
    let key = Key::node(id.clone());
    Ok(find(objects, root, &key)?.map(|value| (key, value)))
}
