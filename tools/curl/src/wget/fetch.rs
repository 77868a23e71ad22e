//! One URL: tries, redirects, handling of the status, and writing the document to its file.

use std::fs::File;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use box_applet::{Ctx, clock};

use super::Fault;
use super::log::{Dots, WgetLog, human_size, plain_text, quote_name, speed_text};
use super::options::WgetOptions;
use super::request::{MissingPostFile, TryExtras, WgetHop};
use super::save::{self, DocumentPlace};
use crate::cookies::Jar;
use crate::error::CurlError;
use crate::exchange::{self, OpenResponse};
use crate::head;
use crate::url::Url;
use crate::world::TransferHost;

/// GNU's defaults: the number of tries, of redirects, and of seconds that a wait may last.
const TRIES: f64 = 20.0;
const REDIRECTS: f64 = 20.0;
const WAIT: f64 = 10.0;

/// The state that all transfers of a command share.
pub(super) struct WgetRun<'a, 'c> {
    pub(super) ctx: &'a mut Ctx<'c>,
    pub(super) world: &'a mut dyn TransferHost,
    asked: &'a WgetOptions,
    pub(super) log: WgetLog,
    pub(super) jar: Jar,
    /// The file of `-O`, once it is open.
    shared: Option<Rc<File>>,
    /// The number of files fetched in total.
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) time: Duration,
}

/// The reason why a try failed, and whether another one may follow.
enum TryEnd {
    Done,
    /// Another try may help. It may continue after this number of bytes.
    Again(u64),
    Failed(Fault),
}

/// The next step after a response.
enum ResponseStep {
    /// The response is the document, or an error.
    Here,
    /// The request is repeated with user and password.
    Authorized,
    On(Box<WgetHop>),
    Failed(Fault),
}

/// The state of one URL's download.
struct WgetDocument {
    /// The URL as given.
    given: String,
    url: Url,
    place: Option<DocumentPlace>,
    /// The number of bytes to continue from.
    start: u64,
    tries: u32,
    /// Whether bytes were written to an output that cannot be truncated.
    spilt: bool,
}

/// The result of reading a body, whether complete or not.
struct ReadBody {
    got: u64,
    whole: Option<u64>,
    took: Duration,
    fault: Option<CurlError>,
}

impl<'a, 'c> WgetRun<'a, 'c> {
    pub(super) fn new(
        ctx: &'a mut Ctx<'c>,
        world: &'a mut dyn TransferHost,
        asked: &'a WgetOptions,
        log: WgetLog,
        jar: Jar,
    ) -> WgetRun<'a, 'c> {
        let (shared, time) = (None, Duration::ZERO);
        WgetRun { ctx, world, asked, log, jar, shared, files: 0, bytes: 0, time }
    }

    fn say_verbose(&mut self, text: &str) {
        self.log.say_verbose(self.ctx, text);
    }

    fn say_always(&mut self, text: &str) {
        self.log.say_always(self.ctx, text);
    }

    /// Fetches one URL.
    pub(super) fn fetch_url(&mut self, text: &[u8]) -> Result<(), Fault> {
        let url = Url::parse(text).map_err(|e| {
            let why = match e {
                CurlError::Protocol(scheme) => {
                    format!("Unsupported scheme {}", quote_name(scheme.as_bytes()))
                }
                _ => "Invalid URL".into(),
            };
            self.say_always(&format!("{}: {why}.\n", plain_text(text)));
            Fault::Other
        })?;
        let given = String::from_utf8_lossy(&url.text()).into_owned();
        let mut doc = WgetDocument { given, url, place: None, start: 0, tries: 1, spilt: false };
        if self.is_there(&doc) {
            return Ok(());
        }
        let most = self.asked.tries.unwrap_or(TRIES);
        loop {
            match self.attempt_fetch(&mut doc) {
                TryEnd::Done => return Ok(()),
                TryEnd::Failed(fault) => return Err(fault),
                TryEnd::Again(_) if doc.spilt || (most > 0.0 && f64::from(doc.tries) >= most) => {
                    self.say_always("Giving up.\n\n");
                    return Err(Fault::Network);
                }
                TryEnd::Again(start) => {
                    self.say_verbose("Retrying.\n\n");
                    doc.start = start;
                    let wait = self.asked.wait_retry.unwrap_or(WAIT).min(f64::from(doc.tries));
                    self.world.sleep(Duration::from_secs_f64(wait));
                    doc.tries += 1;
                }
            }
        }
    }

