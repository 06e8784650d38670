//! The same for an open load: a request is sent when it is due, on a connection that is free.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};

use crate::{Asked, BUFFER_BYTES, Connection, EVENTS_A_TURN, Fallible, ask, is_answered};

/// When responses are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// When they come: most requests wake the loop twice.
    AtOnce,
    /// At the next arrival: requests wake it once. It would not know when a response came.
    AtArrivals,
}

/// Sends requests at a rate until the end; returns how many responses came.
pub fn drive(
    asked: &Asked,
    (rate_per_s, reading): (f64, Reading),
    response_bytes: usize,
    connections: &mut [Connection],
) -> Fallible<u64> {
    set_current_timer_slack(Some(NonZeroU64::MIN))?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    for (index, connection) in (0..).zip(&*connections) {
        epoll::add(&epoll, &connection.socket, epoll::EventData::new_u64(index), flags)?;
    }
    let mut free: VecDeque<usize> = (0..connections.len()).collect();
    let (mut events, mut buffer) = (Vec::with_capacity(EVENTS_A_TURN), vec![0; BUFFER_BYTES]);
    let (begin, mut arrivals, mut requests) = (now()?, 0_u32, 0);
    loop {
        let due = |arrivals| Duration::from_secs_f64(f64::from(arrivals) / rate_per_s);
        while now()?.saturating_sub(begin) >= due(arrivals) {
            let Some(index) = free.pop_front() else { break };
            ask(&connections[index], &asked.request)?;
            arrivals += 1;
        }
        let passed = now()?.saturating_sub(begin);
        if passed.as_secs_f64() >= asked.seconds {
            return Ok(requests);
        }
        let mut left = due(arrivals).saturating_sub(passed);
        if reading == Reading::AtArrivals && !free.is_empty() {
            std::thread::sleep(std::mem::take(&mut left));
        }
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&Timespec::try_from(left)?))?;
        for event in &events {
            let index = usize::try_from(event.data.u64())?;
            if is_answered(&mut connections[index], response_bytes, &mut buffer)? {
                requests += 1;
                free.push_back(index);
            }
        }
    }
}

/// The monotonic clock.
fn now() -> Fallible<Duration> {
    Ok(clock_gettime(ClockId::Monotonic).try_into()?)
}
