//! Spans of requests and calls, sent to an OpenTelemetry collector (OTLP over HTTP, with protobuf
//! bodies). The environment configures the collector, as OpenTelemetry's specification says:
//! nothing is sent if neither `OTEL_EXPORTER_OTLP_ENDPOINT` nor
//! `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set, or if `OTEL_SDK_DISABLED` is `true`.

use axum::http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tracing::Subscriber;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::registry::LookupSpan;

/// A guard that sends the remaining spans when it is dropped.
pub struct TelemetryGuard(SdkTracerProvider);

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Err(e) = self.0.shutdown() {
            tracing::warn!(error = %e, "spans were not sent");
        }
    }
}

/// Returns the layer that collects spans, if the environment names a collector.
pub fn trace_layer<S>() -> Option<(OpenTelemetryLayer<S, Tracer>, TelemetryGuard)>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let is_off = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|v| v.eq_ignore_ascii_case("true"));
    let has_collector =
        is_set("OTEL_EXPORTER_OTLP_ENDPOINT") || is_set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    if is_off || !has_collector {
        return None;
    }
    wasibox_mcp::name_cryptography();
    match SpanExporter::builder().with_http().build() {
        Ok(exporter) => Some(layer_to(exporter)),
        Err(e) => {
            eprintln!("no spans are sent: {e}");
            None
        }
    }
}

fn layer_to<S>(exporter: SpanExporter) -> (OpenTelemetryLayer<S, Tracer>, TelemetryGuard)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let mut resource = Resource::builder();
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name("wasibox");
    }
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.build())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("wasibox"));
    (layer, TelemetryGuard(provider))
}

/// Makes a request's span part of the trace that its headers name (W3C Trace Context).
pub fn follow_trace(span: &tracing::Span, headers: &HeaderMap) {
    let context = TraceContextPropagator::new().extract(&TraceHeaders(headers));
    // A failure is ignored, because a span that no layer collects needs no place in a trace.
    let _ = span.set_parent(context);
}

struct TraceHeaders<'a>(&'a HeaderMap);

impl Extractor for TraceHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|k| k.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
    use std::collections::HashMap;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use tracing_subscriber::layer::SubscriberExt;

    /// Receives one request to a collector and returns its head and its body.
    fn collected(listener: &TcpListener) -> (String, Vec<u8>) {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let n = stream.read(&mut piece).unwrap();
            bytes.extend_from_slice(&piece[..n]);
            let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
            let head = String::from_utf8(bytes[..at].to_vec()).unwrap().to_ascii_lowercase();
            let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")).unwrap();
            if n == 0 || bytes.len() >= at + 4 + length.parse::<usize>().unwrap() {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                return (head, bytes.split_off(at + 4));
            }
        }
    }

    #[test]
    fn a_request_becomes_a_span_of_the_trace_that_it_names() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let collector = std::thread::spawn(move || collected(&listener));
        wasibox_mcp::name_cryptography();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(endpoint)
            .with_headers(HashMap::new())
            .build()
            .unwrap();
        let (layer, sending) = layer_to(exporter);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
            let headers = HeaderMap::from_iter([(
                axum::http::HeaderName::from_static("traceparent"),
                axum::http::HeaderValue::from_static(trace),
            )]);
            let span = tracing::info_span!("request", http.route = "/v1/sessions");
            follow_trace(&span, &headers);
            span.in_scope(|| tracing::info_span!("tool", name = "sandbox_exec").in_scope(|| ()));
        });
        drop(sending);
        let (head, body) = collector.join().unwrap();
        assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        let has = |part: &[u8]| body.windows(part.len()).any(|w| w == part);
        for part in ["request", "http.route", "/v1/sessions", "tool", "sandbox_exec", "wasibox"] {
            assert!(has(part.as_bytes()), "{part}");
        }
        let trace = b"\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c";
        assert!(has(trace) && has(b"\xb7\xad\x6b\x71\x69\x20\x33\x31"), "the trace's numbers");
    }
}
