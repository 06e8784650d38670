//! What the two providers of cryptography of rustls cost a client: processor time of a full
//! handshake, of a request with a response of 2,048 bytes, and of a gigabyte received.
//!
//! Both sides are in memory, without sockets; only the client's time counts. Providers take turns, so
//! that what else the machine does concerns both, and ratios are taken within a round.
//!
//! `cargo run --release --manifest-path benches/providers/Cargo.toml`

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustix::time::{ClockId, clock_gettime};
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection,
    SupportedProtocolVersion,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 40;
const HANDSHAKES: u32 = 50;
const REQUESTS: u32 = 2_000;
const RECORDS: u32 = 2_000;

/// What a load sends, and what comes: a head and a body of 2,048 bytes.
const REQUEST: [u8; 60] = [b'a'; 60];
const RESPONSE: [u8; 2_177] = [b'A'; 2_177];

/// The most that a record may carry; RFC 8446, section 5.1.
const RECORD: [u8; 16_384] = [b'A'; 16_384];

/// Both sides of a connection that a client has opened.
struct Connection {
    client: ClientConnection,
    server: ServerConnection,
    handshake_s: f64,
}

impl Connection {
    /// Opens one by a full handshake.
    fn open(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<Self> {
        let name = ServerName::try_from("localhost")?;
        let begun_s = cpu_s();
        let client = ClientConnection::new(Arc::clone(client), name)?;
        let handshake_s = cpu_s() - begun_s;
        let server = ServerConnection::new(Arc::clone(server))?;
        let mut opened = Self { client, server, handshake_s };
        while opened.client.is_handshaking() || opened.server.is_handshaking() {
            opened.exchange()?;
        }
        Ok(opened)
    }

    /// One flight of the client and the server's answer.
    fn exchange(&mut self) -> Result<()> {
        let mut flight = Vec::new();
        let begun_s = cpu_s();
        while self.client.wants_write() {
            self.client.write_tls(&mut flight)?;
        }
        self.handshake_s += cpu_s() - begun_s;
        self.server.read_tls(&mut &*flight)?;
        self.server.process_new_packets()?;
        let mut answer = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut answer)?;
        }
        let begun_s = cpu_s();
        self.client.read_tls(&mut &*answer)?;
        self.client.process_new_packets()?;
        self.handshake_s += cpu_s() - begun_s;
        Ok(())
    }

    /// Processor time of the client for so many requests, each with its response, in seconds.
    fn requests_s(&mut self, count: u32, request: &[u8], response: &[u8]) -> Result<f64> {
        let ciphertexts = (0..count).map(|_| self.sealed(response)).collect::<Result<Vec<_>>>()?;
        let mut sent = Vec::with_capacity(2 * RECORD.len());
        let mut received = vec![0; response.len()];
        let begun_s = cpu_s();
        for ciphertext in &ciphertexts {
            self.client.writer().write_all(request)?;
            while self.client.wants_write() {
                self.client.write_tls(&mut sent)?;
            }
            sent.clear();
            let (mut rest, mut read) = (&**ciphertext, 0);
            while read < received.len() {
                if !rest.is_empty() {
                    self.client.read_tls(&mut rest)?;
                    self.client.process_new_packets()?;
                }
                match self.client.reader().read(&mut received[read..]) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock && !rest.is_empty() => {}
                    count => read += count?,
                }
            }
        }
        Ok(cpu_s() - begun_s)
    }

    /// What the server sends of a text.
    fn sealed(&mut self, text: &[u8]) -> Result<Vec<u8>> {
        self.server.writer().write_all(text)?;
        let mut ciphertext = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut ciphertext)?;
        }
        Ok(ciphertext)
    }
}

/// What is measured of a provider in a round.
#[derive(Clone, Copy)]
struct Costs {
    handshake_us: f64,
    request_us: f64,
    gigabyte_s: f64,
}

/// Both sides by one provider and version.
struct Sides {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    rounds: Vec<Costs>,
}

impl Sides {
    fn new(
        provider: CryptoProvider,
        version: &'static SupportedProtocolVersion,
        certificate: &CertificateDer<'static>,
        key: &PrivateKeyDer<'static>,
    ) -> Result<Self> {
        let provider = Arc::new(provider);
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone())?;
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.resumption = Resumption::disabled(); // as the engine, unless told otherwise
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.clone_key())?;
        Ok(Self { client: Arc::new(client), server: Arc::new(server), rounds: Vec::new() })
    }

    fn measure(&mut self) -> Result<()> {
        let mut handshakes_s = 0.0;
        for _ in 0..HANDSHAKES {
            handshakes_s += Connection::open(&self.client, &self.server)?.handshake_s;
        }
        let mut open = Connection::open(&self.client, &self.server)?;
        let requests_s = open.requests_s(REQUESTS, &REQUEST, &RESPONSE)?;
        let records_s = open.requests_s(RECORDS, &[], &RECORD)?;
        let bytes = f64::from(RECORDS) * RECORD.len() as f64;
        self.rounds.push(Costs {
            handshake_us: handshakes_s / f64::from(HANDSHAKES) * 1e6,
            request_us: requests_s / f64::from(REQUESTS) * 1e6,
            gigabyte_s: records_s / bytes * 1e9,
        });
        Ok(())
    }
}

/// Processor time of this process in seconds.
fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Median, lower and upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values.len() / 2, values.len() / 4, values.len() * 3 / 4].map(|place| values[place])
}

fn line(version: &str, what: &str, ring: &[Costs], aws: &[Costs], of: fn(&Costs) -> f64) {
    let [ring_median, ..] = quartiles(ring.iter().map(of).collect());
    let [aws_median, ..] = quartiles(aws.iter().map(of).collect());
    let ratios = ring.iter().zip(aws).map(|(ring, aws)| of(aws) / of(ring)).collect();
    let [ratio, low, high] = quartiles(ratios);
    println!(
        "| {version} | {what} | {ring_median:.3} | {aws_median:.3} | {ratio:.2} ({low:.2}–{high:.2}) |"
    );
}

fn main() -> Result<()> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    let key: PrivateKeyDer<'_> = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    println!("| TLS | the client's processor time | ring | aws-lc | aws-lc ÷ ring |");
    println!("| --- | --- | ---: | ---: | ---: |");
    for (title, version) in [("1.3", &TLS13), ("1.2", &TLS12)] {
        let mut by_ring = Sides::new(ring::default_provider(), version, cert.der(), &key)?;
        let mut by_aws = Sides::new(aws_lc_rs::default_provider(), version, cert.der(), &key)?;
        for _ in 0..ROUNDS {
            by_ring.measure()?;
            by_aws.measure()?;
        }
        let (ring, aws) = (&by_ring.rounds, &by_aws.rounds);
        line(title, "full handshake, µs", ring, aws, |costs| costs.handshake_us);
        line(title, "request of 2,048 bytes, µs", ring, aws, |costs| costs.request_us);
        line(title, "gigabyte received, s", ring, aws, |costs| costs.gigabyte_s);
    }
    Ok(())
}
