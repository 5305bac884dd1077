//! What of a server's declaration must not show: credentials by the names of variables, headers and arguments, and those
//! that addresses hold. What protects them is the registry of secrets.

use crate::text::secret::{MIN_SECRET_CHARS, SecretError, Secrets};
use reqwest::Url;

/// What the names of credentials have in them.
const PARTS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "BEARER", "JWT"];
/// The same, of names that tell as often how a server is logged in to as what with: `--auth basic`.
const VAGUE: [&str; 3] = ["AUTH", "COOKIE", "SESSION"];
/// Words that have such a part and mean something else.
const HARMLESS: [&str; 3] = ["AUTHOR", "AUTHORS", "TOKENS"];
/// Where a shell is, and was.
const DIRECTORIES: [&str; 2] = ["PWD", "OLDPWD"];

/// A name and the value that it stands for.
pub(super) type Named = (String, String);

pub(super) fn is_credential(name: &str) -> bool {
    is_certain(name) || any_word(name, |word| VAGUE.iter().any(|part| word.contains(part)))
}

fn is_certain(name: &str) -> bool {
    any_word(name, |word| {
        // `PAT` would be in `PATH` and `PATTERN`, too.
        word == "PAT" || word.ends_with("PWD") || PARTS.iter().any(|part| word.contains(part))
    })
}

fn any_word(name: &str, is: impl Fn(&str) -> bool) -> bool {
    let name = name.to_uppercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    !DIRECTORIES.contains(&name.as_str()) && words.any(|word| !HARMLESS.contains(&word) && is(word))
}

/// Whether the value of a variable or header is no secret: it would turn up everywhere, and hiding it protects nobody.
pub(super) fn is_setting(name: &str, value: &str) -> bool {
    let word = value.chars().all(|c| c.is_ascii_lowercase());
    !is_credential(name) && (is_short(value) || word || is_path(value))
}

pub(super) fn is_short(value: &str) -> bool {
    value.chars().count() < MIN_SECRET_CHARS
}

fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~', '.']) && !value.contains("://")
}

/// Registers a value, and of `Bearer TOKEN` the token alone, which is as good.
pub(super) fn protect(secrets: &Secrets, name: &str, value: &str) -> Result<(), SecretError> {
    secrets.register(name, value)?;
    match value.split_once(' ').map(|(_, bare)| bare.trim()) {
        Some(bare) if !is_short(bare) => secrets.register(name, bare),
        _ => Ok(()),
    }
}

/// Credentials among arguments: `--token VALUE`, `--token=VALUE`, `Header: VALUE`, `TOKEN=VALUE`, and in addresses.
pub(super) fn in_arguments(args: &[String]) -> Vec<Named> {
    let mut found = Vec::new();
    let mut flag = None;
    for arg in args {
        if arg.contains("://") {
            found.extend(in_address(after_option(arg)));
        } else {
            let named = arg.split_once(['=', ':']).or(flag.map(|flag| (flag, arg.as_str())));
            found.extend(named.and_then(|(name, value)| in_argument(name, value)));
        }
        flag = Some(arg.as_str()).filter(|arg| arg.starts_with('-') && !arg.contains('='));
    }
    found
}

/// The address in `--url=ADDRESS`, and in an argument that is one.
fn after_option(arg: &str) -> &str {
    match arg.split_once('=') {
        Some((option, address)) if !option.contains("://") => address,
        _ => arg,
    }
}

fn in_argument(name: &str, value: &str) -> Option<Named> {
    let (name, value) = (name.trim().trim_start_matches('-'), value.trim());
    let is_number = value.chars().all(|c| c.is_ascii_digit());
    let is_other = value.starts_with('-') || is_path(value) || is_short(value) && (is_number || !is_certain(name));
    (is_credential(name) && !is_other).then(|| (name.to_owned(), value.to_owned()))
}

/// Credentials that an address holds: its password, a name without one (a token, then), and those among its query.
pub(super) fn in_address(address: &str) -> Vec<Named> {
    let Ok(url) = Url::parse(address) else {
        return Vec::new();
    };
    let asked = url.query_pairs().filter(|(name, _)| is_credential(name));
    let mut found: Vec<Named> = asked
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    match url.password() {
        Some(password) => {
            found.push(("password".to_owned(), password.to_owned()));
            // What the server uses, and may say.
            let meant = decoded(password);
            found.extend((meant != password).then(|| ("password".to_owned(), meant)));
            let user = ("user".to_owned(), url.username().to_owned());
            found.extend(Some(user).filter(|(name, value)| !is_setting(name, value)));
        }
        None if !url.username().is_empty() => found.push(("user".to_owned(), url.username().to_owned())),
        None => {}
    }
    found
}

/// The text that is percent-encoded.
fn decoded(text: &str) -> String {
    // As the one value of a query, in which these two mean something.
    let value = text.replace('+', "%2B").replace('&', "%26");
    let address = Url::parse(&format!("http://h/?v={value}")).ok();
    let value = address.and_then(|address| Some(address.query_pairs().next()?.1.into_owned()));
    value.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_told_from_others() {
        for name in [
            "API_KEY",
            "apikey",
            "GITHUB_PAT",
            "DB_PWD",
            "MYSQL-PWD",
            "DBPWD",
            "X-Jwt",
            "bearer",
            "--token",
            "Authorization",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["PATH", "PWD", "OLDPWD", "PATTERN", "AUTHOR", "--max-tokens", "LEVEL"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn arguments_give_their_credentials_away() {
        let found = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            in_arguments(&args)
                .into_iter()
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(&["-y", "server", "--token", "ghp_0123456789"]),
            ["ghp_0123456789"]
        );
        assert_eq!(found(&["--token=ghp_0123456789", "next"]), ["ghp_0123456789"]);
        assert_eq!(
            found(&["--header", "Authorization: Bearer abcdefgh"]),
            ["Bearer abcdefgh"]
        );
        assert_eq!(found(&["-e", "GITHUB_PAT=ghp_0123456789"]), ["ghp_0123456789"]);
        assert_eq!(
            found(&["--password", "abc"]),
            ["abc"],
            "too short to be protected: it is refused, and not let pass"
        );
        assert_eq!(
            found(&[
                "postgresql://ada:hunter22@h/db",
                "--url=https://h/mcp?api_key=zzzz-9999"
            ]),
            ["hunter22", "zzzz-9999"]
        );
        assert_eq!(found(&["https://ghp_0123456789@h/repo"]), ["ghp_0123456789"]);
        assert_eq!(
            found(&["postgresql://ada:p%40ss+w0rd@h/db"]),
            ["p%40ss+w0rd", "p@ss+w0rd"]
        );
        for harmless in [
            &["--max-tokens", "4096"][..],
            &["--key-file", "/etc/key.pem"],
            &["--auth", "basic"],
            &["--token-limit", "512"],
            &["--verbose", "--token"],
            &["--no-auth", "-v"],
            &["C:\\data", "http://localhost:80/mcp"],
        ] {
            assert_eq!(found(harmless), Vec::<String>::new(), "{harmless:?}");
        }
    }
}