    /// Returns whether the file exists and `-nc` keeps it.
    fn is_there(&mut self, doc: &WgetDocument) -> bool {
        let name = match &self.asked.document {
            Some(name) => name.clone(),
            None => save::placed_name(self.asked, &save::name_of(&doc.url)),
        };
        let is_there = self.asked.no_clobber && self.ctx.path(&name).exists();
        if is_there {
            self.say_verbose(&format!(
                "File {} already there; not retrieving.\n\n",
                quote_name(&name)
            ));
        }
        is_there
    }

    fn attempt_fetch(&mut self, doc: &mut WgetDocument) -> TryEnd {
        let mut hop = match WgetHop::first(self.ctx, self.asked, doc.url.clone()) {
            Ok(hop) => hop,
            Err(MissingPostFile(name)) => {
                self.say_always(&format!("BODY data file {} missing\n", quote_name(&name)));
                return TryEnd::Failed(Fault::File);
            }
        };
        if self.asked.spider {
            self.say_verbose("Spider mode enabled. Check if remote file exists.\n");
        }
        let tries = if doc.tries > 1 { format!("(try:{:2})  ", doc.tries) } else { String::new() };
        self.head_line(&tries, &hop.url);
        let extra = self.try_extras(doc);
        let mut redirects = 0.0;
        loop {
            let exchange = match self.send_hop(&hop, &extra) {
                Ok(exchange) => exchange,
                Err(ended) => return ended,
            };
            let next = self.follow_response(&hop, &exchange);
            if !matches!(next, ResponseStep::Here) {
                exchange.close(self.world);
            }
            match next {
                ResponseStep::Here => {}
                ResponseStep::Failed(fault) => return TryEnd::Failed(fault),
                ResponseStep::Authorized => {
                    hop.authorized = true;
                    continue;
                }
                ResponseStep::On(next) => {
                    hop = *next;
                    redirects += 1.0;
                    let most = self.asked.redirects.unwrap_or(REDIRECTS);
                    if redirects > most {
                        self.say_always(&format!("{most} redirections exceeded.\n"));
                        return TryEnd::Failed(Fault::Server);
                    }
                    self.head_line("", &hop.url);
                    continue;
                }
            }
            let ended = self.take_response(doc, &hop, &exchange, &extra);
            exchange.close(self.world);
            return ended;
        }
    }

    fn head_line(&mut self, tries: &str, url: &Url) {
        let (now, url) = (self.log.time_stamp(), plain_text(&url.text()));
        self.say_verbose(&format!("--{now}--  {tries}{url}\n"));
    }

    /// Returns the extra conditions of a try: to send a part of the document, or the document only
    /// if it is newer.
    fn try_extras(&mut self, doc: &mut WgetDocument) -> TryExtras {
        let mut extra = TryExtras { start: doc.start, ..TryExtras::default() };
        if self.asked.document.is_none() && doc.place.is_none() {
            let name = save::placed_name(self.asked, &save::name_of(&doc.url));
            let path = self.ctx.path(&name);
            if self.asked.newer {
                extra.since = save::since_header(&path);
            }
            if self.asked.resume {
                extra.start = DocumentPlace::Own(name, path).len(self.ctx);
            }
        } else if let (Some(name), true) = (&self.asked.document, self.asked.resume)
            && name != b"-"
        {
            extra.start = DocumentPlace::Shared(name.clone()).len(self.ctx);
        }
        extra
    }

    /// Sends the request and reports the result.
    fn send_hop(&mut self, hop: &WgetHop, extra: &TryExtras) -> Result<OpenResponse, TryEnd> {
        let place = format!("{}:{}", plain_text(&hop.url.host), hop.url.port());
        self.say_verbose(&format!("Connecting to {place}... "));
        let cookie = self.jar.cookie_header(&hop.url, clock::current_time().0);
        let extra = TryExtras { cookie, start: extra.start, since: extra.since.clone() };
        let request = hop.to_request(self.asked, &extra);
        let sent = exchange::open_exchange(self.world, self.ctx, request, &hop.body, &hop.url);
        let exchange = sent.map_err(|e| self.not_sent(hop, &e))?;
        let response = &exchange.head;
        self.jar.keep_from(response, &hop.url, clock::current_time().0);
        let reason = head::reason_phrase(response.status);
        let status = response.status;
        self.say_verbose("connected.\nHTTP request sent, awaiting response... ");
        if self.asked.show_head {
            let text = String::from_utf8_lossy(&head::head_text(response)).into_owned();
            let lines: Vec<String> = text
                .lines()
                .filter(|l| !l.is_empty())
                .map(|l| format!("  {}\n", plain_text(l.as_bytes())))
                .collect();
            self.say_always(&format!("\n{}", lines.concat()));
        } else {
            self.say_verbose(&format!("{}\n", format!("{status} {reason}").trim_end()));
        }
        Ok(exchange)
    }

