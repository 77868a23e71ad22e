/* Implements the part of libcurl's interface that git uses (curl/curl.h), over the host's node for
 * HTTP requests.
 *
 * The messages are those of tools/abi/src/http.rs. The host checks each request against the
 * policy's rules, resolves names, speaks TLS, and adds secrets that the guest does not see.
 *
 * A whole transfer runs in one call of curl_multi_perform(), so at most one is active. Deliberately
 * absent are compressed responses (none are requested), cookies, proxies, and servers on the
 * session's own loopback.
 */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The node, and the maximum number of bytes of a body in one message. */
static const char NODE[] = "/.box/http";
enum { PART = 256 << 10 };

enum step { OPEN = 1, BODY, END, READ, CLOSE };
enum answer { OPENED = 1, DONE, HEAD, BODY_PART, FAILED, OWN };

/* The maximum number of redirects of a transfer without a limit of its own. */
enum { REDIRECTS = 20 };

struct transfer {
    /* Copies of options. */
    char *url, *method, *agent, *range, *user, *password;
    /* Options that belong to the caller. */
    const struct curl_slist *headers;
    const char *fields;
    void *write_data, *header_data, *read_data;
    curl_write_callback write, header;
    curl_read_callback read;
    char *error;
    curl_off_t fields_size;
    long redirects;
    bool post, upload, no_body, follows, fails_on_error;
    /* The result. */
    long status, challenges;
    char *effective_url, *content_type;
    CURLcode result;
    bool is_queued, is_done;
    struct transfer *next;
};

struct multi {
    struct transfer *first;
    CURLMsg message;
};

/* ---- memory ---- */

/* Returns `memory`. If it is NULL, ends the process as git does. */
static void *require(void *memory)
{
    if (memory == NULL) {
        (void)fputs("fatal: Out of memory\n", stderr);
        exit(128);
    }
    return memory;
}

static void set_text(char **to, const char *from)
{
    free(*to);
    *to = from != NULL ? require(strdup(from)) : NULL;
}

/* A growing buffer of bytes. */
struct buffer {
    unsigned char *at;
    size_t size, room;
};

static void reserve(struct buffer *buffer, size_t more)
{
    if (buffer->size + more > buffer->room) {
        buffer->room = (buffer->size + more) * 2;
        buffer->at = require(realloc(buffer->at, buffer->room));
    }
}

static void put(struct buffer *buffer, const void *from, size_t size)
{
    reserve(buffer, size);
    memcpy(buffer->at + buffer->size, from, size);
    buffer->size += size;
}

/* ---- messages ---- */

static void put_number(struct buffer *buffer, uint64_t value, int size)
{
    unsigned char bytes[8];
    for (int i = 0; i < size; i++)
        bytes[i] = value >> (8 * i) & 0xff;
    put(buffer, bytes, (size_t)size);
}

static void put_bytes(struct buffer *buffer, const char *bytes, size_t size)
{
    put_number(buffer, size, 4);
    put(buffer, bytes, size);
}

/* A reader of the fields of an answer. Fields beyond its end are empty. */
struct fields {
    const unsigned char *at, *end;
};

static uint64_t take_number(struct fields *fields, int size)
{
    uint64_t value = 0;
    if (fields->end - fields->at < size)
        return 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)fields->at[i] << (8 * i);
    fields->at += size;
    return value;
}

static const char *take_bytes(struct fields *fields, size_t *size)
{
    *size = (size_t)take_number(fields, 4);
    if (*size > (size_t)(fields->end - fields->at))
        *size = (size_t)(fields->end - fields->at);
    const char *bytes = (const char *)fields->at;
    fields->at += *size;
    return bytes;
}

/* Returns the open node, or -1 if the policy allows no requests. */
static int open_node(void)
{
    static int node = -2;
    if (node == -2)
        node = open(NODE, O_RDWR | O_CLOEXEC);
    return node;
}

