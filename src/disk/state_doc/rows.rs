//! Rows of state.json: exact text, with lenient access to what the engine needs of it.

use super::{Borrowed, Object};
use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

/// A completed query.
#[derive(Clone, Debug)]
pub struct QueryRow {
    raw: Box<RawValue>,
}

/// A new row, in the known order of keys.
#[derive(Serialize)]
struct NewQuery<'a> {
    query: &'a str,
    #[serde(rename = "final")]
    result: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_file: Option<&'a str>,
    run_id: &'a str,
}

impl QueryRow {
    pub(super) fn from_raw(raw: &RawValue) -> Self {
        Self { raw: raw.to_owned() }
    }

    /// A query that has just ended with FINAL. `result` is its value as JSON.
    ///
    /// # Errors
    /// None in practice: all its parts are text.
    pub fn new(
        query: &str,
        result: &RawValue,
        log_file: Option<&str>,
        run_id: &str,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            raw: to_raw_value(&NewQuery {
                query,
                result,
                log_file,
                run_id,
            })?,
        })
    }

    /// Its exact text.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The query's text; empty when there is none.
    pub fn query(&self) -> String {
        field(&self.raw, "query").unwrap_or_default()
    }

    /// The FINAL value as JSON text; `None` when the key is absent.
    pub fn result(&self) -> Option<Box<RawValue>> {
        object(&self.raw).and_then(|mut fields| fields.shift_remove("final"))
    }
}

/// A root step.
#[derive(Clone, Debug)]
pub struct CodeRow {
    raw: Box<RawValue>,
}

/// A new row, in the known order of keys.
#[derive(Serialize)]
struct NewCode<'a> {
    q: u64,
    step: u64,
    ok: bool,
    code: &'a str,
    run_id: &'a str,
}

impl CodeRow {
    pub(super) fn from_raw(raw: &RawValue) -> Self {
        Self { raw: raw.to_owned() }
    }

    /// A step that has just run.
    ///
    /// # Errors
    /// None in practice: all its parts are text and numbers.
    pub fn new(q: u64, step: u64, ok: bool, code: &str, run_id: &str) -> Result<Self, serde_json::Error> {
        Ok(Self {
            raw: to_raw_value(&NewCode {
                q,
                step,
                ok,
                code,
                run_id,
            })?,
        })
    }

    /// Its exact text.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The number of completed queries before it, as its writer believed.
    pub fn q(&self) -> u64 {
        field(&self.raw, "q").unwrap_or_default()
    }

    /// Its number in its run, from 1.
    pub fn step(&self) -> u64 {
        field(&self.raw, "step").unwrap_or_default()
    }

    /// It did not raise.
    pub fn ok(&self) -> bool {
        field(&self.raw, "ok").unwrap_or_default()
    }

    /// Its run, where its writer names it.
    pub fn run_id(&self) -> Option<String> {
        field(&self.raw, "run_id")
    }

    /// Its code.
    pub fn code(&self) -> String {
        field(&self.raw, "code").unwrap_or_default()
    }
}

/// A saved variable. Keys that other programs put there stay when it is saved again.
#[derive(Clone, Debug, Default)]
pub struct VariableRow {
    fields: Object,
}

impl VariableRow {
    pub(super) fn from_raw(raw: &RawValue) -> Self {
        Self {
            fields: object(raw).unwrap_or_default(),
        }
    }

    /// Its fields, as exact text.
    pub fn fields(&self) -> &Object {
        &self.fields
    }

    /// The pickle, as base64; `None` when it is missing or no string.
    pub fn pickle_b64(&self) -> Option<&str> {
        let quoted = self.fields.get("pickle_b64")?.get();
        // base64 has nothing to unescape: a slice of the text, not a copy of megabytes.
        quoted
            .strip_prefix('"')?
            .strip_suffix('"')
            .filter(|text| memchr::memchr(b'\\', text.as_bytes()).is_none())
    }

    /// A field of text: `type`, `preview`, `comment` or `note`.
    pub fn text(&self, key: &str) -> Option<String> {
        text(self.fields.get(key).map(|raw| &**raw))
    }

    /// `commit` was called on it.
    pub fn committed(&self) -> bool {
        self.fields.get("committed").is_some_and(|raw| raw.get() == "true")
    }

    /// Sets the value: its pickle as base64, its type and its preview.
    ///
    /// # Errors
    /// None in practice: all are text.
    pub fn describe(&mut self, pickle_b64: &str, type_name: &str, preview: &str) -> Result<(), serde_json::Error> {
        self.set("pickle_b64", &pickle_b64)?;
        self.set("type", &type_name)?;
        self.set("preview", &preview)
    }

    /// Takes over the fields of another row; its own that the other lacks stay.
    pub fn take(&mut self, other: Self) {
        self.fields.extend(other.fields);
    }

    /// Sets a field.
    ///
    /// # Errors
    /// Those of serialising `value`.
    pub fn set(&mut self, key: &str, value: &impl Serialize) -> Result<(), serde_json::Error> {
        self.fields.insert(key.to_owned(), to_raw_value(value)?);
        Ok(())
    }
}

/// The fields of a JSON object; `None` when it is none.
fn object(raw: &RawValue) -> Option<Object> {
    serde_json::from_str(raw.get()).ok()
}

fn field<T: DeserializeOwned>(raw: &RawValue, key: &str) -> Option<T> {
    let fields = object(raw)?;
    serde_json::from_str(fields.get(key)?.get()).ok()
}

pub(super) fn text(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

pub(super) fn list<T>(fields: &mut Borrowed<'_>, key: &str, row: impl Fn(&RawValue) -> T) -> Vec<T> {
    let rows = fields
        .shift_remove(key)
        .and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    rows.unwrap_or_default().into_iter().map(row).collect()
}

pub(super) fn text_list(fields: &mut Borrowed<'_>, key: &str) -> Option<Vec<String>> {
    fields
        .shift_remove(key)
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
}

pub(super) fn table<T>(fields: &mut Borrowed<'_>, key: &str, row: impl Fn(&RawValue) -> T) -> IndexMap<String, T> {
    let rows = fields
        .shift_remove(key)
        .and_then(|raw| serde_json::from_str::<Borrowed<'_>>(raw.get()).ok());
    let rows = rows.unwrap_or_default().into_iter();
    rows.map(|(name, raw)| (name, row(raw))).collect()
}

pub(super) fn text_table(fields: &mut Borrowed<'_>, key: &str) -> IndexMap<String, String> {
    table(fields, key, |raw| {
        serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
    })
}
