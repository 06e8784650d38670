//! When: the instants at which a load changes its level or wants a request to start.
//!
//! Pure; instants are nanoseconds since the trial's zero.

use crate::share::share;
use crate::spec::{Arrivals, Load, Model, Stage, whole};

/// Guesses of the instant of an arrival, before what is left is halved.
const MOST_GUESSES: u32 = 6;

/// Sets the generator of arrivals apart from that of a worker, which has the same seed: which request is
/// sent would else be a function of the gap before it.
const STREAM: u64 = 0xd1b5_4a32_d192_ed03;

/// Level of a stage at `at_ns` after its beginning.
///
/// With `k` steps the level during step `i` (from 1) is `start + (end − start) · i / k`; without
/// steps it moves in a straight line.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn level(stage: &Stage, at_ns: u64) -> f64 {
    let way = if stage.steps == 0 {
        at_ns as f64 / stage.duration_ns as f64
    } else {
        let passed = u128::from(at_ns) * u128::from(stage.steps) / u128::from(stage.duration_ns);
        (passed as f64 + 1.0).min(f64::from(stage.steps)) / f64::from(stage.steps)
    };
    stage.start + (stage.end - stage.start) * way
}

/// First and last instant of each stage.
#[must_use]
pub fn boundaries(stages: &[Stage]) -> Vec<(u64, u64)> {
    let ends = stages.iter().scan(0, |end, stage| {
        let start = *end;
        *end += stage.duration_ns;
        Some((start, *end))
    });
    ends.collect()
}

/// When the number of connections of one worker changes, and to what.
///
/// In the closed model that is the level of the load; in the open one its whole pool is there from
/// the beginning.
#[derive(Clone, Debug)]
pub struct Connections {
    changes: Vec<(u64, usize)>,
    next: usize,
}

impl Connections {
    /// The changes of worker `index` of `workers`.
    #[must_use]
    pub fn new(load: &Load, index: usize, workers: usize) -> Self {
        if load.model == Model::Open {
            return Self { changes: vec![(0, share(load.connections, index, workers))], next: 0 };
        }
        let mut changes: Vec<(u64, usize)> = Vec::new();
        for (stage, (start_ns, _)) in load.stages.iter().zip(boundaries(&load.stages)) {
            for (at_ns, count) in stage_changes(stage) {
                let mine = share(count, index, workers);
                if changes.last().map_or(0, |&(_, last)| last) != mine {
                    changes.push((start_ns + at_ns, mine));
                }
            }
        }
        Self { changes, next: 0 }
    }

    /// The instant of the next change.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.changes.get(self.next).map(|&(at_ns, _)| at_ns)
    }

    /// Takes the next change if it is due by `now_ns`.
    pub fn take(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        let change = *self.changes.get(self.next).filter(|&&(at_ns, _)| at_ns <= now_ns)?;
        self.next += 1;
        Some(change)
    }
}

/// Instant within the stage, and number of connections from then on.
#[allow(clippy::cast_possible_truncation)]
fn stage_changes(stage: &Stage) -> Vec<(u64, usize)> {
    let span = whole(stage.start).abs_diff(whole(stage.end)) as u64;
    let steps = if stage.steps == 0 { span.max(1) } else { u64::from(stage.steps) };
    let stepped = Stage { steps: steps.min(u64::from(u32::MAX)) as u32, ..stage.clone() };
    let starts = (0..steps).map(|step| step_start_ns(stage.duration_ns, step, steps));
    starts.map(|at_ns| (at_ns, whole(level(&stepped, at_ns)))).collect()
}

/// The first whole nanosecond of a step: rounded up, so that the instant lies within it.
fn step_start_ns(duration_ns: u64, step: u64, steps: u64) -> u64 {
    let exact = u128::from(duration_ns) * u128::from(step);
    u64::try_from(exact.div_ceil(u128::from(steps))).unwrap_or(u64::MAX)
}

