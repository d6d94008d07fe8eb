//! Clients and upstreams with plain blocking sockets; only the proxy runs on a runtime.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use chaos_proxy::{LinkConfig, Originate, Proxy, ProxyConfig};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tokio::runtime::Runtime;

use crate::kit::{PATIENCE, message_length};

/// A running proxy.
pub struct Stage {
    pub proxy: Proxy,
    pub runtime: Runtime,
}

impl Stage {
    pub fn with(link: LinkConfig) -> Self {
        Self::start(ProxyConfig::new([link]))
    }

    pub fn start(config: ProxyConfig) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("run");
        let proxy = runtime.block_on(Proxy::start(config)).expect("start");
        Self { proxy, runtime }
    }

    pub fn addr(&self, link: &str) -> SocketAddr {
        self.proxy.link_addr(link).expect("link")
    }

    /// What a client that trusts the proxy's own CA has.
    pub fn roots(&self) -> RootCertStore {
        roots(&self.proxy.ca_pem().expect("CA"))
    }

    /// A client of this link that trusts the proxy's own CA.
    pub fn client(&self, link: &str) -> Client<TlsClient> {
        self.client_as(link, "localhost", trusting(self.roots())).expect("handshake")
    }

    pub fn client_as(&self, link: &str, name: &str, config: ClientConfig) -> io::Result<Client<TlsClient>> {
        tls(self.addr(link), name, config).map(Client)
    }

    /// Waits until every attempt has its record.
    pub fn settle(&self) {
        self.runtime.block_on(self.proxy.settle(PATIENCE)).expect("settled");
    }

    /// Waits until `holds`; for facts that have no notification of their own.
    pub fn eventually(&self, what: &str, holds: impl Fn() -> bool) {
        self.runtime.block_on(crate::kit::eventually(what, holds));
    }

    /// Waits for a note with this code and returns its text.
    pub fn note(&self, code: &str) -> String {
        let log = self.proxy.log();
        let found = || crate::kit::notes(&log).into_iter().find(|n| n.code == code);
        self.eventually(code, || found().is_some());
        found().expect("a note").text
    }
}

pub trait Duplex: Read + Write + Send {}
impl<T: Read + Write + Send> Duplex for T {}

pub type TlsClient = StreamOwned<ClientConnection, TcpStream>;
pub type TlsServer = StreamOwned<ServerConnection, TcpStream>;

pub fn plain(addr: SocketAddr) -> Client<TcpStream> {
    Client(socket(addr))
}

fn socket(addr: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(addr).expect("connect");
    // Fails a test that hangs.
    socket.set_read_timeout(Some(PATIENCE)).expect("timeout");
    socket.set_write_timeout(Some(PATIENCE)).expect("timeout");
    socket
}

/// Shakes hands as a client.
pub fn tls(addr: SocketAddr, name: &str, config: ClientConfig) -> io::Result<TlsClient> {
    let name = ServerName::try_from(name.to_owned()).expect("name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("client");
    let mut stream = StreamOwned::new(connection, socket(addr));
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As TLS asks for, or FIN on a plain connection.
    Clean,
    /// FIN without close_notify.
    Truncated,
    Reset,
}

/// A raw client.
pub struct Client<S>(pub S);

impl<S: Duplex> Client<S> {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.write_all(bytes.as_ref()).expect("send");
        self.0.flush().expect("send");
        self
    }

    /// Reads until the end of the connection.
    pub fn rest(&mut self) -> (String, Ended) {
        let (bytes, ended) = rest(&mut self.0);
        (String::from_utf8_lossy(&bytes).into_owned(), ended)
    }

    /// Reads one whole reply (of known length).
    pub fn reply(&mut self) -> String {
        let mut bytes = Vec::new();
        while message_length(&bytes).is_none() {
            let mut one = [0];
            self.0.read_exact(&mut one).expect("a whole reply");
            bytes.push(one[0]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Reads to the end.
pub fn rest(stream: &mut impl Read) -> (Vec<u8>, Ended) {
    let mut bytes = Vec::new();
    let ended = match stream.read_to_end(&mut bytes) {
        Ok(_) => Ended::Clean,
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ended::Truncated,
        Err(e) if e.kind() == ErrorKind::ConnectionReset => Ended::Reset,
        Err(e) => panic!("read: {e}"),
    };
    (bytes, ended)
}

/// Ends the sending half as TLS asks for.
pub fn half_close<C: std::ops::DerefMut<Target = rustls::ConnectionCommon<D>>, D: rustls::SideData>(
    stream: &mut StreamOwned<C, TcpStream>,
) {
    stream.conn.send_close_notify();
    stream.conn.complete_io(&mut stream.sock).expect("close_notify");
    stream.sock.shutdown(std::net::Shutdown::Write).expect("FIN");
}

/// A CA of the test's own.
pub struct Ca {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM.
pub struct Pair {
    pub cert: String,
    pub key: String,
}

impl Ca {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two CAs of one name would be taken for one another.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("CA {} of the test", NEXT.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().expect("key")).expect("CA") }
    }

    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    pub fn roots(&self) -> RootCertStore {
        roots(&self.pem())
    }

    pub fn issue(&self, names: &[&str]) -> Pair {
        let key = KeyPair::generate().expect("key");
        let names = names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let cert = CertificateParams::new(names).expect("names").signed_by(&key, &self.issuer).expect("cert");
        Pair { cert: cert.pem(), key: key.serialize_pem() }
    }
}

impl Pair {
    pub fn certs(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.cert.as_bytes()).map(|c| c.expect("cert")).collect()
    }

    pub fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("key")
    }
}

pub fn roots(pem: &str) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM")).expect("root");
    roots
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A client's configuration.
pub fn trusting(roots: RootCertStore) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    builder.expect("versions").with_root_certificates(roots).with_no_client_auth()
}