/* Sends a message and reads its answer. Returns the answer's tag, or -1 if there is no answer. */
static int exchange(const struct buffer *message, struct buffer *answer)
{
    int node = open_node();
    answer->size = 0;
    if (node < 0 || write(node, message->at, message->size) < 0)
        return -1;
    for (;;) {
        reserve(answer, PART + 4096);
        ssize_t got = read(node, answer->at + answer->size, answer->room - answer->size);
        if (got < 0)
            return -1;
        if (got == 0)
            return answer->size > 0 ? answer->at[0] : -1;
        answer->size += (size_t)got;
    }
}

/* Sends a step of request `number`, like exchange(). */
static int send_step(enum step kind, uint64_t number, const void *body, size_t size,
                     struct buffer *answer)
{
    struct buffer message = {0};
    put_number(&message, kind, 1);
    put_number(&message, number, 8);
    put(&message, body, size);
    int tag = exchange(&message, answer);
    free(message.at);
    return tag;
}

/* ---- one transfer ---- */

/* Writes the error message for an unexpected answer, and returns its code. */
static CURLcode report_failure(struct transfer *t, int tag, const struct buffer *answer)
{
    CURLcode code = CURLE_COULDNT_CONNECT;
    char unused[CURL_ERROR_SIZE], *text = t->error != NULL ? t->error : unused;
    if (tag == FAILED && answer->size >= 2) {
        code = (CURLcode)answer->at[1];
        (void)snprintf(text, CURL_ERROR_SIZE, "%.*s", (int)(answer->size - 2),
                       (const char *)answer->at + 2);
    } else if (tag == OWN) {
        (void)snprintf(text, CURL_ERROR_SIZE,
                       "git does not reach servers of the session's own loopback");
    } else if (open_node() < 0) {
        (void)snprintf(text, CURL_ERROR_SIZE, "%s is not allowed by the sandbox's policy", t->url);
    } else {
        (void)snprintf(text, CURL_ERROR_SIZE, "no answer from the host");
    }
    return code != CURLE_OK ? code : CURLE_COULDNT_CONNECT;
}

static char *base64(const char *text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = strlen(text);
    char *result = require(malloc((size + 2) / 3 * 4 + 1)), *to = result;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = (uint32_t)(unsigned char)text[i] << 16;
        if (i + 1 < size)
            group |= (uint32_t)(unsigned char)text[i + 1] << 8;
        if (i + 2 < size)
            group |= (unsigned char)text[i + 2];
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = i + 1 < size ? digits[group >> 6 & 63] : '=';
        *to++ = i + 2 < size ? digits[group & 63] : '=';
    }
    *to = '\0';
    return result;
}

/* The header fields of a request. */
struct request_head {
    struct buffer fields;
    uint32_t count;
    bool has_type, has_authorization, is_chunked;
};

static void put_header(struct request_head *head, const char *name, size_t name_size,
                       const char *value)
{
    put_bytes(&head->fields, name, name_size);
    put_bytes(&head->fields, value, strlen(value));
    head->count++;
}

static bool is_name(const char *name, size_t size, const char *wanted)
{
    return strlen(wanted) == size && strncasecmp(name, wanted, size) == 0;
}

static void put_own_headers(struct request_head *head, const struct transfer *t)
{
    for (const struct curl_slist *at = t->headers; at != NULL; at = at->next) {
        const char *name = at->data, *colon = strchr(name, ':');
        if (colon == NULL)
            continue;
        size_t size = (size_t)(colon - name);
        const char *value = colon + 1 + strspn(colon + 1, " \t");
        /* The host decides how the body is sent. A header without a value is omitted, because it
         * removes one of curl's own. */
        if (is_name(name, size, "Transfer-Encoding"))
            head->is_chunked = true;
        else if (*value != '\0' && !is_name(name, size, "Expect"))
            put_header(head, name, size, value);
        head->has_type |= is_name(name, size, "Content-Type");
        head->has_authorization |= is_name(name, size, "Authorization");
    }
}

