//! Names that Python code binds at its top level, found token by token: assignments of every form, loops, `with`,
//! imports, definitions, `del`. What functions and classes do inside is theirs.

use std::collections::HashSet;

use super::python_tokens::{LogicalLine, LogicalLines, Token};

/// Statements whose header ends with `:`, after which another statement may follow on the same line.
const BLOCKS: [&str; 11] = [
    "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "match", "case",
];

/// Names that are bound after `code` has run, in the order in which they are bound first.
pub(super) fn bound_names(code: &str) -> Vec<String> {
    let mut names = Names::default();
    let mut body: Option<usize> = None;
    for LogicalLine { indent, tokens } in LogicalLines::new(code) {
        if body.is_some_and(|of| indent > of) {
            continue;
        }
        body = names.line(&tokens).then_some(indent);
    }
    names.in_order
}

#[derive(Default)]
struct Names {
    in_order: Vec<String>,
    known: HashSet<String>,
}

impl Names {
    fn bind(&mut self, name: &str) {
        if !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.in_order.push(name.to_owned());
        }
    }

    /// Takes a logical line; true when it opens a body that is to be skipped.
    fn line(&mut self, tokens: &[Token<'_>]) -> bool {
        self.walruses(tokens);
        let mut rest = tokens;
        while let Some(first) = rest.first() {
            let (head, tail) = match first {
                Token::Name(word) if *word == "async" => {
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                Token::Name("def" | "class") => {
                    self.name_at(rest, 1);
                    return true;
                }
                Token::Name(word) if BLOCKS.contains(word) => match header(rest) {
                    Some(split) => split,
                    None => statement(rest),
                },
                _ => statement(rest),
            };
            self.statement(head);
            rest = tail;
        }
        false
    }

    fn statement(&mut self, tokens: &[Token<'_>]) {
        let rest = tokens.get(1..).unwrap_or_default();
        match tokens.first() {
            Some(Token::Name("import")) => self.imports(rest, true),
            Some(Token::Name("from")) => {
                let imported = rest.iter().position(|token| token.is("import"));
                self.imports(imported.and_then(|at| rest.get(at + 1..)).unwrap_or_default(), false);
            }
            Some(Token::Name("for")) => {
                let end = top_level(rest, |token| token.is("in")).next();
                self.targets(end.and_then(|end| rest.get(..end)).unwrap_or_default());
            }
            Some(Token::Name("with")) => self.with_items(rest),
            Some(Token::Name("case")) if ends_header(tokens) => self.pattern(rest),
            Some(Token::Name("del")) => self.delete(rest),
            Some(Token::Name("type")) if matches!(rest.first(), Some(Token::Name(_))) => self.name_at(rest, 0),
            Some(Token::Name("commit")) => self.committed(rest),
            _ => self.assignment(tokens),
        }
    }

    fn name_at(&mut self, tokens: &[Token<'_>], at: usize) {
        if let Some(Token::Name(name)) = tokens.get(at) {
            self.bind(name);
        }
    }

    /// `name := …`, wherever it stands.
    fn walruses(&mut self, tokens: &[Token<'_>]) {
        for pair in tokens.windows(2) {
            if let [Token::Name(name), Token::Op(":=")] = pair {
                self.bind(name);
            }
        }
    }

    /// `a.b as c, d`: binds `c`, and the first part of a dotted name.
    fn imports(&mut self, tokens: &[Token<'_>], dotted: bool) {
        for item in tokens.split(|token| token.is(",") || token.is("(") || token.is(")")) {
            match item {
                [.., Token::Name("as"), Token::Name(alias)] => self.bind(alias),
                [Token::Name(name), ..] if dotted => self.bind(name),
                [Token::Name(name)] => self.bind(name),
                _ => {}
            }
        }
    }

    fn with_items(&mut self, tokens: &[Token<'_>]) {
        for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is("as")) {
            let target = tokens.get(at + 1..).unwrap_or_default();
            let end = top_level(target, |token| [",", ":", ")", "as"].iter().any(|end| token.is(end))).next();
            self.targets(target.get(..end.unwrap_or(target.len())).unwrap_or_default());
        }
    }

    /// Names that a `case` pattern captures: those that are no class, attribute, keyword or value.
    fn pattern(&mut self, tokens: &[Token<'_>]) {
        let end = top_level(tokens, |token| token.is(":") || token.is("if")).next();
        let tokens = tokens.get(..end.unwrap_or(tokens.len())).unwrap_or_default();
        for (at, token) in tokens.iter().enumerate() {
            let after = tokens.get(at + 1);
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let taken = after.is_some_and(|after| [".", "(", "="].iter().any(|op| after.is(op)));
            if let Token::Name(name) = token
                && !taken
                && !before.is_some_and(|before| before.is("."))
                && !["_", "as", "None", "True", "False"].contains(name)
            {
                self.bind(name);
            }
        }
    }

    fn delete(&mut self, tokens: &[Token<'_>]) {
        let mut deleted = Self::default();
        deleted.targets(tokens);
        self.in_order.retain(|name| !deleted.known.contains(name));
        self.known.retain(|name| !deleted.known.contains(name));
    }

    /// `commit("context")` keeps the query's input under a name of its own.
    fn committed(&mut self, tokens: &[Token<'_>]) {
        if let [Token::Op("("), Token::Text("\"context\"" | "'context'"), ..] = tokens {
            self.bind("context_saved");
        }
    }

    /// `a = b, *c = …`, `a: int = …`, `a += …`; anything else binds nothing here.
    fn assignment(&mut self, tokens: &[Token<'_>]) {
        let equals: Vec<usize> = top_level(tokens, |token| token.is("=")).collect();
        if let [Token::Name(name), Token::Op(":"), ..] = tokens {
            if !equals.is_empty() {
                self.bind(name);
            }
            return;
        }
        if let [Token::Name(name), Token::Op(op), ..] = tokens
            && op.len() > 1
            && op.ends_with('=')
            && !["==", "!=", "<=", ">=", ":="].contains(op)
        {
            self.bind(name);
        }
        let mut start = 0;
        for end in equals {
            self.targets(tokens.get(start..end).unwrap_or_default());
            start = end + 1;
        }
    }

    /// Names in a target list; `x[i]`, `x.y` and `f(…).z` change what is bound already.
    fn targets(&mut self, tokens: &[Token<'_>]) {
        let mut trailer = 0_usize;
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let follows_value = before.is_some_and(|before| match before {
                Token::Op(op) => [")", "]", "}"].contains(op),
                _ => true,
            });
            match token {
                Token::Op("(" | "[" | "{") if trailer > 0 || follows_value => trailer += 1,
                Token::Op(")" | "]" | "}") => trailer = trailer.saturating_sub(1),
                Token::Name(name) if trailer == 0 && !before.is_some_and(|before| before.is(".")) => {
                    let trailed = tokens
                        .get(at + 1)
                        .is_some_and(|after| [".", "[", "("].iter().any(|op| after.is(op)));
                    if !trailed {
                        self.bind(name);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Positions outside of brackets where `wanted` holds.
fn top_level<'a>(
    tokens: &'a [Token<'a>],
    wanted: impl Fn(&Token<'_>) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let mut open = 0_usize;
    tokens.iter().enumerate().filter_map(move |(at, token)| {
        let found = open == 0 && wanted(token);
        match token {
            Token::Op("(" | "[" | "{") => open += 1,
            Token::Op(")" | "]" | "}") => open = open.saturating_sub(1),
            _ => {}
        }
        found.then_some(at)
    })
}

/// Splits a block's header, with its `:`, from what follows on the line. The `:` of a lambda ends no header.
fn header<'a, 'b>(tokens: &'a [Token<'b>]) -> Option<(&'a [Token<'b>], &'a [Token<'b>])> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(word));
    let mut lambdas = 0_usize;
    let end = top_level(tokens, |token| [":", "lambda", ";"].iter().any(|op| token.is(op))).find(|at| {
        if is(*at, "lambda") {
            lambdas += 1;
            return false;
        }
        let ends = lambdas == 0 || is(*at, ";");
        lambdas = lambdas.saturating_sub(1);
        ends
    })?;
    // `match: int = 1` annotates a variable with the name of a soft keyword.
    let annotation = end == 1 && (is(0, "match") || is(0, "case"));
    if annotation || is(end, ";") {
        return None;
    }
    tokens.split_at_checked(end + 1)
}

fn ends_header(tokens: &[Token<'_>]) -> bool {
    tokens.last().is_some_and(|token| token.is(":"))
}

/// Splits a simple statement from what follows its `;`.
fn statement<'a, 'b>(tokens: &'a [Token<'b>]) -> (&'a [Token<'b>], &'a [Token<'b>]) {
    match top_level(tokens, |token| token.is(";")).next() {
        Some(end) => (
            tokens.get(..end).unwrap_or_default(),
            tokens.get(end + 1..).unwrap_or_default(),
        ),
        None => (tokens, &[]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("x = 1", "x")]
    #[case("x = y = f(z=1)", "x y")]
    #[case("a, (b, *c), [d] = v", "a b c d")]
    #[case("x[i] = 1; o.a = 2; f(q).z = 3; m[k], n = 1, 2", "n")]
    #[case("x: int = 1\ny: str", "x")]
    #[case("x += 1; y //= 2; z **= 3", "x y z")]
    #[case("x == 1; x != 2; x <= 3", "")]
    #[case("print((n := 10), k=1)", "n")]
    #[case("for i, (a, b) in pairs: total = i", "i a b total")]
    #[case("for x in d: pass\nelse: y = 1", "x y")]
    #[case("while (line := f()):\n    n = 1", "line n")]
    #[case("with open(p) as f, g() as (a, b): c = 1", "f a b c")]
    #[case("with (\n  open(p) as f,\n  g() as h,\n):\n  pass", "f h")]
    #[case("import os, a.b.c, numpy as np", "os a np")]
    #[case(
        "from x.y import a as b, c\nfrom m import (d,\n  e as f,)\nfrom n import *",
        "b c d f"
    )]
    #[case("def f(a=1):\n    x = 2\n    def g(): y = 3\nz = 4", "f z")]
    #[case(
        "async def f(): x = 1\n@deco\nclass C(B):\n    a = 1\n\n    def m(self):\n        b = 1",
        "f C"
    )]
    #[case("x = lambda a: a\ny = [k for k in z]\nif lambda: 0: w = 1", "x y w")]
    #[case("try:\n    a = 1\nexcept E as e:\n    b = 2\nfinally: c = 3", "a b c")]
    #[case("a = 1; b = 2\ndel a", "b")]
    #[case("s = 'x = 1'\n# y = 2\n\"\"\"\nz = 3\n\"\"\"\nt = f\"{u['v = 1']} = {w}\"", "s t")]
    #[case("x = [\n  a,\n  b,\n]\ny = \\\n  2", "x y")]
    #[case(
        "match p:\n    case Point(x=0, y=b) | [c, *d]: e = 1\n    case _ if g: pass",
        "b c d e"
    )]
    #[case("match = 1\ncase: int = 2\ntype Alias = int\ntype = 3", "match case Alias type")]
    #[case("async for q in s:\n    r = await t\nasync with u as v: pass", "q r v")]
    #[case("commit(\"context\", note='n')\ncommit('x')", "context_saved")]
    #[case("if x:\n\ty = 1\nд = 2", "y д")]
    fn finds_what_is_bound(#[case] code: &str, #[case] names: &str) {
        assert_eq!(bound_names(code).join(" "), names, "{code}");
    }

    #[test]
    fn deep_and_long_code_is_no_matter() {
        let deep = format!("x = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(bound_names(&deep), ["x"]);
        let nested = format!("y = {}", "f'{".repeat(100_000));
        assert_eq!(bound_names(&nested), ["y"]);
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(code in "(\\PC|[\n\t ]|def |class |for |with | as |=|:|\\(|\\)|f\"|'|\\{|\\}|\\\\){0,30}") {
            for name in bound_names(&code) {
                prop_assert!(code.contains(&name) || name == "context_saved");
            }
        }
    }
}