/// A client's configuration, with a certificate of its own.
pub fn trusting_as(roots: RootCertStore, own: &Pair) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_root_certificates(roots);
    builder.with_client_auth_cert(own.certs(), own.private_key()).expect("client certificate")
}

/// A server's configuration.
pub fn serving(own: &Pair) -> ServerConfig {
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    builder.with_single_cert(own.certs(), own.private_key()).expect("server certificate")
}

/// A server's configuration that asks clients for a certificate.
pub fn serving_only(own: &Pair, clients: RootCertStore) -> ServerConfig {
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(clients), provider()).build();
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_client_cert_verifier(verifier.expect("verifier"));
    builder.with_single_cert(own.certs(), own.private_key()).expect("server certificate")
}

/// An upstream: every connection has a thread of its own, which ends with it.
pub struct Upstream {
    pub addr: SocketAddr,
    accepted: Arc<Mutex<usize>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// Serves each connection by `serve`, once TLS is ready where there is a `config`.
    pub fn serving<F>(config: Option<ServerConfig>, serve: F) -> Self
    where
        F: Fn(Peer) + Clone + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let addr = listener.local_addr().expect("addr");
        let config = config.map(Arc::new);
        let accepted = Arc::<Mutex<usize>>::default();
        let count = Arc::clone(&accepted);
        std::thread::spawn(move || {
            while let Ok((socket, _)) = listener.accept() {
                *count.lock().expect("lock") += 1;
                let (serve, config) = (serve.clone(), config.clone());
                std::thread::spawn(move || serve(Peer::new(socket, config)));
            }
        });
        Self { addr, accepted, seen: Arc::default() }
    }

    /// Answers every HTTP request with `reply`.
    pub fn replying(config: Option<ServerConfig>, reply: &str) -> Self {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (log, reply) = (Arc::clone(&seen), reply.to_owned());
        let serve = move |mut peer: Peer| {
            while let Some(request) = peer.request() {
                log.lock().expect("lock").push(request);
                if peer.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
        };
        Self { seen, ..Self::serving(config, serve) }
    }

    /// Whole requests, in the order they came.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("lock").clone()
    }

    /// How many connections came.
    pub fn accepted(&self) -> usize {
        *self.accepted.lock().expect("lock")
    }
}

/// One connection of an upstream.
pub enum Peer {
    Plain(TcpStream),
    Tls(Box<TlsServer>),
}

impl Peer {
    fn new(socket: TcpStream, config: Option<Arc<ServerConfig>>) -> Self {
        match config {
            None => Self::Plain(socket),
            Some(config) => {
                let connection = ServerConnection::new(config).expect("server");
                Self::Tls(Box::new(StreamOwned::new(connection, socket)))
            }
        }
    }

    /// The next request, or `None` at the end.
    pub fn request(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        while message_length(&bytes).is_none() {
            let mut some = [0; 4096];
            match self.read(&mut some) {
                Ok(0) | Err(_) => return None,
                Ok(n) => bytes.extend_from_slice(&some[..n]),
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Ends both directions, as TLS asks for.
    pub fn close(&mut self) {
        match self {
            Self::Plain(socket) => socket.shutdown(std::net::Shutdown::Write).expect("FIN"),
            Self::Tls(stream) => half_close(stream),
        }
    }

    /// Sends FIN without a word before it.
    pub fn drop_off(self) {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => stream.into_parts().1,
        };
        socket.shutdown(std::net::Shutdown::Write).expect("FIN");
    }
}

impl Read for Peer {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            Self::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Peer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// An upstream with a certificate for `localhost` and 127.0.0.1, and how a link trusts it.
pub fn trusted(make: impl FnOnce(ServerConfig) -> Upstream) -> (Upstream, Originate) {
    let ca = Ca::new();
    let upstream = make(serving(&ca.issue(&["localhost", "127.0.0.1"])));
    (upstream, Originate::new().ca(ca.pem()))
}

/// Sends what `upstream` gets through a channel, to its end.
pub fn collector(config: Option<ServerConfig>) -> (Upstream, mpsc::Receiver<(Vec<u8>, Ended)>) {
    let (tell, told) = mpsc::channel();
    let upstream = Upstream::serving(config, move |mut peer| {
        let got = rest(&mut peer);
        peer.write_all(&got.0).expect("echo");
        peer.close();
        tell.send(got).expect("the test listens");
    });
    (upstream, told)
}
