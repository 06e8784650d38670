//! What needs PostgreSQL: rows by rocket_db_pools, pages by rocket_dyn_templates.

use std::{collections::HashSet, fmt::Display};

use rocket::{
    Build, Rocket, get,
    http::Status,
    post, routes,
    serde::{Serialize, json::Json},
};
use rocket_db_pools::{
    Connection, Database,
    deadpool_postgres::{Pool, tokio_postgres::Row},
};
use rocket_dyn_templates::{Template, context};

const WORLD_ROWS: i32 = 10_000;
const MOST_UPDATES: usize = 500;

const SELECT_WORLD: &str = "SELECT id, random_number FROM world WHERE id = $1";
const SELECT_FORTUNES: &str = "SELECT id, message FROM fortune";
const SELECT_WORLDS: &str = "SELECT id FROM world WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const UPDATE_WORLDS: &str = "UPDATE world SET random_number = new.number \
    FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id";

#[derive(Database)]
#[database("plimsoll")]
struct Rows(Pool);

#[derive(Serialize)]
#[serde(crate = "rocket::serde", rename_all = "camelCase")]
struct World {
    id: i32,
    random_number: i32,
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Fortune {
    id: i32,
    message: String,
}

pub fn mounted(rocket: Rocket<Build>) -> Rocket<Build> {
    rocket
        .attach(Rows::init())
        .attach(Template::fairing())
        .mount("/", routes![world, fortunes, updates])
}

#[get("/db/<id>")]
async fn world(rows: Connection<Rows>, id: i32) -> Result<Option<Json<World>>, Status> {
    let statement = rows.prepare_cached(SELECT_WORLD).await.map_err(failed)?;
    let row = rows.query_opt(&statement, &[&id]).await.map_err(failed)?;
    Ok(row.map(|row| Json(World { id: row.get(0), random_number: row.get(1) })))
}

#[get("/fortunes")]
async fn fortunes(rows: Connection<Rows>) -> Result<Template, Status> {
    let statement = rows.prepare_cached(SELECT_FORTUNES).await.map_err(failed)?;
    let found = rows.query(&statement, &[]).await.map_err(failed)?;
    let mut fortunes: Vec<Fortune> = found.iter().map(fortune).collect();
    fortunes.push(Fortune {
        id: 0,
        message: "This sentence was added when the request came.".to_owned(),
    });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(Template::render("fortunes", context! { fortunes }))
}

fn fortune(row: &Row) -> Fortune {
    Fortune { id: row.get(0), message: row.get(1) }
}

/// Reads n rows, gives each a new number, and writes them, in one transaction. Rows are locked in
/// the order of their ids, so that transactions wait for each other and never in a circle.
#[post("/updates/<n>")]
async fn updates(mut rows: Connection<Rows>, n: usize) -> Result<Json<Vec<World>>, Status> {
    if !(1..=MOST_UPDATES).contains(&n) {
        return Err(Status::BadRequest);
    }
    let select = rows.prepare_cached(SELECT_WORLDS).await.map_err(failed)?;
    let update = rows.prepare_cached(UPDATE_WORLDS).await.map_err(failed)?;
    let transaction = rows.transaction().await.map_err(failed)?;
    let found = transaction.query(&select, &[&different_ids(n)]).await.map_err(failed)?;
    let worlds: Vec<World> =
        found.iter().map(|row| World { id: row.get(0), random_number: drawn() }).collect();
    let (ids, numbers): (Vec<i32>, Vec<i32>) =
        worlds.iter().map(|w| (w.id, w.random_number)).unzip();
    transaction.execute(&update, &[&ids, &numbers]).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(Json(worlds))
}

/// The client learns no more of an error than that there was one.
fn failed(error: impl Display) -> Status {
    eprintln!("{error}");
    Status::InternalServerError
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
