//! Python literals: laid out or left alone, within bounds, and safe.

use fast_rlm::tui::content::python_literal::pretty;

pub fn check(data: &[u8]) {
    let (width, repr) = data.split_first().unwrap_or((&40, &[]));
    let repr = String::from_utf8_lossy(repr);
    let Some(rendered) = pretty(&repr, usize::from(*width)) else {
        return;
    };
    assert!(!rendered.text.as_str().replace('\n', "").contains(char::is_control));
}
