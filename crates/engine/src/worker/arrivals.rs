//! When requests are due and which places take them: one face for the closed and the open model.
//!
//! In both models slots take part by a schedule of levels. Then either every response makes the next
//! request due, or requests arrive by a schedule of their own and take the places that are free.

use std::collections::VecDeque;
use std::iter::Peekable;

use crate::schedule::{ArrivalTimes, Connections};
use crate::share::share;
use crate::spec::{Load, Model};

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// So many slots take part from an instant on.
    Level { count: usize, at_ns: u64 },
    /// A request, which takes a free place of a slot.
    Request { index: usize, due_ns: u64 },
    /// So many places that a slot has offered are back: its connection takes no request now.
    Back { index: usize, places: usize },
}

/// How a slot begins that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With requests on all its places.
    Requests { index: usize, due_ns: u64 },
    /// With a connection, so that it is there before its first request.
    Connection { index: usize },
}

#[derive(Debug)]
pub(super) struct Arrivals {
    levels: Connections,
    /// Slots that take part from an instant on and have not begun yet.
    starting: VecDeque<(usize, u64)>,
    source: Source,
}

/// What makes a request due.
#[derive(Debug)]
enum Source {
    /// The end of another.
    Responses,
    /// The time.
    Schedule(Box<Schedule>),
}

#[derive(Debug)]
struct Schedule {
    times: Peekable<ArrivalTimes>,
    /// How much later than due a request may be sent.
    tolerance_ns: u64,
    /// Arrivals that found no free place.
    waiting: VecDeque<u64>,
    /// Slots that have places which found no arrival, each of them once. The slot whose turn is the
    /// longest ago is first, so that the pool is used evenly: a slot with many places takes no more
    /// arrivals than one with few.
    free: VecDeque<usize>,
    /// How many such places each slot has.
    places: Vec<usize>,
}

impl Arrivals {
    /// Those of worker `index` of `workers`.
    pub(super) fn new(load: &Load, index: usize, workers: usize, seed: u64) -> Self {
        let schedule = || {
            let slots = share(load.connections, index, workers);
            Schedule {
                times: ArrivalTimes::new(load, index, workers, seed).peekable(),
                tolerance_ns: load.tolerance_ns,
                waiting: VecDeque::new(),
                free: VecDeque::with_capacity(slots),
                places: vec![0; slots],
            }
        };
        Self {
            levels: Connections::new(load, index, workers),
            starting: VecDeque::new(),
            source: match load.model {
                Model::Closed => Source::Responses,
                Model::Open => Source::Schedule(Box::new(schedule())),
            },
        }
    }

    /// Takes the next that is due by `now_ns`, if anything is. Slots that are full get no request,
    /// whatever they have offered before.
    pub(super) fn take(&mut self, now_ns: u64, is_full: impl Fn(usize) -> bool) -> Option<Due> {
        if let Some((at_ns, count)) = self.levels.take(now_ns) {
            return Some(Due::Level { count, at_ns });
        }
        match &mut self.source {
            Source::Responses => None,
            Source::Schedule(schedule) => schedule.take(now_ns, is_full),
        }
    }

    /// The instant by which something that is due next has to be taken.
    pub(super) fn next_ns(&mut self) -> Option<u64> {
        let request_ns = match &mut self.source {
            Source::Responses => None,
            Source::Schedule(schedule) => {
                schedule.times.peek().map(|due_ns| due_ns + schedule.tolerance_ns)
            }
        };
        self.levels.next_ns().into_iter().chain(request_ns).min()
    }

    /// The next instant at which a request is due whatever happens.
    pub(super) fn next_request_ns(&mut self) -> Option<u64> {
        match &mut self.source {
            Source::Responses => None,
            Source::Schedule(schedule) => schedule.times.peek().copied(),
        }
    }

    /// Whether requests are due by the time, whatever has ended.
    #[inline]
    pub(super) fn are_scheduled(&self) -> bool {
        matches!(self.source, Source::Schedule(_))
    }

    /// A slot takes part from an instant on.
    pub(super) fn join(&mut self, index: usize, at_ns: u64) {
        self.starting.push_back((index, at_ns));
    }

