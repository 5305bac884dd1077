//! Models over HTTPS: a server with a certificate of an issuer that is trusted answers, any other is refused at once and
//! told nothing. `certificates/make.sh` makes what the servers here show.

use super::Place;
use crate::running::Program;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn certificate(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/query_cli/certificates")).join(file)
}

/// A model server on a port of 127.0.0.1 that shows one certificate.
struct Secure {
    port: u16,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Secure {
    fn showing(name: &str) -> Self {
        let chain = CertificateDer::pem_file_iter(certificate(&format!("{name}.pem"))).unwrap();
        let key = PrivateKeyDer::from_pem_file(certificate(&format!("{name}.key"))).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.map(Result::unwrap).collect(), key)
            .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let (config, connections, requests) = (Arc::new(config), server.connections.clone(), server.requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                connections.fetch_add(1, Ordering::SeqCst);
                let connection = ServerConnection::new(config.clone()).unwrap();
                // Clients that trust it not are gone before they ask.
                let _ = answer(StreamOwned::new(connection, stream.unwrap()), &requests);
            }
        });
        server
    }

    fn asked_by(&self, place: &Place) -> Program {
        Program::asks(place.path(), "go")
            .option("--primary-agent", "local")
            .env("RLM_MODEL_BASE_URL", format!("https://127.0.0.1:{}/v1", self.port))
            .env("SSL_CERT_FILE", certificate("issuer.pem"))
    }
}

/// One answer: the list of models, or a reply.
fn answer(stream: StreamOwned<ServerConnection, TcpStream>, requests: &AtomicUsize) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    stream.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    requests.fetch_add(1, Ordering::SeqCst);
    let body = if first.starts_with("GET") {
        json!({"data": [{"id": "local"}]})
    } else {
        json!({"choices": [{"message": {"content": "```repl\nFINAL('over TLS')\n```"}, "finish_reason": "stop"}]})
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let stream = stream.get_mut();
    stream.write_all((head + &body).as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

#[test]
fn a_server_of_a_trusted_issuer_answers() {
    let place = Place::new();
    let server = Secure::showing("good");
    assert_eq!(server.asked_by(&place).answer(), "over TLS");
    let ran = Program::new(place.path())
        .arg("models")
        .env("RLM_MODEL_BASE_URL", format!("https://127.0.0.1:{}/v1", server.port))
        .env("SSL_CERT_FILE", certificate("issuer.pem"))
        .env("PATH", "")
        .run();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "local\n"), "{ran:?}");
}

#[test]
fn any_other_is_refused_at_once_and_told_nothing() {
    for (shown, said) in [
        ("unknown", ["issued by nobody", "SSL_CERT_FILE"]),
        ("expired", ["is not valid any more", "clock"]),
        ("elsewhere", ["that of another server", "elsewhere.test"]),
    ] {
        let place = Place::new();
        let server = Secure::showing(shown);
        let ran = server.asked_by(&place).run();
        ran.refused(1, &["127.0.0.1", "is not trusted", said[0], said[1]]);
        assert_eq!(
            server.connections.load(Ordering::SeqCst),
            1,
            "{shown}: it is not tried again"
        );
        assert_eq!(server.requests.load(Ordering::SeqCst), 0, "{shown}");
    }
}

#[test]
fn a_server_without_tls_and_a_machine_without_certificates_are_explained() {
    let place = Place::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let server = Secure {
        port,
        connections: Arc::default(),
        requests: Arc::default(),
    };
    server
        .asked_by(&place)
        .run()
        .refused(1, &["does not speak TLS", "http://"]);
    let nowhere = place.file("none.pem", "");
    let without = server
        .asked_by(&place)
        .env("SSL_CERT_FILE", nowhere)
        .env("SSL_CERT_DIR", place.path());
    without.run().refused(2, &["cannot set up HTTPS", "SSL_CERT_FILE"]);
}
