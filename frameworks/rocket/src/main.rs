//! Serves Plimsoll's contract with Rocket.

mod contract;
mod database;
mod web;

use std::{env, error::Error};

use rocket::{Build, Rocket};

/// Rocket itself reads address, workers, certificate and database from its configuration.
#[rocket::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rocket = rocket::build().mount("/", contract::routes());
    let rocket = web::mounted(rocket)?;
    with_database(rocket).launch().await?;
    Ok(())
}

/// Without an address of a database, its pool could not start.
fn with_database(rocket: Rocket<Build>) -> Rocket<Build> {
    if env::var("DATABASE_URL").is_ok() { database::mounted(rocket) } else { rocket }
}
