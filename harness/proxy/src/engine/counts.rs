//! Counters per key, with a named limit on the number of keys.

use std::collections::HashMap;

/// The most keys that are counted apart on one link or by one rule.
pub(crate) const MAX_KEYS: usize = 1_000_000;

/// How often each key was seen. Calls without a key count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyCounts {
    keyed: HashMap<String, u32>,
    keyless: u32,
}

impl KeyCounts {
    /// Counts one call: 1 for the first. `None` for a new key when [`MAX_KEYS`] are known.
    pub(crate) fn next(&mut self, key: Option<&str>) -> Option<u32> {
        let Some(key) = key else {
            self.keyless = self.keyless.saturating_add(1);
            return Some(self.keyless);
        };
        if let Some(count) = self.keyed.get_mut(key) {
            *count = count.saturating_add(1);
            return Some(*count);
        }
        if self.keyed.len() >= MAX_KEYS {
            return None;
        }
        self.keyed.insert(key.to_owned(), 1);
        Some(1)
    }

    /// Each key and how often it was seen; those without one first.
    pub(crate) fn list(&self) -> impl Iterator<Item = (Option<&str>, u32)> {
        let keyless = (self.keyless > 0).then_some((None, self.keyless));
        keyless.into_iter().chain(self.keyed.iter().map(|(key, n)| (Some(key.as_str()), *n)))
    }

    /// Forgets one key.
    pub(crate) fn forget(&mut self, key: &str) {
        self.keyed.remove(key);
    }
}
