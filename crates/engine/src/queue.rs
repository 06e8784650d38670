//! A queue whose first element lies in the queue itself. Pure.
//!
//! Most connections carry one request at a time. It then lies within its connection, and not in
//! memory of its own that has to be fetched too.

use std::collections::VecDeque;

/// Elements in the order they came in.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// Nothing when the queue is empty.
    first: Option<T>,
    more: VecDeque<T>,
}

impl<T> Queue<T> {
    /// An empty queue with room for so many elements.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { first: None, more: VecDeque::with_capacity(capacity.saturating_sub(1)) }
    }

    /// Whether it has no element.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Number of its elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    /// The element that came first.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// The element that came last.
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.more.back().or(self.first.as_ref())
    }

    /// The element that came after so many others.
    #[inline]
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&T> {
        match place {
            0 => self.first.as_ref(),
            _ => self.more.get(place - 1),
        }
    }

    /// All elements in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }

    /// All elements in order, to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.more)
    }

    /// Puts an element behind all others.
    #[inline]
    pub fn push_back(&mut self, element: T) {
        if self.first.is_none() {
            self.first = Some(element);
        } else {
            self.more.push_back(element);
        }
    }

    /// Takes off the element that came first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let next = if self.more.is_empty() { None } else { self.more.pop_front() };
        std::mem::replace(&mut self.first, next)
    }

    /// Takes out the element that came after so many others.
    #[inline]
    pub fn remove(&mut self, place: usize) -> Option<T> {
        match place {
            0 => self.pop_front(),
            _ => self.more.remove(place - 1),
        }
    }

    /// Keeps so many elements, those that came first.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        match length {
            0 => self.clear(),
            _ => self.more.truncate(length - 1),
        }
    }

    /// Removes every element.
    pub fn clear(&mut self) {
        self.first = None;
        self.more.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8),
        Pop,
        Remove(usize),
        Truncate(usize),
        Clear,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => any::<u8>().prop_map(Step::Push),
            2 => Just(Step::Pop),
            1 => (0_usize..6).prop_map(Step::Remove),
            1 => (0_usize..6).prop_map(Step::Truncate),
            1 => Just(Step::Clear),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn it_holds_what_a_standard_queue_holds(steps in steps()) {
            let (mut queue, mut standard) = (Queue::with_capacity(2), VecDeque::new());
            for step in steps {
                match step {
                    Step::Push(element) => {
                        queue.push_back(element);
                        standard.push_back(element);
                    }
                    Step::Pop => prop_assert_eq!(queue.pop_front(), standard.pop_front()),
                    Step::Remove(place) => {
                        prop_assert_eq!(queue.remove(place), standard.remove(place));
                    }
                    Step::Truncate(length) => {
                        queue.truncate(length);
                        standard.truncate(length);
                    }
                    Step::Clear => {
                        queue.clear();
                        standard.clear();
                    }
                }
                prop_assert!(queue.iter().eq(&standard));
                prop_assert!(queue.iter_mut().eq(&standard));
                prop_assert_eq!((queue.len(), queue.is_empty()), (standard.len(), standard.is_empty()));
                prop_assert_eq!((queue.front(), queue.back()), (standard.front(), standard.back()));
                prop_assert!((0..5).all(|place| queue.get(place) == standard.get(place)));
            }
        }
    }
}
