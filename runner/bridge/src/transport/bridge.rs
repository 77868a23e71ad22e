//! The bridge's API for embedders: blocking calls from any thread.

use crate::error::RequestError;
use crate::judge::is_for_guest;
use crate::limits::{ActiveRequest, BridgeLimits, BridgeUsage, RequestCounters};
use crate::message::{BodyLength, RequestHead, ResponseHead};
use crate::request::GuestRequest;
use crate::rules::RequestRules;
use crate::transport::body::BodySource;
use crate::transport::connect::ConnectionPool;
use crate::transport::exchange::{ReplySender, RequestJob};
use crate::transport::log::{LogSink, NoLog};
use crate::transport::network::BridgeNetwork;
use crate::transport::pipe::{BodyPipe, OnceSlot};
use crate::transport::proxy::ProxySettings;
use crate::transport::secret::{SecretError, SecretFn, SecretRule, Secrets};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::task::AbortHandle;

/// The requests that a session may make. The default is none.
#[derive(Clone, Default)]
pub struct BridgePolicy {
    pub rules: RequestRules,
    pub limits: BridgeLimits,
    pub secrets: Vec<SecretRule>,
    /// The functions to which `${call:NAME}` in a secret refers.
    pub functions: BTreeMap<String, SecretFn>,
    /// Whether the log omits the values of queries.
    pub hide_query: bool,
    /// The proxies; without them hosts are connected to directly.
    pub proxy: Option<ProxySettings>,
}

impl std::fmt::Debug for BridgePolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy")
            .field("rules", &self.rules)
            .field("limits", &self.limits)
            .field("secrets", &self.secrets)
            .field("hide_query", &self.hide_query)
            .finish_non_exhaustive()
    }
}

/// The outgoing requests of one session. Clones refer to the same bridge.
#[derive(Clone)]
pub struct Bridge {
    shared: Arc<BridgeInner>,
}

pub(crate) struct BridgeInner {
    pub(crate) network: BridgeNetwork,
    pub(crate) rules: RequestRules,
    pub(crate) limits: Arc<BridgeLimits>,
    pub(crate) secrets: Secrets,
    pub(crate) proxy: Option<ProxySettings>,
    pub(crate) sink: Arc<dyn LogSink>,
    pub(crate) log_query: bool,
    pub(crate) counters: Arc<RequestCounters>,
    pub(crate) pool: Arc<ConnectionPool>,
    requests: AtomicU64,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

impl Bridge {
    /// Makes a bridge without a log.
    ///
    /// # Errors
    /// If a secret cannot be read.
    pub fn new(network: &BridgeNetwork, policy: BridgePolicy) -> Result<Self, SecretError> {
        Self::with_log(network, policy, Arc::new(NoLog))
    }

