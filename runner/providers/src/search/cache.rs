//! Answers that are given again for a while.

use super::{SafeSearch, SearchAnswer, SearchFreshness};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of answers that are kept.
const KEPT: usize = 256;

/// Everything on which the results of a search depend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    /// The provider, its address and its engine.
    pub place: String,
    pub safe: SafeSearch,
    pub query: String,
    pub results: u32,
    pub freshness: SearchFreshness,
}

/// The answers of searches.
pub(crate) type SearchCache = AnswerCache<CacheKey, SearchAnswer>;

/// Answers by what was asked, with the times at which they came.
#[derive(Debug)]
pub(crate) struct AnswerCache<K, V> {
    answers: Mutex<HashMap<K, (Instant, V)>>,
}

impl<K, V> Default for AnswerCache<K, V> {
    fn default() -> Self {
        AnswerCache { answers: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> AnswerCache<K, V> {
    /// Returns an answer that is not older than `keep`.
    pub(crate) fn get(&self, key: &K, keep: Duration) -> Option<V> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, answer) = answers.get(key)?;
        (at.elapsed() < keep).then(|| answer.clone())
    }

    /// Keeps an answer, in place of the oldest one if there are too many.
    pub(crate) fn put(&self, key: K, answer: V, keep: Duration) {
        if keep.is_zero() {
            return;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, (at, _)| at.elapsed() < keep);
        if answers.len() >= KEPT {
            let oldest = answers.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| key.clone());
            oldest.and_then(|key| answers.remove(&key));
        }
        answers.insert(key, (Instant::now(), answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_and_are_bounded() {
        let cache = AnswerCache::<u32, u32>::default();
        let hour = Duration::from_secs(3600);
        (0..300).for_each(|n| cache.put(n, n, hour));
        assert_eq!(cache.answers.lock().unwrap().len(), KEPT);
        assert_eq!((cache.get(&299, hour), cache.get(&0, hour)), (Some(299), None));
        assert_eq!(cache.get(&299, Duration::ZERO), None);
        cache.put(1000, 1, Duration::ZERO);
        assert_eq!(cache.get(&1000, hour), None);
    }
}
