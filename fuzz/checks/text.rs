//! The sanitiser and wrapping: nothing acts on the terminal, rows fit, nothing is lost between them.

use fast_rlm::text::{SafeText, ascii, cell_width, cut, wrap_line};

pub fn check(data: &[u8]) {
    let (width, raw) = data.split_first().unwrap_or((&7, &[]));
    let (width, raw) = (usize::from(*width % 41), String::from_utf8_lossy(raw));
    for safe in [SafeText::block(&raw), SafeText::raw(&raw), SafeText::line(&raw)] {
        safe.lines().for_each(|line| check_line(line, width));
    }
    assert!(!SafeText::line(&raw).as_str().contains('\n'));
    let block = SafeText::block(&raw);
    assert_eq!(SafeText::block(block.as_str()), block, "safe text stays as it is");
    check_places(&raw);
}

fn check_line(line: &str, width: usize) {
    assert!(!line.contains(char::is_control), "{line:?}");
    assert!(
        !line.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}']),
        "{line:?}"
    );
    assert!(ascii(line).is_ascii());
    let (head, cells) = cut(line, width);
    assert!(cells <= width && cells == cell_width(head));
    let mut end = 0;
    for row in wrap_line(line, width) {
        assert_eq!(row.bytes.start, end, "{line:?}");
        end = row.bytes.end;
        let shown = line
            .get(row.bytes)
            .expect("rows end at characters")
            .trim_end_matches(' ');
        // One character may be wider than the row.
        assert!(
            row.cells <= width.max(1) || cut(shown, cell_width(shown) - 1).0.is_empty(),
            "{line:?}"
        );
    }
    assert_eq!(end, line.len());
}

/// Where characters went, for what is being typed.
fn check_places(raw: &str) {
    let raw = raw.replace('\r', "");
    let (safe, places) = SafeText::placed(&raw);
    assert_eq!(safe, SafeText::raw(&raw));
    let mut last = 0;
    for at in raw.char_indices().map(|(at, _)| at).chain([raw.len()]) {
        let place = places.of(at);
        assert!(
            place >= last && safe.as_str().is_char_boundary(place),
            "{raw:?} at {at}"
        );
        last = place;
    }
    assert_eq!(last, safe.as_str().len());
}
