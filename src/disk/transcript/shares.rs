//! How much of each text of a line is read: all of it, as long as they are not too long together.

/// Bytes that the texts of a line may have together.
pub(super) const MOST: usize = 64 << 20;

/// What may be read of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Bytes that it has at most.
    pub(super) size: usize,
    /// Bytes of its start that are kept.
    pub(super) head: usize,
    /// Bytes of its end that are kept, where it is longer than that.
    pub(super) tail: usize,
}

impl Share {
    /// All of a text of at most `size` bytes.
    pub(super) fn whole(size: usize) -> Self {
        Self {
            size,
            head: MOST,
            tail: 0,
        }
    }

    /// `room` bytes of a text that has `size`.
    fn of(size: usize, room: usize) -> Self {
        if size <= room {
            return Self::whole(size);
        }
        let tail = room / 4;
        Self {
            size,
            head: room - tail,
            tail,
        }
    }
}

/// The shares of texts of these sizes: short ones are read whole, what is left is for the long ones alike.
pub(super) fn shares<const N: usize>(sizes: [usize; N]) -> [Share; N] {
    let mut sorted = sizes;
    sorted.sort_unstable();
    let (mut room, mut each) = (MOST, usize::MAX);
    for (size, rest) in sorted.into_iter().zip((1..=N).rev()) {
        if size > room / rest {
            each = room / rest;
            break;
        }
        room -= size;
    }
    sizes.map(|size| Share::of(size, each))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn what_fits_is_whole_and_what_does_not_shares_what_is_left() {
        let whole = [20 * MIB, 30 * MIB, 14 * MIB];
        assert_eq!(shares(whole), whole.map(Share::whole));
        let [code, output, none] = shares([4 * MIB, 100 * MIB, 0]);
        assert_eq!((code, none), (Share::whole(4 * MIB), Share::whole(0)));
        assert_eq!((output.head, output.tail), (45 * MIB, 15 * MIB));
        let [code, output, _] = shares([100 * MIB, 90 * MIB, 0]);
        assert_eq!((code.head, code.tail), (output.head, output.tail));
        assert_eq!(code.head + code.tail, 32 * MIB);
    }

    proptest! {
        #[test]
        fn together_they_are_never_too_much(sizes in prop::array::uniform3(0usize..200 * MIB)) {
            let read = shares(sizes).map(|share| share.size.min(share.head + share.tail));
            prop_assert!(read.iter().sum::<usize>() <= MOST);
            if sizes.iter().sum::<usize>() <= MOST {
                prop_assert_eq!(read, sizes);
            } else {
                prop_assert!(read.iter().sum::<usize>() > MOST - 3);
            }
        }
    }
}
