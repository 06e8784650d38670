//! Fields by their index: those that never change, and those that a header block has added.
//!
//! # Source
//!
//! RFC 7541, sections 2.3 and 4, and appendix A.

use std::collections::VecDeque;

/// Name and value of the fields with the indices 1, 2, ….
#[rustfmt::skip]
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// What an entry counts for beyond its name and value.
const OVERHEAD_BYTES: usize = 32;

/// Where an entry lies.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    name_bytes: usize,
    value_bytes: usize,
}

impl Entry {
    fn size(self) -> usize {
        self.name_bytes + self.value_bytes + OVERHEAD_BYTES
    }
}

/// The fields that were added, the newest first; the oldest go when there is no room.
#[derive(Clone, Debug)]
pub(super) struct Table {
    most_bytes: usize,
    size_bytes: usize,
    /// The newest last.
    entries: VecDeque<Entry>,
    /// Names and values one after the other; those before the oldest entry are no longer meant.
    bytes: Vec<u8>,
}

impl Table {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, size_bytes: 0, entries: VecDeque::new(), bytes: Vec::new() }
    }

    /// Forgets every field.
    pub(super) fn clear(&mut self, most_bytes: usize) {
        self.most_bytes = most_bytes;
        self.evict_to(0);
    }

    /// Changes the size that it may have.
    pub(super) fn resize(&mut self, most_bytes: usize) {
        self.most_bytes = most_bytes;
        self.evict_to(most_bytes);
    }

    /// The field with an index, of all; nothing when there is none.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if let Some((name, value)) = STATIC.get(index.checked_sub(1)?) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let place = self.entries.len().checked_sub(index - STATIC.len())?;
        let Entry { start, name_bytes, value_bytes } = self.entries[place];
        let (name, rest) = self.bytes[start..].split_at(name_bytes);
        Some((name, &rest[..value_bytes]))
    }

    /// Adds a field; one that is larger than the table empties it.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let mut entry = Entry { start: 0, name_bytes: name.len(), value_bytes: value.len() };
        let Some(room) = self.most_bytes.checked_sub(entry.size()) else {
            self.evict_to(0);
            return;
        };
        // Before its bytes are there: an emptied table has none.
        self.evict_to(room);
        entry.start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.size_bytes += entry.size();
        self.entries.push_back(entry);
        if self.bytes.len() > 2 * self.most_bytes {
            self.compact();
        }
    }

    fn evict_to(&mut self, most_bytes: usize) {
        while self.size_bytes > most_bytes {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.size_bytes -= oldest.size();
        }
        if self.entries.is_empty() && self.size_bytes == 0 && most_bytes == 0 {
            self.bytes.clear();
        }
    }

    /// Gives up the bytes that are no longer meant.
    fn compact(&mut self) {
        let unused = self.entries.front().map_or(self.bytes.len(), |oldest| oldest.start);
        self.bytes.drain(..unused);
        for entry in &mut self.entries {
            entry.start -= unused;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_static_fields_have_their_indices() {
        let table = Table::new(0);
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(1), Some((&b":authority"[..], &b""[..])));
        assert_eq!(table.get(8), Some((&b":status"[..], &b"200"[..])));
        assert_eq!(table.get(61), Some((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(table.get(62), None);
    }

    #[test]
    fn the_newest_comes_first_and_the_oldest_goes() {
        let mut table = Table::new(2 * (OVERHEAD_BYTES + 2));
        for name in [b"a", b"b", b"c"] {
            table.add(name, b"1");
        }
        assert_eq!(table.get(62), Some((&b"c"[..], &b"1"[..])));
        assert_eq!(table.get(63), Some((&b"b"[..], &b"1"[..])));
        assert_eq!(table.get(64), None);
        table.resize(OVERHEAD_BYTES + 2);
        assert_eq!((table.get(62).is_some(), table.get(63)), (true, None));
        table.add(b"too", b"large");
        assert_eq!(table.get(62), None);
    }

    #[test]
    fn many_fields_are_kept_in_bounded_memory() {
        let mut table = Table::new(4096);
        for number in 0..100_000_u32 {
            table.add(b"number", &number.to_be_bytes());
            assert_eq!(table.get(62).unwrap().1, number.to_be_bytes());
            assert!(table.bytes.len() <= 3 * 4096);
        }
        let held = (62..).map_while(|index| table.get(index)).count();
        assert_eq!(held, 4096 / (6 + 4 + OVERHEAD_BYTES));
        assert_eq!(table.get(61 + held).unwrap().1, (100_000 - 97_u32).to_be_bytes());
    }

    #[test]
    fn a_field_as_large_as_the_table_is_its_only_one() {
        let mut table = Table::new(OVERHEAD_BYTES + 3);
        for name in [b"a", b"b"] {
            table.add(name, b"12");
            assert_eq!(table.get(62), Some((&name[..], &b"12"[..])));
            assert_eq!(table.get(63), None);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(Vec<u8>, Vec<u8>),
        Resize(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let text = || prop::collection::vec(any::<u8>(), 0..8);
        // Fields have 32 to 46 bytes: often one, or two together, are as large as the table.
        let sizes = prop_oneof![Just(0), 30..50_usize, 60..100_usize];
        let step = prop_oneof![
            5 => (text(), text()).prop_map(|(name, value)| Step::Add(name, value)),
            1 => sizes.prop_map(Step::Resize),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn it_holds_the_newest_fields_that_fit(first_bytes in 30..100_usize, steps in steps()) {
            let (mut most_bytes, mut table) = (first_bytes, Table::new(first_bytes));
            let mut fields: VecDeque<(Vec<u8>, Vec<u8>)> = VecDeque::new();
            for step in steps {
                match step {
                    Step::Add(name, value) => {
                        table.add(&name, &value);
                        fields.push_front((name, value));
                    }
                    Step::Resize(to_bytes) => {
                        table.resize(to_bytes);
                        most_bytes = to_bytes;
                    }
                }
                let size = |(name, value): &(Vec<u8>, Vec<u8>)| name.len() + value.len() + 32;
                while fields.iter().map(size).sum::<usize>() > most_bytes {
                    fields.pop_back();
                }
                let held = (62..).map_while(|index| table.get(index));
                prop_assert!(held.eq(fields.iter().map(|(name, value)| (&name[..], &value[..]))));
            }
        }
    }
}
