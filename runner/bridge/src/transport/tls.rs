//! TLS by rustls, with the roots that the host trusts, and those that the owner adds. No option of
//! this module turns off verification.

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, OnceLock};

/// Maximum number of TLS sessions that one bridge keeps for resumption.
const SESSIONS: usize = 64;

/// The accepted certificate authorities.
#[derive(Clone, Debug, Default)]
pub struct TlsRoots {
    /// Whether the platform's roots are ignored, and only those below are used.
    pub only_extra: bool,
    extra: Vec<CertificateDer<'static>>,
}

/// The reason why a file of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    #[error("not certificates in PEM: {0}")]
    Pem(String),
    #[error("no certificate in it")]
    None,
    #[error("not a certificate of an authority: {0}")]
    Certificate(String),
}

impl TlsRoots {
    /// Adds these authorities to the accepted ones.
    ///
    /// # Errors
    /// If it is not PEM, or has no certificate.
    pub fn add_pem(&mut self, pem: &[u8]) -> Result<(), RootsError> {
        let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|e| RootsError::Pem(e.to_string()))?;
        if found.is_empty() {
            return Err(RootsError::None);
        }
        let mut store = RootCertStore::empty();
        for one in &found {
            store.add(one.clone()).map_err(|e| RootsError::Certificate(e.to_string()))?;
        }
        self.extra.extend(found);
        Ok(())
    }
}

/// The TLS configuration of connections. The platform's roots are read when they are first needed.
#[derive(Debug)]
pub(crate) struct Tls {
    roots: TlsRoots,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Tls {
    pub(crate) fn new(roots: TlsRoots) -> Self {
        Self { roots, config: OnceLock::new() }
    }

    /// Returns a configuration that keeps TLS sessions for the caller alone.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, String> {
        let shared = self.config.get_or_init(|| client_config(&self.roots).map(Arc::new));
        let mut own = ClientConfig::clone(shared.as_ref().map_err(Clone::clone)?);
        own.resumption = Resumption::in_memory_sessions(SESSIONS);
        Ok(own)
    }
}

fn client_config(roots: &TlsRoots) -> Result<ClientConfig, String> {
    let mut store = RootCertStore::empty();
    if !roots.only_extra {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    store.add_parsable_certificates(roots.extra.iter().cloned());
    if store.is_empty() {
        return Err("the host has no certificates of authorities".to_string());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns the name for which the certificate must be valid.
pub(crate) fn server_name(url: &url::Url) -> Option<ServerName<'static>> {
    match url.host()? {
        url::Host::Domain(name) => ServerName::try_from(name.to_string()).ok(),
        url::Host::Ipv4(a) => Some(ServerName::IpAddress(std::net::IpAddr::V4(a).into())),
        url::Host::Ipv6(a) => Some(ServerName::IpAddress(std::net::IpAddr::V6(a).into())),
    }
}
