//! Paths and methods of Toxiproxy's interface.

use http::Method;

/// A call that Toxiproxy has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::api) enum Route {
    Version,
    Proxies,
    CreateProxy,
    Proxy(String),
    UpdateProxy(String),
    DeleteProxy(String),
    Toxics(String),
    AddToxic(String),
    Toxic(String, String),
    UpdateToxic(String, String),
    RemoveToxic(String, String),
    Populate,
    Reset,
}

/// What a method and a path name.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::api) enum Found {
    Route(Route),
    /// The path, but not with this method.
    WrongMethod,
    Nothing,
}

/// Looks a call up. An empty part, as a slash at the end makes it, is no name.
pub(in crate::api) fn find(method: &Method, segments: &[String]) -> Found {
    if segments.iter().any(String::is_empty) {
        return Found::Nothing;
    }
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let route = match (&segments[..], method.as_str()) {
        (["version"], "GET") => Route::Version,
        (["proxies"], "GET") => Route::Proxies,
        (["proxies"], "POST") => Route::CreateProxy,
        (["proxies", name], "GET") => Route::Proxy((*name).to_owned()),
        (["proxies", name], "POST" | "PATCH") => Route::UpdateProxy((*name).to_owned()),
        (["proxies", name], "DELETE") => Route::DeleteProxy((*name).to_owned()),
        (["proxies", name, "toxics"], "GET") => Route::Toxics((*name).to_owned()),
        (["proxies", name, "toxics"], "POST") => Route::AddToxic((*name).to_owned()),
        (["proxies", name, "toxics", toxic], "GET") => Route::Toxic((*name).to_owned(), (*toxic).to_owned()),
        (["proxies", name, "toxics", toxic], "POST" | "PATCH") => {
            Route::UpdateToxic((*name).to_owned(), (*toxic).to_owned())
        }
        (["proxies", name, "toxics", toxic], "DELETE") => Route::RemoveToxic((*name).to_owned(), (*toxic).to_owned()),
        (["populate"], "POST") => Route::Populate,
        (["reset"], "POST") => Route::Reset,
        (["version" | "proxies" | "populate" | "reset"] | ["proxies", _], _) => return Found::WrongMethod,
        (["proxies", _, "toxics"] | ["proxies", _, "toxics", _], _) => return Found::WrongMethod,
        _ => return Found::Nothing,
    };
    Found::Route(route)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(call: &str) -> Found {
        let (method, path) = call.split_once(" /").expect("METHOD /path");
        let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
        find(&Method::from_bytes(method.as_bytes()).expect("method"), &segments)
    }

    // Proves each route once, that POST still updates, and which failures are 405 and which 404.
    #[test]
    fn calls_are_found() {
        let (p, t) = (|| "p".to_owned(), || "t".to_owned());
        let routes = [
            ("GET /version", Route::Version),
            ("GET /proxies", Route::Proxies),
            ("POST /proxies", Route::CreateProxy),
            ("GET /proxies/p", Route::Proxy(p())),
            ("POST /proxies/p", Route::UpdateProxy(p())),
            ("PATCH /proxies/p", Route::UpdateProxy(p())),
            ("DELETE /proxies/p", Route::DeleteProxy(p())),
            ("GET /proxies/p/toxics", Route::Toxics(p())),
            ("POST /proxies/p/toxics", Route::AddToxic(p())),
            ("GET /proxies/p/toxics/t", Route::Toxic(p(), t())),
            ("POST /proxies/p/toxics/t", Route::UpdateToxic(p(), t())),
            ("PATCH /proxies/p/toxics/t", Route::UpdateToxic(p(), t())),
            ("DELETE /proxies/p/toxics/t", Route::RemoveToxic(p(), t())),
            ("POST /populate", Route::Populate),
            ("POST /reset", Route::Reset),
        ];
        for (call, route) in routes {
            assert_eq!(found(call), Found::Route(route), "{call}");
        }
        for call in [
            "HEAD /version",
            "PUT /proxies",
            "PUT /proxies/p",
            "DELETE /proxies/p/toxics",
            "GET /reset",
            "FOO /proxies/p/toxics/t",
        ] {
            assert_eq!(found(call), Found::WrongMethod, "{call}");
        }
        for call in [
            "GET /",
            "GET /proxies/",
            "GET /proxies/p/",
            "GET /proxies/p/other",
            "GET /proxies/p/toxics/t/x",
            "GET /metrics",
        ] {
            assert_eq!(found(call), Found::Nothing, "{call}");
        }
    }
}
