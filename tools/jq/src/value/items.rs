//! The elements of an array.
//!
//! A slice shares the elements of its array, so that each `.[1:]` in a loop takes constant time, as
//! in jq. A change to a slice first gives it its own elements: without a copy if it is their only
//! owner, and otherwise by a copy.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut, Range};
use std::rc::Rc;

use super::Value;

/// The minimum length of a slice that shares its array. A shorter one, or one that is too small a
/// part of the array, is a copy, so that it does not keep the array in memory.
const SHORTEST: usize = 16;
const SMALLEST_SHARE: usize = 8;

/// The elements of an array. This is a separate type because of its `Drop`: a program can build
/// arrays nested a million deep, and dropping those recursively would overflow the stack.
#[derive(Clone, Debug, Default)]
pub struct JqItems(ItemStore);

#[derive(Debug)]
enum ItemStore {
    /// The elements from `start` on. Those before it were cut off by slices and are null.
    Own { items: Vec<Value>, start: usize },
    /// A slice of the elements of another array.
    Slice { whole: Rc<JqItems>, range: Range<usize> },
}

impl Default for ItemStore {
    fn default() -> ItemStore {
        ItemStore::Own { items: Vec::new(), start: 0 }
    }
}

impl Clone for ItemStore {
    fn clone(&self) -> ItemStore {
        match self {
            ItemStore::Own { items, start } => {
                ItemStore::Own { items: items[*start..].to_vec(), start: 0 }
            }
            ItemStore::Slice { whole, range } => {
                ItemStore::Slice { whole: whole.clone(), range: range.clone() }
            }
        }
    }
}

impl JqItems {
    /// Creates an array from its elements.
    pub fn from_vec(items: Vec<Value>) -> JqItems {
        JqItems(ItemStore::Own { items, start: 0 })
    }

    /// Returns a part of an array; the range lies within it.
    pub fn slice_items(array: &Rc<JqItems>, range: Range<usize>) -> JqItems {
        let (whole, offset) = match &array.0 {
            ItemStore::Own { .. } => (array, 0),
            ItemStore::Slice { whole, range } => (whole, range.start),
        };
        if range.len() < SHORTEST || range.len() * SMALLEST_SHARE < whole.len() {
            return JqItems::from_vec(array[range].to_vec());
        }
        let range = range.start + offset..range.end + offset;
        JqItems(ItemStore::Slice { whole: whole.clone(), range })
    }

    /// Returns the array's own elements to be changed: a buffer, and the place where they begin in
    /// it.
    fn own_items(&mut self) -> (&mut Vec<Value>, &mut usize) {
        if let ItemStore::Slice { whole, range } = &mut self.0 {
            let range = range.clone();
            let whole = std::mem::take(whole);
            self.0 = match Rc::try_unwrap(whole) {
                Ok(mut whole) => {
                    let (items, start) = whole.own_items();
                    let (mut items, from) = (std::mem::take(items), *start);
                    items.truncate(from + range.end);
                    items[from..from + range.start].fill(Value::Null);
                    ItemStore::Own { items, start: from + range.start }
                }
                Err(shared) => ItemStore::Own { items: shared[range].to_vec(), start: 0 },
            };
        }
        let ItemStore::Own { items, start } = &mut self.0 else {
            unreachable!("a slice was made its own")
        };
        // The elements that were cut off are removed once they are the larger part, so that each
        // remaining one moves rarely.
        if *start > items.len() / 2 {
            items.drain(..*start);
            *start = 0;
        }
        (items, start)
    }

    /// Returns the elements as a vector to be changed.
    pub fn vec_mut(&mut self) -> &mut Vec<Value> {
        let (items, start) = self.own_items();
        items.drain(..*start);
        *start = 0;
        items
    }

    /// Appends an element.
    pub fn push(&mut self, v: Value) {
        self.own_items().0.push(v);
    }