    /// Whether a slot that takes part has still to begin.
    pub(super) fn is_starting(&self) -> bool {
        !self.starting.is_empty()
    }

    /// The next slot that begins.
    pub(super) fn start(&mut self) -> Option<Start> {
        let (index, due_ns) = self.starting.pop_front()?;
        Some(match self.source {
            Source::Responses => Start::Requests { index, due_ns },
            Source::Schedule(_) => Start::Connection { index },
        })
    }

    /// A place of a slot is free from `at_ns` on; returns when the request was due that takes it.
    /// Nothing when the place has to wait for one.
    #[inline]
    pub(super) fn offer(&mut self, index: usize, at_ns: u64) -> Option<u64> {
        match &mut self.source {
            Source::Responses => Some(at_ns),
            Source::Schedule(schedule) => schedule.offer(index),
        }
    }

    /// Leaves out the arrivals before an instant: in the wait for the last responses of a turn no
    /// request begins. Those of the turn that wait for a free place stay.
    pub(super) fn pass_over(&mut self, until_ns: u64) {
        if let Source::Schedule(schedule) = &mut self.source {
            while schedule.times.next_if(|&due_ns| due_ns < until_ns).is_some() {}
        }
    }

    /// At the end: when the next of those requests was due that never found a free place.
    pub(super) fn take_waiting(&mut self) -> Option<u64> {
        match &mut self.source {
            Source::Responses => None,
            Source::Schedule(schedule) => schedule.waiting.pop_front(),
        }
    }
}

impl Schedule {
    fn take(&mut self, now_ns: u64, is_full: impl Fn(usize) -> bool) -> Option<Due> {
        while let Some(&due_ns) = self.times.peek().filter(|&&due_ns| due_ns <= now_ns) {
            let Some(index) = self.free.pop_front() else {
                self.times.next();
                self.waiting.push_back(due_ns);
                continue;
            };
            let places = &mut self.places[index];
            if is_full(index) {
                return Some(Due::Back { index, places: std::mem::take(places) });
            }
            *places -= 1;
            if *places > 0 {
                self.free.push_back(index);
            }
            self.times.next();
            return Some(Due::Request { index, due_ns });
        }
        None
    }

