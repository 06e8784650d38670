//! The sum of the numbers of all members `value` of a document of JSON, found while it is decoded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The sum in a document.
///
/// # Errors
///
/// It is not JSON.
pub(super) fn of(document: &[u8]) -> serde_json::Result<i64> {
    serde_json::from_slice::<Found>(document).map(|found| found.within)
}

/// What one value of JSON amounts to.
#[derive(Default)]
struct Found {
    /// The value itself, if it is a whole number.
    number: i64,
    /// The sum within it.
    within: i64,
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Finder)
    }
}

struct Finder;

impl<'de> Visitor<'de> for Finder {
    type Value = Found;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Found, E> {
        Ok(Found { number, within: 0 })
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found, E> {
        Ok(Found { number: i64::try_from(number).unwrap_or(i64::MAX), within: 0 })
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Found, A::Error> {
        let mut within = 0_i64;
        while let Some(element) = elements.next_element::<Found>()? {
            within = within.saturating_add(element.within);
        }
        Ok(Found { number: 0, within })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Found, A::Error> {
        let mut within = 0_i64;
        while let Some(name) = members.next_key::<Cow<str>>()? {
            let member: Found = members.next_value()?;
            let own = if name == "value" { member.number } else { 0 };
            within = within.saturating_add(own).saturating_add(member.within);
        }
        Ok(Found { number: 0, within })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_that_name_counts_wherever_it_is() {
        let cases = [
            (r#"{"value":1,"a":[{"value":2},{"b":{"v\u0061lue":-4}}]}"#, -1),
            (r#"{"value":{"value":5},"x":"\"value\":9"}"#, 5),
            ("[1,2.5,null,true]", 0),
        ];
        for (document, sum) in cases {
            assert_eq!(of(document.as_bytes()).unwrap(), sum, "{document}");
        }
    }

    #[test]
    fn what_is_malformed_has_no_sum() {
        for document in ["", "{", r#"{"value":1}]"#, "{value:1}"] {
            assert!(of(document.as_bytes()).is_err(), "{document}");
        }
    }
}
