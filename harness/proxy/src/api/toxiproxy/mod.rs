//! Toxiproxy's interface, as its clients know it: routes, shapes, field order and error texts of 2.12.
//!
//! What differs on purpose: a call that fails changes nothing, and no call waits for a proxy's data.

mod failure;
mod input;
mod populate;
mod proxies;
mod route;
mod show;
mod toxics;

use failure::Failure;

pub use populate::{PopulateError, populate};
pub(super) use route::{Found, Route, find};

use super::{Api, Reply, Request};

/// The version that clients ask for: what it is compatible with, and what it is.
pub const TOXIPROXY_VERSION: &str = concat!("2.12.0+chaos-proxy.", env!("CARGO_PKG_VERSION"));

const JSON: &str = "application/json";

/// For the fuzz targets: a new toxic as a body describes it, and as it is shown then. Other shapes are read too.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn reread(body: &[u8]) -> Option<(crate::toxics::Toxic, String)> {
    let _shape = (input::proxies(body), input::proxy(body, input::ProxyInput::default()));
    let toxic = input::toxic(body, |_| false).ok()?;
    let mut same = toxic.clone();
    let update = input::toxic_update(body, &mut same);
    assert!(update.is_err() || same == toxic, "an update with what is there changes it: {same:?}");
    let shown = show::toxic(&toxic);
    Some((toxic, shown))
}

/// Carries a call out.
pub(super) async fn handle(api: &Api, route: Route, request: Request) -> Reply {
    let body = &request.body[..];
    let outcome = match &route {
        Route::Version => return version(),
        Route::Populate => return populate::answer(api, body).await,
        Route::Proxies => Ok(proxies::list(api)),
        Route::CreateProxy => proxies::create(api, body).await,
        Route::Proxy(name) => proxies::show(api, name),
        Route::UpdateProxy(name) => proxies::update(api, name, body).await,
        Route::DeleteProxy(name) => proxies::delete(api, name).await,
        Route::Reset => proxies::reset(api).await,
        Route::Toxics(proxy) => toxics::list(api, proxy),
        Route::AddToxic(proxy) => toxics::add(api, proxy, body).await,
        Route::Toxic(proxy, toxic) => toxics::show(api, proxy, toxic),
        Route::UpdateToxic(proxy, toxic) => toxics::update(api, proxy, toxic, body).await,
        Route::RemoveToxic(proxy, toxic) => toxics::remove(api, proxy, toxic).await,
    };
    outcome.unwrap_or_else(|failure| {
        api.options.journal.warn(format!("{} {}: {}", request.method, request.path, failure.text));
        failure.reply()
    })
}

/// A blank after the colon and a newline, as it has been since 2.7.
fn version() -> Reply {
    Reply::text(200, "application/json;charset=utf-8", format!("{{\"version\": \"{TOXIPROXY_VERSION}\"}}\n"))
}

fn json(status: u16, body: String) -> Reply {
    Reply::text(status, JSON, body)
}
