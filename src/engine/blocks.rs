//! Finding the code in a reply: every block fenced as `repl`, joined, is one step.

/// The joined code of every `repl` block of `reply`, or `None` when there is none. Blocks are joined by an empty line.
///
/// A fence is a line that starts, after at most three spaces, with three or more backticks or tildes; it is closed by
/// a line of at least as many of the same kind and nothing else. A last block that the reply leaves open counts to the
/// end of the reply: a truncated reply still shows what the model meant.
pub(super) fn repl_code(reply: &str) -> Option<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut lines = reply.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = Fence::open(line) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !fence.closes(line)).collect();
        if fence.is_repl {
            blocks.push(
                body.iter()
                    .map(|line| fence.unindent(line))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
        }
    }
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

/// An opening fence.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    is_repl: bool,
}

impl Fence {
    fn open(line: &str) -> Option<Self> {
        let (indent, mark, length, info) = parts(line)?;
        let is_repl = info.split_whitespace().next() == Some("repl");
        // A backtick in the info string makes it inline code, not a fence (CommonMark 0.31, 4.5).
        let inline = mark == '`' && info.contains('`');
        (!inline).then_some(Self {
            mark,
            length,
            indent,
            is_repl,
        })
    }

    fn closes(&self, line: &str) -> bool {
        parts(line)
            .is_some_and(|(_, mark, length, info)| mark == self.mark && length >= self.length && info.trim().is_empty())
    }

    /// Removes up to the opening fence's own indent, as CommonMark does.
    fn unindent<'a>(&self, line: &'a str) -> &'a str {
        let spaces = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        line.split_at_checked(spaces).map_or(line, |(_, rest)| rest)
    }
}

/// Indent, fence character, its count and what follows; `None` when `line` is no fence.
fn parts(line: &str) -> Option<(usize, char, usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    (indent <= 3 && length >= 3).then_some((indent, mark, length, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_all_repl_blocks_and_nothing_else() {
        let reply = "First:\n```repl\na = 1\n```\nnot this:\n```python\nb = 2\n```\n```repl\nc = 3\n```\n";
        assert_eq!(repl_code(reply).as_deref(), Some("a = 1\n\nc = 3"));
    }

    #[test]
    fn a_reply_without_a_block_has_no_code() {
        assert_eq!(repl_code("Use ```repl blocks``` please.\n`repl`"), None);
        assert_eq!(repl_code(""), None);
    }

    #[test]
    fn an_empty_block_is_an_empty_program() {
        assert_eq!(repl_code("```repl\n```").as_deref(), Some(""));
    }

    #[test]
    fn an_open_block_counts_to_the_end() {
        assert_eq!(repl_code("```repl\nx = 1\ny = ").as_deref(), Some("x = 1\ny = "));
    }

    #[test]
    fn fences_inside_code_need_as_many_marks() {
        let reply = "````repl\ntext = '''\n```\n'''\n````";
        assert_eq!(repl_code(reply).as_deref(), Some("text = '''\n```\n'''"));
        assert_eq!(repl_code("~~~repl\nx\n```\n~~~").as_deref(), Some("x\n```"));
    }

    #[test]
    fn crlf_and_indented_fences() {
        assert_eq!(
            repl_code("  ```repl\r\n  if x:\r\n    y\r\n  ```\r\n").as_deref(),
            Some("if x:\n  y")
        );
        assert_eq!(repl_code("    ```repl\nx\n```"), None);
    }
}
