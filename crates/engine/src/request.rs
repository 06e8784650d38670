//! What: the bytes of each kind of request, and the seeded choice among them.

use crate::spec::{Expected, RequestSpec};

/// One kind of request, ready to send.
#[derive(Clone, Debug)]
pub struct Request {
    /// Head and body.
    pub bytes: Vec<u8>,
    /// What a right answer looks like.
    pub expected: Expected,
    /// Whether its answer has no body whatever the head says.
    pub is_head: bool,
}

impl Request {
    /// The last `left` bytes of it; all of it when nothing is said.
    #[inline]
    #[must_use]
    pub fn rest(&self, left: Option<usize>) -> &[u8] {
        let left = left.unwrap_or(self.bytes.len());
        &self.bytes[self.bytes.len() - left..]
    }
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
    #[must_use]
    pub fn new(specs: &[RequestSpec]) -> Self {
        let kinds = specs.iter().map(|spec| Request {
            bytes: spec.bytes.clone(),
            expected: spec.expected.clone(),
            is_head: spec.method.eq_ignore_ascii_case("HEAD"),
        });
        let cumulative = specs.iter().scan(0.0, |sum, spec| {
            *sum += spec.weight;
            Some(*sum)
        });
        Self { kinds: kinds.collect(), cumulative: cumulative.collect() }
    }

    /// One kind by its index.
    #[must_use]
    pub fn kind(&self, index: u16) -> &Request {
        &self.kinds[usize::from(index)]
    }

    /// Draws the index of a kind, with the weights asked for.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(weights: &[f64]) -> Requests {
        let specs: Vec<_> = weights
            .iter()
            .map(|&weight| RequestSpec {
                name: String::new(),
                bytes: vec![0],
                weight,
                method: "GET".into(),
                expected: Expected::default(),
            })
            .collect();
        Requests::new(&specs)
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