    fn not_sent(&mut self, hop: &WgetHop, e: &CurlError) -> TryEnd {
        let why = e.to_string();
        match e.code() {
            7 => {
                self.say_always(&format!("failed: {why}.\n"));
                let again = self.asked.refused_too && !matches!(e, CurlError::Denied(_));
                if again { TryEnd::Again(0) } else { TryEnd::Failed(Fault::Network) }
            }
            6 => {
                let host = quote_name(&hop.url.host);
                self.say_always(&format!(
                    "failed: {why}.\nwget: unable to resolve host address {host}\n"
                ));
                TryEnd::Failed(Fault::Network)
            }
            35 | 60 => {
                self.say_always(&format!("\nERROR: {why}.\n"));
                TryEnd::Failed(Fault::Tls)
            }
            8 | 43 | 61 | 63 => {
                self.say_always(&format!("\nERROR: {why}.\n"));
                TryEnd::Failed(Fault::Protocol)
            }
            26 => {
                self.say_always(&format!("\n{why}.\n"));
                TryEnd::Failed(Fault::File)
            }
            1 | 3 => {
                self.say_always(&format!("\n{why}.\n"));
                TryEnd::Failed(Fault::Other)
            }
            52 => {
                self.say_verbose("connected.\nHTTP request sent, awaiting response... ");
                self.say_always("No data received.\n");
                TryEnd::Again(0)
            }
            _ => {
                self.say_always(&format!("failed: {why}.\n"));
                if hop.body.can_be_repeated() {
                    TryEnd::Again(0)
                } else {
                    TryEnd::Failed(Fault::Network)
                }
            }
        }
    }

