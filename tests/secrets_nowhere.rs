//! Keys and `--env` values are in no file that is written, in no form in which programs write them, and on no screen:
//! every file of a session is read back (databases cell by cell, packed values unpacked, pickles decoded), and so are
//! its bundle, its branches, the viewer's text, JSON and frames, and the viewer's cache.
//!
//! The model's server echoes the key, and tools and code do what they can to leave the values behind.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "pty/mod.rs"]
mod pty;
mod running;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use running::{Program, Ran};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Given with `--env`. Its halves are unlike anything else here, so that what a cut leaves over is found as well.
const SECRET: &str = "hunter2-\"quöted\"/zebra9+&=";
/// Digits alone: a number in JSON and in Python.
const PIN: &str = "80912734651";
/// The model's key.
const KEY: &str = "sk-or-v1-0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/// What the forms of a value have that nothing else has.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let json = serde_json::to_string(value).unwrap();
    let ascii: String = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut forms = vec![value.to_owned(), json.trim_matches('"').to_owned(), ascii, percent];
    let middle = value.char_indices().nth(value.chars().count() / 2).unwrap().0;
    forms.extend([value[..middle].to_owned(), value[middle..].to_owned()]);
    for before in ["", "a", "ab"] {
        let text = format!("{before}{value}");
        for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
            // The first and last characters depend on the neighbours.
            forms.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// What was found where.
#[derive(Default)]
struct Search {
    forms: Vec<Vec<u8>>,
    found: Vec<String>,
    looked_at: usize,
}

impl Search {
    fn new() -> Self {
        let mut forms: Vec<Vec<u8>> = [SECRET, PIN, KEY].iter().flat_map(|value| forms(value)).collect();
        // In a pickle.
        forms.push(PIN.parse::<u64>().unwrap().to_le_bytes()[..5].to_vec());
        Self {
            forms,
            ..Self::default()
        }
    }

    fn bytes(&mut self, place: &str, bytes: &[u8]) {
        self.looked_at += 1;
        for form in &self.forms {
            if let Some(at) = memchr::memmem::find(bytes, form) {
                let around = &bytes[at.saturating_sub(60)..(at + form.len() + 20).min(bytes.len())];
                self.found.push(format!("{place}: {}", String::from_utf8_lossy(around)));
            }
        }
        if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            self.bytes(&format!("{place}, unpacked"), &zstd::decode_all(bytes).unwrap());
        }
    }

    fn ran(&mut self, place: &str, ran: &Ran) {
        self.bytes(&format!("stdout of {place}"), ran.out.as_bytes());
        self.bytes(&format!("stderr of {place}"), ran.err.as_bytes());
    }

    /// Every file below a directory; databases after the rest, since looking into one takes its `-wal` away.
    fn tree(&mut self, dir: &Path) {
        let mut databases = Vec::new();
        self.files(dir, &mut databases);
        databases.iter().for_each(|path| self.database(path));
    }

    fn files(&mut self, dir: &Path, databases: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let place = path.display().to_string();
            self.bytes("a name", place.as_bytes());
            if path.is_dir() {
                self.files(&path, databases);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            self.bytes(&place, &bytes);
            if bytes.starts_with(b"SQLite format 3") {
                databases.push(path);
            }
            if let Ok(value) = serde_json::from_slice(&bytes) {
                self.pickles(&place, &value);
            }
        }
    }

    /// Every cell of every table; what is in the `-wal` counts.
    fn database(&mut self, path: &Path) {
        let file = rusqlite::Connection::open(path).unwrap();
        let mut tables = file
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .unwrap();
        let tables: Vec<String> = tables
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(!tables.is_empty());
        for table in tables {
            let mut all = file.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
            let width = all.column_count();
            let mut rows = all.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..width {
                    let place = format!(
                        "{}, {table}.{}",
                        path.display(),
                        row.as_ref().column_name(column).unwrap()
                    );
                    let cell = row.get_ref(column).unwrap();
                    match cell {
                        rusqlite::types::ValueRef::Integer(number) => self.bytes(&place, number.to_string().as_bytes()),
                        rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => {
                            self.bytes(&place, bytes);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn pickles(&mut self, place: &str, state: &Value) {
        for (name, row) in state["variables"].as_object().into_iter().flatten() {
            let pickle = STANDARD.decode(row["pickle_b64"].as_str().unwrap()).unwrap();
            self.bytes(&format!("{place}, pickle of {name}"), &pickle);
        }
    }

    #[track_caller]
    fn nothing(&self) {
        assert_eq!(self.found, Vec::<String>::new());
        assert!(self.looked_at > 50, "only {} pieces were looked at", self.looked_at);
    }
}

/// A server whose replies also say the key. It answers the root by how far its query is, a sub-agent with its context;
/// the root's third query is refused.
fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(|stream| answer(stream.unwrap())));
    url
}

fn reply_to(request: &str) -> Option<String> {
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let said = body["messages"].as_array().unwrap().iter();
    let steps = said.filter(|message| message["role"] == "assistant").count();
    match () {
        () if request.contains("Again?") => None,
        () if request.contains("And now?") => Some("FINAL(1)".into()),
        () if request.contains("Tell me everything.") => attempts().into_iter().nth(steps),
        () => Some("import os\nprint(context, os.environ['SECRET'])\nFINAL([context, os.environ['SECRET']])".into()),
    }
}

fn answer(mut stream: TcpStream) {
    let request = request_of(&mut stream);
    assert!(request.contains(KEY), "the key went to its server");
    let (status, body) = match reply_to(&request) {
        Some(code) => (
            "200 OK",
            json!({
                "id": "x", "model": "m",
                "choices": [{"finish_reason": "stop", "message": {
                    "content": format!("Your key is {KEY}.\n```repl\n# {KEY}\n{code}\n```"),
                    "reasoning": format!("So the key is {KEY}, in base64 {}.", STANDARD.encode(KEY)),
                }}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.001},
            }),
        ),
        None => (
            "401 Unauthorized",
            json!({"error": {"message": format!("Bearer {KEY} is no good here"), "code": 401}}),
        ),
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-echo: {KEY}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// A whole request.
fn request_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65_536];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse::<usize>()
                .ok()
        });
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

/// Functions that know the values and tell them in every way.
const TOOLS: &str = r#"
import os, warnings

def tell():
    """Tells."""
    print("tool:", os.environ["SECRET"], int(os.environ["PIN"]))
    warnings.warn(os.environ["SECRET"])
    return {os.environ["SECRET"]: int(os.environ["PIN"]), "list": [os.environ["SECRET"]] * 3}

def fail():
    """Fails."""
    raise RuntimeError("tool: " + os.environ["SECRET"]) from ValueError(os.environ["PIN"])
"#;

/// What code does to leave the values behind, a step each.
fn attempts() -> Vec<String> {
    let steps = [
        // Plain, quoted, escaped, encoded, in every alignment.
        r#"import os, json, base64, urllib.parse as u
s, p = os.environ["SECRET"], int(os.environ["PIN"])
print(s, repr(s), json.dumps(s), ascii(s), u.quote(s), u.quote_plus(s), u.urlencode({"k": s}), p, [p], {s: p})
for i in range(3):
    print(base64.b64encode(b"ab"[:i] + s.encode()).decode(), base64.urlsafe_b64encode(b"ab"[:i] + s.encode() + b"tail").decode())"#,
        // Where output is cut.
        r#"print("x" * 4990 + s + "y" * 4990)
print(("z" * 997 + s) * 12)"#,
        // In exceptions, with notes, groups and causes.
        r#"error = ValueError(s)
error.add_note("note " + s)
raise ExceptionGroup(s, [error, KeyError(s), OSError(5, s, s)])"#,
        "raise SyntaxError(s, (s, 1, 1, s))",
        "exec(compile(s + ' = 1', s, 'exec'))",
        "told = tell()\nprint(told)",
        "fail()",
        // In names, values, code and comments that are kept.
        r#"class Holder:
    def __init__(self): self.held = s
    def __repr__(self): return "holder of " + s
held = Holder()
nested = {"a": [{"b": (s, {p})}]}
near = "n" * 70 + s
def keeps(x=s, y=p): return x
lambda_ = lambda x=s: x
globals()["name_" + str(p)] = 1
deep = list(range(5_000)) + [p]
exec("def function_" + str(p) + "(): return 1")
commit("near", note="it is " + s)
print(held, nested)"#,
        // In what sub-agents are told, and what they say.
        r#"child = await llm_query({"k": s, "n": p}, instruction="use " + s)
print(child)"#,
        r#"await llm_query(s, schema={"type": "object", "title": s, "required": [s]})"#,
        // In a question, which parks the query.
        r#"answer = await ask("Is it " + s + "?", options=["no", s])
print(answer)"#,
        r#"FINAL({"s": s, "p": p, "both": [s + str(p)]})"#,
    ];
    steps.iter().map(|step| (*step).to_owned()).collect()
}

struct Place {
    dir: tempfile::TempDir,
    url: String,
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn program(&self) -> Program {
        Program::new(self.dir.path())
            .env("RLM_MODEL_BASE_URL", &self.url)
            .env("RLM_MODEL_API_KEY", KEY)
    }

    /// With the values.
    fn asks(&self, prompt: &str) -> Program {
        let program = self.program().arg(prompt).option("--primary-agent", "some/model");
        let program = program
            .option("--session-dir", self.path("runs"))
            .option("--session-id", "one");
        let program = program
            .option("--env", format!("SECRET={SECRET}"))
            .option("--env", format!("PIN={PIN}"));
        program
            .option("--tools", self.path("tools.py"))
            .option("--verbosity", "full")
            .arg("--json")
    }

    fn lab(&self, args: &[&str]) -> Ran {
        let program = args.iter().fold(self.program(), |program, arg| program.arg(arg));
        program.option("--dir", self.path("runs")).run()
    }

    fn view(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command
            .arg(self.path("runs/one"))
            .args(args)
            .env("FAST_RLM_CACHE_DIR", self.path("cache"));
        let output = command.output().unwrap();
        assert!(output.status.success());
        [output.stdout, output.stderr].concat()
    }
}

#[test]
fn no_value_is_in_any_file_or_on_any_screen() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tools.py"), TOOLS).unwrap();
    let place = Place { dir, url: serve() };
    let mut search = Search::new();

    let parked = place.asks("Tell me everything.").run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    search.ran("the query", &parked);
    search.tree(&place.path("runs"));
    let args = ["answer", "--drop"];
    let dropped = args
        .iter()
        .fold(place.program(), |program, arg| program.arg(arg))
        .arg(place.path("runs/one"))
        .run();
    assert_eq!(dropped.code, Some(0), "{dropped:?}");
    search.ran("answer", &dropped);

    let answered = place.asks("And now?").run();
    assert_eq!(answered.code, Some(0), "{answered:?}");
    search.ran("the second query", &answered);
    let refused = place.asks("Again?").run();
    refused.refused(1, &["401"]);
    search.ran("a refused query", &refused);

    let bundle = place.path("bundle");
    for args in [
        &["export", "one", "--bundle", bundle.to_str().unwrap()][..],
        &["replay", "one", "--json"],
        &[
            "fork",
            "one",
            "--at",
            "1",
            "--turn",
            "1",
            "--edit",
            place.path("tools.py").to_str().unwrap(),
        ],
        &["diff", "one", "last", "--json"],
        &["sessions", place.path("runs").to_str().unwrap(), "--json"],
    ] {
        let ran = if args[0] == "sessions" {
            args.iter().fold(place.program(), |program, arg| program.arg(arg)).run()
        } else {
            place.lab(args)
        };
        search.ran(args[0], &ran);
    }
    assert!(bundle.exists());
    for mode in ["--stats", "--json"] {
        search.bytes(mode, &place.view(&[mode]));
    }
    search.bytes("the screen", &screens(&place));
    std::fs::remove_file(place.path("tools.py")).unwrap();
    search.tree(place.dir.path());
    search.nothing();
}

/// What the terminal was sent while every step was looked at, and an export made.
fn screens(place: &Place) -> Vec<u8> {
    let env = [("FAST_RLM_CACHE_DIR", place.path("cache"))];
    let env = env.each_ref().map(|(name, path)| (*name, path.to_str().unwrap()));
    let mut screen = pty::Pty::open(&place.path("runs/one"), &["--tui", "--no-animation"], &env);
    screen.wait_for("Tell me everything");
    screen.send("\r");
    screen.wait_for("code");
    for _ in 0..12 {
        screen.send("j\r");
        screen.settle();
        screen.send("\x1b");
    }
    screen.send("qq");
    let sent = screen.written().into_bytes();
    assert!(sent.len() > 1_000);
    sent
}

#[test]
fn the_search_finds_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(format!("…{SECRET}…").as_bytes(), 0).unwrap();
    let file = rusqlite::Connection::open(dir.path().join("some.db")).unwrap();
    file.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE cells (body BLOB)")
        .unwrap();
    file.execute("INSERT INTO cells VALUES (?1)", [packed]).unwrap();
    let pickle = STANDARD.encode(format!("\u{80}{PIN}."));
    std::fs::write(
        dir.path().join("state.json"),
        json!({"variables": {"x": {"pickle_b64": pickle}}}).to_string(),
    )
    .unwrap();
    std::fs::write(dir.path().join("log"), STANDARD.encode(format!("{{{KEY}}}"))).unwrap();
    let mut search = Search::new();
    search.tree(dir.path());
    for place in ["cells.body, unpacked", "pickle of x", "log: "] {
        assert!(
            search.found.iter().any(|found| found.contains(place)),
            "{place}: {:?}",
            search.found
        );
    }
}
