//! `asort`, `asorti`, and the order of `for (k in a)` under PROCINFO["sorted_in"].

use std::cmp::Ordering;

use super::{AwkMachine, GlobalCell, Result};
use crate::array::{ArrayRef, AwkKey, ElementSlot};
use crate::error::AwkRunError;
use crate::special::Special;
use crate::value::{AwkValue, compare_values};

/// The maximum nesting of sorts within comparison functions.
const MAX_SORTS: usize = 30;

/// A copy of an element, for sorting.
struct SortItem {
    key: AwkKey,
    slot: ElementSlot,
}

/// Built-in orders (gawk manual 8.1.6).
#[derive(Clone, Copy)]
struct SortOrder {
    by_index: bool,
    kind: SortOrderKind,
    descending: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum SortOrderKind {
    Number,
    String,
    Type,
}

fn built_in(name: &[u8]) -> Option<SortOrder> {
    let rest = name.strip_prefix(b"@")?;
    let (by_index, rest) = match rest.strip_prefix(b"ind_") {
        Some(r) => (true, r),
        None => (false, rest.strip_prefix(b"val_")?),
    };
    let (kind, rest) = if let Some(r) = rest.strip_prefix(b"num_") {
        (SortOrderKind::Number, r)
    } else if let Some(r) = rest.strip_prefix(b"str_") {
        (SortOrderKind::String, r)
    } else {
        (SortOrderKind::Type, rest.strip_prefix(b"type_")?)
    };
    let descending = match rest {
        b"asc" => false,
        b"desc" => true,
        _ => return None,
    };
    if by_index && kind == SortOrderKind::Type {
        return None;
    }
    Some(SortOrder { by_index, kind, descending })
}

/// Returns all elements of an array.
fn sort_items(array: &ArrayRef) -> Vec<SortItem> {
    let a = array.borrow();
    let item = |k: AwkKey| a.get(&k).cloned().map(|slot| SortItem { key: k, slot });
    a.keys().into_iter().filter_map(item).collect()
}

impl AwkMachine<'_, '_> {
    /// Returns the subscripts for `for (k in a)`.
    pub(super) fn sorted_keys(&mut self, array: &ArrayRef) -> Result<Vec<AwkKey>> {
        let keys = array.borrow().keys();
        let order = self.special_element(Special::Procinfo, &AwkKey::from_bytes(b"sorted_in"));
        let Some(order) = order.filter(|o| !o.is_empty() && o.as_bytes() != b"@unsorted") else {
            return Ok(keys);
        };
        let sorted = self.sort_by(sort_items(array), &order)?;
        Ok(sorted.into_iter().map(|i| i.key).collect())
    }

    /// Runs `asort(source [, destination [, how]])`, or `asorti` if `indices`.
    pub(super) fn call_asort(&mut self, args: usize, indices: bool) -> Result<()> {
        let how = if args > 2 { Some(self.pop_text()) } else { None };
        let dest = if args > 1 { self.arrays.pop() } else { None };
        let Some(source) = self.arrays.pop() else { return Ok(()) };
        let items = sort_items(&source);
        let how = how.filter(|h| !h.is_empty() && h.as_bytes() != b"@unsorted");
        let default: &[u8] = if indices { b"@ind_str_asc" } else { b"@val_type_asc" };
        let sorted = self.sort_by(items, how.as_deref().unwrap_or(default))?;
        let dest = dest.unwrap_or(source);
        let mut d = dest.borrow_mut();
        d.clear_all();
        let count = sorted.len();
        for (n, item) in sorted.into_iter().enumerate() {
            let place = d.slot_or_insert(AwkKey::Int(n as i64 + 1));
            *place = if indices {
                ElementSlot::Value(AwkValue::Str(item.key.text()))
            } else {
                item.slot
            };
        }
        drop(d);
        self.stack.push(AwkValue::Num(count as f64));
        Ok(())
    }

