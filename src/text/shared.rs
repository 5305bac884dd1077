//! Text that several hold at once. A long one stays where it was gathered: it is never there twice, only to be shared.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Longer texts are not copied to be shared.
const LONG: usize = 64 << 10;

/// A text that is cheap to clone.
#[derive(Clone)]
pub struct Shared(Held);

#[derive(Clone)]
enum Held {
    Short(Arc<str>),
    Long(Arc<String>),
}

impl Shared {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Held::Short(text) => text,
            Held::Long(text) => text,
        }
    }

    /// It is the same text in the same place.
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.as_str(), other.as_str())
    }
}

impl From<String> for Shared {
    fn from(mut text: String) -> Self {
        if text.len() <= LONG {
            return Self(Held::Short(text.into()));
        }
        text.shrink_to_fit();
        Self(Held::Long(Arc::new(text)))
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        Self(Held::Short(text.into()))
    }
}

impl Default for Shared {
    fn default() -> Self {
        "".into()
    }
}

impl Deref for Shared {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Shared {}

impl PartialOrd for Shared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Shared {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_stays_where_it_is() {
        let long = "x".repeat(LONG + 1);
        let place = long.as_ptr();
        let shared = Shared::from(long);
        assert_eq!((shared.as_ptr(), shared.clone().as_ptr()), (place, place));
    }

    #[test]
    fn texts_are_compared_by_what_they_say() {
        let (short, long) = (Shared::from("a"), Shared::from("b".repeat(LONG + 1)));
        assert_eq!(short, Shared::from("a".to_owned()));
        assert_eq!(long, Shared::from("b".repeat(LONG + 1)));
        assert!(short < long && !short.is(&"a".into()) && long.is(&long.clone()));
    }
}