static void put_derived_headers(struct request_head *head, const struct transfer *t)
{
    if (t->agent != NULL)
        put_header(head, "User-Agent", 10, t->agent);
    if (t->range != NULL) {
        char value[80];
        (void)snprintf(value, sizeof value, "bytes=%s", t->range);
        put_header(head, "Range", 5, value);
    }
    if (t->user != NULL && *t->user != '\0' && !head->has_authorization) {
        struct buffer pair = {0}, value = {0};
        put(&pair, t->user, strlen(t->user));
        put(&pair, ":", 1);
        if (t->password != NULL)
            put(&pair, t->password, strlen(t->password));
        put(&pair, "", 1);
        char *encoded = base64((char *)pair.at);
        put(&value, "Basic ", 6);
        put(&value, encoded, strlen(encoded) + 1);
        put_header(head, "Authorization", 13, (char *)value.at);
        free(encoded);
        free(pair.at);
        free(value.at);
    }
    if (t->post && !head->has_type)
        put_header(head, "Content-Type", 12, "application/x-www-form-urlencoded");
}

/* Adds the URL without `user:password@`, which git also passes by options. */
static void put_url(struct buffer *message, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL ? scheme + 3 : url;
    const char *at = memchr(host, '@', strcspn(host, "/?#"));
    const char *rest = at != NULL ? at + 1 : host;
    size_t before = (size_t)(host - url), after = strlen(rest);
    put_number(message, before + after, 4);
    put(message, url, before);
    put(message, rest, after);
}

/* Opens the request, and sets `number` to the host's number for it. */
static CURLcode open_request(struct transfer *t, uint64_t *number, struct buffer *answer)
{
    struct request_head head = {0};
    put_own_headers(&head, t);
    put_derived_headers(&head, t);
    bool has_body = t->post || t->upload;
    const char *method = t->method != NULL ? t->method
        : t->upload                        ? "PUT"
        : t->post                          ? "POST"
        : t->no_body                       ? "HEAD"
                                           : "GET";
    curl_off_t size = !has_body ? 0 : head.is_chunked ? -1 : t->fields_size;
    if (has_body && t->fields != NULL && t->fields_size < 0)
        size = (curl_off_t)strlen(t->fields);
    struct buffer message = {0};
    put_number(&message, OPEN, 1);
    put_bytes(&message, method, strlen(method));
    put_url(&message, t->url);
    put_number(&message, head.count, 4);
    put(&message, head.fields.at, head.fields.size);
    put_number(&message, size >= 0, 1);
    put_number(&message, size >= 0 ? (uint64_t)size : 0, 8);
    long redirects = t->redirects > 0 ? t->redirects : REDIRECTS;
    put_number(&message, t->follows ? (uint64_t)redirects : 0, 4);
    put_number(&message, 0, 8); /* the policy's time limits */
    put_number(&message, 0, 8);
    int tag = exchange(&message, answer);
    free(message.at);
    free(head.fields.at);
    if (tag != OPENED)
        return report_failure(t, tag, answer);
    struct fields fields = {answer->at + 1, answer->at + answer->size};
    *number = take_number(&fields, 8);
    return CURLE_OK;
}

static CURLcode send_body(struct transfer *t, uint64_t number, struct buffer *answer)
{
    if (t->fields != NULL) {
        size_t size = t->fields_size >= 0 ? (size_t)t->fields_size : strlen(t->fields);
        for (size_t at = 0; at < size; at += PART) {
            int tag = send_step(BODY, number, t->fields + at,
                                size - at < PART ? size - at : PART, answer);
            if (tag != DONE)
                return report_failure(t, tag, answer);
        }
        return CURLE_OK;
    }
    if (t->read == NULL)
        return CURLE_OK;
    CURLcode result = CURLE_OK;
    char *part = require(malloc(PART));
    for (;;) {
        size_t size = t->read(part, 1, PART, t->read_data);
        if (size > PART)
            result = CURLE_ABORTED_BY_CALLBACK;
        if (size == 0 || size > PART)
            break;
        int tag = send_step(BODY, number, part, size, answer);
        if (tag != DONE) {
            result = report_failure(t, tag, answer);
            break;
        }
    }
    free(part);
    return result;
}

/* Passes a line of the response's head to the caller. */
static void give_line(struct transfer *t, char *line, size_t size)
{
    if (t->header != NULL)
        (void)t->header(line, 1, size, t->header_data);
}

