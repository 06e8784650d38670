//! What needs PostgreSQL: rows by tokio-postgres from a pool of deadpool, pages by Askama.

use std::{collections::HashSet, env};

use askama::Template;
use deadpool_postgres::{Client, Config, CreatePoolError, Pool, Runtime};
use hyper::StatusCode;
use serde::Serialize;
use tokio_postgres::{NoTls, Row};

use crate::response::{Answer, failed, html, json};

/// Where no database is given nobody asks for its rows; the pool has to have an address all the same.
const NO_DATABASE: &str = "postgresql://127.0.0.1/none";

const WORLD_ROWS: i32 = 10_000;
const MOST_UPDATES: usize = 500;

const SELECT_WORLD: &str = "SELECT id, random_number FROM world WHERE id = $1";
const SELECT_FORTUNES: &str = "SELECT id, message FROM fortune";
const SELECT_WORLDS: &str = "SELECT id FROM world WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const UPDATE_WORLDS: &str = "UPDATE world SET random_number = new.number \
    FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct World {
    id: i32,
    random_number: i32,
}

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Fortunes {
    fortunes: Vec<Fortune>,
}

pub struct Database {
    pool: Pool,
}

impl Database {
    /// With a pool of deadpool's own size, two connections for each core; it connects when it is
    /// first used.
    pub fn new() -> Result<Self, CreatePoolError> {
        let config = Config {
            url: Some(env::var("DATABASE_URL").unwrap_or_else(|_| NO_DATABASE.to_owned())),
            ..Config::new()
        };
        Ok(Self { pool: config.create_pool(Some(Runtime::Tokio1), NoTls)? })
    }

    async fn client(&self) -> Result<Client, StatusCode> {
        self.pool.get().await.map_err(failed)
    }

    pub async fn world(&self, id: i32) -> Answer {
        let client = self.client().await?;
        let statement = client.prepare_cached(SELECT_WORLD).await.map_err(failed)?;
        let row = client.query_opt(&statement, &[&id]).await.map_err(failed)?;
        let row = row.ok_or(StatusCode::NOT_FOUND)?;
        json(&World { id: row.get(0), random_number: row.get(1) })
    }

    pub async fn fortunes(&self) -> Answer {
        let client = self.client().await?;
        let statement = client.prepare_cached(SELECT_FORTUNES).await.map_err(failed)?;
        let rows = client.query(&statement, &[]).await.map_err(failed)?;
        let mut fortunes: Vec<Fortune> = rows.iter().map(fortune).collect();
        fortunes.push(Fortune {
            id: 0,
            message: "This sentence was added when the request came.".to_owned(),
        });
        fortunes.sort_by(|a, b| a.message.cmp(&b.message));
        Ok(html(Fortunes { fortunes }.render().map_err(failed)?))
    }

    pub async fn updates(&self, n: usize) -> Answer {
        if !(1..=MOST_UPDATES).contains(&n) {
            return Err(StatusCode::BAD_REQUEST);
        }
        let mut client = self.client().await?;
        json(&update(&mut client, n).await.map_err(failed)?)
    }
}

fn fortune(row: &Row) -> Fortune {
    Fortune { id: row.get(0), message: row.get(1) }
}

/// Reads n rows, gives each a new number, and writes them, in one transaction. Rows are locked in
/// the order of their ids, so that transactions wait for each other and never in a circle.
async fn update(client: &mut Client, n: usize) -> Result<Vec<World>, tokio_postgres::Error> {
    let select = client.prepare_cached(SELECT_WORLDS).await?;
    let update = client.prepare_cached(UPDATE_WORLDS).await?;
    let transaction = client.transaction().await?;
    let rows = transaction.query(&select, &[&different_ids(n)]).await?;
    let worlds: Vec<World> =
        rows.iter().map(|row| World { id: row.get(0), random_number: drawn() }).collect();
    let (ids, numbers): (Vec<i32>, Vec<i32>) =
        worlds.iter().map(|w| (w.id, w.random_number)).unzip();
    transaction.execute(&update, &[&ids, &numbers]).await?;
    transaction.commit().await?;
    Ok(worlds)
}

fn different_ids(n: usize) -> Vec<i32> {
    let mut ids = HashSet::with_capacity(n);
    while ids.len() < n {
        ids.insert(drawn());
    }
    ids.into_iter().collect()
}

fn drawn() -> i32 {
    fastrand::i32(1..=WORLD_ROWS)
}
