//! `fast-rlm models`: what each backend offers, one name a line, or as JSON.

use super::config::Config;
use super::exit::Exit;
use super::setup::{Failure, tell_unknown};
use crate::client;
use crate::disk::descriptors::need_some;
use crate::provider::{Anthropics, Offer, key_variables, list_models};
use crate::text::{SafeText, shown_json};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Prints the models; done when any backend has told some.
pub(super) fn print(config: Option<&Path>, as_json: bool) -> Result<Exit, Failure> {
    let config = Config::find(config)?;
    tell_unknown(&config);
    let runtime = need_some().and_then(|()| tokio::runtime::Builder::new_current_thread().enable_all().build());
    let runtime = runtime.map_err(Failure::Runtime)?;
    let offers = runtime
        .block_on(list_models(&config.providers()?))
        .map_err(client::Error::from)?;
    let mut out = io::stdout().lock();
    if as_json {
        let rows: Vec<Value> = offers.iter().map(row).collect();
        writeln!(out, "{}", shown_json(&Value::from(rows).to_string())).map_err(Failure::Output)?;
    } else {
        offers.iter().try_for_each(|offer| write_offer(&mut out, offer))?;
    }
    let told = |offer: &Offer| offer.models.as_ref().is_ok_and(|models| !models.is_empty());
    if offers.iter().any(told) {
        return Ok(Exit::Done);
    }
    // What failed has said so, and what to do.
    let failed = offers.iter().any(|offer| offer.models.is_err());
    let advice = match failed {
        true => String::new(),
        false => format!("; set {}", key_variables(Anthropics::Last)),
    };
    let _ = writeln!(io::stderr(), "fast-rlm: no backend told any model{advice}");
    Ok(if failed { Exit::Failed } else { Exit::Usage })
}

fn row(offer: &Offer) -> Value {
    json!({
        "backend": offer.backend,
        "models": offer.models.as_ref().ok(),
        "error": offer.models.as_ref().err().map(ToString::to_string),
    })
}

/// Names on stdout, so that they can be piped; what they belong to, and failures, on stderr.
fn write_offer(out: &mut impl Write, offer: &Offer) -> Result<(), Failure> {
    let backend = SafeText::line(&offer.backend);
    match &offer.models {
        Ok(models) => {
            let _ = writeln!(io::stderr(), "{backend}: {}", models.len());
            for model in models {
                writeln!(out, "{}", SafeText::line(model)).map_err(Failure::Output)?;
            }
        }
        Err(error) => drop(writeln!(
            io::stderr(),
            "fast-rlm: {backend}: {}",
            SafeText::line(&error.to_string())
        )),
    }
    Ok(())
}
