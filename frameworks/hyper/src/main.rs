//! Serves Plimsoll's contract with hyper.

mod contract;
mod database;
mod response;
mod web;

use std::{
    env,
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::{
        conn::auto::Builder,
        graceful::{GracefulShutdown, Watcher},
    },
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

use crate::contract::App;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// For the requests in flight when a stop is asked for.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Before another connection is accepted where one could not be.
const PAUSE: Duration = Duration::from_millis(100);

/// What all connections share.
#[derive(Clone)]
struct Server {
    app: Arc<App>,
    connections: Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = SocketAddr::new(env::var("HOST")?.parse()?, env::var("PORT")?.parse()?);
    let is_http2 = env::var("PROTOCOL").is_ok_and(|protocol| protocol == "http2");
    let server = Server {
        app: Arc::new(App::new()?),
        connections: builder(is_http2),
        tls: tls_acceptor(is_http2)?,
    };
    let listener = listen(address)?;
    let graceful = GracefulShutdown::new();
    tokio::select! {
        () = accept(&listener, &server, &graceful) => {}
        ended = terminated() => ended?,
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = sleep(GRACE_PERIOD) => {}
    }
    Ok(())
}

/// One version of HTTP, so that no connection is looked at to find which one it has.
fn builder(is_http2: bool) -> Builder<TokioExecutor> {
    let builder = Builder::new(TokioExecutor::new());
    if is_http2 { builder.http2_only() } else { builder.http1_only() }
}

fn tls_acceptor(is_http2: bool) -> Result<Option<TlsAcceptor>, Box<dyn Error>> {
    let Ok(certificate) = env::var("TLS_CERT") else { return Ok(None) };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(env::var("TLS_KEY")?)?;
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key)?;
    config.alpn_protocols = vec![if is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

/// What `TcpListener::bind` does, with a backlog of our own.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address.ip() {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn terminated() -> io::Result<()> {
    signal(SignalKind::terminate())?.recv().await;
    Ok(())
}

async fn accept(listener: &TcpListener, server: &Server, graceful: &GracefulShutdown) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(server.clone().serve(stream, graceful.watcher()));
            }
            Err(error) => {
                eprintln!("cannot accept a connection: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

impl Server {
    /// Serves a connection until it is closed; what ends it early is the client's affair.
    async fn serve(self, stream: TcpStream, watcher: Watcher) {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("cannot set TCP_NODELAY: {error}");
        }
        let app = self.app;
        let service = service_fn(move |request| contract::respond(Arc::clone(&app), request));
        let connections = &self.connections;
        let _ = match self.tls {
            Some(tls) => {
                let Ok(stream) = tls.accept(stream).await else { return };
                let connection = connections.serve_connection(TokioIo::new(stream), service);
                watcher.watch(connection).await
            }
            None => {
                let connection = connections.serve_connection(TokioIo::new(stream), service);
                watcher.watch(connection).await
            }
        };
    }
}