    /// Makes a bridge that logs its requests to `sink`.
    ///
    /// # Errors
    /// If a secret cannot be read.
    pub fn with_log(
        network: &BridgeNetwork,
        policy: BridgePolicy,
        sink: Arc<dyn LogSink>,
    ) -> Result<Self, SecretError> {
        let shared = BridgeInner {
            network: network.clone(),
            rules: policy.rules,
            limits: Arc::new(policy.limits),
            secrets: Secrets::new(policy.secrets, policy.functions)?,
            proxy: policy.proxy,
            sink,
            log_query: !policy.hide_query,
            counters: Arc::default(),
            pool: Arc::default(),
            requests: AtomicU64::new(0),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Begins another call of the session, whose requests are counted from 0.
    pub fn begin_call(&self) {
        self.shared.counters.begin_call();
    }

    /// Returns the totals of the session's requests.
    #[must_use]
    pub fn usage(&self) -> BridgeUsage {
        self.shared.counters.usage()
    }

    /// Returns whether an allowing rule names this host and port ([`RequestRules::names_host`]).
    #[must_use]
    pub fn names_host(&self, host: &str, port: u16) -> bool {
        self.shared.rules.names_host(host, port)
    }

    /// Returns whether a request is for the guest's own machine: its host is a loopback address or
    /// `localhost`, and no rule names it ([`Bridge::names_host`]). Such a request means the
    /// session's own loopback, not the host's, and does not involve the bridge. Malformed requests
    /// do not count.
    #[must_use]
    pub fn is_for_guest(&self, head: &RequestHead) -> bool {
        is_for_guest(&self.shared.rules, &self.shared.limits, head)
    }

    /// Begins a request. Everything that can be judged without the network is judged before this
    /// returns. A body that the head announces is then written to the exchange.
    ///
    /// # Errors
    /// If the request is malformed, not allowed, or exceeds a limit.
    pub fn begin_request(&self, head: &RequestHead) -> Result<BridgeExchange, RequestError> {
        let shared = &self.shared;
        let number = shared.requests.fetch_add(1, Relaxed);
        let mut url = None;
        let checked = GuestRequest::new(head, &shared.limits).and_then(|request| {
            let active = {
                url = Some(request.url.clone());
                shared.rules.check_request(&request)?;
                shared.counters.activate(&shared.limits)?
            };
            if matches!(request.body, BodyLength::Bytes(n) if n > shared.limits.upload) {
                return Err(RequestError::Limit(crate::error::BridgeLimit::Upload));
            }
            Ok((request, active))
        });
        let (request, active) = checked.inspect_err(|e| {
            shared.log_refusal(number, &head.method, url.as_ref(), e);
        })?;
        let (up, down, slot) =
            (Arc::<BodyPipe>::default(), Arc::<BodyPipe>::default(), Arc::default());
        let length = request.body;
        let counters = Arc::clone(&shared.counters);
        let source = BodySource::new(Arc::clone(&up), counters, Arc::clone(&shared.limits));
        let reply = ReplySender {
            head: Arc::clone(&slot),
            body: Arc::clone(&down),
            upload: Arc::clone(&up),
        };
        let bridge = Arc::clone(shared);
        let active = Arc::new(active);
        let _active = Arc::clone(&active);
        let job =
            RequestJob { bridge, number, request, reply, source, push: None, log: None, _active };
        let task = shared.network.handle().spawn(job.run()).abort_handle();
        if matches!(length, BodyLength::None | BodyLength::Bytes(0)) {
            up.end_writing(Ok(()));
        }
        Ok(BridgeExchange {
            up,
            down,
            head: slot,
            task,
            active,
            length,
            written: AtomicU64::new(0),
        })
    }
}

/// A request in progress. Dropping it aborts the request. One thread may write while another one
/// reads.
pub struct BridgeExchange {
    up: Arc<BodyPipe>,
    down: Arc<BodyPipe>,
    head: Arc<OnceSlot<Result<ResponseHead, RequestError>>>,
    task: AbortHandle,
    active: Arc<ActiveRequest>,
    length: BodyLength,
    written: AtomicU64,
}

impl std::fmt::Debug for BridgeExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").field("length", &self.length).finish_non_exhaustive()
    }
}

impl BridgeExchange {
    /// Writes a piece of the body; waits while the server accepts no more. Bytes that a server no
    /// longer wants, because it has answered, are dropped.
    ///
    /// # Errors
    /// If the request has failed, or this is more than was announced.
    pub fn write(&self, bytes: &[u8]) -> Result<(), RequestError> {
        let total = self.written.fetch_add(bytes.len() as u64, Relaxed) + bytes.len() as u64;
        let most = match self.length {
            BodyLength::None => 0,
            BodyLength::Bytes(n) => n,
            BodyLength::Unknown => u64::MAX,
        };
        if total > most {
            self.up.end_writing(Err(RequestError::Length));
            return Err(RequestError::Length);
        }
        if self.up.write_blocking(bytes) {
            return Ok(());
        }
        match self.head.get() {
            Some(Err(e)) => Err(e),
            _ => Ok(()),
        }
    }

    /// Marks the body as complete.
    pub fn finish_body(&self) {
        self.up.end_writing(Ok(()));
    }

    /// Waits for the head of the response.
    ///
    /// # Errors
    /// If the request fails.
    pub fn wait_response(&self) -> Result<ResponseHead, RequestError> {
        self.head.wait_value()
    }

    /// Returns the next piece of the response's body, 64 KiB at most; `None` at its end.
    ///
    /// # Errors
    /// If the body is incomplete. All received bytes are returned before that.
    pub fn read(&self) -> Result<Option<Bytes>, RequestError> {
        self.down.read_blocking()
    }

    /// Aborts the request, which fails all pending reads and writes. Does nothing if it has ended.
    pub fn give_up(&self) {
        self.down.close_reading();
        self.up.close_reading();
        self.task.abort();
        // The task ends a little later, but the next request need not wait for that.
        self.active.end();
    }

    /// Returns the rest of the body, if it is not longer than `most`.
    ///
    /// # Errors
    /// If it is incomplete, or longer.
    pub fn read_to_end(&self, most: usize) -> Result<Vec<u8>, RequestError> {
        let mut out = Vec::new();
        while let Some(piece) = self.read()? {
            if out.len() + piece.len() > most {
                return Err(RequestError::Limit(crate::error::BridgeLimit::Download));
            }
            out.extend_from_slice(&piece);
        }
        Ok(out)
    }
}

impl Drop for BridgeExchange {
    fn drop(&mut self) {
        self.give_up();
    }
}
