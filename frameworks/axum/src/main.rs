//! Serves Plimsoll's contract with axum.

mod database;
mod web;

use std::{
    collections::{BTreeMap, HashMap},
    env,
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{
        Form, Multipart, Path, Query,
        multipart::MultipartError,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::{any, get, post},
    serve::ListenerExt,
};
use axum_server::{
    Handle,
    accept::NoDelayAcceptor,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use crc32fast::Hasher;
use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use tokio::{
    net::{TcpListener, TcpSocket},
    signal::unix::{SignalKind, signal},
};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// For the requests in flight when a stop is asked for.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

static LETTERS: [u8; 32768] = [b'A'; 32768];

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: i64,
    first_name: String,
    last_name: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = SocketAddr::new(env::var("HOST")?.parse()?, env::var("PORT")?.parse()?);
    let listener = listen(address)?;
    match env::var("TLS_CERT") {
        Ok(certificate) => serve_by_tls(listener, &certificate, &env::var("TLS_KEY")?).await,
        Err(_) => serve(listener).await,
    }
}

/// Without TLS. A connection that begins with the preface of HTTP/2 is one of it.
async fn serve(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("cannot set TCP_NODELAY: {error}");
        }
    });

    tokio::select! {
        ended = axum::serve(listener, app()?).with_graceful_shutdown(terminated()) => ended?,
        () = grace_period_over() => {}
    }
    Ok(())
}

/// By rustls, with HTTP/2 for clients that offer it by ALPN.
async fn serve_by_tls(
    listener: TcpListener,
    certificate: &str,
    key: &str,
) -> Result<(), Box<dyn Error>> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "there is another provider of cryptography")?;
    let config = RustlsConfig::from_pem_file(certificate, key).await?;
    let handle = Handle::new();
    tokio::spawn(stop(handle.clone()));
    axum_server::from_tcp(listener.into_std()?)?
        .acceptor(RustlsAcceptor::new(config).acceptor(NoDelayAcceptor::new()))
        .handle(handle)
        .serve(app()?.into_make_service())
        .await?;
    Ok(())
}

async fn stop(handle: Handle<SocketAddr>) {
    terminated().await;
    handle.graceful_shutdown(Some(GRACE_PERIOD));
}

fn app() -> Result<Router, Box<dyn Error>> {
    Ok(Router::new()
        .route("/empty", get(empty))
        .route("/2048", get(letters::<2048>))
        .route("/8192", get(letters::<8192>))
        .route("/32768", get(letters::<32768>))
        .route("/plaintext", get(plaintext))
        .route("/getArgs2048", get(get_args))
        .route("/postArgs2048", post(post_args))
        .route("/postArgsMulti2048", post(post_args_multi))
        .route("/args", get(checksum))
        .route("/json", post(json))
        .route("/fibonacci/{n}", get(fibonacci))
        .route("/echo", any(echo))
        .merge(database::router()?)
        .merge(web::router()?))
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

async fn terminated() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(error) => eprintln!("cannot wait for SIGTERM: {error}"),
    }
}

async fn grace_period_over() {
    terminated().await;
    tokio::time::sleep(GRACE_PERIOD).await;
}

async fn empty() {}

async fn letters<const N: usize>() -> impl IntoResponse {
    text(&LETTERS[..N])
}

async fn plaintext() -> impl IntoResponse {
    text("Hello, World!")
}

async fn get_args(Query(args): Query<HashMap<String, String>>) -> impl IntoResponse {
    decoded(args.values().map(String::len).sum())
}

async fn post_args(Form(args): Form<HashMap<String, String>>) -> impl IntoResponse {
    decoded(args.values().map(String::len).sum())
}

async fn post_args_multi(mut args: Multipart) -> Result<impl IntoResponse, MultipartError> {
    let mut bytes = 0;
    while let Some(field) = args.next_field().await? {
        bytes += field.text().await?.len();
    }
    Ok(decoded(bytes))
}

/// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
async fn checksum(Query(args): Query<BTreeMap<String, String>>) -> impl IntoResponse {
    let mut crc = Hasher::new();
    for value in args.values() {
        crc.update(value.as_bytes());
        crc.update(b"\n");
    }
    text(crc.finalize().to_string())
}

async fn json(Json(person): Json<Person>) -> Json<Person> {
    Json(person)
}

async fn fibonacci(Path(n): Path<u16>) -> impl IntoResponse {
    text(fib(n).to_string())
}

async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(return_messages)
}

/// Returns every message as it came; pings and close frames are answered while messages are read.
async fn return_messages(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let is_returned = match message {
            Message::Text(_) | Message::Binary(_) => socket.send(message).await.is_ok(),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => true,
        };
        if !is_returned {
            return;
        }
    }
}

/// Adds n - 1 times.
fn fib(n: u16) -> BigUint {
    let (mut a, mut b) = (BigUint::ZERO, BigUint::from(1u8));
    if n == 0 {
        return a;
    }
    for _ in 1..n {
        a += &b;
        std::mem::swap(&mut a, &mut b);
    }
    b
}

fn text(body: impl IntoResponse) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain")], body)
}

/// Says how many bytes the decoded values of the arguments have together.
fn decoded(bytes: usize) -> impl IntoResponse {
    (
        [("decoded-bytes", bytes.to_string())],
        text(&LETTERS[..2048]),
    )
}
