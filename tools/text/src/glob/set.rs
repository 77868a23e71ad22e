//! Sets of text positions as sorted, disjoint, inclusive ranges.
//!
//! A set has ranges, not bits, because after a `*` the set is one range for a text of any length,
//! and after a literal it has only the places where the literal occurs. A range may cover a
//! position inside a UTF-8 character, which does not count as a member.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IntervalSet {
    ranges: Vec<(usize, usize)>,
}

impl IntervalSet {
    pub(super) fn single(position: usize) -> IntervalSet {
        IntervalSet { ranges: vec![(position, position)] }
    }

    pub(super) fn range(first: usize, last: usize) -> IntervalSet {
        IntervalSet { ranges: vec![(first, last)] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn ranges(&self) -> &[(usize, usize)] {
        &self.ranges
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.ranges.first().map(|r| r.0)
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.ranges.last().map(|r| r.1)
    }

    pub(super) fn contains(&self, position: usize) -> bool {
        let index = self.ranges.partition_point(|r| r.1 < position);
        self.ranges.get(index).is_some_and(|r| r.0 <= position)
    }

    /// Returns the first member at or after `position`.
    pub(super) fn next_from(&self, position: usize) -> Option<usize> {
        let index = self.ranges.partition_point(|r| r.1 < position);
        self.ranges.get(index).map(|r| r.0.max(position))
    }

    /// Makes a set of ranges that are in any order.
    pub(super) fn from_unsorted(mut ranges: Vec<(usize, usize)>) -> IntervalSet {
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
        let mut set = IntervalSet::default();
        for (first, last) in ranges {
            match set.ranges.last_mut() {
                Some(previous) if first <= previous.1 + 1 => previous.1 = previous.1.max(last),
                _ => set.ranges.push((first, last)),
            }
        }
        set
    }

    pub(super) fn union(self, other: IntervalSet) -> IntervalSet {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let mut ranges = self.ranges;
        ranges.extend(other.ranges);
        IntervalSet::from_unsorted(ranges)
    }

    /// Returns the members of `self` that are not in `other`.
    pub(super) fn minus(&self, other: &IntervalSet) -> IntervalSet {
        let mut out = Vec::new();
        let mut cut = 0;
        for &(mut first, last) in &self.ranges {
            while other.ranges.get(cut).is_some_and(|c| c.1 < first) {
                cut += 1;
            }
            let mut k = cut;
            let mut open = true;
            while let Some(&(a, b)) = other.ranges.get(k) {
                if a > last {
                    break;
                }
                if a > first {
                    out.push((first, a - 1));
                }
                if b >= last {
                    open = false;
                    break;
                }
                first = b + 1;
                k += 1;
            }
            if open {
                out.push((first, last));
            }
        }
        IntervalSet { ranges: out }
    }
}
