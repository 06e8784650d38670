//! What web applications do besides: many routes, tokens, large bodies, calls of another service.

use std::{env, error::Error, fs::File, io::BufReader, path::Path, time::Duration};

use crc32fast::Hasher;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use reqwest::Client;
use rocket::{
    Build, Data, Request, Rocket, Route, State,
    data::ByteUnit,
    get,
    http::{Method, Status},
    post,
    request::{FromRequest, Outcome},
    response::{
        content::RawText,
        stream::{Event, EventStream},
    },
    route::{self, Handler},
    routes,
    serde::{
        Deserialize, Serialize,
        json::{Json, Value, serde_json},
    },
    tokio::{
        io::AsyncReadExt,
        time::{Instant, sleep_until},
    },
};

const ROUTES: u32 = 1000;

/// Behind all other routes, whose ranks are negative.
const RANK: isize = 1;

const MOST_EVENTS: u32 = 100;
const EVENT_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes of an upload that are read at a time.
const PIECE: usize = 64 * 1024;

#[derive(Deserialize, Serialize)]
#[serde(crate = "rocket::serde")]
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
#[serde(crate = "rocket::serde")]
struct Rating {
    score: f64,
    count: u64,
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct PricedItem<'a> {
    #[serde(flatten)]
    item: &'a Item,
    total: u64,
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Items<'a> {
    count: usize,
    items: Vec<PricedItem<'a>>,
}

/// The records of `items.json`.
struct Records(Vec<Item>);

struct Tokens {
    key: DecodingKey,
    validation: Validation,
}

#[derive(Deserialize)]
#[serde(crate = "rocket::serde")]
struct Claims {
    sub: String,
}

/// The subject of a valid token.
struct Subject(String);

struct Upstream {
    client: Client,
    address: String,
}

#[derive(Deserialize)]
#[serde(crate = "rocket::serde")]
struct UpstreamValue {
    value: i64,
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Doubled {
    id: u64,
    doubled: i64,
}

pub fn mounted(rocket: Rocket<Build>) -> Result<Rocket<Build>, Box<dyn Error>> {
    let upstream = Upstream {
        client: Client::builder().no_proxy().build()?,
        address: env::var("UPSTREAM_URL").unwrap_or_default(),
    };
    Ok(rocket
        .manage(records()?)
        .manage(tokens())
        .manage(upstream)
        .mount("/", routes![items, upload, sum_of_values, events, subject, doubled])
        .mount("/r", many_routes()))
}

/// Answers with the number of its route and the parameter.
#[derive(Clone)]
struct Numbered(u32);

#[rocket::async_trait]
impl Handler for Numbered {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> route::Outcome<'r> {
        match request.param::<&str>(2) {
            Some(Ok(id)) => route::Outcome::from(request, RawText(format!("{}:{id}", self.0))),
            _ => route::Outcome::forward(data, Status::NotFound),
        }
    }
}

fn many_routes() -> Vec<Route> {
    (0..ROUTES)
        .map(|k| Route::ranked(RANK, Method::Get, &format!("/{k}/x/<id>"), Numbered(k)))
        .collect()
}

fn records() -> Result<Records, Box<dyn Error>> {
    let Ok(files) = env::var("FILES") else { return Ok(Records(Vec::new())) };
    let file = File::open(Path::new(&files).join("items.json"))?;
    Ok(Records(serde_json::from_reader(BufReader::new(file))?))
}

/// The first n records, each with its total.
#[get("/items/<n>?<m>")]
fn items(records: &State<Records>, n: usize, m: u64) -> Option<Json<Items<'_>>> {
    let records = records.inner().0.get(..n).filter(|records| !records.is_empty())?;
    let items = records
        .iter()
        .map(|item| PricedItem { item, total: item.price * item.quantity * m })
        .collect();
    Some(Json(Items { count: n, items }))
}

/// Answers with the CRC-32 of a body of any length, which is never in memory as a whole.
#[post("/upload", data = "<body>")]
async fn upload(body: Data<'_>) -> std::io::Result<RawText<String>> {
    let mut stream = body.open(ByteUnit::max_value());
    let mut crc = Hasher::new();
    let mut piece = vec![0; PIECE];
    loop {
        let length = stream.read(&mut piece).await?;
        if length == 0 {
            return Ok(RawText(crc.finalize().to_string()));
        }
        crc.update(&piece[..length]);
    }
}

#[post("/json-in", format = "json", data = "<document>")]
fn sum_of_values(document: Json<Value>) -> RawText<String> {
    RawText(sum(&document).to_string())
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
#[get("/stream/<n>")]
fn events(n: u32) -> Option<EventStream![]> {
    if !(1..=MOST_EVENTS).contains(&n) {
        return None;
    }
    let start = Instant::now();
    Some(
        EventStream! {
            for i in 0..n {
                sleep_until(start + EVENT_INTERVAL * i).await;
                yield Event::data(i.to_string());
            }
        }
        .heartbeat(None),
    )
}

fn tokens() -> Tokens {
    let mut validation = Validation::new(Algorithm::HS256);
    // Unless told otherwise, a token is taken for a minute more.
    validation.leeway = 0;
    let key = env::var("AUTH_KEY").unwrap_or_default();
    Tokens { key: DecodingKey::from_secret(key.as_bytes()), validation }
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Subject {
    type Error = ();

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, ()> {
        let tokens = request.rocket().state::<Tokens>();
        let header = request.headers().get_one("authorization");
        let subject = tokens.zip(header).and_then(|(tokens, header)| tokens.subject(header));
        match subject {
            Some(subject) => Outcome::Success(Self(subject)),
            None => Outcome::Error((Status::Unauthorized, ())),
        }
    }
}

impl Tokens {
    fn subject(&self, header: &str) -> Option<String> {
        let token = header.strip_prefix("Bearer ")?;
        let token = jsonwebtoken::decode::<Claims>(token, &self.key, &self.validation).ok()?;
        Some(token.claims.sub)
    }
}

#[get("/auth")]
fn subject(subject: Subject) -> RawText<String> {
    RawText(subject.0)
}

#[get("/up/<id>")]
async fn doubled(upstream: &State<Upstream>, id: u64) -> Result<Json<Doubled>, Status> {
    let value = upstream.value(id).await.map_err(|error| {
        eprintln!("{error}");
        Status::BadGateway
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
