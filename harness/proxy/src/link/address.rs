//! From the text of a listen address to sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;

use crate::error::ProxyError;

/// How long the name of a host to listen on may take to resolve.
const RESOLVE_TIME: Duration = Duration::from_secs(5);

/// Connections that wait in the kernel until they are accepted.
const BACKLOG: u32 = 1024;
/// Why a text is not an address to listen on.
const MISSING_PORT: &str = "missing port in address";

/// The addresses that `text` names, in the order to try them. Without a host they are the unspecified ones; the empty
/// text lets the kernel choose the port too.
pub(crate) async fn resolve(link: &str, text: &str) -> Result<Vec<SocketAddr>, ProxyError> {
    let bad = |reason: &str| ProxyError::BadListen {
        link: link.to_owned(),
        address: text.to_owned(),
        reason: reason.to_owned(),
    };
    let (host, port) = match text {
        "" => ("", 0),
        _ => {
            let (host, port) = text.rsplit_once(':').ok_or_else(|| bad(MISSING_PORT))?;
            (host, port.parse::<u16>().map_err(|_| bad("invalid port"))?)
        }
    };
    if host.is_empty() {
        return Ok(vec![(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()]);
    }
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    if bare == host && host.contains(':') {
        return Err(bad("too many colons in address"));
    }
    let found = match tokio::time::timeout(RESOLVE_TIME, tokio::net::lookup_host((bare, port))).await {
        Ok(Ok(found)) => found,
        Ok(Err(e)) => return Err(bad(&format!("lookup {bare}: {e}"))),
        Err(_) => return Err(bad(&format!("lookup {bare}: no answer within {RESOLVE_TIME:?}"))),
    };
    let mut found: Vec<_> = found.collect();
    // What a client of the name would try first: the loopback name means 127.0.0.1 where both are there.
    found.sort_by_key(SocketAddr::is_ipv6);
    match found.is_empty() {
        true => Err(bad(&format!("lookup {bare}: no such host"))),
        false => Ok(found),
    }
}

/// Binds the first of `addresses` that the machine has.
pub(super) fn bind(
    runtime: &Handle,
    link: &str,
    addresses: &[SocketAddr],
) -> Result<(TcpListener, SocketAddr), ProxyError> {
    let mut last = None;
    for &address in addresses {
        let failed = |source| ProxyError::Listen { link: link.to_owned(), address, source };
        match listen(runtime, address) {
            Ok(bound) => return Ok(bound),
            // The machine has no such family or address; another one of the name may do.
            Err(e) if is_absent(&e) => last = Some(failed(e)),
            Err(e) => return Err(failed(e)),
        }
    }
    let nothing =
        || ProxyError::BadListen { link: link.to_owned(), address: String::new(), reason: MISSING_PORT.into() };
    Err(last.unwrap_or_else(nothing))
}

/// The socket belongs to the runtime of the data plane, whoever asks for it.
fn listen(runtime: &Handle, address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let _there = runtime.enter();
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port whose last connections are still in their final wait may be had again.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.kind() == io::ErrorKind::Unsupported
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}
