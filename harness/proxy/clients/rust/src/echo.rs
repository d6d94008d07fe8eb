//! An upstream that sends back what it gets, and what a connection through a proxy does.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Far beyond what a busy machine needs; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts it for the rest of the process.
pub fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut reading, mut writing) = (&stream, &stream);
                // A connection that a fault cut ends with an error.
                let _cut = std::io::copy(&mut reading, &mut writing);
            });
        }
    });
    address
}

/// Sends `text` and takes as many bytes back: what came, and how long it took.
pub fn exchange(proxy: &str, text: &str) -> (String, Duration) {
    let mut stream = TcpStream::connect(proxy).expect("the proxy accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let started = Instant::now();
    stream.write_all(text.as_bytes()).expect("send");
    let mut got = vec![0; text.len()];
    let mut n = 0;
    while n < got.len() {
        match stream.read(&mut got[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(e) if e.kind() == ErrorKind::ConnectionReset => break,
            Err(e) => panic!("read: {e}"),
        }
    }
    (String::from_utf8_lossy(&got[..n]).into_owned(), started.elapsed())
}

/// Whether the port refuses connections.
pub fn is_refused(proxy: &str) -> bool {
    TcpStream::connect(proxy).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused)
}