static void take_header(struct transfer *t, struct fields *fields)
{
    size_t name_size, value_size;
    const char *name = take_bytes(fields, &name_size), *value = take_bytes(fields, &value_size);
    if (is_name(name, name_size, "Content-Type")) {
        free(t->content_type);
        t->content_type = require(strndup(value, value_size));
    }
    if (is_name(name, name_size, "WWW-Authenticate") && value_size >= 5
        && strncasecmp(value, "Basic", 5) == 0)
        t->challenges |= CURLAUTH_BASIC;
    struct buffer line = {0};
    put(&line, name, name_size);
    put(&line, ": ", 2);
    put(&line, value, value_size);
    put(&line, "\r\n", 2);
    give_line(t, (char *)line.at, line.size);
    free(line.at);
}

static void take_head(struct transfer *t, const struct buffer *answer)
{
    struct fields fields = {answer->at + 1, answer->at + answer->size};
    char line[64];
    t->status = (long)take_number(&fields, 2);
    int version = (int)take_number(&fields, 1);
    size_t size;
    const char *url = take_bytes(&fields, &size);
    if (take_number(&fields, 4) > 0) {
        free(t->effective_url);
        t->effective_url = require(strndup(url, size));
    }
    int length = snprintf(line, sizeof line, "HTTP/%d.%d %ld \r\n", version / 10, version % 10,
                          t->status);
    give_line(t, line, (size_t)length);
    for (uint64_t left = take_number(&fields, 4); left > 0 && fields.at < fields.end; left--)
        take_header(t, &fields);
    give_line(t, (char[]){"\r\n"}, 2);
}

static CURLcode take_body(struct transfer *t, uint64_t number, struct buffer *answer)
{
    while (!t->no_body) {
        int tag = send_step(READ, number, NULL, 0, answer);
        if (tag != BODY_PART)
            return report_failure(t, tag, answer);
        size_t size = answer->size - 1;
        if (size == 0)
            break;
        char *part = (char *)answer->at + 1;
        size_t taken = t->write != NULL
            ? t->write(part, 1, size, t->write_data)
            : fwrite(part, 1, size, t->write_data != NULL ? t->write_data : stdout);
        if (taken != size)
            return CURLE_WRITE_ERROR;
    }
    return CURLE_OK;
}

/* Runs the steps between the opened request and its end. */
static CURLcode run_steps(struct transfer *t, uint64_t number, struct buffer *answer)
{
    CURLcode result = t->post || t->upload ? send_body(t, number, answer) : CURLE_OK;
    if (result != CURLE_OK)
        return result;
    int tag = send_step(END, number, NULL, 0, answer);
    if (tag != HEAD)
        return report_failure(t, tag, answer);
    take_head(t, answer);
    if (t->fails_on_error && t->status >= 400) {
        if (t->error != NULL)
            (void)snprintf(t->error, CURL_ERROR_SIZE, "The requested URL returned error: %ld",
                           t->status);
        return CURLE_HTTP_RETURNED_ERROR;
    }
    return take_body(t, number, answer);
}

static void clear_result(struct transfer *t)
{
    set_text(&t->effective_url, NULL);
    set_text(&t->content_type, NULL);
    t->status = t->challenges = 0;
    if (t->error != NULL)
        *t->error = '\0';
}

static CURLcode run_transfer(struct transfer *t)
{
    struct buffer answer = {0};
    uint64_t number;
    clear_result(t);
    if (t->url == NULL)
        return CURLE_URL_MALFORMAT;
    CURLcode result = open_request(t, &number, &answer);
    if (result == CURLE_OK) {
        result = run_steps(t, number, &answer);
        (void)send_step(CLOSE, number, NULL, 0, &answer);
    }
    free(answer.at);
    return result;
}

/* ---- easy handles ---- */

CURL *curl_easy_init(void)
{
    struct transfer *t = calloc(1, sizeof *t);
    if (t != NULL)
        t->fields_size = -1;
    return t;
}

