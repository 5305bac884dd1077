//! Styles named by what they mean; a theme says how each looks.

/// What a piece of the screen means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Ordinary text, and the ground everything stands on.
    Text,
    /// Text of less importance.
    Dim,
    /// Headings of panes and screens.
    Title,
    /// What stands out: names of runs, the program's own marks.
    Accent,
    /// Borders and rules.
    Border,
    /// The border of the pane that has the focus.
    Focus,
    /// The selected row.
    Selection,
    /// A search match.
    Match,
    /// The match that `n` and `N` stand on.
    MatchCurrent,
    /// It went well.
    Success,
    /// It failed.
    Failure,
    /// Look here.
    Warning,
    /// It is going on now.
    Running,
    /// A key in footer and help.
    Key,
    /// Line numbers.
    LineNumber,
    /// A scrollbar's track.
    Track,
    /// A scrollbar's thumb.
    Thumb,
    /// Text that is being typed.
    Prompt,
    /// Cheap, against the dearest run.
    CostLow,
    /// In the middle.
    CostMiddle,
    /// Near the dearest.
    CostHigh,
    /// Not known: its cost, its tokens.
    Unknown,
    /// Time in model calls of agents at a depth; see [`Role::call`].
    Call0,
    /// Depth 1.
    Call1,
    /// Depth 2.
    Call2,
    /// Depth 3 and deeper, turn by turn.
    Call3,
    /// Time in execution, at depth 0; see [`Role::execution`].
    Execution0,
    /// Depth 1.
    Execution1,
    /// Depth 2.
    Execution2,
    /// Depth 3.
    Execution3,
    /// Source code: keywords.
    CodeKeyword,
    /// String literals.
    CodeString,
    /// Numbers.
    CodeNumber,
    /// Comments.
    CodeComment,
    /// Names of functions.
    CodeFunction,
    /// Names of types and of built-in things.
    CodeType,
    /// `None`, `True`, `null`.
    CodeConstant,
    /// Operators and punctuation.
    CodeOperator,
    /// Keys of objects.
    CodeKey,
    /// Markdown: headings.
    MarkdownHeading,
    /// Emphasised text.
    MarkdownEmphasis,
    /// Strong text.
    MarkdownStrong,
    /// Code spans and blocks.
    MarkdownCode,
    /// Links.
    MarkdownLink,
    /// Quotations, rules, bullets.
    MarkdownMark,
}

use Role as R;

/// Every role with its name in theme files.
pub const ROLES: &[(Role, &str)] = &[
    (R::Text, "text"),
    (R::Dim, "dim"),
    (R::Title, "title"),
    (R::Accent, "accent"),
    (R::Border, "border"),
    (R::Focus, "focus"),
    (R::Selection, "selection"),
    (R::Match, "match"),
    (R::MatchCurrent, "match-current"),
    (R::Success, "success"),
    (R::Failure, "failure"),
    (R::Warning, "warning"),
    (R::Running, "running"),
    (R::Key, "key"),
    (R::LineNumber, "line-number"),
    (R::Track, "track"),
    (R::Thumb, "thumb"),
    (R::Prompt, "prompt"),
    (R::CostLow, "cost.low"),
    (R::CostMiddle, "cost.middle"),
    (R::CostHigh, "cost.high"),
    (R::Unknown, "unknown"),
    (R::Call0, "call.0"),
    (R::Call1, "call.1"),
    (R::Call2, "call.2"),
    (R::Call3, "call.3"),
    (R::Execution0, "execution.0"),
    (R::Execution1, "execution.1"),
    (R::Execution2, "execution.2"),
    (R::Execution3, "execution.3"),
    (R::CodeKeyword, "code.keyword"),
    (R::CodeString, "code.string"),
    (R::CodeNumber, "code.number"),
    (R::CodeComment, "code.comment"),
    (R::CodeFunction, "code.function"),
    (R::CodeType, "code.type"),
    (R::CodeConstant, "code.constant"),
    (R::CodeOperator, "code.operator"),
    (R::CodeKey, "code.key"),
    (R::MarkdownHeading, "markdown.heading"),
    (R::MarkdownEmphasis, "markdown.emphasis"),
    (R::MarkdownStrong, "markdown.strong"),
    (R::MarkdownCode, "markdown.code"),
    (R::MarkdownLink, "markdown.link"),
    (R::MarkdownMark, "markdown.mark"),
];

impl Role {
    /// Time in model calls of an agent at `depth`; depths beyond the last shade start over at 1.
    pub fn call(depth: u32) -> Self {
        match shade(depth) {
            0 => R::Call0,
            1 => R::Call1,
            2 => R::Call2,
            _ => R::Call3,
        }
    }

    /// Time in execution of an agent at `depth`.
    pub fn execution(depth: u32) -> Self {
        match shade(depth) {
            0 => R::Execution0,
            1 => R::Execution1,
            2 => R::Execution2,
            _ => R::Execution3,
        }
    }

    /// Cost of a run against the dearest one, as a ratio from 0 to 1.
    pub fn cost(ratio: f64) -> Self {
        if ratio >= 0.66 {
            R::CostHigh
        } else if ratio >= 0.33 {
            R::CostMiddle
        } else {
            R::CostLow
        }
    }

    /// Draws lines and bars rather than text.
    pub fn is_mark(self) -> bool {
        use Role as R;
        matches!(
            self,
            R::Border | R::Track | R::Thumb | R::Execution0 | R::Execution1 | R::Execution2 | R::Execution3
        )
    }

    /// The contrast to its ground that it must have at least (WCAG 2): 4.5 for text, 3 for lines and bars.
    pub fn least_contrast(self) -> f64 {
        if self.is_mark() { 3.0 } else { 4.5 }
    }

    /// Its name in theme files.
    pub fn name(self) -> &'static str {
        ROLES
            .iter()
            .find(|(role, _)| *role == self)
            .map_or("", |(_, name)| name)
    }
}

/// The root has a shade of its own; deeper agents share the rest.
fn shade(depth: u32) -> u32 {
    if depth == 0 { 0 } else { (depth - 1) % 3 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_enum_and_complete() {
        for (place, (role, name)) in ROLES.iter().enumerate() {
            assert_eq!(*role as usize, place, "{name}");
        }
        assert_eq!(ROLES.len(), Role::MarkdownMark as usize + 1);
    }

    #[test]
    fn deep_agents_take_turns_and_only_the_root_has_its_shade() {
        assert_eq!(Role::call(0), Role::Call0);
        assert_eq!(
            (Role::call(1), Role::call(4), Role::call(u32::MAX)),
            (Role::Call1, Role::Call1, Role::call(4_294_967_295))
        );
        assert_ne!(Role::execution(7), Role::Execution0);
    }
}
