//! Every form is found, and the text around it is kept.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;

fn secrets(value: &str) -> Secrets {
    let secrets = Secrets::default();
    secrets.register("KEY", value).unwrap();
    secrets
}

fn percent_encode(value: &str, keep: fn(u8) -> bool, upper: bool) -> String {
    let encode = |byte: u8| match (keep(byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (false, true) => format!("%{byte:02X}"),
        (false, false) => format!("%{byte:02x}"),
    };
    value.bytes().map(encode).collect()
}

fn ascii_json(value: &str) -> String {
    value.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()
}

fn inside_json(text: &str) -> String {
    serde_json::to_string(text).unwrap().trim_matches('"').to_owned()
}

#[test]
fn a_value_that_overlaps_itself_leaves_nothing_over() {
    let secrets = secrets("babbabbab");
    assert_eq!(secrets.redact("<babbabbabbab>"), "<[secret KEY]>");
    assert_eq!(
        secrets.redact("<babbabbabbab> \\"),
        "<[secret KEY]> \\",
        "whatever else is there"
    );
    assert_eq!(secrets.redact("babbabbab babbabbab"), "[secret KEY] [secret KEY]");
}

#[test]
fn short_values_are_refused_by_name_only() {
    let error = Secrets::default().register("PIN", "1234567").unwrap_err();
    assert_eq!(error, SecretError::TooShort { name: "PIN".to_owned() });
    assert!(!error.to_string().contains("1234567"));
    // Characters count, not bytes.
    assert!(Secrets::default().register("PIN", "ééééééé").is_err());
}

#[test]
fn every_form_is_replaced_and_the_rest_kept() {
    let value = "p@ss \"wörd\"\\/\n👍%41";
    let json = serde_json::to_string(value).unwrap();
    let forms = [
        value.to_owned(),
        json.trim_matches('"').to_owned(),
        ascii_json(value),
        "p@ss \\\"w\\xf6rd\\\"\\\\/\\n\\U0001f44d%41".to_owned(),
        // Python's bytes.
        "p@ss \"w\\xc3\\xb6rd\"\\\\/\\n\\xf0\\x9f\\x91\\x8d%41".to_owned(),
        // JSON in JSON.
        inside_json(json.trim_matches('"')),
        inside_json(&ascii_json(value)),
        percent_encode(value, |byte| byte.is_ascii_alphanumeric(), true),
        percent_encode(value, |_| false, false),
        percent_encode(value, |byte| byte == b' ' || byte.is_ascii_alphanumeric(), true).replace(' ', "+"),
    ];
    for form in forms {
        let text = format!("a {form} b");
        assert_eq!(secrets(value).redact(&text), "a [secret KEY] b", "{form}");
    }
}

#[test]
fn a_longer_secret_swallows_a_shorter_one_and_debug_shows_names() {
    let secrets = secrets("12345678");
    secrets.register("LONG", "00123456789").unwrap();
    assert_eq!(secrets.redact("x00123456789x12345678"), "x[secret LONG]x[secret KEY]");
    assert_eq!(format!("{secrets:?}"), r#"["KEY", "LONG"]"#);
    assert_eq!(secrets.find_in(b"\x80\x0400123456789"), Some("KEY".to_owned()));
    assert_eq!(secrets.find_in(b"0012345"), None);
}

#[test]
fn a_number_is_found_in_a_pickle() {
    // pickle.dumps([n], 5) of CPython.
    for (value, pickle) in [
        (
            "80912734651",
            &b"\x80\x05\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94\x8a\x05\xbbY\xc6\xd6\x12a."[..],
        ),
        (
            "12345678",
            b"\x80\x05\x95\x09\x00\x00\x00\x00\x00\x00\x00]\x94JNa\xbc\x00a.",
        ),
        (
            "4294967295",
            b"\x80\x05\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94\x8a\x05\xff\xff\xff\xff\x00a.",
        ),
    ] {
        assert_eq!(secrets(value).find_in(pickle), Some("KEY".to_owned()), "{value}");
        assert_eq!(secrets("98765432").find_in(pickle), None);
    }
}

#[test]
fn a_value_inside_its_own_marker_is_not_named() {
    let secrets = secrets("[secret K");
    assert_eq!(secrets.redact("a [secret KEY] b"), "a […]EY] b");
}

proptest! {
    #[test]
    fn no_form_survives(
        value in "[ -~é👍\\n]{8,24}", before in "[ -~é]{0,9}", after in "[ -~é]{0,9}", upper in any::<bool>(),
    ) {
        let secrets = secrets(&value);
        let json = serde_json::to_string(&value).unwrap();
        let forms = [
            value.clone(),
            json.split_at(json.len() - 1).0.replacen('"', "", 1),
            ascii_json(&value),
            inside_json(&serde_json::to_string(&value).unwrap()),
            percent_encode(&value, |byte| byte.is_ascii_alphanumeric(), upper),
            percent_encode(&value, |_| false, upper),
        ];
        for form in forms {
            let text = format!("{before}\n{form}\n{after}");
            let redacted = secrets.redact(&text);
            prop_assert!(!redacted.contains(&form), "{} in {}", form, redacted);
            prop_assert!(secrets.find_in(text.as_bytes()).is_some());
        }
    }

    #[test]
    fn no_base64_of_a_text_that_holds_it_survives(value in "[!-~]{8,24}", before in "[ -~é]{0,9}", after in "[ -~é]{0,9}") {
        let plain = format!("{before}{value}{after}");
        for encoded in [STANDARD.encode(&plain), URL_SAFE.encode(&plain)] {
            let secrets = secrets(&value);
            prop_assert!(secrets.find_in(encoded.as_bytes()).is_some());
            let redacted = secrets.redact(&encoded).into_owned();
            prop_assert!(redacted.contains("[secret KEY]") && redacted.len() < encoded.len() + 14, "{}", redacted);
        }
    }

    #[test]
    fn text_without_the_secret_is_left_alone(text in "[ -~é👍\\n\\\\%]{0,60}") {
        prop_assert!(matches!(secrets("never-in-there-ÿ").redact(&text), Cow::Borrowed(_)));
    }
}
