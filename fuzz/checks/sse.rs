//! Server-sent events: where the network cuts the bytes changes nothing, and an event has a bound.

// Part of the engine, which the other targets do without.
#[path = "../../src/provider/sse.rs"]
mod decoder;

use decoder::{SseDecoder, SseError};

const BOUND: usize = 256;

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, Result<(), SseError>) {
    let mut decoder = SseDecoder::new(BOUND);
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Err(error));
        }
    }
    (events, Ok(()))
}

pub fn check(data: &[u8]) {
    let whole = decode(std::iter::once(data));
    assert!(whole.0.iter().all(|event| event.len() <= BOUND));
    assert_eq!(decode(data.chunks(1)), whole);
    let piece = usize::from(*data.first().unwrap_or(&3)).max(1);
    assert_eq!(decode(data.chunks(piece)), whole);
}
