//! Under which addresses others reach a socket.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// An address that is documentation's alone: nothing is sent to it.
const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// `host:port`s of a listening address. One that stands for all of the machine's gives the loopback address, and the
/// one that the machine shows to others where it has one.
pub(crate) fn reachable(address: SocketAddr) -> Vec<String> {
    if !address.ip().is_unspecified() {
        return vec![address.to_string()];
    }
    let mut hosts = vec![IpAddr::from(Ipv4Addr::LOCALHOST)];
    hosts.extend(shown().filter(|ip| !ip.is_loopback()));
    hosts.into_iter().map(|host| SocketAddr::new(host, address.port()).to_string()).collect()
}

/// The address that packets to elsewhere would carry. Choosing it sends none.
fn shown() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(ELSEWHERE).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that an address of its own stays, and that an unspecified one becomes addresses that can be dialled.
    #[test]
    fn unspecified_addresses_become_real_ones() {
        let own: SocketAddr = "127.0.0.9:5".parse().expect("address");
        assert_eq!(reachable(own), ["127.0.0.9:5"]);
        for all in ["0.0.0.0:80", "[::]:80"] {
            let found = reachable(all.parse().expect("address"));
            assert_eq!(found[0], "127.0.0.1:80");
            assert!(found.iter().all(|a| a.parse::<SocketAddr>().is_ok_and(|a| !a.ip().is_unspecified())), "{found:?}");
        }
    }
}
