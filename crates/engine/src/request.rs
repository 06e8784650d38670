//! What: the bytes of each kind of request, and the seeded choice among them.

use crate::protocol::http2::request::{self as http2, Encoded};
use crate::spec::{Expected, RequestSpec};

/// Bytes of bodies that are compared per response, on average, whatever `body_sample_ratio` is.
///
/// To compare them takes some 0.1 µs, and no load tool takes less than 2 µs for a request: every
/// body up to this length is compared, and so many of longer ones as cost no more.
pub const COMPARED_BYTES: f64 = 4096.0;

/// One kind of request, ready to send.
#[derive(Clone, Debug)]
pub struct Request {
    /// Head and body, as HTTP/1 sends them.
    pub bytes: Vec<u8>,
    /// How many of them are sent before the server has invited the rest; all, mostly.
    pub first_bytes: usize,
    /// The same as HTTP/2 sends it; empty where it is not spoken.
    pub http2: Encoded,
    /// The expected response.
    pub expected: Expected,
    /// Whether its response has no body whatever its head contains.
    pub is_head: bool,
    /// Share of its responses whose body is compared; 0 when none is expected.
    pub compared_ratio: f64,
    /// Whether a sample of the bodies of its responses is written down.
    pub is_sampled: bool,
}

/// The kinds of request of a load and their shares.
#[derive(Clone, Debug)]
pub struct Requests {
    kinds: Vec<Request>,
    /// Sum of the weights up to and with each kind.
    cumulative: Vec<f64>,
}

impl Requests {
    /// Takes over the kinds of request of a specification.
    ///
    /// `body_sample_ratio` is the least share of bodies that are compared; 0 compares none.
    #[must_use]
    pub fn new(specs: &[RequestSpec], body_sample_ratio: f64) -> Self {
        let kinds = specs.iter().map(|spec| Request {
            bytes: spec.bytes.clone(),
            first_bytes: first_bytes(spec),
            http2: Encoded::default(),
            expected: spec.expected.clone(),
            is_head: spec.method.eq_ignore_ascii_case("HEAD"),
            compared_ratio: compared_ratio(spec, body_sample_ratio),
            is_sampled: is_sampled(spec, body_sample_ratio),
        });
        let cumulative = specs.iter().scan(0.0, |sum, spec| {
            *sum += spec.weight;
            Some(*sum)
        });
        Self { kinds: kinds.collect(), cumulative: cumulative.collect() }
    }

    /// The same, ready to be sent by HTTP/2 as well.
    #[must_use]
    pub fn encoded(mut self, scheme: &str) -> Self {
        for kind in &mut self.kinds {
            kind.http2 = http2::encode(&kind.bytes, scheme).unwrap_or_default();
        }
        self
    }

    /// One kind by its index.
    #[must_use]
    pub fn kind(&self, index: u16) -> &Request {
        &self.kinds[usize::from(index)]
    }

    /// Draws the index of a request type, by the requested weights.
    #[allow(clippy::cast_possible_truncation)]
    pub fn draw(&self, rng: &mut fastrand::Rng) -> u16 {
        let [.., total] = self.cumulative.as_slice() else {
            return 0;
        };
        if self.cumulative.len() == 1 {
            return 0;
        }
        let point = rng.f64() * total;
        let index = self.cumulative.partition_point(|&upto| upto <= point);
        index.min(self.kinds.len() - 1) as u16
    }
}

/// Bytes of a request that are sent at once: its head, if the server is to invite the body.
fn first_bytes(spec: &RequestSpec) -> usize {
    const END: &[u8] = b"\r\n\r\n";
    let head = memchr::memmem::find(&spec.bytes, END).filter(|_| spec.expects_continue);
    head.map_or(spec.bytes.len(), |start| start + END.len())
}

impl Request {
    /// What is sent without being invited.
    #[inline]
    #[must_use]
    pub fn first(&self) -> &[u8] {
        &self.bytes[..self.first_bytes]
    }

    /// What the server has to invite.
    #[must_use]
    pub fn invited(&self) -> &[u8] {
        &self.bytes[self.first_bytes..]
    }
}

/// Share of the responses to a kind of request whose body is compared.
#[allow(clippy::cast_precision_loss)]
fn compared_ratio(spec: &RequestSpec, body_sample_ratio: f64) -> f64 {
    let is_head = spec.method.eq_ignore_ascii_case("HEAD");
    match &spec.expected.body {
        Some(body) if body_sample_ratio > 0.0 && !is_head => {
            body_sample_ratio.max(COMPARED_BYTES / body.len() as f64).min(1.0)
        }
        _ => 0.0,
    }
}

/// Whether bodies are written down: none is given to compare with, and some are to be looked at.
fn is_sampled(spec: &RequestSpec, body_sample_ratio: f64) -> bool {
    let is_head = spec.method.eq_ignore_ascii_case("HEAD");
    let expected = &spec.expected;
    expected.is_sampled && expected.body.is_none() && body_sample_ratio > 0.0 && !is_head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_bodies_are_all_compared_and_of_long_ones_as_many_as_cost_no_more() {
        let ratio = |length: usize, least: f64, method: &str| {
            let body = Some(vec![0; length]);
            let expected = Expected { body, ..Expected::default() };
            let spec = RequestSpec {
                name: String::new(),
                bytes: vec![0],
                weight: 1.0,
                method: method.into(),
                expects_continue: false,
                expected,
            };
            Requests::new(&[spec], least).kind(0).compared_ratio
        };
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 1e-12;
        assert!([0, 1, 4096].iter().all(|&length| close(ratio(length, 0.01, "GET"), 1.0)));
        assert!(close(ratio(65_536, 0.01, "GET"), 0.0625));
        assert!(close(ratio(65_536, 0.5, "GET"), 0.5));
        assert!(close(ratio(10_000_000, 0.01, "GET"), 0.01));
        assert!(close(ratio(10, 0.0, "GET"), 0.0));
        assert!(close(ratio(10, 1.0, "HEAD"), 0.0));
    }

    fn requests(weights: &[f64]) -> Requests {
        let specs: Vec<_> = weights
            .iter()
            .map(|&weight| RequestSpec {
                name: String::new(),
                bytes: vec![0],
                weight,
                method: "GET".into(),
                expects_continue: false,
                expected: Expected::default(),
            })
            .collect();
        Requests::new(&specs, 0.0)
    }

    #[test]
    fn kinds_are_drawn_by_their_weights_and_the_same_seed_draws_the_same() {
        let requests = requests(&[1.0, 3.0, 0.5]);
        let draw = |seed| {
            let mut rng = fastrand::Rng::with_seed(seed);
            (0..45_000).map(|_| requests.draw(&mut rng)).collect::<Vec<_>>()
        };
        let drawn = draw(7);
        assert_eq!(drawn, draw(7));
        let count = |kind| drawn.iter().filter(|&&drawn| drawn == kind).count();
        // 10,000, 30,000 and 5,000 expected; five standard deviations are under 500.
        assert!(count(0).abs_diff(10_000) < 500, "{}", count(0));
        assert!(count(1).abs_diff(30_000) < 500, "{}", count(1));
        assert!(count(2).abs_diff(5_000) < 500, "{}", count(2));
    }
}
