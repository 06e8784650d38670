//! Which path is answered how, and the answers that need nothing but the request.

use std::{borrow::Cow, collections::BTreeMap, convert::Infallible, error::Error, str::FromStr, sync::Arc};

use crc32fast::Hasher;
use form_urlencoded::Parse;
use http_body_util::{BodyExt, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    http::request::Parts,
};
use multer::Multipart;
use num_bigint::BigUint;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    database::Database,
    response::{Answer, Body, empty, json, refused, text},
    web::Web,
};

/// Of a body that is read as a whole, in bytes.
const LONGEST_BODY: usize = 4 << 20;

static LETTERS: [u8; 32768] = [b'A'; 32768];

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: i64,
    first_name: String,
    last_name: String,
}

pub struct App {
    database: Database,
    web: Web,
}

pub async fn respond(
    app: Arc<App>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    Ok(app.answer(&head, body).await.unwrap_or_else(empty))
}

impl App {
    pub fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { database: Database::new()?, web: Web::new()? })
    }

    /// Paths have one or two segments: a name, and what is asked for below it.
    async fn answer(&self, head: &Parts, body: Incoming) -> Answer {
        let path = head.uri.path().strip_prefix('/').unwrap_or_default();
        let (name, place) = match path.split_once('/') {
            Some((name, place)) => (name, Some(place)),
            None => (path, None),
        };
        match (head.method.as_str(), name, place) {
            ("GET", "empty", None) => Ok(empty(StatusCode::OK)),
            ("GET", "2048", None) => Ok(letters(2048)),
            ("GET", "8192", None) => Ok(letters(8192)),
            ("GET", "32768", None) => Ok(letters(32768)),
            ("GET", "plaintext", None) => Ok(text("Hello, World!")),
            ("GET", "getArgs2048", None) => Ok(decoded(arguments(head))),
            ("POST", "postArgs2048", None) => {
                Ok(decoded(form_urlencoded::parse(&whole(body).await?)))
            }
            ("POST", "postArgsMulti2048", None) => parts(head, body).await,
            ("GET", "args", None) => Ok(checksum(arguments(head))),
            ("POST", "json", None) => json(&decode::<Person>(body).await?),
            ("GET", "fibonacci", Some(n)) => Ok(text(fib(number(n)?).to_string())),
            ("GET", "db", Some(id)) => self.database.world(number(id)?).await,
            ("GET", "fortunes", None) => self.database.fortunes().await,
            ("POST", "updates", Some(n)) => self.database.updates(number(n)?).await,
            ("GET", "items", Some(n)) => self.web.items(number(n)?, arguments(head)),
            ("GET", "auth", None) => self.web.subject(&head.headers),
            ("GET", "up", Some(id)) => self.web.doubled(number(id)?).await,
            ("POST", "upload", None) => upload(body).await,
            ("POST", "json-in", None) => Ok(text(Web::sum(&decode(body).await?).to_string())),
            ("GET", "stream", Some(n)) => Web::events(number(n)?),
            _ => Err(StatusCode::NOT_FOUND),
        }
    }
}

/// A number in a path: where there is none, there is nothing.
fn number<T: FromStr>(digits: &str) -> Result<T, StatusCode> {
    digits.parse().map_err(|_| StatusCode::NOT_FOUND)
}

fn arguments(head: &Parts) -> Parse<'_> {
    form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes())
}

async fn whole(body: Incoming) -> Result<Bytes, StatusCode> {
    Ok(Limited::new(body, LONGEST_BODY).collect().await.map_err(refused)?.to_bytes())
}

async fn decode<T: DeserializeOwned>(body: Incoming) -> Result<T, StatusCode> {
    serde_json::from_slice(&whole(body).await?).map_err(refused)
}

fn letters(bytes: usize) -> Response<Body> {
    text(&LETTERS[..bytes])
}

/// Says how many bytes the decoded values of the arguments have together.
fn decoded(arguments: Parse<'_>) -> Response<Body> {
    with_decoded_bytes(arguments.map(|(_, value)| value.len()).sum())
}

async fn parts(head: &Parts, body: Incoming) -> Answer {
    let media_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = multer::parse_boundary(media_type.unwrap_or_default()).map_err(refused)?;
    let mut parts = Multipart::new(body.into_data_stream(), boundary);
    let mut bytes = 0;
    while let Some(part) = parts.next_field().await.map_err(refused)? {
        bytes += part.text().await.map_err(refused)?.len();
    }
    Ok(with_decoded_bytes(bytes))
}

fn with_decoded_bytes(bytes: usize) -> Response<Body> {
    let mut response = letters(2048);
    response.headers_mut().insert("decoded-bytes", HeaderValue::from(bytes));
    response
}

/// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
fn checksum(arguments: Parse<'_>) -> Response<Body> {
    let sorted: BTreeMap<Cow<'_, str>, Cow<'_, str>> = arguments.collect();
    let mut crc = Hasher::new();
    for value in sorted.values() {
        crc.update(value.as_bytes());
        crc.update(b"\n");
    }
    text(crc.finalize().to_string())
}

/// Answers with the CRC-32 of a body of any length, which is never in memory as a whole.
async fn upload(mut body: Incoming) -> Answer {
    let mut crc = Hasher::new();
    while let Some(frame) = body.frame().await {
        if let Some(piece) = frame.map_err(refused)?.data_ref() {
            crc.update(piece);
        }
    }
    Ok(text(crc.finalize().to_string()))
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
