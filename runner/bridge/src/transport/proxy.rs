//! The proxy through which requests leave the host (RFC 9110, 9.3.6; RFC 9112, 3.2.2).
//!
//! A request to an `https` address goes through a tunnel, so that the proxy sees the host's name
//! and bytes of TLS. A request to an `http` address is sent to the proxy with its whole address.
//! Addresses of this host's loopback are always connected to directly.

use crate::error::{ConnectFault, RequestError};
use crate::rules::is_localhost;
use http::{HeaderValue, Method, StatusCode, header};
use hyper::Request;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use tokio::net::TcpStream;
use url::{Host, Url};

/// The word that stands for the variables of the environment.
const ENVIRONMENT: &str = "environment";
/// The port of a proxy whose address has none.
const PORT: u16 = 80;

/// The proxies of the policy's owner. Their passwords are not part of any message.
#[derive(Clone)]
pub struct ProxySettings {
    matcher: Arc<Matcher>,
}

/// A text that does not describe a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a proxy is http://[USER:PASSWORD@]HOST[:PORT], or `{ENVIRONMENT}`")]
pub struct ProxyError;

/// The proxy for one request.
pub(crate) struct ProxyServer {
    host: String,
    port: u16,
    pub(crate) authorization: Option<HeaderValue>,
}

impl FromStr for ProxySettings {
    type Err = ProxyError;

    /// Parses the address of an HTTP proxy for all requests, or `environment`, which stands for
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` as curl reads them.
    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let matcher = if text == ENVIRONMENT {
            Matcher::from_env()
        } else {
            let url = Url::parse(text).map_err(|_| ProxyError)?;
            if url.scheme() != "http" || url.host().is_none() || url.path() != "/" {
                return Err(ProxyError);
            }
            Matcher::builder().all(text).build()
        };
        // A proxy that is reached by TLS or SOCKS is not supported.
        for probe in ["http://host.invalid/", "https://host.invalid/"] {
            let proxy = matcher.intercept(&probe.parse().map_err(|_| ProxyError)?);
            if proxy.is_some_and(|proxy| proxy.uri().scheme_str() != Some("http")) {
                return Err(ProxyError);
            }
        }
        Ok(Self { matcher: Arc::new(matcher) })
    }
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxySettings")
    }
}

impl ProxySettings {
    /// Returns the proxy for a URL, or `None` if its host is connected to directly.
    pub(crate) fn server_for(&self, url: &Url) -> Option<ProxyServer> {
        let is_local = match url.host()? {
            Host::Domain(name) => is_localhost(name),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        if is_local {
            return None;
        }
        let proxy = self.matcher.intercept(&url.as_str().parse().ok()?)?;
        let host = proxy.uri().host()?.trim_matches(['[', ']']).to_owned();
        let port = proxy.uri().port_u16().unwrap_or(PORT);
        let mut authorization = proxy.basic_auth().cloned();
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Some(ProxyServer { host, port, authorization })
    }
}

impl ProxyServer {
    /// Connects to the proxy. Its address is the owner's choice, so no rule judges it.
    ///
    /// # Errors
    /// Returns an error if the proxy does not answer.
    pub(crate) async fn connect(&self, host: &str) -> Result<TcpStream, RequestError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        stream.map_err(|_| proxy_error(host, ConnectFault::Proxy))
    }

    /// Opens a tunnel to a port of a host through a connection to the proxy.
    ///
    /// # Errors
    /// Returns an error if the proxy refuses the tunnel.
    pub(crate) async fn open_tunnel(
        &self,
        stream: TcpStream,
        host: &str,
        port: u16,
    ) -> Result<TokioIo<Upgraded>, RequestError> {
        let failed = |_| proxy_error(host, ConnectFault::Proxy);
        let (mut sender, connection) =
            http1::handshake::<_, String>(TokioIo::new(stream)).await.map_err(failed)?;
        tokio::spawn(connection.with_upgrades());
        let authority = format!("{host}:{port}");
        let mut request = Request::builder()
            .method(Method::CONNECT)
            .uri(&authority)
            .header(header::HOST, &authority);
        if let Some(value) = &self.authorization {
            request = request.header(header::PROXY_AUTHORIZATION, value);
        }
        let request = request
            .body(String::new())
            .map_err(|_| RequestError::Url(crate::error::UrlFault::Host))?;
        let response = sender.send_request(request).await.map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(proxy_error(host, ConnectFault::ProxyRefused(response.status().as_u16())));
        }
        hyper::upgrade::on(response).await.map(TokioIo::new).map_err(failed)
    }
}

fn proxy_error(host: &str, fault: ConnectFault) -> RequestError {
    RequestError::Connect { host: host.to_owned(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_address_with_or_without_a_password() {
        let server = |text: &str, url: &str| {
            let settings: ProxySettings = text.parse().unwrap();
            settings.server_for(&Url::parse(url).unwrap())
        };
        let made = server("http://proxy.example:3128", "https://example.com/").unwrap();
        assert_eq!((&*made.host, made.port, made.authorization), ("proxy.example", 3128, None));
        // RFC 7617, section 2: user `Aladdin`, password `open sesame`.
        let made =
            server("http://Aladdin:open%20sesame@[::1]:8080", "http://example.com/").unwrap();
        assert_eq!((&*made.host, made.port), ("::1", 8080));
        assert_eq!(made.authorization.unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        for local in ["http://127.0.0.1:8000/", "http://localhost/", "https://[::1]/"] {
            assert!(server("http://proxy.example", local).is_none(), "{local}");
        }
        for wrong in ["proxy", "https://proxy.example", "socks5://proxy.example", "http://"] {
            assert_eq!(wrong.parse::<ProxySettings>().unwrap_err(), ProxyError, "{wrong}");
        }
    }
}
