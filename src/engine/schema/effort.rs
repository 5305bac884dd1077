//! How much work it is to check a value against a schema, counted before anything is checked: references and
//! alternatives multiply, so that a schema of a few lines can ask for more than a machine ever does.
//!
//! The count goes the way that the check goes, and never past its bound. Where it is not exact, it is too high.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;

/// Schemas that all places of one schema may unfold to, whatever the value.
const MOST_UNFOLDED: u64 = 100_000;
/// Steps of checking one value: so many, and so many for each part of it.
const MOST_STEPS: u64 = 1_000_000;
const STEPS_A_PART: u64 = 16;
/// Steps up to which every error can be kept: each may leave one.
const MOST_KEPT: u64 = 1_000_000;
/// Schemas that are open at once: the check recurses as deep.
const DEEPEST: usize = 300;
/// Steps for each part of a value that a schema from outside (one of JSON Schema's own) asks for.
const OUTSIDE: u64 = 100;
/// Bytes of text that are one step.
const TEXT: usize = 64;

const ALTERNATIVES: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const CONDITIONS: [&str; 4] = ["not", "if", "then", "else"];
const DEPENDENCIES: [&str; 2] = ["dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const IDS: [&str; 2] = ["$id", "id"];
const ANCHORS: [&str; 2] = ["$anchor", "$dynamicAnchor"];

type Object = Map<String, Value>;

/// How a value can be checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// With all that is wrong.
    Told,
    /// Only whether it fits: what is wrong could be more than fits into memory.
    Untold,
}

/// It is more work than is done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// A schema with what its references mean.
pub(super) struct Unfolding<'s> {
    root: &'s Value,
    /// Its objects, each with its place.
    objects: Vec<(String, &'s Value)>,
    targets: HashMap<&'s str, Vec<&'s Value>>,
    /// Whether the check remembers which parts of a value were looked at.
    is_remembering: bool,
}

impl<'s> Unfolding<'s> {
    pub(super) fn of(root: &'s Value) -> Self {
        let objects = objects(root);
        let places = Places::of(root, &objects);
        let references = objects.iter().flat_map(|(_, object)| words(object, &REFERENCES));
        let targets = references.map(|word| (word, places.targets(word))).collect();
        let is_remembering = objects.iter().any(|(_, object)| {
            ["unevaluatedProperties", "unevaluatedItems"]
                .iter()
                .any(|word| object.get(*word).is_some())
        });
        Self {
            root,
            objects,
            targets,
            is_remembering,
        }
    }

    /// The place in the schema that unfolds to too much whatever the value is.
    pub(super) fn bomb(&self) -> Option<&str> {
        let most = MOST_UNFOLDED.saturating_add((self.objects.len() as u64).saturating_mul(STEPS_A_PART));
        let mut walk = Walk::new(self, most);
        let mut all = self.objects.iter();
        all.find(|(_, object)| walk.visit(object, None).is_err())
            .map(|(place, _)| place.as_str())
    }

    /// Whether `value` can be checked.
    pub(super) fn bears(&self, value: &Value) -> Result<Effort, TooMuch> {
        let most = MOST_STEPS.saturating_add(size(value).saturating_mul(STEPS_A_PART));
        let mut walk = Walk::new(self, most);
        walk.visit(self.root, Some(value))?;
        Ok(match most - walk.left <= MOST_KEPT {
            true => Effort::Told,
            false => Effort::Untold,
        })
    }
}

/// Goes the way of a check.
struct Walk<'u, 's> {
    schema: &'u Unfolding<'s>,
    left: u64,
    open: Vec<&'s Value>,
    /// How many of those that are open belong to values around this one.
    around: usize,
}

impl<'u, 's> Walk<'u, 's> {
    fn new(schema: &'u Unfolding<'s>, left: u64) -> Self {
        Self {
            schema,
            left,
            open: Vec::new(),
            around: 0,
        }
    }

