//! The body of a line: code, output, reasoning and result, read when it is looked at.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::disk::final_value::read_final;
use crate::disk::json::{Clip, Fault, FileInput, Input, Scanner};
use crate::disk::lenient;
use crate::model::{BodyRef, Final};

use super::shares::{MOST, Share, shares};

const SHORT_CAP: usize = 16 << 10;

/// What a line holds beside its header. Texts are as recorded: raw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Code of the step.
    pub code: String,
    /// What it printed.
    pub output: String,
    /// What the model thought.
    pub reasoning: Option<String>,
    /// The value of a final result.
    pub result: Final,
    /// Its texts are over 64 MiB together: the middle of the longest was left out, with a mark.
    pub cut: bool,
    /// Something in it was repaired: half a surrogate pair, invalid UTF-8, an unknown escape.
    pub repaired: bool,
}

/// A line's body cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// No such transcript.
    #[error("the transcript of this line is not known any more: reload the session")]
    UnknownLog,
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is something else now.
    #[error("{} was changed: line {line} (byte {byte}) is not there any more: reload the session", path.display())]
    Changed {
        /// The transcript.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Its offset.
        byte: u64,
    },
}

/// Reads the body of the line at `at`. A line that may be too long is gone through twice: what each text may have depends
/// on the others.
pub(crate) fn read_body(file: &File, at: BodyRef) -> Result<Body, Fault> {
    let input = || FileInput::new(file, at.offset, at.offset.saturating_add(at.len));
    let line = usize::try_from(at.len).unwrap_or(usize::MAX);
    let [code, output, reasoning] = match line > MOST {
        true => shares(lengths(&mut Scanner::new(input()))?),
        false => [Share::whole(line); 3],
    };
    let mut body = Body::default();
    let mut scanner = Scanner::new(input());
    read_fields(&mut scanner, |scanner, field| {
        match field {
            Field::Code => body.code = long_text(scanner, code, &mut body.cut)?.unwrap_or_default(),
            Field::Output => body.output = long_text(scanner, output, &mut body.cut)?.unwrap_or_default(),
            Field::Reasoning => body.reasoning = long_text(scanner, reasoning, &mut body.cut)?,
            Field::Result => body.result = read_final(scanner, MOST)?,
        }
        Ok(())
    })?;
    body.repaired = !scanner.repairs.is_empty();
    Ok(body)
}

/// How long code, output and reasoning are.
fn lengths<I: Input>(scanner: &mut Scanner<I>) -> Result<[usize; 3], Fault> {
    let [mut code, mut output, mut reasoning] = [0; 3];
    read_fields(scanner, |scanner, field| {
        match field {
            Field::Code => code = length(scanner)?,
            Field::Output => output = length(scanner)?,
            Field::Reasoning => reasoning = length(scanner)?,
            Field::Result => scanner.skip()?,
        }
        Ok(())
    })?;
    Ok([code, output, reasoning])
}

fn length<I: Input>(scanner: &mut Scanner<I>) -> Result<usize, Fault> {
    if scanner.peek()? == Some(b'"') {
        return scanner.decoded_length();
    }
    let start = scanner.position();
    scanner.skip()?;
    Ok(usize::try_from(scanner.position().saturating_sub(start)).unwrap_or(usize::MAX))
}

/// A text of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Code of the step.
    Code,
    /// What it printed.
    Output,
    /// What the model thought.
    Reasoning,
    /// The value of a final result.
    Result,
}

/// Whose line it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) run_id: String,
    pub(crate) step: Option<u64>,
}

/// Goes through a record; `each` must go past every field's value.
pub(crate) fn read_fields<I: Input>(
    scanner: &mut Scanner<I>,
    mut each: impl FnMut(&mut Scanner<I>, Field) -> Result<(), Fault>,
) -> Result<Owner, Fault> {
    let mut owner = Owner::default();
    scanner.object(|scanner, key| {
        match key {
            "code" => each(scanner, Field::Code)?,
            "output" => each(scanner, Field::Output)?,
            "reasoning" => each(scanner, Field::Reasoning)?,
            "result" => each(scanner, Field::Result)?,
            "run_id" => owner.run_id = lenient::text(scanner.value(SHORT_CAP)?).value.unwrap_or_default(),
            "step" => owner.step = lenient::count(scanner.value(SHORT_CAP)?).value,
            _ => scanner.skip()?,
        }
        Ok(())
    })?;
    Ok(owner)
}

fn long_text<I: Input>(scanner: &mut Scanner<I>, share: Share, cut: &mut bool) -> Result<Option<String>, Fault> {
    if scanner.peek()? != Some(b'"') {
        return Ok(match scanner.capture(share.head)? {
            null if null.text == "null" => None,
            other => Some(other.text),
        });
    }
    let mut clip = Clip::of_size(share.size, share.head, share.tail);
    scanner.string_into(&mut clip)?;
    let mut read = clip.into_text();
    *cut |= read.cut;
    scanner.repairs.utf8 |= read.repaired;
    read.text.shrink_to_fit();
    Ok(Some(read.text))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::model::LogId;

    const MIB: usize = 1 << 20;

    /// The body of a line with these JSON strings.
    fn body(code: &str, output: &str, reasoning: &str) -> Body {
        let mut file = tempfile::tempfile().unwrap();
        write!(
            file,
            r#"{{"step": 1, "code": "{code}", "output": "{output}", "reasoning": "{reasoning}"}}"#
        )
        .unwrap();
        let len = file.metadata().unwrap().len();
        let at = BodyRef {
            log: LogId(0),
            line: 1,
            offset: 0,
            len,
        };
        read_body(&file, at).unwrap()
    }

    #[test]
    fn texts_of_64_mib_together_are_whole() {
        let text = |length: usize| "x".repeat(length);
        let read = body(&text(20 * MIB), &text(43 * MIB), &text(MIB));
        assert!(!read.cut && !read.repaired);
        let sizes = [read.code.len(), read.output.len(), read.reasoning.unwrap().len()];
        assert_eq!(sizes, [20 * MIB, 43 * MIB, MIB]);
        // A line is longer than its texts where it has escapes.
        let escaped = text(60 * MIB) + &"\\u00e9".repeat(MIB);
        let read = body("", &escaped, "");
        assert!(!read.cut && read.output.ends_with("éé"));
        assert_eq!(read.output.len(), 62 * MIB);
    }

    #[test]
    fn of_texts_that_are_longer_the_longest_show_head_and_tail() {
        let long = "a".repeat(80 * MIB) + "z";
        let read = body("code", &long, "");
        assert!(read.cut);
        assert_eq!((read.code.as_str(), read.reasoning.as_deref()), ("code", Some("")));
        let (head, tail) = read.output.split_once("…[cut: 83,886,081 bytes in all]…").unwrap();
        assert!(head.bytes().all(|byte| byte == b'a') && tail.ends_with("az"));
        assert_eq!(head.len() + tail.len(), 64 * MIB - 4);
        assert_eq!(tail.len(), (64 * MIB - 4) / 4);
    }
}
