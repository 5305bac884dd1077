//! Keys are asked for by name, refused when they cannot be kept, and show nowhere.

use crate::answers::{Answer, Answers};
use crate::server::{Act, RawServer, events, send, text};
use crate::{KEY, call, call_on, request, settings};
use fast_rlm::provider::{
    ApiKey, CostExpectation, DEFAULT_BASE_URL, OpenAi, OpenError, Provider, Settings, list_models, open,
};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn a_refused_key_names_its_variable_and_what_to_set() {
    for status in [401, 403] {
        let body = format!("{{\"error\": {{\"message\": \"Incorrect API key provided: {KEY}\"}}}}");
        let server = Answers::always(Answer::new(status).text(body)).await;
        let outcome = call(server.uri(), &request()).await;
        let message = outcome.error().to_string();
        for part in [
            "refused the key",
            "came from OPENAI_API_KEY",
            "set RLM_MODEL_API_KEY",
            "[secret OPENAI_API_KEY]",
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(outcome.error().attempts, 1);

        let mut keyless = settings(server.uri());
        keyless.api_key = None;
        let provider = OpenAi::new(&keyless).unwrap();
        let cancel = fast_rlm::provider::Cancel::new();
        let error = provider
            .call(&request(), &mut fast_rlm::provider::Discard, &cancel)
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("set RLM_MODEL_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY"),
            "{error}"
        );
    }
}

#[test]
fn what_cannot_be_opened_says_what_to_set() {
    let message = |model: &str, settings: &Settings| open(model, settings).unwrap_err().to_string();
    let none = Settings::default();
    assert!(message(" ", &none).contains("--primary-agent") && message("", &none).contains("rlm_config.yaml"));
    assert_eq!(
        message("z-ai/glm-5", &none),
        "the model z-ai/glm-5 needs a key: set RLM_MODEL_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY"
    );
    assert_eq!(
        message("claude-sonnet-4-5", &none),
        "the model claude-sonnet-4-5 needs a key: set RLM_ANTHROPIC_API_KEY, ANTHROPIC_API_KEY, RLM_MODEL_API_KEY, \
         OPENAI_API_KEY or OPENROUTER_API_KEY"
    );
    assert!(message("cassette:runs/a", &none).contains("takes the directory of a session that was recorded here"));
    for model in ["acp:opencode", "vertex:gemini-2.5-pro", "vertex/gemini-2.5-pro"] {
        // With a key, too: no server has such a name.
        let told = message(model, &settings(DEFAULT_BASE_URL));
        assert!(
            told.contains("is no backend here") && told.contains("docs/models.md"),
            "{told}"
        );
    }
    assert!(open("vertex/mine", &settings("http://localhost:1/v1")).is_ok());
    // Who means Vertex AI's bill is not to pay another's; a server that is named is what is meant.
    let meant = |url: &str| Settings {
        vertex: true,
        ..settings(url)
    };
    assert!(message("z-ai/glm-5", &meant(DEFAULT_BASE_URL)).contains("RLM_VERTEX_AI is set"));
    assert!(open("z-ai/glm-5", &meant("http://localhost:1/v1")).is_ok());
    for url in ["", "openrouter.ai/api", "ftp://x/v1", "http://user:pass@h/v1"] {
        let error = message("m", &settings(url));
        assert!(
            error.starts_with("RLM_MODEL_BASE_URL is not a usable URL") && !error.contains("pass@"),
            "{error}"
        );
    }
    for key in ["abc12", "line\nbreak-in-it"] {
        let mut settings = settings("http://localhost:1/v1");
        settings.api_key = Some(ApiKey::new("OPENAI_API_KEY", key));
        let error = open("m", &settings).unwrap_err();
        assert!(
            matches!(error, OpenError::BadKey { .. }) && !error.to_string().contains(key),
            "{error}"
        );
    }
}

#[test]
fn the_default_server_is_reached_over_https_and_states_costs() {
    let provider = open("z-ai/glm-5", &settings(DEFAULT_BASE_URL)).unwrap();
    assert_eq!(provider.label(), "OpenAI-compatible API at openrouter.ai");
    assert_eq!(provider.cost_expectation("z-ai/glm-5"), CostExpectation::Reported);
    let elsewhere = open("gpt-5", &settings("https://notopenrouter.ai/v1")).unwrap();
    assert_eq!(elsewhere.cost_expectation("gpt-5"), CostExpectation::Table);
    assert_eq!(elsewhere.cost_expectation("nobody/knows"), CostExpectation::Unknown);
}

#[test]
fn a_program_that_embeds_this_keeps_its_own_cryptography() {
    open("z-ai/glm-5", &settings(DEFAULT_BASE_URL)).unwrap();
    open("local", &settings("http://127.0.0.1:1/v1")).unwrap();
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_key_is_in_no_log_error_or_debug_form() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let echo = format!("data: {{\"error\": {{\"code\": 400, \"message\": \"you sent Bearer {KEY}\"}}}}\n\n");
    let server = RawServer::start(vec![
        vec![send(format!(
            "HTTP/1.1 500 {KEY}\r\ncontent-length: {}\r\n\r\n{KEY}",
            KEY.len()
        ))],
        vec![events(), Act::Reset],
        vec![events(), text("x"), send(echo)],
    ])
    .await;
    let outcome = call(&server.base_url, &request()).await;
    assert_eq!(outcome.error().attempts, 3);
    assert!(server.requests()[0].contains(KEY), "the server did get the key");
    let provider = OpenAi::new(&settings(&server.base_url)).unwrap();
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("trying the model again"), "{logged}");
    assert!(!logged.contains(KEY) && !format!("{provider:?}").contains(KEY));
}

#[tokio::test]
async fn a_key_in_a_list_of_models_or_in_a_redirect_is_not_shown() {
    let key = "sk-Never-To-Be-Seen-12345";
    let with_key = |base_url: &str| Settings {
        api_key: Some(ApiKey::new("OPENAI_API_KEY", key)),
        ..settings(base_url)
    };
    let list = serde_json::json!({"data": [{"id": format!("model-{key}")}]});
    let server = Answers::always(Answer::new(200).json(&list)).await;
    let offers = list_models(&with_key(server.uri())).await.unwrap();
    assert_eq!(offers[0].models.as_ref().unwrap(), &["model-[secret OPENAI_API_KEY]"]);

    let moved = Answer::new(302).header("location", format!("http://{key}.example.com/"));
    let server = Answers::always(moved).await;
    let provider = OpenAi::new(&with_key(server.uri())).unwrap();
    let message = call_on(&provider, &request()).await.error().to_string().to_lowercase();
    assert!(
        message.contains("redirects") && !message.contains(&key.to_lowercase()),
        "{message}"
    );
}
