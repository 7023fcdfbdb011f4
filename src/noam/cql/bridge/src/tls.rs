//! TLS by OpenSSL.

use std::sync::{Arc, Mutex};

use openssl::error::ErrorStack;
use openssl::ssl::{SslConnector, SslFiletype, SslMethod, SslVerifyMode};
use openssl::x509::store::X509StoreBuilder;
use scylla::client::session::OpenSsl010Config;

use crate::abi::{Config, VERIFY_ADDRESS, VERIFY_NAME};

/// OpenSSL's X509_V_ERR_IP_ADDRESS_MISMATCH.
const ADDRESS_MISMATCH: i32 = 64;

/// Why the last certificate was refused. The driver's error says only that it was.
pub type Reason = Arc<Mutex<String>>;

pub fn context(config: &Config, reason: Reason) -> Result<OpenSsl010Config, String> {
    let text = |error: ErrorStack| error.to_string();
    // This trusts the certificate authorities of the system.
    let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(text)?;
    let ca_file = config.ca_file.text()?;
    if !ca_file.is_empty() {
        builder.set_cert_store(X509StoreBuilder::new().map_err(text)?.build());
        builder.set_ca_file(ca_file).map_err(|error| format!("CA file `{ca_file}`: {error}"))?;
    }
    let (certificate, key) = (config.certificate_file.text()?, config.key_file.text()?);
    if !certificate.is_empty() {
        builder
            .set_certificate_chain_file(certificate)
            .map_err(|error| format!("certificate file `{certificate}`: {error}"))?;
        builder.set_private_key_file(key, SslFiletype::PEM).map_err(|error| format!("key file `{key}`: {error}"))?;
    }
    // The driver makes each connection compare the node's address. With a name, OpenSSL compares both.
    if config.verify == VERIFY_NAME {
        builder.verify_param_mut().set_host(config.certificate_name.text()?).map_err(text)?;
    }
    let address_counts = config.verify == VERIFY_ADDRESS;
    builder.set_verify_callback(SslVerifyMode::PEER, move |right, context| {
        let error = context.error();
        if right || (!address_counts && error.as_raw() == ADDRESS_MISMATCH) {
            return true;
        }
        *reason.lock().unwrap() = error.error_string().to_owned();
        false
    });
    Ok(OpenSsl010Config::new(builder))
}
