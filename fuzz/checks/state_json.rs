//! state.json: any bytes open or are refused; what the engine would write back reads as the same again.

use fast_rlm::disk::state_doc::StateDoc;

pub fn check(data: &[u8]) {
    let dir = super::scratch().join("state");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("state.json"), data).unwrap();
    super::session::read_all(&dir);
    let Ok(doc) = StateDoc::parse(data) else {
        return;
    };
    let written = write(&doc);
    let again = StateDoc::parse(&written).expect("what we write can be read");
    assert_eq!(
        String::from_utf8_lossy(&write(&again)),
        String::from_utf8_lossy(&written)
    );
}

fn write(doc: &StateDoc) -> Vec<u8> {
    let mut out = Vec::new();
    doc.write(&mut out).expect("memory takes everything");
    out
}