    #[inline]
    fn offer(&mut self, index: usize) -> Option<u64> {
        let due_ns = self.waiting.pop_front();
        if due_ns.is_none() {
            let places = &mut self.places[index];
            *places += 1;
            if *places == 1 {
                self.free.push_back(index);
            }
        }
        due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    const MS: u64 = 1_000_000;

    /// Takes what is due next where no slot is full.
    fn take(arrivals: &mut Arrivals, now_ns: u64) -> Option<Due> {
        arrivals.take(now_ns, |_| false)
    }

    fn due(index: usize, due_ns: u64) -> Due {
        Due::Request { index, due_ns }
    }

    fn arrivals(model: &str, start: u32) -> Arrivals {
        let json = format!(
            r#"{{"format": 1, "into": "x", "address": "127.0.0.1:80",
            "requests": [{{"name": "a", "bytes": "R0VU"}}],
            "load": {{"model": {model}, "timeout_ns": 1,
                      "stages": [{{"kind": "hold", "duration_ns": {}, "start": {start}, "end": {start}}}]}}}}"#,
            1_000 * MS,
        );
        Arrivals::new(&Spec::parse(&json).unwrap().load, 0, 1, 7)
    }

    #[test]
    fn in_the_closed_model_a_free_place_makes_a_request_due() {
        let mut closed = arrivals(r#""closed""#, 3);
        assert_eq!(take(&mut closed, 5), Some(Due::Level { count: 3, at_ns: 0 }));
        assert_eq!(take(&mut closed, 2_000 * MS), None);
        closed.join(1, 0);
        assert_eq!(closed.start(), Some(Start::Requests { index: 1, due_ns: 0 }));
        assert_eq!((closed.start(), closed.is_starting()), (None, false));
        assert_eq!(closed.offer(1, 40), Some(40));
        assert_eq!((closed.next_ns(), closed.take_waiting()), (None, None));
    }

    #[test]
    fn within_its_tolerance_an_arrival_is_waited_for_until_others_are_due() {
        let mut open = arrivals(r#""open", "connections": 2, "tolerance_ns": 2500000"#, 1_000);
        assert_eq!(take(&mut open, 0), Some(Due::Level { count: 2, at_ns: 0 }));
        assert_eq!((open.next_ns(), open.next_request_ns()), (Some(2_500_000), Some(0)));
        assert_eq!([open.offer(0, 0), open.offer(1, 0)], [None, None]);
        assert_eq!(
            [take(&mut open, 2_500_000), take(&mut open, 2_500_000)],
            [Some(due(0, 0)), Some(due(1, MS))]
        );
    }

    #[test]
    fn arrivals_that_are_passed_over_never_come_and_waiting_ones_stay() {
        let mut open = arrivals(r#""open", "connections": 2"#, 1_000);
        assert_eq!(take(&mut open, 0), Some(Due::Level { count: 2, at_ns: 0 }));
        assert_eq!(take(&mut open, MS), None);
        open.pass_over(5 * MS);
        assert_eq!(open.next_request_ns(), Some(5 * MS));
        assert_eq!([open.offer(0, 4 * MS), open.offer(1, 4 * MS)], [Some(0), Some(MS)]);
    }

    #[test]
    fn in_the_open_model_arrivals_wait_for_places_and_places_for_arrivals() {
        let mut open = arrivals(r#""open", "connections": 2"#, 1_000);
        assert_eq!(take(&mut open, 0), Some(Due::Level { count: 2, at_ns: 0 }));
        open.join(0, 0);
        assert_eq!(open.start(), Some(Start::Connection { index: 0 }));
        assert_eq!((take(&mut open, MS), open.next_ns()), (None, Some(2 * MS)));
        assert_eq!(open.offer(0, MS), Some(0));
        assert_eq!(open.offer(1, MS), Some(MS));
        assert_eq!(open.offer(0, MS), None);
        assert_eq!(take(&mut open, 3 * MS), Some(Due::Request { index: 0, due_ns: 2 * MS }));
        assert_eq!(take(&mut open, 3 * MS), None);
        assert_eq!((open.take_waiting(), open.take_waiting()), (Some(3 * MS), None));
    }

    #[test]
    fn places_of_one_slot_do_not_take_arrivals_in_a_row() {
        let mut open = arrivals(r#""open", "connections": 3"#, 1_000);
        assert_eq!(take(&mut open, 0), Some(Due::Level { count: 3, at_ns: 0 }));
        assert_eq!((take(&mut open, 0), open.take_waiting()), (None, Some(0)));
        for (index, places) in [(0, 3), (1, 1), (2, 2)] {
            (0..places).for_each(|_| assert_eq!(open.offer(index, 0), None));
        }
        let taken: Vec<_> = (0..6).map(|_| take(&mut open, 9 * MS)).collect();
        let expected = [0, 1, 2, 0, 2, 0].into_iter().zip(1..);
        assert_eq!(
            taken,
            expected.map(|(index, at)| Some(due(index, at * MS))).collect::<Vec<_>>()
        );
        assert_eq!((take(&mut open, 9 * MS), open.take_waiting()), (None, Some(7 * MS)));
    }

    #[test]
    fn a_slot_that_is_full_gets_its_places_back_and_others_the_arrivals() {
        let mut open = arrivals(r#""open", "connections": 2"#, 1_000);
        assert_eq!(take(&mut open, 0), Some(Due::Level { count: 2, at_ns: 0 }));
        assert_eq!((take(&mut open, 0), open.take_waiting()), (None, Some(0)));
        for index in [0, 0, 1] {
            assert_eq!(open.offer(index, 0), None);
        }
        let first_is_full = |index| index == 0;
        let back = Some(Due::Back { index: 0, places: 2 });
        assert_eq!(open.take(9 * MS, first_is_full), back);
        assert_eq!(open.take(9 * MS, first_is_full), Some(due(1, MS)));
        assert_eq!(open.take(2 * MS, first_is_full), None);
        // The next one found nobody.
        assert_eq!((open.offer(0, 2 * MS), open.offer(0, 2 * MS)), (Some(2 * MS), None));
        assert_eq!(take(&mut open, 3 * MS), Some(due(0, 3 * MS)));
    }
}
