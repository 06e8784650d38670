//! How long a response takes, and when the whole server stalls: known truths, as numbers.

use serde::{Deserialize, Serialize};

/// Time from a request received to its response sent, chosen anew for every request.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServiceTime {
    /// The same for every request; 0 responds at once.
    Fixed {
        /// In nanoseconds.
        duration_ns: u64,
    },
    /// One of two.
    Bimodal {
        /// The usual one, in nanoseconds.
        duration_ns: u64,
        /// The other one, in nanoseconds.
        second_ns: u64,
        /// Share of requests that take the other one, from 0 to 1.
        second_ratio: f64,
    },
    /// Drawn from an exponential distribution.
    Exponential {
        /// Its mean, in nanoseconds.
        mean_ns: u64,
    },
}

impl Default for ServiceTime {
    fn default() -> Self {
        Self::Fixed { duration_ns: 0 }
    }
}

impl ServiceTime {
    /// The service time of one request in nanoseconds, given a draw from 0 (included) to 1 (not).
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    pub fn duration_ns(self, draw: f64) -> u64 {
        match self {
            Self::Fixed { duration_ns } => duration_ns,
            Self::Bimodal { duration_ns, second_ns, second_ratio } => {
                if draw < second_ratio {
                    second_ns
                } else {
                    duration_ns
                }
            }
            Self::Exponential { mean_ns } => (-(1.0 - draw).ln() * mean_ns as f64).round() as u64,
        }
    }

    /// Whether every request gets its response at once.
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(
            self,
            Self::Fixed { duration_ns: 0 }
                | Self::Bimodal { duration_ns: 0, second_ns: 0, .. }
                | Self::Exponential { mean_ns: 0 }
        )
    }

    /// What is wrong with it, in one sentence.
    #[must_use]
    pub fn problem(self) -> Option<String> {
        match self {
            Self::Bimodal { second_ratio, .. } if !(0.0..=1.0).contains(&second_ratio) => {
                Some(format!("`second_ratio` is {second_ratio}, it must be from 0 to 1"))
            }
            _ => None,
        }
    }
}

/// The whole server stalls at the end of every period: it accepts, reads and sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// How long it stalls, in nanoseconds.
    pub duration_ns: u64,
    /// From the end of one stall to the end of the next, in nanoseconds.
    pub period_ns: u64,
}

impl Stall {
    /// When the stall that holds at an instant ends; none when the server runs then.
    ///
    /// Both instants are nanoseconds since the start of the server.
    #[must_use]
    pub fn end_ns(self, at_ns: u64) -> Option<u64> {
        let end_ns = (at_ns / self.period_ns + 1) * self.period_ns;
        (at_ns + self.duration_ns >= end_ns).then_some(end_ns)
    }

    /// The instant by which so much work is done that begins at an instant: in stalls none is.
    ///
    /// Both instants are nanoseconds since the start of the server.
    #[must_use]
    pub fn worked_ns(self, at_ns: u64, work_ns: u64) -> u64 {
        let open_ns = self.period_ns - self.duration_ns;
        let before_ns = at_ns / self.period_ns * open_ns + (at_ns % self.period_ns).min(open_ns);
        let worked_ns = before_ns + work_ns;
        worked_ns / open_ns * self.period_ns + worked_ns % open_ns
    }

    /// What is wrong with it, in one sentence.
    #[must_use]
    pub fn problem(self) -> Option<String> {
        (self.duration_ns >= self.period_ns).then(|| {
            format!(
                "a stall of {} ns does not fit into a period of {} ns",
                self.duration_ns, self.period_ns
            )
        })
    }
}

/// The server becomes slower, once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Slowdown {
    /// When, in nanoseconds since its start.
    pub after_ns: u64,
    /// How many times as long a service takes from then on.
    pub factor: f64,
}

impl Slowdown {
    /// What a service takes that usually takes `usual_ns` and begins at an instant.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    pub fn duration_ns(self, usual_ns: u64, at_ns: u64) -> u64 {
        if at_ns < self.after_ns { usual_ns } else { (usual_ns as f64 * self.factor) as u64 }
    }

    /// What is wrong with it, in one sentence.
    #[must_use]
    pub fn problem(self) -> Option<String> {
        let is_possible = self.factor.is_finite() && self.factor >= 0.0;
        (!is_possible).then(|| format!("`factor` is {}, it must be 0 or more", self.factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIMODAL: ServiceTime =
        ServiceTime::Bimodal { duration_ns: 1_000, second_ns: 20_000, second_ratio: 0.25 };

    #[test]
    fn a_fixed_service_time_does_not_look_at_the_draw() {
        let fixed = ServiceTime::Fixed { duration_ns: 7 };
        assert_eq!([0.0, 0.5, 0.999].map(|draw| fixed.duration_ns(draw)), [7, 7, 7]);
    }

    #[test]
    fn a_bimodal_service_time_gives_the_second_one_to_its_share_of_the_draws() {
        let draws = (0..1_000).map(|index| f64::from(index) / 1_000.0);
        let second = draws.filter(|draw| BIMODAL.duration_ns(*draw) == 20_000).count();
        assert_eq!(second, 250);
    }

    #[test]
    fn only_a_service_time_without_any_wait_is_zero() {
        assert!(ServiceTime::default().is_zero());
        assert!(!ServiceTime::Fixed { duration_ns: 1 }.is_zero());
        assert!(!BIMODAL.is_zero());
        assert!(!ServiceTime::Exponential { mean_ns: 1 }.is_zero());
    }

    #[test]
    fn an_exponential_service_time_has_its_quantiles() {
        let exponential = ServiceTime::Exponential { mean_ns: 1_000_000 };
        let found = [0.0, 0.5, 0.99].map(|draw| exponential.duration_ns(draw));
        assert_eq!(found, [0, 693_147, 4_605_170]);
    }

    #[test]
    fn a_stall_is_the_end_of_each_period() {
        let stall = Stall { duration_ns: 10, period_ns: 50 };
        let ends = [0, 39, 40, 49, 50, 89, 90, 99, 100].map(|at_ns| stall.end_ns(at_ns));
        let expected = [None, None, Some(50), Some(50), None, None, Some(100), Some(100), None];
        assert_eq!(ends, expected);
    }

    #[test]
    fn a_stall_of_no_length_never_holds() {
        let stall = Stall { duration_ns: 0, period_ns: 50 };
        assert!((0..200).all(|at_ns| stall.end_ns(at_ns).is_none()));
    }

    #[test]
    fn what_can_not_be_is_a_problem() {
        let ratio =
            |second_ratio| ServiceTime::Bimodal { duration_ns: 0, second_ns: 1, second_ratio };
        assert!(ratio(1.5).problem().is_some());
        assert!(ratio(f64::NAN).problem().is_some());
        assert!(ratio(1.0).problem().is_none());
        assert!(Stall { duration_ns: 5, period_ns: 5 }.problem().is_some());
        assert!(Stall { duration_ns: 0, period_ns: 0 }.problem().is_some());
        assert!(Slowdown { after_ns: 0, factor: -1.0 }.problem().is_some());
        assert!(Slowdown { after_ns: 0, factor: f64::NAN }.problem().is_some());
        assert!(Slowdown { after_ns: 0, factor: 1.4 }.problem().is_none());
    }
}
