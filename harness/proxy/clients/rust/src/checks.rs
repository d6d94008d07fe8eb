//! Counts what holds, and ends at what does not.

use std::fmt::Debug;

#[derive(Default)]
pub struct Checks {
    pub passed: u32,
}

impl Checks {
    pub fn equal<T: PartialEq + Debug>(&mut self, what: &str, got: T, expected: T) {
        assert_eq!(got, expected, "{what}");
        self.passed += 1;
    }

    pub fn holds(&mut self, what: &str, holds: bool) {
        assert!(holds, "{what}");
        self.passed += 1;
    }
}
