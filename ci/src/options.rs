//! The few options the commands have.

use crate::Failure;

/// A command without options.
pub fn none(arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        None => Ok(()),
        Some(stranger) => Err(Failure::Usage(format!("unknown option {stranger}"))),
    }
}

/// A command with one option that takes a text.
pub fn text(arguments: &[String], flag: &str, default: &str) -> Result<String, Failure> {
    match arguments {
        [] => Ok(default.to_owned()),
        [name, value] if name == flag && !value.is_empty() => Ok(value.clone()),
        [only] => match only.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')) {
            Some(value) if !value.is_empty() => Ok(value.to_owned()),
            _ => Err(Failure::Usage(format!("cannot use {only}; the option is {flag} VALUE"))),
        },
        _ => Err(Failure::Usage(format!("cannot use {}; the option is {flag} VALUE", arguments.join(" ")))),
    }
}

/// A command with one option that takes a number from 1.
pub fn number(arguments: &[String], flag: &str, default: u32) -> Result<u32, Failure> {
    let value = text(arguments, flag, &default.to_string())?;
    match value.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Failure::Usage(format!("{flag} must be a whole number from 1, not {value}"))),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A command line without quotes.
    pub fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Proves both spellings, the default, and that nothing unknown is passed over.
    #[test]
    fn options_are_read_strictly() {
        assert_eq!(number(&[], "--rounds", 10), Ok(10));
        assert_eq!(number(&words("--rounds 3"), "--rounds", 10), Ok(3));
        assert_eq!(number(&words("--rounds=4"), "--rounds", 10), Ok(4));
        for wrong in ["--rounds", "--rounds=", "--rounds 0", "--rounds x", "--round 3", "--rounds 3 4"] {
            assert!(matches!(number(&words(wrong), "--rounds", 10), Err(Failure::Usage(_))), "{wrong}");
        }
        assert!(none(&[]).is_ok());
        assert!(none(&words("--fast")).is_err());
    }
}