/// The open model as one worker sees it: the instants at which requests arrive.
///
/// Each worker has as many arrivals for each of its connections as every other. Constant arrivals
/// are dealt to the connections of the whole pool in turn, and connections to workers in turn: a
/// worker takes those of its own. Poisson arrivals are divided into independent processes, whose
/// rates are in proportion to the connections.
///
/// # Source
///
/// With rate `r(t)` the `i`-th arrival is where the integral of `r` reaches `i` (constant) or the
/// sum of `i` draws of a unit exponential (Poisson): time-rescaling of a point process.
#[derive(Clone, Debug)]
pub struct ArrivalTimes {
    stages: Vec<Stage>,
    arrivals: Arrivals,
    stage: usize,
    stage_start_ns: u64,
    /// Arrivals expected from zero to the beginning of the current stage.
    before: f64,
    /// Value the integral of the rate has at the next arrival.
    goal: f64,
    /// What the integral grows by from one arrival to the next: from one of the worker's connections
    /// to the next one, or for Poisson arrivals on average.
    stride: f64,
    /// What it grows by from the last of the worker's connections to its first.
    leap: f64,
    /// Connections of the worker, and how many of them have an arrival of this round.
    connections: usize,
    served: usize,
    rng: fastrand::Rng,
}

impl ArrivalTimes {
    /// The arrivals of worker `index` of `workers`.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn new(load: &Load, index: usize, workers: usize, seed: u64) -> Self {
        let all = load.connections as f64;
        let connections = share(load.connections, index, workers);
        let own = connections as f64;
        let (goal, stride, leap) = match load.arrivals {
            // Who has no connection has no arrival.
            _ if connections == 0 => (f64::INFINITY, 0.0, 0.0),
            Arrivals::Constant => {
                let stride = workers as f64;
                (index as f64, stride, all - (own - 1.0) * stride)
            }
            Arrivals::Poisson => (0.0, all / own, 0.0),
        };
        let mut times = Self {
            stages: load.stages.clone(),
            arrivals: load.arrivals,
            stage: 0,
            stage_start_ns: 0,
            before: 0.0,
            goal,
            stride,
            leap,
            connections,
            served: 0,
            rng: fastrand::Rng::with_seed(seed ^ STREAM),
        };
        if times.arrivals == Arrivals::Poisson {
            times.goal += times.gap();
        }
        times
    }

    fn gap(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Constant => {
                self.served += 1;
                if self.served < self.connections {
                    return self.stride;
                }
                self.served = 0;
                self.leap
            }
            Arrivals::Poisson => -self.stride * (1.0 - self.rng.f64()).ln(),
        }
    }
}

impl Iterator for ArrivalTimes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let stage = self.stages.get(self.stage)?;
            let whole_stage = expected_arrivals(stage, stage.duration_ns);
            if self.goal < self.before + whole_stage {
                let at_ns = instant_of(stage, self.goal - self.before);
                let due_ns = self.stage_start_ns + at_ns;
                self.goal += self.gap();
                return Some(due_ns);
            }
            self.before += whole_stage;
            self.stage_start_ns += stage.duration_ns;
            self.stage += 1;
        }
    }
}

/// Arrivals expected in the first `until_ns` of a stage: the integral of its rate.
#[allow(clippy::cast_precision_loss)]
fn expected_arrivals(stage: &Stage, until_ns: u64) -> f64 {
    let whole_s = stage.duration_ns as f64 / 1e9;
    let passed_s = until_ns as f64 / 1e9;
    let slope = stage.end - stage.start;
    if stage.steps == 0 {
        return stage.start * passed_s + slope * passed_s * passed_s / (2.0 * whole_s);
    }
    let steps = f64::from(stage.steps);
    let one_step_s = whole_s / steps;
    let full = (passed_s / one_step_s).floor().min(steps);
    let over_full = full * stage.start + slope * full * (full + 1.0) / (2.0 * steps);
    let current = stage.start + slope * (full + 1.0).min(steps) / steps;
    over_full * one_step_s + current * (passed_s - full * one_step_s)
}

