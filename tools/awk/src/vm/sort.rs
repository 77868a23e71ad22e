//! `asort`, `asorti`, and the order of `for (k in a)` under PROCINFO["sorted_in"].

use std::cmp::Ordering;

use super::{Cell, Machine, Result};
use crate::array::{ArrayRef, Key, Slot};
use crate::error::RunError;
use crate::special::Special;
use crate::value::{Value, compare};

/// Deepest nesting of sorts within comparison functions.
const MAX_SORTS: usize = 30;

/// An element taken out for sorting.
struct Item {
    key: Key,
    slot: Slot,
}

/// Built-in orders (gawk manual 8.1.6).
#[derive(Clone, Copy)]
struct Order {
    by_index: bool,
    kind: Kind,
    descending: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    String,
    Type,
}

fn built_in(name: &[u8]) -> Option<Order> {
    let rest = name.strip_prefix(b"@")?;
    let (by_index, rest) = match rest.strip_prefix(b"ind_") {
        Some(r) => (true, r),
        None => (false, rest.strip_prefix(b"val_")?),
    };
    let (kind, rest) = if let Some(r) = rest.strip_prefix(b"num_") {
        (Kind::Number, r)
    } else if let Some(r) = rest.strip_prefix(b"str_") {
        (Kind::String, r)
    } else {
        (Kind::Type, rest.strip_prefix(b"type_")?)
    };
    let descending = match rest {
        b"asc" => false,
        b"desc" => true,
        _ => return None,
    };
    if by_index && kind == Kind::Type {
        return None;
    }
    Some(Order { by_index, kind, descending })
}

/// All elements of an array.
fn items(array: &ArrayRef) -> Vec<Item> {
    let a = array.borrow();
    let item = |k: Key| a.get(&k).cloned().map(|slot| Item { key: k, slot });
    a.keys().into_iter().filter_map(item).collect()
}

impl Machine<'_, '_> {
    /// Subscripts for `for (k in a)`.
    pub(super) fn sorted_keys(&mut self, array: &ArrayRef) -> Result<Vec<Key>> {
        let keys = array.borrow().keys();
        let order = self.special_element(Special::Procinfo, &Key::from_bytes(b"sorted_in"));
        let Some(order) = order.filter(|o| !o.is_empty() && o.as_bytes() != b"@unsorted") else {
            return Ok(keys);
        };
        let sorted = self.sort(items(array), &order)?;
        Ok(sorted.into_iter().map(|i| i.key).collect())
    }

    /// `asort(source [, destination [, how]])`, `asorti` if `indices`.
    pub(super) fn asort(&mut self, args: usize, indices: bool) -> Result<()> {
        let how = if args > 2 { Some(self.pop_text()) } else { None };
        let dest = if args > 1 { self.arrays.pop() } else { None };
        let Some(source) = self.arrays.pop() else { return Ok(()) };
        let items = items(&source);
        let how = how.filter(|h| !h.is_empty() && h.as_bytes() != b"@unsorted");
        let default: &[u8] = if indices { b"@ind_str_asc" } else { b"@val_type_asc" };
        let sorted = self.sort(items, how.as_deref().unwrap_or(default))?;
        let dest = dest.unwrap_or(source);
        let mut d = dest.borrow_mut();
        d.clear();
        let count = sorted.len();
        for (n, item) in sorted.into_iter().enumerate() {
            let place = d.slot(Key::Int(n as i64 + 1));
            *place = if indices { Slot::Value(Value::Str(item.key.text())) } else { item.slot };
        }
        drop(d);
        self.stack.push(Value::Num(count as f64));
        Ok(())
    }

