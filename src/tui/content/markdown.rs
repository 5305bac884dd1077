//! Markdown as text for a pane of a given width: headings, lists, quotes, code, tables, emphasis.
//!
//! The text keeps everything that the source says: links show their targets, images their descriptions, HTML is
//! shown as it was written. Nothing is fetched and nothing is interpreted.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::Rendered;
use super::markdown_block::Blocks;
use super::markdown_table::Table;
use crate::text::SafeText;
use crate::tui::theme::Role;

/// Lays Markdown out for `width` cells.
pub fn render(source: &str, width: usize) -> Rendered {
    let safe = SafeText::block(source);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer {
        blocks: Blocks::new(width),
        ..Renderer::default()
    };
    for event in Parser::new_ext(safe.as_str(), options) {
        renderer.event(event);
    }
    renderer.blocks.finish()
}

#[derive(Default)]
struct Renderer {
    blocks: Blocks,
    /// Numbers of the open lists; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Targets of the open links, and whether each is an image.
    links: Vec<(String, bool)>,
    table: Option<Table>,
    code: bool,
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => self.blocks.code(&text),
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => self.text(&text, None),
            Event::Code(text) => self.text(&text, Some(Role::MarkdownCode)),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, Some(Role::MarkdownCode)),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]"), Some(Role::MarkdownLink)),
            Event::SoftBreak => self.text(" ", None),
            Event::HardBreak => self.hard_break(),
            Event::Rule => self.blocks.rule(),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }, Some(Role::MarkdownMark)),
        }
    }

    fn text(&mut self, text: &str, role: Option<Role>) {
        match &mut self.table {
            Some(table) => table.text(text, role.unwrap_or(Role::Text)),
            None => self.blocks.text(text, role),
        }
    }

    fn hard_break(&mut self) {
        match &mut self.table {
            Some(table) => table.text(" ", Role::Text),
            None => self.blocks.end_line(),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.blocks.heading(level as usize),
            Tag::BlockQuote(_) => self.blocks.open_block("│ ", "│ "),
            Tag::CodeBlock(kind) => self.code_block(&kind),
            Tag::List(first) => self.list(first),
            Tag::Item => self.item(),
            Tag::Table(alignments) => self.table = Some(Table::new(&alignments)),
            Tag::Emphasis => self.blocks.open_style(Role::MarkdownEmphasis),
            Tag::Strong => self.blocks.open_style(Role::MarkdownStrong),
            Tag::Strikethrough => self.blocks.open_style(Role::Dim),
            Tag::Link { dest_url, .. } => self.links.push((dest_url.into_string(), false)),
            Tag::Image { dest_url, .. } => self.links.push((dest_url.into_string(), true)),
            Tag::Paragraph | Tag::HtmlBlock => self.blocks.gap(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.blocks.end_line(),
            TagEnd::Heading(_) => self.blocks.end_heading(),
            TagEnd::BlockQuote(_) | TagEnd::Item => self.blocks.close_block(),
            TagEnd::CodeBlock => self.end_code_block(),
            TagEnd::List(_) => self.end_list(),
            TagEnd::TableCell => self.with_table(Table::end_cell),
            TagEnd::TableHead | TagEnd::TableRow => self.with_table(Table::end_row),
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.blocks.close_style(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn with_table(&mut self, act: impl FnOnce(&mut Table)) {
        if let Some(table) = &mut self.table {
            act(table);
        }
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>) {
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.as_ref(),
            CodeBlockKind::Indented => "",
        };
        self.blocks.gap();
        self.blocks.open_block("  ", "  ");
        if !language.is_empty() {
            self.blocks.text(language, Some(Role::MarkdownMark));
            self.blocks.end_line();
        }
        self.code = true;
    }

    fn end_code_block(&mut self) {
        self.code = false;
        self.blocks.close_block();
    }

    fn list(&mut self, first: Option<u64>) {
        if self.lists.is_empty() {
            self.blocks.gap();
        }
        self.blocks.end_line();
        self.blocks.tight(true);
        self.lists.push(first);
    }

    fn end_list(&mut self) {
        self.lists.pop();
        self.blocks.tight(!self.lists.is_empty());
    }

    fn item(&mut self) {
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "• ".to_owned(),
        };
        let hang = " ".repeat(mark.chars().count());
        self.blocks.open_block(&mark, &hang);
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.blocks.gap();
            self.blocks.end_line();
            let width = self.blocks.room();
            table.print(width, &mut self.blocks);
        }
    }

    /// The target of a link stands behind its text, unless it is the text.
    fn end_link(&mut self) {
        let Some((target, image)) = self.links.pop() else {
            return;
        };
        let kind = if image { "image: " } else { "" };
        if !self.blocks.line_ends_with(&target) && !target.is_empty() {
            self.text(&format!(" ({kind}{target})"), Some(Role::MarkdownLink));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rendered::parts;
    use super::*;
    use crate::text::cell_width;

    fn shown(source: &str, width: usize) -> String {
        render(source, width).text.as_str().to_owned()
    }

    #[test]
    fn blocks_are_laid_out() {
        let source =
            "# Title\n\nSome *text* and `code`.\n\n- one\n- two\n  1. deep\n\n> said\n\n```python\nx = 1\n```\n";
        assert_eq!(
            shown(source, 40),
            "Title\n━━━━━\n\nSome text and code.\n\n• one\n• two\n  1. deep\n\n│ said\n\n  python\n  x = 1"
        );
    }

    #[test]
    fn links_show_their_targets_once() {
        assert_eq!(shown("[a](http://x.y) <http://z.y>", 60), "a (http://x.y) http://z.y");
    }

    #[test]
    fn tables_line_up() {
        let source = "| name | n |\n|---|--:|\n| 中文 | 1 |\n| b | 200 |\n";
        assert_eq!(shown(source, 40), "name    n\n────  ───\n中文    1\nb     200");
    }

    #[test]
    fn tables_that_do_not_fit_become_lists() {
        let source = "| name | what it says |\n|---|---|\n| a | some long words here |\n";
        assert_eq!(shown(source, 16), "name: a\nwhat it says:\nsome long words\nhere");
    }

    #[test]
    fn html_is_shown_not_hidden() {
        assert_eq!(shown("a <b>c</b>\n\n<div>x</div>\n", 40), "a <b>c</b>\n\n<div>x</div>");
    }

    #[test]
    fn classes_mark_what_they_should() {
        let styled = render("**bold** *em* `x`", 40);
        let expected = [
            ("bold", Role::MarkdownStrong),
            ("em", Role::MarkdownEmphasis),
            ("x", Role::MarkdownCode),
        ];
        assert_eq!(parts(styled.text.as_str(), &styled.highlights), expected);
    }

    #[test]
    fn nesting_stops_moving_right() {
        let source = format!("{}x", "> ".repeat(300));
        assert!(render(&source, 40).text.lines().all(|line| cell_width(line) <= 40));
    }

    proptest! {
        #[test]
        fn any_source_any_width(source in "[-#>*`|a中😀 \\n\\[\\]()1.:<~_]{0,80}", width in 0usize..40) {
            let _ = render(&source, width);
        }
    }
}