    /// Returns the next step after a redirect or a request for a password.
    fn follow_response(&mut self, hop: &WgetHop, exchange: &OpenResponse) -> ResponseStep {
        let status = exchange.head.status;
        if status == 401 {
            let challenge =
                head::header_value(&exchange.head, "www-authenticate").unwrap_or_default();
            let is_basic = challenge.get(..5).is_some_and(|c| c.eq_ignore_ascii_case(b"basic"));
            if is_basic && !hop.authorized && hop.user_and_password(self.asked).is_some() {
                let shown = plain_text(challenge);
                self.say_verbose(&format!("Authentication selected: {shown}\n"));
                return ResponseStep::Authorized;
            }
            self.say_verbose("\nUsername/Password Authentication Failed.\n");
            return ResponseStep::Failed(Fault::Auth);
        }
        let location = head::header_value(&exchange.head, "location");
        let Some(location) = location.filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308))
        else {
            return ResponseStep::Here;
        };
        self.say_verbose(&format!("Location: {} [following]\n", plain_text(location)));
        match hop.url.join(location) {
            Ok(url) => {
                let next = hop.follow_redirect(status, url);
                if next.body.can_be_repeated() {
                    return ResponseStep::On(Box::new(next));
                }
                self.say_always("The body cannot be sent again.\n");
                ResponseStep::Failed(Fault::Other)
            }
            Err(e) => {
                self.say_always(&format!("{}: {e}.\n", plain_text(location)));
                ResponseStep::Failed(Fault::Server)
            }
        }
    }

    /// Handles a response that is not redirected.
    fn take_response(
        &mut self,
        doc: &mut WgetDocument,
        hop: &WgetHop,
        exchange: &OpenResponse,
        extra: &TryExtras,
    ) -> TryEnd {
        let status = exchange.head.status;
        let length = head::header_value(&exchange.head, "content-length");
        let length: Option<u64> = length.and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
        if status == 304 && extra.since.is_some() {
            let name = save::placed_name(self.asked, &save::name_of(&doc.url));
            let text = format!(
                "File {} not modified on server. Omitting download.\n\n",
                quote_name(&name)
            );
            self.say_verbose(&text);
            return TryEnd::Done;
        }
        let is_whole = status == 200 && length.is_some_and(|n| extra.start >= n);
        if extra.start > 0 && (status == 416 || is_whole) {
            self.say_verbose("\n    The file is already fully retrieved; nothing to do.\n\n");
            return TryEnd::Done;
        }
        if self.asked.spider {
            return self.report_spider(status, length, exchange);
        }
        if status >= 400 || !(200..300).contains(&status) {
            self.report_error(doc, status);
            if !self.asked.on_error {
                return TryEnd::Failed(Fault::Server);
            }
        }
        let start = if status == 206 { extra.start } else { 0 };
        self.report_length(length, start, exchange);
        let ended = self.deliver_body(doc, hop, exchange, start, length.map(|n| n + start));
        match ended {
            TryEnd::Done if status >= 400 => TryEnd::Failed(Fault::Server),
            ended => ended,
        }
    }

    fn report_error(&mut self, doc: &WgetDocument, status: u16) {
        let (now, reason) = (self.log.time_stamp(), head::reason_phrase(status));
        let line = format!("{}:\n", plain_text(doc.given.as_bytes()));
        self.log.say_terse(self.ctx, &line);
        self.say_always(&format!("{now} ERROR {status}: {reason}.\n"));
        self.say_verbose("\n");
    }

    fn report_spider(
        &mut self,
        status: u16,
        length: Option<u64>,
        exchange: &OpenResponse,
    ) -> TryEnd {
        if status >= 400 {
            self.say_verbose("Remote file does not exist -- broken link!!!\n\n");
            return TryEnd::Failed(Fault::Server);
        }
        self.report_length(length, 0, exchange);
        let kind = head::header_value(&exchange.head, "content-type").unwrap_or(b"text/html");
        let is_page = kind.starts_with(b"text/html") || kind.starts_with(b"application/xhtml");
        self.say_verbose(if is_page {
            "Remote file exists and could contain further links,\n\
             but recursion is disabled -- not retrieving.\n\n"
        } else {
            "Remote file exists.\n\n"
        });
        TryEnd::Done
    }

    fn report_length(&mut self, length: Option<u64>, start: u64, exchange: &OpenResponse) {
        let mut text = "Length: ".to_owned();
        match length {
            Some(n) => {
                let sized = |n: u64| match n {
                    0..1024 => n.to_string(),
                    n => format!("{n} ({})", human_size(n)),
                };
                text += &sized(n + start);
                if start > 0 {
                    text += &format!(", {} remaining", sized(n));
                }
            }
            None => text += "unspecified",
        }
        if let Some(kind) = head::header_value(&exchange.head, "content-type") {
            let kind = kind.split(|b| *b == b';').next().unwrap_or(kind);
            text += &format!(" [{}]", plain_text(kind.trim_ascii()));
        }
        self.say_verbose(&(text + "\n"));
    }

    /// Returns the destination of the document: the first try's, or else the one that the response
    /// implies.
    fn choose_place(
        &mut self,
        doc: &mut WgetDocument,
        hop: &WgetHop,
        exchange: &OpenResponse,
        start: u64,
    ) -> DocumentPlace {
        if let Some(place) = doc.place.take() {
            return place;
        }
        let place = match &self.asked.document {
            Some(name) if name == b"-" => DocumentPlace::Stdout,
            Some(name) => DocumentPlace::Shared(name.clone()),
            None => {
                let url = if self.asked.trust_names { &hop.url } else { &doc.url };
                let given = head::file_name(&exchange.head).filter(|_| self.asked.disposition);
                let name = given.map_or_else(|| save::name_of(url), |name| save::safe_name(&name));
                let name = save::placed_name(self.asked, &name);
                let keeps = start > 0 || self.asked.newer || self.asked.resume;
                let name = if keeps { name } else { save::unused_name(self.ctx, name) };
                let path = self.ctx.path(&name);
                DocumentPlace::Own(name, path)
            }
        };
        let shown = quote_name(place.shown_name());
        self.say_verbose(&format!("Saving to: {shown}\n"));
        place
    }

    fn deliver_body(
        &mut self,
        doc: &mut WgetDocument,
        hop: &WgetHop,
        exchange: &OpenResponse,
        start: u64,
        whole: Option<u64>,
    ) -> TryEnd {
        let was_placed = doc.place.is_some();
        let place = self.choose_place(doc, hop, exchange, start);
        if was_placed {
            let shown = quote_name(place.shown_name());
            self.say_verbose(&format!("Saving to: {shown}\n"));
        }
        let file = match self.open_place(&place, start) {
            Ok(file) => file,
            Err(e) => {
                let name = plain_text(place.shown_name());
                self.say_always(&format!("{name}: {}\n", box_sys::error_text(&e)));
                return TryEnd::Failed(Fault::File);
            }
        };
        let body = match self.copy_body(exchange, file.as_deref(), start, whole, &hop.url) {
            Ok(body) => body,
            Err(e) => {
                if e.kind() != io::ErrorKind::BrokenPipe {
                    let name = quote_name(place.shown_name());
                    let why = box_sys::error_text(&e);
                    self.say_always(&format!("\nCannot write to {name} ({why}).\n"));
                }
                return TryEnd::Failed(Fault::File);
            }
        };
        drop(file);
        let ended = self.report_end(&place, exchange, &body, &doc.given, start);
        if !matches!(ended, TryEnd::Done) {
            doc.spilt |= !matches!(place, DocumentPlace::Own(..));
        }
        doc.place = Some(place);
        ended
    }

    /// Opens the destination; returns `None` for standard output.
    fn open_place(&mut self, place: &DocumentPlace, start: u64) -> io::Result<Option<Rc<File>>> {
        match place {
            DocumentPlace::Stdout => Ok(None),
            DocumentPlace::Own(_, path) => {
                save::open_document(path, start).map(|file| Some(Rc::new(file)))
            }
            DocumentPlace::Shared(name) => {
                if self.shared.is_none() {
                    self.shared = Some(Rc::new(save::open_shared(self.ctx, name, start > 0)?));
                }
                Ok(self.shared.clone())
            }
        }
    }

    /// Copies the body to its destination. The error is one of writing.
    fn copy_body(
        &mut self,
        exchange: &OpenResponse,
        file: Option<&File>,
        start: u64,
        whole: Option<u64>,
        url: &Url,
    ) -> io::Result<ReadBody> {
        if self.asked.save_head {
            write_bytes(self.ctx, file, &head::head_text(&exchange.head))?;
        }
        let mut dots = Dots::new(&mut self.log, self.ctx, whole, start);
        let (mut got, mut fault) = (start, None);
        loop {
            match exchange.read(self.world, url) {
                Ok(Some(part)) => {
                    write_bytes(self.ctx, file, &part)?;
                    got += part.len() as u64;
                    dots.add_bytes(&mut self.log, self.ctx, part.len() as u64);
                }
                Ok(None) => break,
                Err(e) => {
                    fault = Some(e);
                    break;
                }
            }
        }
        let took = dots.end(&mut self.log, self.ctx);
        Ok(ReadBody { got, whole, took, fault })
    }

    /// Reports the result of the transfer.
    fn report_end(
        &mut self,
        place: &DocumentPlace,
        exchange: &OpenResponse,
        body: &ReadBody,
        given: &str,
        start: u64,
    ) -> TryEnd {
        let now = self.log.time_stamp();
        let rate = speed_text(body.got - start, body.took);
        if let Some(fault) = &body.fault {
            let how = match fault.code() {
                18 => format!("Connection closed at byte {}", body.got),
                _ => format!("Read error at byte {} ({fault})", body.got),
            };
            self.say_always(&format!("{now} ({rate}) - {how}. "));
            let ranges = head::header_value(&exchange.head, "accept-ranges");
            let goes_on = ranges == Some(b"bytes") || exchange.head.status == 206;
            return TryEnd::Again(if goes_on { body.got } else { 0 });
        }
        let sizes = match body.whole {
            Some(whole) => format!("[{}/{whole}]", body.got),
            None => format!("[{}]", body.got),
        };
        let is_stdout = matches!(place, DocumentPlace::Stdout);
        let name = place.shown_name().to_vec();
        let text = if is_stdout {
            format!("{now} ({rate}) - written to stdout {sizes}\n\n")
        } else {
            format!("{now} ({rate}) - {} saved {sizes}\n\n", quote_name(&name))
        };
        self.say_verbose(&text);
        let shown = if is_stdout { "-".to_owned() } else { plain_text(&name) };
        let line =
            format!("{now} URL:{} {sizes} -> \"{shown}\" [1]\n", plain_text(given.as_bytes()));
        self.log.say_terse(self.ctx, &line);
        if let (DocumentPlace::Own(_, path), false) = (place, self.asked.no_times)
            && let Some(time) = head::header_value(&exchange.head, "last-modified")
        {
            save::set_time(path, time);
        }
        self.files += 1;
        self.bytes += body.got - start;
        self.time += body.took;
        TryEnd::Done
    }
}

fn write_bytes(ctx: &mut Ctx<'_>, file: Option<&File>, bytes: &[u8]) -> io::Result<()> {
    match file {
        Some(mut file) => file.write_all(bytes),
        None => save::write_stdout(ctx, bytes),
    }
}