    fn take(&mut self, steps: u64) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(steps).ok_or(TooMuch)?;
        Ok(())
    }

    /// Checks `value`, or one that is not known and has no parts.
    fn visit(&mut self, schema: &'s Value, value: Option<&Value>) -> Result<(), TooMuch> {
        let Value::Object(words) = schema else {
            return self.take(1);
        };
        self.take(self.weight(words, value))?;
        let mut same = self.open.iter().skip(self.around);
        if same.any(|open| ptr::eq(*open, schema)) || !has_type(words, value) {
            return Ok(());
        }
        if self.open.len() >= DEEPEST {
            return Err(TooMuch);
        }
        self.open.push(schema);
        let walked = self.same_value(words, value).and_then(|()| self.parts(words, value));
        self.open.pop();
        walked
    }

    /// What a schema asks for by itself.
    fn weight(&self, words: &Object, value: Option<&Value>) -> u64 {
        let listed = |word: &str| words.get(word).and_then(Value::as_array).map_or(0, Vec::len);
        let has = |word: &str| words.contains_key(word);
        let compared = listed("enum") + usize::from(has("const")) + usize::from(has("uniqueItems"));
        let own = 1 + listed("required") as u64;
        let whole = value.filter(|_| compared > 0).map_or(0, size);
        let text = value.and_then(Value::as_str).map_or(0, |text| text.len() / TEXT) as u64;
        let kept = value.filter(|_| self.schema.is_remembering).map_or(0, parts) as u64;
        own.saturating_add(whole.saturating_mul(compared as u64))
            .saturating_add(text)
            .saturating_add(kept)
    }

    /// The schemas that the same value is checked against.
    fn same_value(&mut self, words: &'s Object, value: Option<&Value>) -> Result<(), TooMuch> {
        let lists = ALTERNATIVES.iter().filter_map(|word| words.get(*word)?.as_array());
        let maps = DEPENDENCIES.iter().filter_map(|word| words.get(*word)?.as_object());
        let inside = CONDITIONS.iter().filter_map(|word| words.get(*word));
        let inside = inside.chain(lists.flatten()).chain(maps.flat_map(Map::values));
        for schema in inside {
            self.visit(schema, value)?;
        }
        for word in REFERENCES.iter().filter_map(|word| words.get(*word)?.as_str()) {
            let targets = self.schema.targets.get(word).filter(|targets| !targets.is_empty());
            let Some(targets) = targets else {
                self.take(value.map_or(1, size).saturating_mul(OUTSIDE))?;
                continue;
            };
            for target in targets {
                self.visit(target, value)?;
            }
        }
        Ok(())
    }

    /// The schemas that the parts of a value are checked against.
    fn parts(&mut self, words: &'s Object, value: Option<&Value>) -> Result<(), TooMuch> {
        let around = std::mem::replace(&mut self.around, self.open.len());
        let walked = match value {
            Some(Value::Array(items)) => self.items(words, items),
            Some(Value::Object(fields)) => self.fields(words, fields),
            _ => Ok(()),
        };
        self.around = around;
        walked
    }

    fn items(&mut self, words: &'s Object, items: &[Value]) -> Result<(), TooMuch> {
        for (at, item) in items.iter().enumerate() {
            for word in ["prefixItems", "items"] {
                match words.get(word) {
                    Some(Value::Array(each)) => each.get(at).map_or(Ok(()), |one| self.visit(one, Some(item)))?,
                    Some(every) => self.visit(every, Some(item))?,
                    None => {}
                }
            }
            for word in ["additionalItems", "contains", "unevaluatedItems"] {
                if let Some(schema) = words.get(word) {
                    self.visit(schema, Some(item))?;
                }
            }
        }
        Ok(())
    }

    fn fields(&mut self, words: &'s Object, fields: &Object) -> Result<(), TooMuch> {
        let map = |word: &str| words.get(word).and_then(Value::as_object);
        for (name, field) in fields {
            let named = map("properties").and_then(|schemas| schemas.get(name));
            let other = words.get("additionalProperties").filter(|_| named.is_none());
            let matched = map("patternProperties").into_iter().flat_map(Map::values);
            let rest = words.get("unevaluatedProperties");
            for schema in named.into_iter().chain(other).chain(rest).chain(matched) {
                self.visit(schema, Some(field))?;
            }
            if let Some(schema) = words.get("propertyNames") {
                self.visit(schema, None)?;
            }
        }
        Ok(())
    }
}

/// The places that references can mean.
struct Places<'s> {
    /// Schemas with a name of their own, and the whole.
    roots: Vec<(&'s str, &'s Value)>,
    anchors: HashMap<&'s str, Vec<&'s Value>>,
}

impl<'s> Places<'s> {
    fn of(root: &'s Value, objects: &[(String, &'s Value)]) -> Self {
        let mut roots = vec![(super::NAME, root)];
        let mut anchors: HashMap<&str, Vec<&Value>> = HashMap::new();
        for (_, object) in objects {
            for id in words(object, &IDS) {
                match id.strip_prefix('#') {
                    Some(anchor) => anchors.entry(anchor).or_default().push(object),
                    None => roots.push((id, object)),
                }
            }
            for anchor in words(object, &ANCHORS) {
                anchors.entry(anchor).or_default().push(object);
            }
        }
        Self { roots, anchors }
    }

    /// What a reference can mean: all that it can, where what it is relative to would have to be known.
    fn targets(&self, reference: &str) -> Vec<&'s Value> {
        let (url, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let named = self
            .roots
            .iter()
            .filter(|(id, _)| url.is_empty() || last(id) == last(url));
        let pointer = unescaped(fragment);
        let mut found: Vec<&Value> = if fragment.is_empty() || fragment.starts_with('/') {
            named.filter_map(|(_, root)| root.pointer(&pointer)).collect()
        } else {
            self.anchors.get(pointer.as_str()).cloned().unwrap_or_default()
        };
        found.sort_by_key(|schema| ptr::from_ref(*schema));
        found.dedup_by_key(|schema| ptr::from_ref(*schema));
        found
    }
}

/// What two addresses of one schema have in common, wherever they are relative to.
fn last(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default()
}

/// A fragment without its percent signs.
fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code
            .and_then(|two| u8::from_str_radix(two, 16).ok())
            .filter(|_| *first == b'%')
        {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn words<'v>(object: &'v Value, words: &'static [&'static str]) -> impl Iterator<Item = &'v str> {
    words.iter().filter_map(|word| object.get(*word)?.as_str())
}

/// All objects in a schema, each with its place. Not recursive: the schema decides how deep this goes.
fn objects(root: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), root)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Array(items) => open.extend(
                (0..)
                    .zip(items)
                    .map(|(at, item): (usize, _)| (format!("{place}/{at}"), item)),
            ),
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(name, field)| (format!("{place}/{name}"), field)));
                found.push((place, value));
            }
            _ => {}
        }
    }
    found
}

/// Whether a value is of the type that a schema asks for; of another, nothing else is checked.
fn has_type(words: &Object, value: Option<&Value>) -> bool {
    let (Some(wanted), Some(value)) = (words.get("type"), value) else {
        return true;
    };
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    wanted
        .as_array()
        .map_or_else(|| is(wanted), |names| names.iter().any(is))
}

fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}

/// All parts of a value, and its text. Not recursive.
fn size(value: &Value) -> u64 {
    let mut sum = 0u64;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        sum = sum.saturating_add(1);
        match value {
            Value::String(text) => sum = sum.saturating_add((text.len() / TEXT) as u64),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    sum
}

#[cfg(test)]
mod tests;
