//! What web applications do besides: many routes, files, compression, tokens, calls of another service.

use std::{
    convert::Infallible,
    env,
    error::Error,
    fmt::{self, Display, Formatter},
    fs::File,
    io::BufReader,
    path::Path as FilePath,
    sync::Arc,
    time::Duration,
};

use actix_files::Files;
use actix_web::{
    HttpResponse, Responder, Result, get,
    http::{
        StatusCode,
        header::{CacheControl, CacheDirective, ContentType},
    },
    middleware::Compress,
    post,
    rt::time::{Instant, sleep_until},
    web::{self, Bytes, Data, Json, Path, Payload, Query, ServiceConfig},
};
use actix_web_httpauth::extractors::bearer::BearerAuth;
use awc::Client;
use crc32fast::Hasher;
use futures_util::{StreamExt, TryStreamExt, stream};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const ROUTES: u32 = 1000;
const MOST_EVENTS: u32 = 100;
const EVENT_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Deserialize, Serialize)]
struct Item {
    id: u64,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Deserialize, Serialize)]
struct Rating {
    score: f64,
    count: u64,
}

#[derive(Serialize)]
struct PricedItem<'a> {
    #[serde(flatten)]
    item: &'a Item,
    total: u64,
}

#[derive(Serialize)]
struct Items<'a> {
    count: usize,
    items: Vec<PricedItem<'a>>,
}

#[derive(Deserialize)]
struct Multiplier {
    m: u64,
}

struct Tokens {
    key: DecodingKey,
    validation: Validation,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
}

#[derive(Deserialize)]
struct UpstreamValue {
    value: i64,
}

#[derive(Serialize)]
struct Doubled {
    id: u64,
    doubled: i64,
}

/// Why there is no value of the upstream.
#[derive(Debug)]
enum UpstreamError {
    NotReached(String),
    Status(StatusCode),
}

impl Display for UpstreamError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReached(reason) => write!(formatter, "the upstream was not reached: {reason}"),
            Self::Status(status) => write!(formatter, "the upstream's status is {status}"),
        }
    }
}

/// What all workers share.
#[derive(Clone)]
pub struct Web {
    files: Option<Arc<str>>,
    items: Data<Vec<Item>>,
    tokens: Data<Tokens>,
    upstream: Data<str>,
}

impl Web {
    /// Reads the records, if there is a folder that has them.
    pub fn from_environment() -> Result<Self, Box<dyn Error>> {
        let files = env::var("FILES").ok();
        let items = match &files {
            Some(files) => {
                let file = File::open(FilePath::new(files).join("items.json"))?;
                serde_json::from_reader(BufReader::new(file))?
            }
            None => Vec::new(),
        };
        let key = env::var("AUTH_KEY").unwrap_or_default();
        let mut validation = Validation::new(Algorithm::HS256);
        // Unless told otherwise, a token is taken for a minute more.
        validation.leeway = 0;
        let upstream: Arc<str> = env::var("UPSTREAM_URL").unwrap_or_default().into();
        Ok(Self {
            files: files.map(Arc::from),
            items: Data::new(items),
            tokens: Data::new(Tokens { key: DecodingKey::from_secret(key.as_bytes()), validation }),
            upstream: Data::from(upstream),
        })
    }

    /// Adds the routes of a worker, which has a client of its own. Routes are tried one after
    /// another, so the many ones are in a scope and come last.
    pub fn configure(&self, config: &mut ServiceConfig) {
        config
            .app_data(self.items.clone())
            .app_data(self.tokens.clone())
            .app_data(self.upstream.clone())
            .app_data(Data::new(Client::default()))
            .service(
                web::resource("/items/{n}").wrap(Compress::default()).route(web::get().to(items)),
            )
            .service(upload)
            .service(sum_of_values)
            .service(events)
            .service(subject)
            .service(doubled);
        if let Some(files) = &self.files {
            config.service(Files::new("/static", FilePath::new(&**files).join("static")));
        }
        config.service(web::scope("/r").configure(many_routes));
    }
}

fn many_routes(config: &mut ServiceConfig) {
    for k in 0..ROUTES {
        let answer = move |id: Path<String>| async move { text(format!("{k}:{id}")) };
        config.route(&format!("/{k}/x/{{id}}"), web::get().to(answer));
    }
}

/// The first n records, each with its total.
async fn items(
    records: Data<Vec<Item>>,
    n: Path<usize>,
    factor: Query<Multiplier>,
) -> HttpResponse {
    match records.get(..*n) {
        Some(records) if *n > 0 => {
            let items = records
                .iter()
                .map(|item| PricedItem { item, total: item.price * item.quantity * factor.m })
                .collect();
            HttpResponse::Ok().json(Items { count: *n, items })
        }
        _ => HttpResponse::NotFound().finish(),
    }
}

/// Answers with the CRC-32 of a body of any length, which is never in memory as a whole.
#[post("/upload")]
async fn upload(mut body: Payload) -> Result<impl Responder> {
    let mut crc = Hasher::new();
    while let Some(piece) = body.try_next().await? {
        crc.update(&piece);
    }
    Ok(text(crc.finalize().to_string()))
}

#[post("/json-in")]
async fn sum_of_values(document: Json<Value>) -> impl Responder {
    text(sum(&document).to_string())
}

/// The sum of all members named `value`.
fn sum(document: &Value) -> i64 {
    match document {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| match member.as_i64() {
                Some(number) if name == "value" => number,
                _ => sum(member),
            })
            .sum(),
        Value::Array(elements) => elements.iter().map(sum).sum(),
        _ => 0,
    }
}

/// Sends n events, each when it is due.
#[get("/stream/{n}")]
async fn events(n: Path<u32>) -> HttpResponse {
    let n = *n;
    if !(1..=MOST_EVENTS).contains(&n) {
        return HttpResponse::NotFound().finish();
    }
    let start = Instant::now();
    let events = stream::iter(0..n).then(move |i| async move {
        sleep_until(start + EVENT_INTERVAL * i).await;
        Ok::<_, Infallible>(Bytes::from(format!("data: {i}\n\n")))
    });
    HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(CacheControl(vec![CacheDirective::NoCache]))
        .streaming(events)
}

/// Answers with the subject of a valid token.
#[get("/auth")]
async fn subject(tokens: Data<Tokens>, header: BearerAuth) -> HttpResponse {
    match jsonwebtoken::decode::<Claims>(header.token(), &tokens.key, &tokens.validation) {
        Ok(token) => text(token.claims.sub),
        Err(_) => HttpResponse::Unauthorized().finish(),
    }
}

#[get("/up/{id}")]
async fn doubled(client: Data<Client>, upstream: Data<str>, id: Path<u64>) -> HttpResponse {
    match value(&client, &upstream, *id).await {
        Ok(value) => HttpResponse::Ok().json(Doubled { id: *id, doubled: 2 * value }),
        Err(error) => {
            eprintln!("{error}");
            HttpResponse::BadGateway().finish()
        }
    }
}

async fn value(client: &Client, upstream: &str, id: u64) -> Result<i64, UpstreamError> {
    let mut response = client
        .get(format!("{upstream}/value/{id}"))
        .send()
        .await
        .map_err(|error| UpstreamError::NotReached(error.to_string()))?;
    if response.status() != StatusCode::OK {
        return Err(UpstreamError::Status(response.status()));
    }
    let answer: UpstreamValue =
        response.json().await.map_err(|error| UpstreamError::NotReached(error.to_string()))?;
    Ok(answer.value)
}

fn text(body: String) -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body(body)
}