    fn sort(&mut self, mut items: Vec<Item>, how: &[u8]) -> Result<Vec<Item>> {
        if let Some(order) = built_in(how) {
            items.sort_by(|a, b| {
                let o = self.compare_items(order, a, b);
                if order.descending { o.reverse() } else { o }
            });
            return Ok(items);
        }
        let Some(f) = self.code.functions.iter().position(|f| f.name == how && !f.missing) else {
            let shown = String::from_utf8_lossy(how);
            return Err(RunError::fatal(format!(
                "sort comparison function `{shown}' is not defined"
            )));
        };
        if self.sort_depth >= MAX_SORTS {
            return Err(RunError::fatal("sorts nested too deeply"));
        }
        self.sort_depth += 1;
        let sorted = self.merge_sort(items, f as u32);
        self.sort_depth -= 1;
        sorted
    }

    /// Sorts by a function of the program's, which may be inconsistent or fail: a merge sort
    /// ends in any case. Halves are cut and merged as glibc's `qsort` does, so that inconsistent
    /// functions give what they give in gawk.
    fn merge_sort(&mut self, mut items: Vec<Item>, f: u32) -> Result<Vec<Item>> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let left = self.merge_sort(items, f)?;
        let right = self.merge_sort(right, f)?;
        self.merge(left, right, f)
    }

    fn merge(&mut self, left: Vec<Item>, right: Vec<Item>, f: u32) -> Result<Vec<Item>> {
        let mut out = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let value = |i: &Item| match &i.slot {
                Slot::Value(v) => Cell::Value(v.clone()),
                Slot::Array(a) => Cell::Array(a.clone()),
            };
            let args = vec![
                Cell::Value(Value::Str(a.key.text())),
                value(a),
                Cell::Value(Value::Str(b.key.text())),
                value(b),
            ];
            let order = self.call_back(f, args)?.num();
            let next = if order <= 0.0 { left.next() } else { right.next() };
            out.extend(next);
        }
        out.extend(left);
        out.extend(right);
        Ok(out)
    }

    fn compare_items(&self, order: Order, a: &Item, b: &Item) -> Ordering {
        if order.by_index {
            let (x, y) = (a.key.text(), b.key.text());
            return match order.kind {
                Kind::Number => {
                    let (m, n) = (crate::value::to_number(&x), crate::value::to_number(&y));
                    m.partial_cmp(&n).unwrap_or(Ordering::Equal).then_with(|| x.cmp(&y))
                }
                _ => self.compare_text(&x, &y),
            };
        }
        let by_key = || self.compare_keys(a, b);
        match (&a.slot, &b.slot) {
            (Slot::Value(x), Slot::Value(y)) => {
                self.compare_values(order.kind, x, y).then_with(by_key)
            }
            (Slot::Array(_), Slot::Array(_)) => by_key(),
            // Arrays come last.
            (Slot::Array(_), _) => Ordering::Greater,
            (_, Slot::Array(_)) => Ordering::Less,
        }
    }

    fn compare_keys(&self, a: &Item, b: &Item) -> Ordering {
        match (&a.key, &b.key) {
            (Key::Int(x), Key::Int(y)) => x.cmp(y),
            _ => self.compare_text(&a.key.text(), &b.key.text()),
        }
    }

    fn compare_text(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.regexes.icase() {
            return a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
        }
        a.cmp(b)
    }

    fn compare_values(&self, kind: Kind, a: &Value, b: &Value) -> Ordering {
        match kind {
            Kind::String => self.compare_text(&a.text(&self.convfmt), &b.text(&self.convfmt)),
            // Of equal ones (all that are no numbers, too) the text decides.
            Kind::Number => a
                .num()
                .partial_cmp(&b.num())
                .unwrap_or(Ordering::Equal)
                .then_with(|| self.compare_values(Kind::String, a, b)),
            // Numbers before strings.
            Kind::Type => match (a.comparable(), b.comparable()) {
                (Some(x), Some(y)) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => match (a, b) {
                    (
                        Value::Str(x) | Value::Input(x) | Value::Regex(x),
                        Value::Str(y) | Value::Input(y) | Value::Regex(y),
                    ) => self.compare_text(x, y),
                    _ => compare(a, b, &self.convfmt, self.regexes.icase()),
                },
            },
        }
    }
}
