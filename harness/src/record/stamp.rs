//! Wall-clock time as text, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, split into its UTC fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
    millis: u64,
}

impl Stamp {
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_unix(since.as_secs(), u64::from(since.subsec_millis()))
    }

    fn from_unix(seconds: u64, millis: u64) -> Self {
        // Days are counted in years that begin in March, so that the leap day is the last one of its year; an era is the
        // 400 years after which the calendar repeats. 719,468 days lie between 0000-03-01 and 1970-01-01.
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        Self { year, month, day, second_of_day: seconds % 86_400, millis }
    }

    fn time(&self) -> (u64, u64, u64) {
        (self.second_of_day / 3_600, self.second_of_day / 60 % 60, self.second_of_day % 60)
    }

    /// `20260102T030405Z`: sorts as text by time, and is a file name everywhere.
    pub(super) fn compact(&self) -> String {
        let (h, m, s) = self.time();
        format!("{:04}{:02}{:02}T{h:02}{m:02}{s:02}Z", self.year, self.month, self.day)
    }

    /// RFC 3339, `2026-01-02T03:04:05.678Z`.
    pub(super) fn rfc3339(&self) -> String {
        let (h, m, s) = self.time();
        format!("{:04}-{:02}-{:02}T{h:02}:{m:02}:{s:02}.{:03}Z", self.year, self.month, self.day, self.millis)
    }
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    // Proves the calendar on its corners: the epoch, leap days of both kinds of century, year ends. Expected values are
    // from `date -u -d @N`.
    #[test]
    fn corners_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_799, "2000-02-29T23:59:59.007Z"),
            (1_709_164_800, "2024-02-29T00:00:00.007Z"),
            (1_767_225_599, "2025-12-31T23:59:59.007Z"),
            (1_767_225_600, "2026-01-01T00:00:00.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(Stamp::from_unix(seconds, 7).rfc3339(), text);
        }
        assert_eq!(Stamp::from_unix(1_767_323_045, 0).compact(), "20260102T030405Z");
    }
}
