//! What responses are made of.

use std::{convert::Infallible, fmt::Display};

use http_body_util::{Either, Full, combinators::UnsyncBoxBody};
use hyper::{
    Response, StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde::Serialize;

/// A body as a whole, or one that is written piece by piece.
pub type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

/// A response, or the status that says why there is none.
pub type Answer = Result<Response<Body>, StatusCode>;

pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}

pub fn text(body: impl Into<Bytes>) -> Response<Body> {
    of_type("text/plain", body.into())
}

pub fn html(body: String) -> Response<Body> {
    of_type("text/html; charset=utf-8", body.into())
}

pub fn json(value: &impl Serialize) -> Answer {
    let encoded = serde_json::to_vec(value).map_err(failed)?;
    Ok(of_type("application/json", encoded.into()))
}

fn of_type(media_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The client learns no more of an error than that there was one.
pub fn failed(error: impl Display) -> StatusCode {
    eprintln!("{error}");
    StatusCode::INTERNAL_SERVER_ERROR
}

pub fn refused<E>(_: E) -> StatusCode {
    StatusCode::BAD_REQUEST
}
