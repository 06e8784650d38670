//! When the response to a request is due: one service time after the request, or after those before it.

use crate::service_time::{ServiceTime, Slowdown, Stall};

/// Neighbouring seeds times this lie far apart; by themselves they draw numbers that resemble each
/// other.
const FAR_APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// How a worker serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    /// How long a response takes.
    pub time: ServiceTime,
    /// From when on it takes longer.
    pub slowdown: Option<Slowdown>,
    /// When nothing is worked at.
    pub stall: Option<Stall>,
    /// Whether a request is served when those before it have been, whatever their connections.
    pub one_at_a_time: bool,
}

/// The service of one worker.
///
/// Instants are nanoseconds since the start of the server. With one request at a time this is the
/// queue G/G/1, first come, first served: a service begins at the request or at the end of the one
/// before, by instants that were computed. Waking up late delays a response and none after it.
#[derive(Debug)]
pub(super) struct Queue {
    service: Service,
    random: fastrand::Rng,
    /// The end of the last service.
    ends_ns: u64,
}

impl Queue {
    /// An idle worker.
    pub fn new(service: Service, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed.wrapping_mul(FAR_APART));
        Self { service, random, ends_ns: 0 }
    }

    /// Whether every request gets its response at once.
    pub fn is_immediate(&self) -> bool {
        self.service.time.is_zero()
    }

    /// Takes a request that has come at an instant; gives that at which its response is due.
    pub fn take(&mut self, at_ns: u64) -> u64 {
        let Service { time, slowdown, stall, one_at_a_time } = self.service;
        let starts_ns = if one_at_a_time { at_ns.max(self.ends_ns) } else { at_ns };
        let usual_ns = time.duration_ns(self.random.f64());
        let work_ns = slowdown.map_or(usual_ns, |it| it.duration_ns(usual_ns, starts_ns));
        self.ends_ns = match stall {
            Some(stall) if one_at_a_time => stall.worked_ns(starts_ns, work_ns),
            _ => starts_ns + work_ns,
        };
        self.ends_ns
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests {
    use super::*;

    const FIXED: Service = Service {
        time: ServiceTime::Fixed { duration_ns: 1_000 },
        slowdown: None,
        stall: None,
        one_at_a_time: true,
    };

    fn ends<const N: usize>(service: Service, arrivals: [u64; N]) -> [u64; N] {
        let mut queue = Queue::new(service, 0);
        arrivals.map(|at_ns| queue.take(at_ns))
    }

    #[test]
    fn a_request_waits_for_those_before_it() {
        assert_eq!(ends(FIXED, [0, 0, 10, 5_000]), [1_000, 2_000, 3_000, 6_000]);
    }

    #[test]
    fn without_a_queue_none_waits() {
        let service = Service { one_at_a_time: false, ..FIXED };
        assert_eq!(ends(service, [0, 0, 10, 5_000]), [1_000, 1_000, 1_010, 6_000]);
    }

    #[test]
    fn nothing_is_worked_at_in_a_stall() {
        let stall = Some(Stall { duration_ns: 400, period_ns: 3_000 });
        let service = Service { stall, ..FIXED };
        assert_eq!(ends(service, [0, 0, 100, 9_000]), [1_000, 2_000, 3_400, 10_000]);
    }

    #[test]
    fn from_an_instant_on_a_service_takes_longer() {
        let slowdown = Some(Slowdown { after_ns: 1_500, factor: 1.5 });
        let service = Service { slowdown, ..FIXED };
        assert_eq!(ends(service, [0, 0, 0]), [1_000, 2_000, 3_500]);
    }

    /// Pollaczek and Khinchine: requests that come at random wait λ·E(S²) / (2·(1 − ρ)) on average.
    #[test]
    fn mean_waits_are_those_of_theory() {
        const COUNT: usize = 1_000_000;
        let load = 0.7;
        let exponential = ServiceTime::Exponential { mean_ns: 1_000 };
        for (time, second_moment) in [(FIXED.time, 1.0), (exponential, 2.0)] {
            let mut queue = Queue::new(Service { time, ..FIXED }, 1);
            let mut gaps = fastrand::Rng::with_seed(2);
            let (mut at_ns, mut waited_ns) = (0.0, 0.0);
            for _ in 0..COUNT {
                at_ns -= (1.0 - gaps.f64()).ln() * 1_000.0 / load;
                waited_ns += queue.take(at_ns as u64) as f64 - at_ns - 1_000.0;
            }
            let expected_ns = load * 1_000.0 * second_moment / (2.0 * (1.0 - load));
            let ratio = waited_ns / COUNT as f64 / expected_ns;
            assert!((ratio - 1.0).abs() < 0.03, "{time:?}: {ratio}");
        }
    }
}
