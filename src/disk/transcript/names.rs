//! Names of agents as lines give them: a long transcript names few agents, line after line, and each name is kept once.

use std::sync::Arc;

/// Names that are remembered: siblings that run at once write their lines in turn.
const MOST: usize = 8;

/// The names that were given last.
#[derive(Default)]
pub(super) struct Names(Vec<Arc<str>>);

impl Names {
    /// The name, shared with the lines before it that have the same.
    pub(super) fn shared(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_given_and_the_last_ones_are_shared() {
        let mut names = Names::default();
        let first = names.shared("agent 0".into());
        for number in 0..20 {
            let name = format!("agent {number}");
            let given = names.shared(name.clone());
            assert_eq!(*given, *name);
            assert!(Arc::ptr_eq(&given, &names.shared(name)));
        }
        assert!(
            !Arc::ptr_eq(&first, &names.shared("agent 0".into())),
            "only the last ones are kept"
        );
    }
}
