//! What a server is: how it is spoken to, how long it may take, and what of it must not show. How servers are declared
//! in files is in `declared`.

use super::credentials::{Named, in_address, in_arguments, is_setting, is_short, protect};
use crate::text::secret::{SecretError, Secrets};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A server may take this long to start: package runners download it first.
pub(super) const START: Duration = Duration::from_secs(60);
/// A call may take this long.
pub(super) const CALL: Duration = Duration::from_secs(300);
/// One server. `Debug` shows no value of its environment or headers.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// By which it is called and handed over.
    pub name: String,
    /// How it is spoken to.
    pub transport: Transport,
    /// How long it may take to start.
    pub start_timeout: Duration,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// Credentials that came from the environment into arguments or the address.
    pub(super) hidden: Vec<Named>,
}

/// How a server is spoken to.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program, over its standard input and output.
    Stdio {
        /// The program: a path, or a name on `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, beside the few variables that every program needs.
        env: Vec<(String, String)>,
        /// Where it runs; where this program does unless given.
        cwd: Option<PathBuf>,
    },
    /// A server on the network ("streamable HTTP").
    Http {
        /// Its address.
        url: String,
        /// Sent with every request.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.transport {
            Transport::Stdio { command, .. } => command.as_str(),
            Transport::Http { .. } => "http",
        };
        write!(f, "ServerSpec({}: {kind})", self.name)
    }
}

impl ServerSpec {
    /// A program that is spoken to over its standard input and output.
    pub fn stdio(name: impl Into<String>, command: impl Into<String>, args: &[&str]) -> Self {
        Self::new(
            name.into(),
            Transport::Stdio {
                command: command.into(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: Vec::new(),
                cwd: None,
            },
        )
    }

    /// A server at an address.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        let (url, headers) = (url.into(), Vec::new());
        Self::new(name.into(), Transport::Http { url, headers })
    }

    pub(super) fn new(name: String, transport: Transport) -> Self {
        Self {
            name,
            transport,
            start_timeout: START,
            call_timeout: CALL,
            hidden: Vec::new(),
        }
    }

    /// A variable of a program's environment, or a header sent to an address. Its value is kept out of every record.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        match &mut self.transport {
            Transport::Stdio { env: pairs, .. } | Transport::Http { headers: pairs, .. } => {
                pairs.push((name.into(), value.into()));
            }
        }
        self
    }

    /// Other time limits: to start, and of one call.
    #[must_use]
    pub fn within(mut self, start: Duration, call: Duration) -> Self {
        (self.start_timeout, self.call_timeout) = (start, call);
        self
    }

    /// Registers what must not show: values of its environment and headers, and credentials in its arguments and address.
    /// Plain settings (short values, single words, paths) stay readable unless their name says that they are credentials.
    ///
    /// # Errors
    ///
    /// [`SecretError`] for a credential that is too short to be protected.
    pub fn register_secrets(&self, secrets: &Secrets) -> Result<(), SecretError> {
        let (pairs, mut found) = match &self.transport {
            Transport::Stdio { env, args, .. } => (env, in_arguments(args)),
            Transport::Http { headers, url } => (headers, in_address(url)),
        };
        // A server is given its addresses as it wants them: those of its environment are not refused.
        let given = pairs.iter().flat_map(|(_, value)| in_address(value));
        found.extend(given.filter(|(_, value)| !is_short(value)));
        let told = pairs.iter().filter(|(name, value)| !is_setting(name, value));
        told.chain(&self.hidden)
            .chain(&found)
            .try_for_each(|(name, value)| protect(secrets, name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_that_cannot_be_protected_is_refused() {
        for (spec, name) in [
            (ServerSpec::stdio("a", "x", &[]).with("API_KEY", "1234"), "API_KEY"),
            (ServerSpec::stdio("a", "x", &["--token", "1a2b"]), "token"),
            (ServerSpec::http("a", "https://a.test/mcp?key=1a2b"), "key"),
            (ServerSpec::http("a", "https://1a2b@a.test/mcp"), "user"),
        ] {
            let error = spec.register_secrets(&Secrets::default()).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("1a2b"), "{error}");
        }
    }
}
