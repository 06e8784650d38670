//! Servers that speak TLS, well or badly, and the certificates they show.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_tls::provider;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The longest that a server waits for its client.
const PATIENCE: Duration = Duration::from_secs(10);

/// An authority, and its certificate in a file.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

/// A certificate with its key.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self::made(params)
    }

    fn made(params: CertificateParams) -> Self {
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// One whose own certificate is for a name, and shown by servers as well.
    pub fn of(name: &str) -> Self {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self::made(params)
    }

    pub fn own(&self) -> Identity {
        let key = self.issuer.key().serialize_der();
        Identity { chain: vec![self.certificate()], key: PrivateKeyDer::try_from(key).unwrap() }
    }

    /// A certificate for a name that was valid from one year on and until another.
    pub fn signs(&self, name: &str, from: i32, until: i32) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.not_before, params.not_after) =
            (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        self.sign(&params)
    }

    /// A certificate for loopback that is good for clients alone.
    pub fn signs_a_client(&self) -> Identity {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        Identity { chain: vec![signed.der().clone()], key: key.into() }
    }

    /// A certificate that is right for a server on loopback.
    pub fn right(&self) -> Identity {
        self.signs("127.0.0.1", 2000, 4000)
    }

    pub fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// The block `tls` of a specification that trusts this authority.
    pub fn tls(&self) -> Value {
        json!({"server_name": "127.0.0.1", "ca": [self.file()]})
    }
}

/// A certificate for loopback that nobody else has signed.
pub fn self_signed() -> Identity {
    let key = KeyPair::generate().unwrap();
    let signed =
        CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    Identity { chain: vec![signed.der().clone()], key: key.into() }
}

impl Identity {
    pub fn parts(self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.chain, self.key)
    }

    /// Files of PEM with the certificate and the key.
    pub fn files(&self, authority: &Authority) -> (Value, Value) {
        let write = |name: &str, label: &str, content: &[u8]| {
            let path = authority.folder.path().join(name);
            let text = BASE64.encode(content);
            let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
            fs::write(&path, pem).unwrap();
            json!(path)
        };
        let certificate = write("client.pem", "CERTIFICATE", &self.chain[0]);
        (certificate, write("client.key", "PRIVATE KEY", self.key.secret_der()))
    }

    pub fn config(self, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
        ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain, self.key)
            .unwrap()
    }
}

/// A connection of a server whose handshake is complete.
pub type Stream = StreamOwned<ServerConnection, TcpStream>;

/// Shakes hands with a client.
pub fn shake_hands(mut socket: TcpStream, config: &Arc<ServerConfig>) -> io::Result<Stream> {
    let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}

/// Reads a request, whose body is empty; false when the client has gone.
pub fn hears_request(stream: &mut impl Read) -> bool {
    let mut heard = Vec::new();
    let mut buffer = [0; 1024];
    while !heard.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return false,
            Ok(count) => heard.extend_from_slice(&buffer[..count]),
        }
    }
    true
}

/// A server that treats each connection in its way.
pub struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves; `way` gets each connection with its number.
    pub fn start(way: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopped, way) = (Arc::clone(&accepted), Arc::clone(&stop), Arc::new(way));
        let acceptor = thread::spawn(move || {
            let mut visits = Vec::new();
            while let Ok((socket, _)) = listener.accept() {
                if stopped.load(SeqCst) {
                    break;
                }
                socket.set_read_timeout(Some(PATIENCE)).unwrap();
                socket.set_write_timeout(Some(PATIENCE)).unwrap();
                socket.set_nodelay(true).unwrap();
                let (number, way) = (count.fetch_add(1, SeqCst), Arc::clone(&way));
                visits.push(thread::spawn(move || way(socket, number)));
            }
            for visit in visits {
                visit.join().unwrap();
            }
        });
        Self { address, accepted, stop, acceptor: Some(acceptor) }
    }

    /// Serves by TLS; `way` gets each connection whose handshake succeeded.
    pub fn secured(
        config: ServerConfig,
        way: impl Fn(Stream, usize) + Send + Sync + 'static,
    ) -> Self {
        let config = Arc::new(config);
        Self::start(move |socket, number| {
            if let Ok(stream) = shake_hands(socket, &config) {
                way(stream, number);
            }
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections that were accepted.
    pub fn accepted(&self) -> usize {
        self.accepted.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap();
        }
    }
}

/// Answers every request with some bytes.
pub fn answers(answer: &'static [u8]) -> impl Fn(Stream, usize) + Send + Sync {
    move |mut stream, _| {
        while hears_request(&mut stream) && stream.write_all(answer).is_ok() {
            stream.flush().unwrap();
        }
    }
}
