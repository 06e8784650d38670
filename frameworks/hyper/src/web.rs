//! What web applications do besides: lists as JSON, tokens, events, calls of another service.

use std::{
    convert::Infallible, env, error::Error, fs::File, io::BufReader, path::Path, time::Duration,
};

use form_urlencoded::Parse;
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, Either, Empty, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Response, StatusCode,
    body::{Bytes, Frame},
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::response::{Answer, json, text};

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

/// Its client keeps connections open, as many as there are calls at a time: hyper's default.
pub struct Web {
    records: Vec<Item>,
    key: DecodingKey,
    validation: Validation,
    client: Client<HttpConnector, Empty<Bytes>>,
    upstream: String,
}

impl Web {
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let mut validation = Validation::new(Algorithm::HS256);
        // Unless told otherwise, a token is taken for a minute more.
        validation.leeway = 0;
        Ok(Self {
            records: env::var("FILES").map_or_else(|_| Ok(Vec::new()), |files| records(&files))?,
            key: DecodingKey::from_secret(env::var("AUTH_KEY").unwrap_or_default().as_bytes()),
            validation,
            client: Client::builder(TokioExecutor::new()).build_http(),
            upstream: env::var("UPSTREAM_URL").unwrap_or_default(),
        })
    }

    /// The first n records, each with its total.
    pub fn items(&self, n: usize, mut arguments: Parse<'_>) -> Answer {
        let factor = arguments.find(|(name, _)| name == "m").and_then(|(_, m)| m.parse().ok());
        let factor: u64 = factor.ok_or(StatusCode::BAD_REQUEST)?;
        let records = self.records.get(..n).filter(|records| !records.is_empty());
        let items = records
            .ok_or(StatusCode::NOT_FOUND)?
            .iter()
            .map(|item| PricedItem { item, total: item.price * item.quantity * factor })
            .collect();
        json(&Items { count: n, items })
    }

    /// Answers with the subject of a valid token.
    pub fn subject(&self, headers: &HeaderMap) -> Answer {
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or(StatusCode::UNAUTHORIZED)?;
        let token = jsonwebtoken::decode::<Claims>(token, &self.key, &self.validation)
            .map_err(|_| StatusCode::UNAUTHORIZED)?;
        Ok(text(token.claims.sub))
    }

    pub async fn doubled(&self, id: u64) -> Answer {
        let value = self.value(id).await.map_err(|error| {
            eprintln!("{error}");
            StatusCode::BAD_GATEWAY
        })?;
        json(&Doubled { id, doubled: 2 * value })
    }

    async fn value(&self, id: u64) -> Result<i64, Box<dyn Error + Send + Sync>> {
        let response = self.client.get(format!("{}/value/{id}", self.upstream).parse()?).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("the upstream's status is {}", response.status()).into());
        }
        let body = response.into_body().collect().await?.to_bytes();
        let UpstreamValue { value } = serde_json::from_slice(&body)?;
        Ok(value)
    }

    /// Sends n events, each when it is due.
    pub fn events(n: u32) -> Answer {
        if !(1..=MOST_EVENTS).contains(&n) {
            return Err(StatusCode::NOT_FOUND);
        }
        let start = Instant::now();
        let events = stream::iter(0..n).then(move |i| async move {
            sleep_until(start + EVENT_INTERVAL * i).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from(format!("data: {i}\n\n"))))
        });
        let mut response =
            Response::new(Either::Right(UnsyncBoxBody::new(StreamBody::new(events))));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(response)
    }

    /// The sum of all members named `value`.
    pub fn sum(document: &Value) -> i64 {
        match document {
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| match member.as_i64() {
                    Some(number) if name == "value" => number,
                    _ => Self::sum(member),
                })
                .sum(),
            Value::Array(elements) => elements.iter().map(Self::sum).sum(),
            _ => 0,
        }
    }
}

fn records(files: &str) -> Result<Vec<Item>, Box<dyn Error>> {
    let file = File::open(Path::new(files).join("items.json"))?;
    Ok(serde_json::from_reader(BufReader::new(file))?)
}
