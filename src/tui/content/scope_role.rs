//! From the scopes of a grammar to roles.

use std::sync::OnceLock;

use syntect::parsing::{Scope, ScopeStack};

use crate::tui::theme::Role;

/// Scopes and their roles; of two that fit the longer one wins.
const SCOPES: [(&str, Role); 26] = [
    ("comment", Role::CodeComment),
    ("string", Role::CodeString),
    ("constant.character", Role::CodeString),
    ("storage.type.string", Role::CodeString),
    ("constant.numeric", Role::CodeNumber),
    ("constant.language", Role::CodeConstant),
    ("constant", Role::Text),
    ("keyword", Role::CodeKeyword),
    ("keyword.operator", Role::CodeOperator),
    ("keyword.operator.logical", Role::CodeKeyword),
    ("keyword.operator.word", Role::CodeKeyword),
    ("storage", Role::CodeKeyword),
    ("variable.language", Role::CodeKeyword),
    ("entity.name.function", Role::CodeFunction),
    ("entity.name.class", Role::CodeType),
    ("entity.name.type", Role::CodeType),
    ("entity.other.inherited-class", Role::CodeType),
    ("variable.function", Role::CodeFunction),
    ("variable.annotation", Role::CodeFunction),
    ("support.function", Role::CodeFunction),
    ("support.type", Role::CodeType),
    ("support.class", Role::CodeType),
    ("variable.parameter", Role::CodeKey),
    ("punctuation", Role::CodeOperator),
    ("punctuation.definition.string", Role::CodeString),
    ("punctuation.definition.comment", Role::CodeComment),
];

/// The role of text under these scopes: that of the innermost scope that has one.
pub(super) fn role_of(stack: &ScopeStack) -> Role {
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| role_of_scope(*scope))
        .unwrap_or(Role::Text)
}

fn role_of_scope(scope: Scope) -> Option<Role> {
    let fits = table().iter().filter(|(prefix, _)| prefix.is_prefix_of(scope));
    fits.max_by_key(|(prefix, _)| prefix.len()).map(|(_, role)| *role)
}

fn table() -> &'static [(Scope, Role)] {
    static TABLE: OnceLock<Vec<(Scope, Role)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let parse = |(name, role): &(&str, Role)| Scope::new(name).ok().map(|scope| (scope, *role));
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
        let stack = |text: &str| role_of(&text.parse().unwrap());
        assert_eq!(stack("source.python string.quoted.double.python"), Role::CodeString);
        assert_eq!(
            stack("source.python keyword.operator.logical.python"),
            Role::CodeKeyword
        );
        assert_eq!(
            stack("source.python keyword.operator.arithmetic.python"),
            Role::CodeOperator
        );
        assert_eq!(stack("source.python meta.statement.python"), Role::Text);
        assert_eq!(stack("source.python string.quoted meta.unknown"), Role::CodeString);
    }
}
