//! A free loopback port that is held until the service takes it over.

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use rand::RngExt as _;
use tokio::net::TcpSocket;

use super::error::PlaceError;

/// Ports below are left to well-known and hand-started services.
const LOWEST: u16 = 10_240;
/// Candidates below the ephemeral range before the kernel is asked for any port.
const TRIES: usize = 32;

/// A port of 127.0.0.1 that is bound by us until the service is started.
///
/// Give it to [`Process::start`](super::Process::start), which lets go of it just before the child is spawned.
/// A port from outside the kernel's ephemeral range is preferred. A connection that leaves this machine cannot be given
/// that port as its source, so nobody takes it in the moment between our release and the child's bind, or while a
/// killed service is down; and a client that knocks at the dead port cannot be connected to itself.
///
/// Closing our socket is not enough to free the port: a child that another thread is spawning right now has copies of
/// all our descriptors until it executes its program. So the socket is bound, never listens, and allows the address to
/// be reused after it was bound: a second reservation is refused, but a server (which sets `SO_REUSEADDR`, as nearly all
/// do) can bind the port though a copy of our socket still lives.
#[derive(Debug)]
pub struct ReservedPort {
    socket: TcpSocket,
    number: u16,
}

impl ReservedPort {
    /// Reserves a free port.
    ///
    /// # Errors
    /// [`PlaceError::NoFreePort`] when no port of 127.0.0.1 can be bound.
    pub fn pick() -> Result<Self, PlaceError> {
        let top = ephemeral_low().unwrap_or(0);
        if top > LOWEST + 1_000 {
            let mut rng = rand::rng();
            let free = (0..TRIES).find_map(|_| Self::bind(rng.random_range(LOWEST..top)).ok());
            if let Some(port) = free {
                return Ok(port);
            }
        }
        Self::bind(0).map_err(PlaceError::NoFreePort)
    }

    fn bind(number: u16) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, number).into())?;
        socket.set_reuseaddr(true)?;
        let number = socket.local_addr()?.port();
        Ok(Self { socket, number })
    }

    /// The port's number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Lets go of the port and returns its number.
    pub fn release(self) -> u16 {
        drop(self.socket);
        self.number
    }
}

/// The first port that Linux gives to outgoing connections; `None` where it cannot be read.
fn ephemeral_low() -> Option<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    range.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{ReservedPort, ephemeral_low};

    // Proves that a reserved port cannot be reserved again, that it is free after the release, and that it lies outside
    // the range of outgoing connections where that range is known and leaves room.
    #[test]
    fn a_reserved_port_is_held_until_released() {
        let port = ReservedPort::pick().expect("a free port");
        let number = port.number();
        assert!(ReservedPort::bind(number).is_err(), "port {number} was not held");
        if let Some(low) = ephemeral_low().filter(|low| *low > 20_000) {
            assert!(number < low, "{number} is an ephemeral port (from {low})");
        }
        assert_eq!(port.release(), number);
        ReservedPort::bind(number).expect("free after the release");
    }

    // Proves that a copy of the reservation which lives on in a child that is just being spawned does not keep a server
    // from the port, and that from then on the port is taken for everybody else.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_surviving_copy_does_not_block_a_server() {
        let copy = ReservedPort::pick().expect("a free port");
        let server = std::net::TcpListener::bind(("127.0.0.1", copy.number())).expect("the server sets SO_REUSEADDR");
        assert!(
            std::net::TcpListener::bind(server.local_addr().expect("an address")).is_err(),
            "two servers on one port"
        );
    }
}
