//! From the scopes of a grammar to classes.

use std::sync::OnceLock;

use syntect::parsing::{Scope, ScopeStack};

use super::Class;

/// Scopes and their classes; of two that fit the longer one wins.
const SCOPES: [(&str, Class); 26] = [
    ("comment", Class::Comment),
    ("string", Class::String),
    ("constant.character", Class::String),
    ("storage.type.string", Class::String),
    ("constant.numeric", Class::Number),
    ("constant.language", Class::Keyword),
    ("constant", Class::Plain),
    ("keyword", Class::Keyword),
    ("keyword.operator", Class::Operator),
    ("keyword.operator.logical", Class::Keyword),
    ("keyword.operator.word", Class::Keyword),
    ("storage", Class::Keyword),
    ("variable.language", Class::Keyword),
    ("entity.name.function", Class::Function),
    ("entity.name.class", Class::Type),
    ("entity.name.type", Class::Type),
    ("entity.other.inherited-class", Class::Type),
    ("variable.function", Class::Function),
    ("variable.annotation", Class::Function),
    ("support.function", Class::Function),
    ("support.type", Class::Type),
    ("support.class", Class::Type),
    ("variable.parameter", Class::Key),
    ("punctuation", Class::Punctuation),
    ("punctuation.definition.string", Class::String),
    ("punctuation.definition.comment", Class::Comment),
];

/// The class of text under these scopes: that of the innermost scope that has one.
pub(super) fn class_of(stack: &ScopeStack) -> Class {
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| class_of_scope(*scope))
        .unwrap_or_default()
}

fn class_of_scope(scope: Scope) -> Option<Class> {
    let fits = table().iter().filter(|(prefix, _)| prefix.is_prefix_of(scope));
    fits.max_by_key(|(prefix, _)| prefix.len()).map(|(_, class)| *class)
}

fn table() -> &'static [(Scope, Class)] {
    static TABLE: OnceLock<Vec<(Scope, Class)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let parse = |(name, class): &(&str, Class)| Scope::new(name).ok().map(|scope| (scope, *class));
        SCOPES.iter().filter_map(parse).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_of_the_table_parses() {
        assert_eq!(table().len(), SCOPES.len());
    }

    #[test]
    fn the_innermost_known_scope_wins() {
        let stack = |text: &str| class_of(&text.parse().unwrap());
        assert_eq!(stack("source.python string.quoted.double.python"), Class::String);
        assert_eq!(stack("source.python keyword.operator.logical.python"), Class::Keyword);
        assert_eq!(
            stack("source.python keyword.operator.arithmetic.python"),
            Class::Operator
        );
        assert_eq!(stack("source.python meta.statement.python"), Class::Plain);
        assert_eq!(stack("source.python string.quoted meta.unknown"), Class::String);
    }
}
