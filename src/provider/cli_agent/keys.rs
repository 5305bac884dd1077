//! Variables with keys: which an agent is not handed, and which name the provider that it would bill.

/// How the names of variables end that hold a key. By kind and not by name: an agent knows more providers than a list here
/// could, and one that it left out would be billed without a word.
const ENDS: [&str; 8] = [
    "KEY",
    "KEYS",
    "KEY_ID",
    "TOKEN",
    "SECRET",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSWORD",
];

/// What begins with this is how a provider's programs find their account, whatever it ends with.
const ACCOUNTS: [&str; 1] = ["AWS_"];

/// A login, and no key: `CLAUDE_CODE_OAUTH_TOKEN`.
const LOGIN: &str = "_OAUTH_TOKEN";

/// Providers whose keys are in variables of another name.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("GOOGLE", "GEMINI"),
    ("ZAI", "ZHIPU"),
    ("ZHIPUAI", "ZHIPU"),
    ("ALIBABA", "DASHSCOPE"),
    ("MOONSHOTAI", "MOONSHOT"),
    ("HUGGINGFACE", "HF"),
];

/// Whether a variable of this name holds a key, by its name.
pub(super) fn holds_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = |end: &str| {
        name.strip_suffix(end)
            .is_some_and(|before| before.is_empty() || before.ends_with(['_', '-']) || before.ends_with("API"))
    };
    let is_account = ACCOUNTS.iter().any(|begin| name.starts_with(begin));
    is_account || (ENDS.iter().any(|end| ends(end)) && !name.ends_with(LOGIN))
}

/// How variables may name the provider of a model, which stands before its first `/`: wholly, by its first word
/// (`fireworks-ai` is FIREWORKS), and by another name that it has.
pub(super) fn names_of_provider(model: &str) -> Vec<String> {
    let provider = model.split_once('/').map_or("", |(provider, _)| provider);
    let whole = provider.to_uppercase().replace(['-', '.', ' '], "_");
    let first = whole.split('_').next().unwrap_or_default().to_owned();
    let others = OTHER_NAMES.iter().filter(|(name, _)| *name == first);
    let others: Vec<String> = others.map(|(_, other)| (*other).to_owned()).collect();
    let mut names = vec![whole, first];
    names.extend(others);
    names.retain(|name| !name.is_empty());
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_kind() {
        for name in [
            "GEMINI_API_KEY",
            "ZHIPU_API_KEY",
            "RLM_ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLOUDFLARE_API_TOKEN",
            "SOME_APIKEY",
            "GITHUB_TOKEN",
            "HF_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_PROFILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "new_provider_api_key",
        ] {
            assert!(holds_key(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "MONKEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "HTTPS_PROXY",
            "XKB_KEYMAP",
        ] {
            assert!(!holds_key(name), "{name}");
        }
    }

    #[test]
    fn a_provider_is_named_by_all_its_names() {
        assert_eq!(names_of_provider("openrouter/z-ai/glm-5"), ["OPENROUTER"]);
        assert_eq!(names_of_provider("google/gemini-2.5-pro"), ["GOOGLE", "GEMINI"]);
        assert_eq!(names_of_provider("fireworks-ai/x"), ["FIREWORKS_AI", "FIREWORKS"]);
        assert_eq!(
            names_of_provider("zai-coding-plan/glm-5"),
            ["ZAI_CODING_PLAN", "ZAI", "ZHIPU"]
        );
        assert_eq!(names_of_provider("sonnet"), Vec::<String>::new());
    }
}
