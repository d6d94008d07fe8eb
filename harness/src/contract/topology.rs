//! The shape of what is tested: links and what stands behind them, and the routes that lead there.

use serde::{Deserialize, Serialize};

use super::{Contract, Service, default_content_type, default_key_header};

/// The link that is the main one by its name, where none says so.
const USUAL: &str = "bank";

/// A dependency behind a chaos proxy.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What stands behind the proxy.
    #[serde(default)]
    pub upstream: Upstream,
    /// Header that carries the service's own key for the dependency.
    #[serde(default = "default_key_header")]
    pub key_header: String,
    /// Whether the promises are about this link. One link is the main one: the only link, the one that says so, or the
    /// one that is named `bank`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub main: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self { upstream: Upstream::MockBank, key_header: default_key_header(), main: false }
    }
}

/// What stands behind a proxy: `"mock-bank"`, or `{ service = "NAME" }`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Upstream {
    /// A mock bank of the harness, one for each link.
    #[default]
    MockBank,
    /// One of the further services, `[services.NAME]`.
    Service(String),
}

/// A further request than the payment: what a check needs that compares two routes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Method.
    #[serde(default = "default_route_method")]
    pub method: String,
    /// Path, with `{amount}` and `{reference}` if it wants them.
    pub path: String,
    /// Body with `{amount}` and `{reference}`; literal braces are doubled. Absent: none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Content type of the body.
    #[serde(default = "default_content_type")]
    pub content_type: String,
    /// Whether the client's idempotency key is sent along; default: with every method that is not safe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<bool>,
    /// The link that it uses.
    pub link: String,
}

impl Route {
    /// Whether the client's key is sent along.
    #[must_use]
    pub fn sends_key(&self) -> bool {
        self.key.unwrap_or(!["GET", "HEAD", "OPTIONS"].contains(&self.method.as_str()))
    }
}

impl Contract {
    /// The link that faults strike and that the promises are about.
    #[must_use]
    pub fn main_link(&self) -> &str {
        let declared = self.links.iter().find(|(_, link)| link.main).map(|(name, _)| name.as_str());
        let usual = || self.links.contains_key(USUAL).then_some(USUAL);
        let only = || self.links.keys().next().map(String::as_str);
        declared.or_else(usual).or_else(only).unwrap_or_default()
    }

    /// Whether its links leave no doubt about the main one.
    pub(super) fn has_main_link(&self) -> bool {
        let declared = self.links.values().filter(|link| link.main).count();
        declared == 1 || (declared == 0 && (self.links.len() == 1 || self.links.contains_key(USUAL)))
    }

    /// The link that a route uses; the main one for the payment.
    ///
    /// ```
    /// use harness::contract::{Contract, Link, Route};
    ///
    /// let rates = r#"path = "/rates/EUR"
    /// link = "rates""#;
    /// let shop = Contract::of("shop", ["shop"], "/payments", "{{}}")
    ///     .link("rates", Link::default())
    ///     .route("rates", toml::from_str::<Route>(rates).unwrap());
    /// assert_eq!((shop.link_of(None), shop.link_of(Some("rates"))), ("bank", "rates"));
    /// assert!(shop.validated().is_ok());
    /// ```
    #[must_use]
    pub fn link_of(&self, route: Option<&str>) -> &str {
        let route = route.and_then(|name| self.routes.get(name));
        route.map_or_else(|| self.main_link(), |r| r.link.as_str())
    }

    /// The service under test and the further ones, each with its table in the contract.
    pub(crate) fn all_services(&self) -> impl Iterator<Item = (String, &Service)> {
        let further = self.services.iter().map(|(name, service)| (format!("services.{name}"), service));
        std::iter::once(("service".to_owned(), &self.service)).chain(further)
    }
}

fn default_route_method() -> String {
    "GET".to_owned()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_false(value: &bool) -> bool {
    !value
}
