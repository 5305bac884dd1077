//! The program that a text of Python code is: the same for texts that differ in comments, blank lines and layout.

use super::python_tokens::{LogicalLines, Token};

/// The tokens of `code`, one logical line a line, with levels of indentation in place of columns. Two texts with the same
/// result run alike; only their tracebacks differ.
///
/// ```
/// use fast_rlm::model::program_text;
///
/// assert_eq!(program_text("x = f( 1 )  # one"), program_text("# one\nx = f(1)\n"));
/// assert_ne!(program_text("x = 1"), program_text("x = 2"));
/// ```
pub fn program_text(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    let mut levels = Vec::new();
    for line in LogicalLines::new(code) {
        while levels.last().is_some_and(|column| *column >= line.indent) {
            levels.pop();
        }
        text.extend(std::iter::repeat_n('\t', levels.len()));
        levels.push(line.indent);
        for token in line.tokens {
            let (Token::Name(word) | Token::Op(word) | Token::Text(word) | Token::Number(word)) = token;
            text.push_str(word);
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_and_comments_are_not_the_program() {
        let same = [
            "if a:\n    b = [1,\n  2]\nc = 'x # y'",
            "if a: # why\n\n  b = [1, 2]\n\nc = 'x # y'  # z\n",
        ];
        assert_eq!(program_text(same[0]), program_text(same[1]));
    }

    #[test]
    fn blocks_and_texts_are() {
        assert_ne!(program_text("if a:\n    b\n    c"), program_text("if a:\n    b\nc"));
        assert_ne!(program_text("x = 'a'"), program_text("x = 'a '"));
        assert_ne!(program_text("ab"), program_text("a b"));
    }
}
