//! A reply as it streams, told without secrets: a server may say the key that it was given, and a task may have named a
//! value. Text and reasoning are two streams, of which each holds back what may be the beginning of one.

use super::event::What;
use crate::provider::Delta;
use crate::text::secret::{LiveRedactor, Secrets};

/// The two streams of a call.
pub(super) struct Deltas {
    text: LiveRedactor,
    reasoning: LiveRedactor,
}

impl Deltas {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self {
            text: LiveRedactor::new(secrets.clone()),
            reasoning: LiveRedactor::new(secrets.clone()),
        }
    }

    /// What can be told of a delta now.
    pub(super) fn take(&mut self, delta: &Delta<'_>) -> Option<What> {
        match delta {
            Delta::Text(text) => some(self.text.push(text), What::Text),
            Delta::Reasoning(text) => some(self.reasoning.push(text), What::Reasoning),
        }
    }

    /// What is left at the end of the call.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = What> {
        let reasoning = some(self.reasoning.finish(), What::Reasoning);
        let text = some(self.text.finish(), What::Text);
        [reasoning, text].into_iter().flatten()
    }
}

fn some(text: String, what: fn(String) -> What) -> Option<What> {
    (!text.is_empty()).then(|| what(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_told_however_it_is_cut() {
        let key = "sk-or-v1-0f1e2d3c";
        let secrets = Secrets::default();
        secrets.register("KEY", key).unwrap();
        for cut in 1..key.len() {
            let (first, second) = key.split_at(cut);
            let mut deltas = Deltas::new(&secrets);
            let pieces = [
                Delta::Text(first),
                Delta::Reasoning(first),
                Delta::Text(second),
                Delta::Reasoning(second),
            ];
            let mut told: Vec<What> = pieces.iter().filter_map(|piece| deltas.take(piece)).collect();
            told.extend(deltas.finish());
            let (mut text, mut reasoning) = (String::new(), String::new());
            for what in told {
                match what {
                    What::Text(piece) => text += &piece,
                    What::Reasoning(piece) => reasoning += &piece,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!([text, reasoning], ["[secret KEY]"; 2], "cut at {cut}");
        }
    }

    #[test]
    fn other_text_is_told_as_it_comes() {
        let mut deltas = Deltas::new(&Secrets::default());
        assert_eq!(deltas.take(&Delta::Text("one")), Some(What::Text("one".into())));
        assert_eq!(deltas.finish().count(), 0);
    }
}
