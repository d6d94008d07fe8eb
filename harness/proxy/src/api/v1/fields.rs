//! The body of a call on our own paths, read strictly: each refusal names its field.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::api::{Reply, Request};
use crate::strict::{self, Misread};

/// The members of a body that is an object.
#[derive(Debug)]
pub(super) struct Fields {
    members: Map<String, Value>,
}

impl Fields {
    /// Takes the body if it is an object with no other members than these.
    pub(super) fn of(request: &Request, known: &[&str]) -> Result<Self, Reply> {
        let members: Map<String, Value> = request.json()?;
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self { members }),
            Some(key) => Err(refused(key, &format!("is no field of this call; it takes {}", known.join(", ")))),
        }
    }

    /// A member, if it is there and not `null`.
    pub(super) fn optional<T: DeserializeOwned>(&mut self, field: &str) -> Result<Option<T>, Reply> {
        match self.members.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => strict::from_value(value).map(Some).map_err(|e| refused_within(field, e)),
        }
    }

    /// A member that has to be there.
    pub(super) fn required<T: DeserializeOwned>(&mut self, field: &str) -> Result<T, Reply> {
        self.optional(field)?.ok_or_else(|| refused(field, "is missing"))
    }
}

/// A refusal of a value or of something in it.
pub(super) fn refused_within(field: &str, misread: Misread) -> Reply {
    let path = match misread.field {
        None => field.to_owned(),
        Some(inner) if inner.starts_with('[') => format!("{field}{inner}"),
        Some(inner) => format!("{field}.{inner}"),
    };
    refused(&path, &format!("is wrong: {}", misread.why))
}

/// A refusal that begins with the field.
pub(super) fn refused(field: &str, what: &str) -> Reply {
    Reply::refused_field(400, field, format!("`{field}` {what}"))
}