/// The instant within a stage by which `count` arrivals are expected: the inverse of the above.
///
/// The first guesses follow the rate, and are right at once where it is constant; then the middle of
/// what is left is tried.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn instant_of(stage: &Stage, count: f64) -> u64 {
    let (mut low, mut high) = (0, stage.duration_ns);
    let whole_stage = expected_arrivals(stage, stage.duration_ns);
    let mut guess_ns = stage.duration_ns as f64 * (count / whole_stage);
    for tries in 0.. {
        if low == high {
            break;
        }
        let middle = low + (high - low) / 2;
        let at_ns = if tries < MOST_GUESSES { guess_ns as u64 } else { middle };
        let at_ns = at_ns.clamp(low, high - 1);
        let missing = count - expected_arrivals(stage, at_ns);
        if missing > 0.0 {
            low = at_ns + 1;
        } else {
            high = at_ns;
        }
        if tries < MOST_GUESSES {
            guess_ns = at_ns as f64 + missing / level(stage, at_ns) * 1e9;
        }
    }
    low
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::float_cmp)]
mod tests {
    use super::*;
    use crate::spec::StageKind;
    use proptest::prelude::*;

    fn stage(duration_ns: u64, start: f64, end: f64, steps: u32) -> Stage {
        Stage { kind: StageKind::Ramp, duration_ns, start, end, steps }
    }

    fn load(model: Model, stages: Vec<Stage>, arrivals: Arrivals) -> Load {
        Load {
            model,
            stages,
            arrivals,
            connections: 1,
            tolerance_ns: 0,
            keep_alive: true,
            requests_per_connection: None,
            protocol: crate::spec::Protocol::Http1,
            pipeline: 1,
            follow: None,
            streams: 1,
            think_time_ns: 0,
            timeout_ns: 1,
            request_limit: None,
        }
    }

    fn changes(load: &Load, index: usize, workers: usize) -> Vec<(u64, usize)> {
        let mut connections = Connections::new(load, index, workers);
        std::iter::from_fn(|| connections.take(u64::MAX)).collect()
    }

    #[test]
    fn nine_thousand_in_a_hundred_steps_are_ninety_at_a_time() {
        let ramp = stage(240_000_000_000, 0.0, 9000.0, 100);
        let load = load(Model::Closed, vec![ramp], Arrivals::Constant);
        let changes = changes(&load, 0, 1);
        assert_eq!(changes.len(), 100);
        assert_eq!(changes[0], (0, 90));
        assert_eq!(changes[1], (2_400_000_000, 180));
        assert_eq!(changes[99], (237_600_000_000, 9000));
    }