void curl_easy_cleanup(CURL *handle)
{
    struct transfer *t = handle;
    char **texts[] = {&t->url, &t->method, &t->agent, &t->range, &t->user, &t->password,
                      &t->effective_url, &t->content_type};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(*texts[i]);
    free(t);
}

CURL *curl_easy_duphandle(CURL *handle)
{
    const struct transfer *from = handle;
    struct transfer *t = require(malloc(sizeof *t));
    *t = *from;
    char **texts[] = {&t->url, &t->method, &t->agent, &t->range, &t->user, &t->password};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] != NULL)
            *texts[i] = require(strdup(*texts[i]));
    t->effective_url = t->content_type = NULL;
    t->is_queued = t->is_done = false;
    t->next = NULL;
    return t;
}

/* Sets both halves of `user:password`. */
static void set_user_and_password(struct transfer *t, const char *pair)
{
    const char *colon = pair != NULL ? strchr(pair, ':') : NULL;
    set_text(&t->password, colon != NULL ? colon + 1 : NULL);
    set_text(&t->user, pair);
    if (colon != NULL)
        t->user[colon - pair] = '\0';
}

static void set_long(struct transfer *t, CURLoption option, long value)
{
    switch (option) {
    case CURLOPT_FAILONERROR: t->fails_on_error = value; break;
    case CURLOPT_FOLLOWLOCATION: t->follows = value; break;
    case CURLOPT_MAXREDIRS: t->redirects = value; break;
    case CURLOPT_NOBODY: t->no_body = value; break;
    case CURLOPT_POSTFIELDSIZE: t->fields_size = value; break;
    case CURLOPT_HTTPGET:
        if (value)
            t->post = t->upload = t->no_body = false;
        break;
    case CURLOPT_POST:
        t->post = value;
        t->upload = t->upload && !value;
        break;
    case CURLOPT_UPLOAD:
        t->upload = value;
        t->post = t->post && !value;
        break;
    default: break;
    }
}

static void set_pointer(struct transfer *t, CURLoption option, void *value)
{
    switch (option) {
    case CURLOPT_CUSTOMREQUEST: set_text(&t->method, value); break;
    case CURLOPT_ERRORBUFFER: t->error = value; break;
    case CURLOPT_HEADERDATA: t->header_data = value; break;
    case CURLOPT_HEADERFUNCTION: t->header = (curl_write_callback)value; break;
    case CURLOPT_HTTPHEADER: t->headers = value; break;
    case CURLOPT_PASSWORD: set_text(&t->password, value); break;
    case CURLOPT_RANGE: set_text(&t->range, value); break;
    case CURLOPT_READDATA: t->read_data = value; break;
    case CURLOPT_READFUNCTION: t->read = (curl_read_callback)value; break;
    case CURLOPT_URL: set_text(&t->url, value); break;
    case CURLOPT_USERAGENT: set_text(&t->agent, value); break;
    case CURLOPT_USERNAME: set_text(&t->user, value); break;
    case CURLOPT_USERPWD: set_user_and_password(t, value); break;
    case CURLOPT_WRITEDATA: t->write_data = value; break;
    case CURLOPT_WRITEFUNCTION: t->write = (curl_write_callback)value; break;
    case CURLOPT_POSTFIELDS:
        t->fields = value;
        t->post = t->post || value != NULL;
        break;
    default: break;
    }
}

CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    struct transfer *t = handle;
    va_list rest;
    va_start(rest, option);
    if (option >= CURL_OFFSET)
        t->fields_size = va_arg(rest, curl_off_t);
    else if (option >= CURL_POINTER)
        set_pointer(t, option, va_arg(rest, void *));
    else
        set_long(t, option, va_arg(rest, long));
    va_end(rest);
    return CURLE_OK;
}

CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...)
{
    struct transfer *t = handle;
    va_list rest;
    va_start(rest, info);
    void *to = va_arg(rest, void *);
    va_end(rest);
    switch (info) {
    case CURLINFO_RESPONSE_CODE: *(long *)to = t->status; break;
    case CURLINFO_HTTP_CONNECTCODE: *(long *)to = 0; break;
    case CURLINFO_HTTPAUTH_AVAIL: *(long *)to = t->challenges; break;
    case CURLINFO_CONTENT_TYPE: *(char **)to = t->content_type; break;
    case CURLINFO_EFFECTIVE_URL:
        *(char **)to = t->effective_url != NULL ? t->effective_url : t->url;
        break;
    }
    return CURLE_OK;
}

