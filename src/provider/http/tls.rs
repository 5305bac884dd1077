//! TLS: rustls with the machine's own certificates, and what is wrong with the certificate of a server.
//!
//! Cryptography is chosen for each client and never for the process: a program that embeds this library keeps its own.

use rustls::crypto::ring;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::error::Error;
use std::io;
use std::sync::Arc;

/// How a client speaks TLS. One that never will (`encrypted` is false) trusts nobody: loading the machine's certificates
/// takes longer than everything else about it.
pub(super) fn config(encrypted: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = if encrypted {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Why the server cannot be trusted, where that is what `error` is about: trying again changes nothing then.
pub(super) fn distrust(error: &(dyn Error + 'static)) -> Option<String> {
    match std::iter::successors(Some(error), |error| (*error).source()).find_map(of_tls)? {
        rustls::Error::InvalidCertificate(fault) => Some(explained(fault)),
        rustls::Error::InvalidMessage(_) => Some("it does not speak TLS: is its address one with http://?".to_owned()),
        _ => None,
    }
}

/// The error of TLS in an error, which may be wrapped several times: `source` of an I/O error leaves out what it wraps.
fn of_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut inner = error;
    while let Some(wrapper) = inner.downcast_ref::<io::Error>() {
        inner = wrapper.get_ref()?;
    }
    inner.downcast_ref()
}

fn explained(fault: &CertificateError) -> String {
    match fault {
        CertificateError::UnknownIssuer => {
            "its certificate was issued by nobody that this machine trusts; an issuer of your own goes into the file that \
             SSL_CERT_FILE names, or into the system's certificates"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("its certificate is not valid any more ({fault}); is this machine's clock right?")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("its certificate is not valid yet ({fault}); is this machine's clock right?")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("its certificate is that of another server ({fault}); is the address right?")
        }
        other => format!("its certificate is no good: {other}"),
    }
}
