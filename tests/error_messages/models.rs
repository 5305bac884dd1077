//! Models that cannot be opened: none, no key, a bad place, an agent that is not there, a script that is none.

use super::{Book, Program};

impl Book {
    fn asks(&self, model: &str) -> Program {
        Program::asks(self.dir.path(), "go").option("--primary-agent", model)
    }
}

#[test]
fn models_that_cannot_be_opened() {
    let mut book = Book::new();
    book.met("no model", &Program::asks(book.dir.path(), "go").run());
    book.met("no key", &book.asks("z-ai/glm-5").run());
    book.met("no key, Anthropic's", &book.asks("claude-sonnet-4-5").run());
    let key = |key: &str| book.asks("z-ai/glm-5").env("OPENAI_API_KEY", key).run();
    let (line, short) = (key("sk-or-two\nlines-of-it"), key("short"));
    book.met("a key of two lines", &line);
    book.met("a key that is too short", &short);
    for url in ["nonsense", "ftp://host/v1", "http://", "http://user:password@host/v1"] {
        let ran = book.asks("m").env("RLM_MODEL_BASE_URL", url).run();
        book.met(&format!("RLM_MODEL_BASE_URL={url}"), &ran);
    }
    for model in ["scripted:", "cassette:"] {
        book.met(model, &book.asks(model).run());
    }
    book.met("cassette:x", &book.asks("cassette:x").run());
    for model in ["acp:codex", "vertex/gemini-2.5-pro"] {
        book.met(model, &book.asks(model).run());
    }
    let ran = book
        .asks("z-ai/glm-5")
        .env("OPENAI_API_KEY", "sk-or-1234")
        .env("RLM_VERTEX_AI", "1")
        .run();
    book.met("RLM_VERTEX_AI=1", &ran);
    book.put("one.yaml", "replies: [{code: FINAL(1)}]");
    let ran = book
        .asks("scripted:one.yaml")
        .option("--sub-agent", "scripted:none.yaml")
        .run();
    book.met("--sub-agent", &ran);
    book.put("no-configuration/fast-rlm/pricing.toml", "[models]\n\"x\" = 3\n");
    book.met("pricing.toml", &book.asks("scripted:one.yaml").run());
    std::fs::remove_file(book.path("no-configuration/fast-rlm/pricing.toml")).unwrap();
    std::fs::create_dir(book.path("no-configuration/fast-rlm/pricing.toml")).unwrap();
    book.met("pricing.toml is a directory", &book.asks("scripted:one.yaml").run());
    book.close("models");
}

#[test]
fn agents_that_cannot_be_asked() {
    let mut book = Book::new();
    book.put(
        "no-configuration/fast-rlm/rlm_config.yaml",
        "cli_agents:\n  empty: {command: \"\"}\n  gone: {command: /nowhere/agent}\n",
    );
    for model in [
        "cli:claude",
        "cli:nobody?model=x",
        "cli:empty?model=x",
        "cli:gone?model=x",
    ] {
        book.met(
            model,
            &book
                .asks(model)
                .option("--config", "no-configuration/fast-rlm/rlm_config.yaml")
                .run(),
        );
    }
    let billed = book
        .asks("cli:claude?model=sonnet")
        .env("ANTHROPIC_API_KEY", "sk-ant-0123456789")
        .run();
    book.met("an agent that would bill a key", &billed);
    let absent = book.asks("cli:claude?model=sonnet").env("PATH", "/nowhere").run();
    book.met("an agent that is not installed", &absent);
    book.close("agents");
}

#[test]
fn scripts_that_are_none_or_end() {
    let mut book = Book::new();
    for (name, content) in [
        ("none.yaml", None),
        ("syntax.yaml", Some("replies: [\n")),
        ("key.yaml", Some("replys: []\n")),
        (
            "when.yaml",
            Some("rules:\n  - when: {first: {regex: '('}}\n    replies: [{code: x}]\n"),
        ),
        ("empty.yaml", Some("replies: []\n")),
        ("short.yaml", Some("replies: [{code: x = 1}]\n")),
    ] {
        if let Some(content) = content {
            book.put(name, content);
        }
        book.met(name, &book.asks(&format!("scripted:{name}")).run());
    }
    book.close("scripts");
}
