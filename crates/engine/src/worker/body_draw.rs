//! Which bodies are written down where none is given to compare with: few, spread over the load.

use crate::share::share;

/// The first ones, by all workers together.
const FIRST: usize = 200;

/// As many again as are drawn after them, about, in the whole load.
const LATER: f64 = 4_000.0;

/// The most bytes of all of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Draws the first responses of a worker, and then the next one after each of some random instants.
///
/// Instants have exponential gaps, so that their number does not depend on how fast the server is
/// and no rhythm of the server meets that of the draw. The generator is its own: which requests
/// are sent depends on the seed alone, and not on time.
#[derive(Debug)]
pub(super) struct BodyDraw {
    first_left: usize,
    bytes_left: usize,
    mean_gap_ns: f64,
    next_ns: u64,
    rng: fastrand::Rng,
}

impl BodyDraw {
    /// For one worker of all, and a load of so many nanoseconds.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn new(duration_ns: u64, index: usize, workers: usize, seed: u64) -> Self {
        Self {
            first_left: share(FIRST, index, workers),
            bytes_left: share(MOST_BYTES, index, workers),
            mean_gap_ns: duration_ns as f64 * workers as f64 / LATER,
            next_ns: 0,
            rng: fastrand::Rng::with_seed(!seed),
        }
    }

    /// Whether the body of the response to a request that is due at this instant is written down.
    #[inline]
    pub(super) fn draws(&mut self, due_ns: u64) -> bool {
        if self.bytes_left == 0 {
            return false;
        }
        if self.first_left > 0 {
            self.first_left -= 1;
            return true;
        }
        if due_ns < self.next_ns {
            return false;
        }
        self.next_ns = due_ns + self.gap_ns();
        true
    }

    /// Whether there is room for a body; without it, none is drawn any more.
    pub(super) fn pays_for(&mut self, body: &[u8]) -> bool {
        let left = self.bytes_left.checked_sub(body.len());
        self.bytes_left = left.unwrap_or(0);
        left.is_some()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn gap_ns(&mut self) -> u64 {
        (-(1.0 - self.rng.f64()).ln() * self.mean_gap_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn the_first_are_drawn_and_later_ones_all_over_the_load() {
        let mut draw = BodyDraw::new(10 * SECOND_NS, 0, 1, 7);
        let drawn: Vec<_> = (0..1_000_000).filter(|&number| draw.draws(number * 10_000)).collect();
        assert!(drawn[..FIRST].iter().copied().eq(0..FIRST as u64));
        // 4,000 expected, less the few whose instants share a request; five deviations are 316.
        assert!(drawn.len().abs_diff(FIRST + 4_000) < 350, "{}", drawn.len());
        let late = drawn.iter().filter(|&&number| number >= 500_000).count();
        assert!(late.abs_diff(2_000) < 250, "{late}");
    }

    #[test]
    fn no_more_bytes_are_taken_than_there_is_room_for() {
        let mut draw = BodyDraw::new(SECOND_NS, 0, 1, 7);
        let body = vec![0; MOST_BYTES / 4];
        let taken = (0..6).filter(|&number| draw.draws(number) && draw.pays_for(&body)).count();
        assert_eq!(taken, 4);
        assert!(!draw.draws(SECOND_NS));
    }
}