    /// Appends the elements of another array, without copies if it has no other owner.
    pub fn append_items(&mut self, more: Rc<JqItems>) {
        let items = self.own_items().0;
        match Rc::try_unwrap(more) {
            Ok(mut more) => items.append(more.vec_mut()),
            Err(more) => items.extend_from_slice(&more),
        }
    }

    /// Makes the array at least `len` elements long; new elements are null.
    pub fn reserve_length(&mut self, len: usize) {
        let (items, start) = self.own_items();
        if items.len() < *start + len {
            items.resize(*start + len, Value::Null);
        }
    }

    /// Removes an existing element. This takes constant time for the first and the last one.
    pub fn remove_item(&mut self, at: usize) {
        let (items, start) = self.own_items();
        if at == 0 {
            items[*start] = Value::Null;
            *start += 1;
        } else {
            items.remove(*start + at);
        }
    }
}

impl Deref for JqItems {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        match &self.0 {
            ItemStore::Own { items, start } => &items[*start..],
            ItemStore::Slice { whole, range } => &whole[range.clone()],
        }
    }
}

impl DerefMut for JqItems {
    fn deref_mut(&mut self) -> &mut [Value] {
        let (items, start) = self.own_items();
        &mut items[*start..]
    }
}

impl Drop for JqItems {
    fn drop(&mut self) {
        if let ItemStore::Own { items, .. } = &mut self.0
            && !items.is_empty()
        {
            drop_nested(std::mem::take(items));
        }
    }
}

/// Returns the elements of an array, without a copy if it has no other owner.
pub fn into_vec(a: Rc<JqItems>) -> Vec<Value> {
    match Rc::try_unwrap(a) {
        Ok(mut items) => std::mem::take(items.vec_mut()),
        Err(shared) => shared.to_vec(),
    }
}

/// The nesting depth at which values are queued to be dropped instead of being dropped recursively.
const DROP_DEPTH: u32 = 200;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LATER: RefCell<Vec<Vec<Value>>> = const { RefCell::new(Vec::new()) };
}

/// Drops values that may be nested deeply.
pub(super) fn drop_nested(values: Vec<Value>) {
    // At the end of the thread, its locals may already be destroyed; the depth is then not counted.
    let Ok(depth) = DEPTH.try_with(Cell::get) else { return };
    if depth >= DROP_DEPTH {
        LATER.with(|l| l.borrow_mut().push(values));
        return;
    }
    DEPTH.with(|d| d.set(depth + 1));
    drop(values);
    if depth == 0 {
        while let Some(values) = LATER.with(|l| l.borrow_mut().pop()) {
            drop(values);
        }
    }
    DEPTH.with(|d| d.set(depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(range: Range<usize>) -> Vec<f64> {
        range.map(|n| n as f64).collect()
    }

    fn shown(items: &JqItems) -> Vec<f64> {
        items.iter().filter_map(Value::as_num).collect()
    }

    #[test]
    fn slices_share_until_they_change() {
        let array = Rc::new(JqItems::from_vec((0..100).map(Value::int).collect()));
        let mut tail = JqItems::slice_items(&array, 10..100);
        let mut inner = JqItems::slice_items(&Rc::new(tail.clone()), 5..80);
        assert_eq!(shown(&inner), numbers(15..90));
        tail.push(Value::int(100));
        assert_eq!(shown(&tail), numbers(10..101));
        inner.remove_item(0);
        inner.remove_item(73);
        assert_eq!(shown(&inner), numbers(16..89));
        assert_eq!(shown(&array), numbers(0..100));
    }

    #[test]
    fn a_queue_stays_small() {
        let mut queue = Rc::new(JqItems::from_vec((0..50).map(Value::int).collect()));
        for n in 50..1000 {
            queue = Rc::new(JqItems::slice_items(&queue, 1..50));
            Rc::make_mut(&mut queue).push(Value::int(n));
            assert_eq!(queue[0].as_num(), Some((n - 49) as f64));
        }
        assert_eq!(shown(&queue), numbers(950..1000));
        let ItemStore::Own { items, .. } = &queue.0 else { panic!("not its own") };
        assert!(items.len() <= 101);
    }
}