    fn sort_by(&mut self, mut items: Vec<SortItem>, how: &[u8]) -> Result<Vec<SortItem>> {
        if let Some(order) = built_in(how) {
            items.sort_by(|a, b| {
                let o = self.compare_items(order, a, b);
                if order.descending { o.reverse() } else { o }
            });
            return Ok(items);
        }
        let Some(f) = self.code.functions.iter().position(|f| f.name == how && !f.missing) else {
            let shown = String::from_utf8_lossy(how);
            return Err(AwkRunError::fatal(format!(
                "sort comparison function `{shown}' is not defined"
            )));
        };
        if self.sort_depth >= MAX_SORTS {
            return Err(AwkRunError::fatal("sorts nested too deeply"));
        }
        self.sort_depth += 1;
        let sorted = self.merge_sort(items, f as u32);
        self.sort_depth -= 1;
        sorted
    }

    /// Sorts by a function of the program. This is a merge sort, which ends even if the function is
    /// inconsistent. It splits and merges halves as glibc's `qsort` does, so that inconsistent
    /// functions give the same order as in gawk.
    fn merge_sort(&mut self, mut items: Vec<SortItem>, f: u32) -> Result<Vec<SortItem>> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let left = self.merge_sort(items, f)?;
        let right = self.merge_sort(right, f)?;
        self.merge_by_function(left, right, f)
    }

    fn merge_by_function(
        &mut self,
        left: Vec<SortItem>,
        right: Vec<SortItem>,
        f: u32,
    ) -> Result<Vec<SortItem>> {
        let mut out = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let value = |i: &SortItem| match &i.slot {
                ElementSlot::Value(v) => GlobalCell::Value(v.clone()),
                ElementSlot::Array(a) => GlobalCell::Array(a.clone()),
            };
            let args = vec![
                GlobalCell::Value(AwkValue::Str(a.key.text())),
                value(a),
                GlobalCell::Value(AwkValue::Str(b.key.text())),
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

    fn compare_items(&self, order: SortOrder, a: &SortItem, b: &SortItem) -> Ordering {
        if order.by_index {
            let (x, y) = (a.key.text(), b.key.text());
            return match order.kind {
                SortOrderKind::Number => {
                    let (m, n) = (crate::value::to_number(&x), crate::value::to_number(&y));
                    m.partial_cmp(&n).unwrap_or(Ordering::Equal).then_with(|| x.cmp(&y))
                }
                _ => self.compare_text(&x, &y),
            };
        }
        let by_key = || self.compare_keys(a, b);
        match (&a.slot, &b.slot) {
            (ElementSlot::Value(x), ElementSlot::Value(y)) => {
                self.compare_values(order.kind, x, y).then_with(by_key)
            }
            (ElementSlot::Array(_), ElementSlot::Array(_)) => by_key(),
            // Arrays come last.
            (ElementSlot::Array(_), _) => Ordering::Greater,
            (_, ElementSlot::Array(_)) => Ordering::Less,
        }
    }

    fn compare_keys(&self, a: &SortItem, b: &SortItem) -> Ordering {
        match (&a.key, &b.key) {
            (AwkKey::Int(x), AwkKey::Int(y)) => x.cmp(y),
            _ => self.compare_text(&a.key.text(), &b.key.text()),
        }
    }

    fn compare_text(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.regexes.ignores_case() {
            return a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
        }
        a.cmp(b)
    }

    fn compare_values(&self, kind: SortOrderKind, a: &AwkValue, b: &AwkValue) -> Ordering {
        match kind {
            SortOrderKind::String => {
                self.compare_text(&a.text(&self.convfmt), &b.text(&self.convfmt))
            }
            // The text decides between equal values, among which are all that are not numbers.
            SortOrderKind::Number => a
                .num()
                .partial_cmp(&b.num())
                .unwrap_or(Ordering::Equal)
                .then_with(|| self.compare_values(SortOrderKind::String, a, b)),
            // Numbers before strings.
            SortOrderKind::Type => match (a.comparable_number(), b.comparable_number()) {
                (Some(x), Some(y)) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => match (a, b) {
                    (
                        AwkValue::Str(x) | AwkValue::Input(x) | AwkValue::Regex(x),
                        AwkValue::Str(y) | AwkValue::Input(y) | AwkValue::Regex(y),
                    ) => self.compare_text(x, y),
                    _ => compare_values(a, b, &self.convfmt, self.regexes.ignores_case()),
                },
            },
        }
    }
}
