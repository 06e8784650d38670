//! Serves Plimsoll's contract with Actix Web.

mod database;
mod web;

use std::{
    collections::{BTreeMap, HashMap},
    env,
    error::Error,
    sync::Arc,
    time::Duration,
};

use actix_multipart::{Field, Multipart};
use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer, Responder,
    error::ErrorBadRequest,
    get,
    http::{KeepAlive, header::ContentType},
    post, rt,
    web::{Bytes, Form, Json, Path, Payload, Query, ServiceConfig},
};
use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseCode, Session};
use crc32fast::Hasher;
use futures_util::TryStreamExt;
use num_bigint::BigUint;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde::{Deserialize, Serialize};

use crate::web::Web;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// For the requests in flight when a stop is asked for, in seconds.
const GRACE_PERIOD_S: u64 = 5;

/// The longest message of WebSocket; the default for a frame is 64 KiB.
const LONGEST_MESSAGE: usize = 1 << 20;

static LETTERS: [u8; 32768] = [b'A'; 32768];

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: i64,
    first_name: String,
    last_name: String,
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let host = env::var("HOST")?;
    let port = env::var("PORT")?.parse()?;
    let workers = env::var("WORKERS")?.parse()?;

    let pool = database::pool()?;
    let web = Web::from_environment()?;

    // Unless told otherwise it closes a connection that is silent for five seconds.
    let server = HttpServer::new(move || {
        App::new()
            .app_data(pool.clone())
            .configure(routes)
            .configure(database::routes)
            .configure(|config| web.configure(config))
    })
    .workers(workers)
    .backlog(BACKLOG)
    .tcp_nodelay(true)
    .keep_alive(KeepAlive::Os)
    .client_request_timeout(Duration::ZERO)
    .shutdown_timeout(GRACE_PERIOD_S);
    let address: (String, u16) = (host, port);
    let server = match env::var("TLS_CERT") {
        Ok(certificate) => server.bind_rustls_0_23(address, tls(&certificate)?)?,
        Err(_) if env::var("PROTOCOL").is_ok_and(|spoken| spoken == "http2") => {
            server.bind_auto_h2c(address)?
        }
        Err(_) => server.bind(address)?,
    };
    server.run().await?;
    Ok(())
}

/// By rustls; Actix Web adds HTTP/2 for clients that offer it by ALPN.
fn tls(certificate: &str) -> Result<ServerConfig, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(env::var("TLS_KEY")?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?)
}

fn routes(config: &mut ServiceConfig) {
    config
        .service(empty)
        .service(letters_2048)
        .service(letters_8192)
        .service(letters_32768)
        .service(plaintext)
        .service(get_args)
        .service(post_args)
        .service(post_args_multi)
        .service(checksum)
        .service(json)
        .service(fibonacci)
        .service(echo);
}

#[get("/empty")]
async fn empty() -> impl Responder {
    HttpResponse::Ok()
}

#[get("/2048")]
async fn letters_2048() -> impl Responder {
    text(&LETTERS[..2048])
}

#[get("/8192")]
async fn letters_8192() -> impl Responder {
    text(&LETTERS[..8192])
}

#[get("/32768")]
async fn letters_32768() -> impl Responder {
    text(&LETTERS)
}

#[get("/plaintext")]
async fn plaintext() -> impl Responder {
    text(b"Hello, World!")
}

#[get("/getArgs2048")]
async fn get_args(args: Query<HashMap<String, String>>) -> impl Responder {
    decoded(args.values().map(String::len).sum())
}

#[post("/postArgs2048")]
async fn post_args(args: Form<HashMap<String, String>>) -> impl Responder {
    decoded(args.values().map(String::len).sum())
}

#[post("/postArgsMulti2048")]
async fn post_args_multi(mut args: Multipart) -> actix_web::Result<impl Responder> {
    let mut bytes = 0;
    while let Some(field) = args.try_next().await? {
        bytes += value(field).await?.len();
    }
    Ok(decoded(bytes))
}

async fn value(field: Field) -> actix_web::Result<String> {
    let bytes = field
        .try_fold(Vec::new(), |mut bytes, chunk| async move {
            bytes.extend_from_slice(&chunk);
            Ok(bytes)
        })
        .await?;
    String::from_utf8(bytes).map_err(ErrorBadRequest)
}

/// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
#[get("/args")]
async fn checksum(args: Query<BTreeMap<String, String>>) -> impl Responder {
    let mut crc = Hasher::new();
    for value in args.values() {
        crc.update(value.as_bytes());
        crc.update(b"\n");
    }
    HttpResponse::Ok().content_type(ContentType::plaintext()).body(crc.finalize().to_string())
}

#[post("/json")]
async fn json(person: Json<Person>) -> impl Responder {
    person
}

#[get("/fibonacci/{n}")]
async fn fibonacci(n: Path<u16>) -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body(fib(*n).to_string())
}

#[get("/echo")]
async fn echo(request: HttpRequest, body: Payload) -> actix_web::Result<HttpResponse> {
    let (response, session, messages) = actix_ws::handle(&request, body)?;
    let messages = messages.max_frame_size(LONGEST_MESSAGE).aggregate_continuations();
    rt::spawn(return_messages(session, messages.max_continuation_size(LONGEST_MESSAGE)));
    Ok(response)
}

/// Returns every message as it came, until the client closes or breaks a rule.
async fn return_messages(mut session: Session, mut messages: AggregatedMessageStream) {
    let reason = loop {
        let sent = match messages.recv().await {
            Some(Ok(AggregatedMessage::Text(text))) => session.text(text).await,
            Some(Ok(AggregatedMessage::Binary(bytes))) => session.binary(bytes).await,
            Some(Ok(AggregatedMessage::Ping(bytes))) => session.pong(&bytes).await,
            Some(Ok(AggregatedMessage::Pong(_))) => Ok(()),
            Some(Ok(AggregatedMessage::Close(reason))) => break reason,
            Some(Err(_)) => break Some(CloseCode::Protocol.into()),
            None => return,
        };
        if sent.is_err() {
            return;
        }
    };
    // It fails where the client is gone.
    let _ = session.close(reason).await;
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

fn text(body: &'static [u8]) -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body(Bytes::from_static(body))
}

/// Says how many bytes the decoded values of the arguments have together.
fn decoded(bytes: usize) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .insert_header(("decoded-bytes", bytes.to_string()))
        .body(Bytes::from_static(&LETTERS[..2048]))
}
