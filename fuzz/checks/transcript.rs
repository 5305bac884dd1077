//! Transcripts: any lines become runs, problems, or a refusal.

pub fn check(data: &[u8]) {
    let path = super::scratch().join("run.jsonl");
    std::fs::write(&path, data).unwrap();
    super::session::read_all(&path);
}