CURLcode curl_easy_perform(CURL *handle)
{
    return run_transfer(handle);
}

/* Returns a general text, because the text of a failure is in CURLOPT_ERRORBUFFER. */
const char *curl_easy_strerror(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return "No error";
    case CURLE_URL_MALFORMAT: return "URL using bad/illegal format or missing URL";
    case CURLE_COULDNT_CONNECT: return "Couldn't connect to server";
    case CURLE_HTTP_RETURNED_ERROR: return "HTTP response code said error";
    case CURLE_WRITE_ERROR: return "Failed writing received data to disk/application";
    default: return "HTTP request failed";
    }
}

/* ---- several handles ---- */

CURLM *curl_multi_init(void)
{
    return calloc(1, sizeof(struct multi));
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    free(multi);
    return CURLM_OK;
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle)
{
    struct transfer *t = handle, **end = &((struct multi *)multi)->first;
    while (*end != NULL)
        end = &(*end)->next;
    t->next = NULL;
    t->is_queued = true;
    t->is_done = false;
    *end = t;
    return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle)
{
    struct transfer **at = &((struct multi *)multi)->first;
    while (*at != NULL && *at != handle)
        at = &(*at)->next;
    if (*at != NULL)
        *at = (*at)->next;
    return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *multi, int *running)
{
    struct transfer *first = ((struct multi *)multi)->first, *t = first;
    while (t != NULL && !t->is_queued)
        t = t->next;
    if (t != NULL) {
        t->is_queued = false;
        t->result = run_transfer(t);
        t->is_done = true;
    }
    *running = 0;
    for (t = first; t != NULL; t = t->next)
        *running += t->is_queued;
    return CURLM_OK;
}

CURLMsg *curl_multi_info_read(CURLM *handle, int *left)
{
    struct multi *multi = handle;
    *left = 0;
    for (struct transfer *t = multi->first; t != NULL; t = t->next)
        if (t->is_done) {
            t->is_done = false;
            multi->message = (CURLMsg){
                .msg = CURLMSG_DONE, .easy_handle = t, .data = {.result = t->result}};
            return &multi->message;
        }
    return NULL;
}

/* Sets no descriptors, because curl_multi_perform() waits itself. */
CURLMcode curl_multi_fdset(CURLM *multi, fd_set *reads, fd_set *writes, fd_set *others, int *most)
{
    (void)multi;
    (void)reads;
    (void)writes;
    (void)others;
    *most = -1;
    return CURLM_OK;
}

CURLMcode curl_multi_timeout(CURLM *multi, long *milliseconds)
{
    (void)multi;
    *milliseconds = 0;
    return CURLM_OK;
}

const char *curl_multi_strerror(CURLMcode code)
{
    return code == CURLM_OK ? "No error" : "Unknown error";
}

/* ---- the library ---- */

CURLcode curl_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

void curl_global_cleanup(void)
{
}

CURLsslset curl_global_sslset(curl_sslbackend id, const char *name,
                              const curl_ssl_backend ***available)
{
    (void)id;
    (void)name;
    *available = NULL;
    return CURLSSLSET_NO_BACKENDS;
}

curl_version_info_data *curl_version_info(CURLversion version)
{
    static curl_version_info_data data = {LIBCURL_VERSION, LIBCURL_VERSION_NUM};
    (void)version;
    return &data;
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
    struct curl_slist *new = require(malloc(sizeof *new)), **end = &list;
    *new = (struct curl_slist){require(strdup(text)), NULL};
    while (*end != NULL)
        end = &(*end)->next;
    *end = new;
    return list;
}

void curl_slist_free_all(struct curl_slist *list)
{
    while (list != NULL) {
        struct curl_slist *next = list->next;
        free(list->data);
        free(list);
        list = next;
    }
}
