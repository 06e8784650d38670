//! What web applications do besides: many routes, files, compression, tokens, calls of another service.

use std::{
    convert::Infallible, env, error::Error, fs::File, io::BufReader, path::Path as FilePath,
    sync::Arc, time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
    routing::{get, post},
};
use axum_extra::{
    TypedHeader,
    headers::{Authorization, authorization::Bearer},
    typed_header::TypedHeaderRejection,
};
use crc32fast::Hasher;
use futures_util::{StreamExt, TryStreamExt, stream};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tower_http::{compression::CompressionLayer, services::ServeDir};

use crate::text;

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

#[derive(Clone)]
struct Upstream {
    client: Client,
    address: Arc<str>,
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

pub fn router() -> Result<Router, Box<dyn Error>> {
    let files = env::var("FILES").ok();
    let mut router = many_routes()
        .merge(items_router(files.as_deref())?)
        .merge(auth_router())
        .merge(upstream_router()?)
        .route("/upload", post(upload))
        .route("/json-in", post(sum_of_values))
        .route("/stream/{n}", get(events));
    if let Some(files) = files {
        router =
            router.nest_service("/static", ServeDir::new(FilePath::new(&files).join("static")));
    }
    Ok(router)
}

fn many_routes() -> Router {
    (0..ROUTES).fold(Router::new(), |router, k| {
        let answer = move |Path(id): Path<String>| async move { text(format!("{k}:{id}")) };
        router.route(&format!("/r/{k}/x/{{id}}"), get(answer))
    })
}

/// Compression is for this route alone: no other pays for it.
fn items_router(files: Option<&str>) -> Result<Router, Box<dyn Error>> {
    let records: Vec<Item> = match files {
        Some(files) => {
            let file = File::open(FilePath::new(files).join("items.json"))?;
            serde_json::from_reader(BufReader::new(file))?
        }
        None => Vec::new(),
    };
    Ok(Router::new()
        .route("/items/{n}", get(items).layer(CompressionLayer::new()))
        .with_state(Arc::<[Item]>::from(records)))
}

/// The first n records, each with its total.
async fn items(
    State(records): State<Arc<[Item]>>,
    Path(n): Path<usize>,
    Query(Multiplier { m }): Query<Multiplier>,
) -> Response {
    match records.get(..n) {
        Some(records) if n > 0 => {
            let items = records
                .iter()
                .map(|item| PricedItem { item, total: item.price * item.quantity * m })
                .collect();
            Json(Items { count: n, items }).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Answers with the CRC-32 of a body of any length, which is never in memory as a whole.
async fn upload(body: Body) -> Result<impl IntoResponse, StatusCode> {
    let mut crc = Hasher::new();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.try_next().await.map_err(|_| StatusCode::BAD_REQUEST)? {
        crc.update(&piece);
    }
    Ok(text(crc.finalize().to_string()))
}

async fn sum_of_values(Json(document): Json<Value>) -> impl IntoResponse {
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
async fn events(Path(n): Path<u32>) -> Response {
    if !(1..=MOST_EVENTS).contains(&n) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let start = Instant::now();
    let events = stream::iter(0..n).then(move |i| async move {
        sleep_until(start + EVENT_INTERVAL * i).await;
        Ok::<_, Infallible>(Event::default().data(i.to_string()))
    });
    Sse::new(events).into_response()
}

fn auth_router() -> Router {
    let key = env::var("AUTH_KEY").unwrap_or_default();
    let mut validation = Validation::new(Algorithm::HS256);
    // Unless told otherwise, a token is taken for a minute more.
    validation.leeway = 0;
    let tokens = Tokens { key: DecodingKey::from_secret(key.as_bytes()), validation };
    Router::new().route("/auth", get(subject)).with_state(Arc::new(tokens))
}

/// Answers with the subject of a valid token.
async fn subject(
    State(tokens): State<Arc<Tokens>>,
    header: Result<TypedHeader<Authorization<Bearer>>, TypedHeaderRejection>,
) -> Result<impl IntoResponse, StatusCode> {
    let header = header.map_err(|_| StatusCode::UNAUTHORIZED)?;
    let token = jsonwebtoken::decode::<Claims>(header.token(), &tokens.key, &tokens.validation)
        .map_err(|_| StatusCode::UNAUTHORIZED)?;
    Ok(text(token.claims.sub))
}

/// Its client keeps connections open, as many as there are calls at a time: reqwest's default.
fn upstream_router() -> Result<Router, reqwest::Error> {
    let upstream = Upstream {
        client: Client::builder().no_proxy().build()?,
        address: env::var("UPSTREAM_URL").unwrap_or_default().into(),
    };
    Ok(Router::new().route("/up/{id}", get(doubled)).with_state(upstream))
}

async fn doubled(
    State(upstream): State<Upstream>,
    Path(id): Path<u64>,
) -> Result<Json<Doubled>, StatusCode> {
    let value = upstream.value(id).await.map_err(|error| {
        eprintln!("{error}");
        StatusCode::BAD_GATEWAY
    })?;
    Ok(Json(Doubled { id, doubled: 2 * value }))
}

impl Upstream {
    async fn value(&self, id: u64) -> Result<i64, reqwest::Error> {
        let address = format!("{}/value/{id}", self.address);
        let response = self.client.get(address).send().await?.error_for_status()?;
        let UpstreamValue { value } = response.json().await?;
        Ok(value)
    }
}
