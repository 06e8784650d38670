//! The answers that need nothing but the request.

use std::collections::BTreeMap;

use crc32fast::Hasher;
use futures_util::{SinkExt, StreamExt};
use num_bigint::BigUint;
use rocket::{
    Responder, Route,
    form::{self, DataField, Form, FromForm, Options, ValueField},
    get,
    http::Header,
    post,
    response::content::RawText,
    routes,
    serde::{Deserialize, Serialize, json::Json},
};
use rocket_ws::{Channel, WebSocket};

const LETTERS: &str = match str::from_utf8(&[b'A'; 32768]) {
    Ok(letters) => letters,
    Err(_) => panic!(),
};

#[derive(Deserialize, Serialize)]
#[serde(crate = "rocket::serde", rename_all = "camelCase")]
struct Person {
    id: i64,
    first_name: String,
    last_name: String,
}

/// All fields of a query or a form, whatever their names, by rising name.
struct Arguments<'r>(BTreeMap<&'r str, &'r str>);

#[rocket::async_trait]
impl<'r> FromForm<'r> for Arguments<'r> {
    type Context = BTreeMap<&'r str, &'r str>;

    fn init(_: Options) -> Self::Context {
        BTreeMap::new()
    }

    fn push_value(arguments: &mut Self::Context, field: ValueField<'r>) {
        arguments.insert(field.name.source().as_str(), field.value);
    }

    /// Files are no arguments.
    async fn push_data(_: &mut Self::Context, _: DataField<'r, '_>) {}

    fn finalize(arguments: Self::Context) -> form::Result<'r, Self> {
        Ok(Self(arguments))
    }
}

/// Says how many bytes the decoded values of the arguments have together.
#[derive(Responder)]
struct Decoded {
    body: RawText<&'static str>,
    bytes: Header<'static>,
}

impl From<&Arguments<'_>> for Decoded {
    fn from(arguments: &Arguments<'_>) -> Self {
        let bytes: usize = arguments.0.values().map(|value| value.len()).sum();
        Self {
            body: RawText(&LETTERS[..2048]),
            bytes: Header::new("decoded-bytes", bytes.to_string()),
        }
    }
}

pub fn routes() -> Vec<Route> {
    routes![
        empty, letters2048, letters8192, letters32768, plaintext, get_args, post_args,
        post_args_multi, checksum, echo_json, fibonacci, echo,
    ]
}

#[get("/empty")]
fn empty() {}

#[get("/2048")]
fn letters2048() -> RawText<&'static str> {
    RawText(&LETTERS[..2048])
}

#[get("/8192")]
fn letters8192() -> RawText<&'static str> {
    RawText(&LETTERS[..8192])
}

#[get("/32768")]
fn letters32768() -> RawText<&'static str> {
    RawText(LETTERS)
}

#[get("/plaintext")]
fn plaintext() -> RawText<&'static str> {
    RawText("Hello, World!")
}

#[get("/getArgs2048?<arguments..>")]
fn get_args(arguments: Arguments<'_>) -> Decoded {
    Decoded::from(&arguments)
}

#[post("/postArgs2048", data = "<arguments>")]
fn post_args(arguments: Form<Arguments<'_>>) -> Decoded {
    Decoded::from(&*arguments)
}

#[post("/postArgsMulti2048", data = "<arguments>")]
fn post_args_multi(arguments: Form<Arguments<'_>>) -> Decoded {
    Decoded::from(&*arguments)
}

/// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
#[get("/args?<arguments..>")]
fn checksum(arguments: Arguments<'_>) -> RawText<String> {
    let mut crc = Hasher::new();
    for value in arguments.0.values() {
        crc.update(value.as_bytes());
        crc.update(b"\n");
    }
    RawText(crc.finalize().to_string())
}

#[post("/json", format = "json", data = "<person>")]
fn echo_json(person: Json<Person>) -> Json<Person> {
    person
}

#[get("/fibonacci/<n>")]
fn fibonacci(n: u16) -> RawText<String> {
    RawText(fib(n).to_string())
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

/// Returns every message as it came; pings and close frames are answered while messages are read.
#[get("/echo")]
fn echo(upgrade: WebSocket) -> Channel<'static> {
    upgrade.channel(|mut socket| {
        Box::pin(async move {
            while let Some(message) = socket.next().await {
                let message = message?;
                if message.is_text() || message.is_binary() {
                    socket.send(message).await?;
                }
            }
            Ok(())
        })
    })
}