    #[test]
    fn a_straight_line_opens_one_connection_at_a_time() {
        let load = load(Model::Closed, vec![stage(1000, 0.0, 10.0, 0)], Arrivals::Constant);
        let changes = changes(&load, 0, 1);
        assert_eq!(changes.len(), 10);
        assert!(changes.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1));
    }

    #[test]
    fn a_change_is_taken_when_it_is_due_and_not_before() {
        let stages = vec![stage(100, 5.0, 5.0, 1), stage(100, 2.0, 2.0, 1)];
        let mut connections =
            Connections::new(&load(Model::Closed, stages, Arrivals::Constant), 0, 1);
        assert_eq!(connections.take(0), Some((0, 5)));
        assert_eq!(connections.take(99), None);
        assert_eq!(connections.next_ns(), Some(100));
        assert_eq!(connections.take(130), Some((100, 2)));
        assert_eq!(connections.next_ns(), None);
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced() {
        let load =
            load(Model::Open, vec![stage(1_000_000_000, 1000.0, 1000.0, 1)], Arrivals::Constant);
        let times: Vec<_> = ArrivalTimes::new(&load, 0, 1, 1).collect();
        assert_eq!(times.len(), 1000);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
    }

    #[test]
    fn workers_together_make_the_whole_schedule() {
        let stages =
            vec![stage(1_000_000_000, 100.0, 900.0, 0), stage(500_000_000, 300.0, 300.0, 1)];
        // As many connections for each of three workers, more for some, and none for one.
        for connections in [3, 9, 4, 5, 7, 100, 2] {
            let load =
                Load { connections, ..load(Model::Open, stages.clone(), Arrivals::Constant) };
            let alone: Vec<_> = ArrivalTimes::new(&load, 0, 1, 1).collect();
            let mut together: Vec<_> =
                (0..3).flat_map(|index| ArrivalTimes::new(&load, index, 3, 1)).collect();
            together.sort_unstable();
            assert_eq!(alone, together);
            assert_eq!(alone.len(), 650);
        }
    }

    #[test]
    fn each_connection_has_as_many_arrivals_whichever_worker_it_belongs_to() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let stages = vec![stage(30_000_000_000, 1000.0, 1000.0, 1)];
            let load = Load { connections: 5, ..load(Model::Open, stages, arrivals) };
            let counts =
                [0, 1, 2].map(|index| ArrivalTimes::new(&load, index, 3, index as u64).count());
            // 2, 2 and 1 of 5 connections. Six standard deviations of a Poisson count are 660 at most.
            let tolerance = if arrivals == Arrivals::Constant { 0 } else { 660 };
            for (count, expected) in counts.into_iter().zip([12_000, 12_000, 6_000_usize]) {
                assert!(count.abs_diff(expected) <= tolerance, "{arrivals:?} {counts:?}");
            }
        }
    }

    #[test]
    fn arrivals_of_a_worker_are_apart_by_what_those_of_others_take() {
        let stages = vec![stage(1_000_000_000, 1000.0, 1000.0, 1)];
        let load = Load { connections: 3, ..load(Model::Open, stages, Arrivals::Constant) };
        let first_ms = |index| {
            let times = ArrivalTimes::new(&load, index, 2, 1).take(4);
            times.map(|at_ns| at_ns / 1_000_000).collect::<Vec<_>>()
        };
        assert_eq!([first_ms(0), first_ms(1)], [vec![0, 2, 3, 5], vec![1, 4, 7, 10]]);
    }

    proptest! {
        #[test]
        fn connections_of_all_workers_add_up_at_every_instant(
            levels in prop::collection::vec((0u32..500, 0u32..500, 0u32..20), 1..5),
            workers in 1usize..6, at in 0.0f64..1.0,
        ) {
            let stages: Vec<_> = levels.iter()
                .map(|&(start, end, steps)| stage(1_000_000, f64::from(start), f64::from(end), steps))
                .collect();
            let load = load(Model::Closed, stages, Arrivals::Constant);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let now = (load.duration_ns() as f64 * at) as u64;
            let count = |index, workers| {
                let mut connections = Connections::new(&load, index, workers);
                std::iter::from_fn(|| connections.take(now)).last().map_or(0, |(_, count)| count)
            };
            let together: usize = (0..workers).map(|index| count(index, workers)).sum();
            prop_assert_eq!(together, count(0, 1));
        }

        #[test]
        fn arrivals_increase_and_their_count_is_right(
            rates in prop::collection::vec((0.0f64..5000.0, 0.0f64..5000.0, 0u32..10), 1..4),
        ) {
            let stages: Vec<_> =
                rates.iter().map(|&(start, end, steps)| stage(200_000_000, start, end, steps)).collect();
            let load = load(Model::Open, stages, Arrivals::Constant);
            let times: Vec<_> = ArrivalTimes::new(&load, 0, 1, 1).collect();
            prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
            let expected: f64 =
                load.stages.iter().map(|stage| expected_arrivals(stage, stage.duration_ns)).sum();
            prop_assert!((times.len() as f64 - expected).abs() <= 1.0);
            prop_assert!(times.iter().all(|&at| at <= load.duration_ns()));
        }

        #[test]
        fn an_arrival_is_at_the_first_instant_by_which_it_is_expected(
            start in 0.0f64..50_000.0, end in 0.0f64..50_000.0, level in any::<bool>(),
            steps in 0u32..60, duration_ns in 1u64..100_000_000_000, share in 0.0f64..1.0,
        ) {
            let stage = stage(duration_ns, start, if level { start } else { end }, steps);
            let count = expected_arrivals(&stage, duration_ns) * share;
            let at_ns = instant_of(&stage, count);
            prop_assert!(at_ns == duration_ns || expected_arrivals(&stage, at_ns) >= count);
            prop_assert!(at_ns == 0 || expected_arrivals(&stage, at_ns - 1) < count);
        }

        #[test]
        fn poisson_arrivals_have_the_rate_asked_for(seed in 0u64..1000) {
            let load = load(
                Model::Open, vec![stage(10_000_000_000, 1000.0, 1000.0, 1)], Arrivals::Poisson);
            let times: Vec<_> = ArrivalTimes::new(&load, 0, 1, seed).collect();
            // 10,000 expected, standard deviation 100: six of them is one draw in 500 million.
            prop_assert!((times.len() as f64 - 10_000.0).abs() < 600.0);
            prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
