//! What the server is given at its start, and the endpoints that need it: files, a key, a seed.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::ReferenceSpec;
use crate::files::StaticFile;

const ITEMS_FILE: &str = "items.json";
const STATIC_FOLDER: &str = "static";
const ALGORITHM: &str = "HS256";

thread_local! {
    static GIVEN: RefCell<Option<Arc<Given>>> = const { RefCell::new(None) };
}

/// What all workers of a server are given.
#[derive(Debug)]
pub(super) struct Given {
    items: Vec<Item>,
    static_folder: Option<PathBuf>,
    key: hmac::Key,
    seed: u64,
}

#[derive(Debug, Deserialize, Serialize)]
struct Item {
    id: u32,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Debug, Deserialize, Serialize)]
struct Rating {
    score: f64,
    count: u32,
}

#[derive(Serialize)]
struct Priced<'a> {
    #[serde(flatten)]
    item: &'a Item,
    total: u64,
}

#[derive(Serialize)]
struct ItemList<'a> {
    count: usize,
    items: Vec<Priced<'a>>,
}

#[derive(Serialize)]
struct Value {
    id: u32,
    value: u32,
}

#[derive(Deserialize)]
struct TokenHead<'a> {
    alg: &'a str,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: u64,
}

impl Given {
    /// What a specification says, with the records of its folder.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or has no records, in one sentence.
    pub fn read(spec: &ReferenceSpec) -> Result<Self, String> {
        let items = spec.files.as_deref().map(read_items).transpose()?.unwrap_or_default();
        let key = hmac::Key::new(hmac::HMAC_SHA256, spec.key.as_bytes());
        let static_folder = spec.files.as_deref().map(|folder| folder.join(STATIC_FOLDER));
        Ok(Self { items, static_folder, key, seed: spec.seed })
    }

    /// This thread serves with it from now on.
    pub fn give(self: Arc<Self>) {
        GIVEN.set(Some(self));
    }

    /// The first `count` records with their totals as JSON; nothing when there are not so many.
    fn list(&self, count: usize, factor: u64) -> Option<Vec<u8>> {
        let listed = self.items.get(..count).filter(|listed| !listed.is_empty())?;
        let priced = |item: &'_ Item| item.price * item.quantity * factor;
        let items = listed.iter().map(|item| Priced { item, total: priced(item) }).collect();
        serde_json::to_vec(&ItemList { count, items }).ok()
    }

    /// The subject of a token that is valid at an instant, in seconds since 1970.
    ///
    /// # Source
    ///
    /// RFC 7519, section 7.2, for HS256 of RFC 7518, section 3.2.
    fn subject(&self, authorization: &[u8], now_s: u64) -> Option<String> {
        let token = std::str::from_utf8(authorization).ok()?.strip_prefix("Bearer ")?;
        let (signed, signature) = token.rsplit_once('.')?;
        let (head, claims) = signed.split_once('.')?;
        let head = URL_SAFE_NO_PAD.decode(head).ok()?;
        let is_known = serde_json::from_slice::<TokenHead>(&head).ok()?.alg == ALGORITHM;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok().filter(|_| is_known)?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        (claims.exp > now_s).then_some(claims.sub)
    }

    /// What the server says as an upstream: a value that follows from its seed and the id.
    fn value(&self, id: u32) -> Option<Vec<u8>> {
        let value = crc32fast::hash(format!("{}:{id}", self.seed).as_bytes());
        serde_json::to_vec(&Value { id, value }).ok()
    }
}

/// The list that a path and a query ask for, as JSON.
pub(super) fn list(count: &str, query: &str) -> Option<Vec<u8>> {
    let factor = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "m")?.1;
    let (count, factor) = (count.parse().ok()?, factor.parse().ok()?);
    of_given(|given| given.list(count, factor))
}

/// The static file of a name, as it is now.
pub(super) fn file(name: &str) -> Option<StaticFile> {
    of_given(|given| StaticFile::read(given.static_folder.as_deref()?, name))
}

/// The subject of a valid token.
pub(super) fn subject(authorization: &[u8]) -> Option<String> {
    let now_s = plimsoll_system::wall_clock_ns() / 1_000_000_000;
    of_given(|given| given.subject(authorization, now_s))
}

/// The value of an id, as JSON.
pub(super) fn value(id: &str) -> Option<Vec<u8>> {
    let id = id.parse().ok()?;
    of_given(|given| given.value(id))
}

fn of_given<T>(find: impl FnOnce(&Given) -> Option<T>) -> Option<T> {
    GIVEN.with_borrow(|given| given.as_deref().and_then(find))
}

fn read_items(folder: &Path) -> Result<Vec<Item>, String> {
    let path = folder.join(ITEMS_FILE);
    let text =
        fs::read(&path).map_err(|error| format!("can't read {}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"[{"id":1,"name":"a","category":"b","price":3,"quantity":5,"active":true,
        "tags":["x"],"rating":{"score":4.5,"count":7}}]"#;
    const NOW_S: u64 = 1_000;

    fn given() -> Given {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"key");
        let items = serde_json::from_str(ITEM).unwrap();
        Given { items, static_folder: None, key, seed: 7 }
    }

    fn token(head: &str, claims: &str) -> Vec<u8> {
        let [head, claims] = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signed = format!("{head}.{claims}");
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&given().key, signed.as_bytes()));
        format!("Bearer {signed}.{signature}").into_bytes()
    }

    #[test]
    fn each_record_has_its_total() {
        let list: serde_json::Value =
            serde_json::from_slice(&given().list(1, 10).unwrap()).unwrap();
        assert_eq!(list["count"], 1);
        assert_eq!(list["items"][0]["total"], 150);
        assert_eq!(list["items"][0]["rating"]["score"], 4.5);
        assert_eq!(given().list(0, 1), None);
        assert_eq!(given().list(2, 1), None);
    }

    #[test]
    fn a_token_is_valid_until_it_expires_and_by_its_own_signature_only() {
        let head = r#"{"alg":"HS256"}"#;
        let subject = |token: &[u8]| given().subject(token, NOW_S);
        assert_eq!(subject(&token(head, r#"{"sub":"me","exp":1001}"#)), Some("me".into()));
        assert_eq!(subject(&token(head, r#"{"sub":"me","exp":1000}"#)), None);
        assert_eq!(subject(&token(head, r#"{"sub":"me"}"#)), None);
        assert_eq!(subject(&token(r#"{"alg":"none"}"#, r#"{"sub":"me","exp":1001}"#)), None);
        let mut other = token(head, r#"{"sub":"me","exp":1001}"#);
        *other.last_mut().unwrap() = b'!';
        assert_eq!(subject(&other), None);
        assert_eq!(subject(b"Basic abc"), None);
        assert_eq!(subject(b"Bearer abc"), None);
    }

    #[test]
    fn a_value_follows_from_seed_and_id() {
        assert_eq!(
            given().value(12).unwrap(),
            format!(r#"{{"id":12,"value":{}}}"#, crc32fast::hash(b"7:12")).into_bytes()
        );
    }
}
