/* The part of libcurl's interface that git uses, over the sandbox's bridge (../curl.c).
 *
 * libcurl's manual pages describe the functions and options under these names. Options about
 * proxies, TLS, addresses and cookies are accepted but have no effect, because the host decides on
 * all these.
 */
#ifndef GUEST_CURL_H
#define GUEST_CURL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>

/* git derives from this number which options exist. PROTOCOLS_STR exists since 7.85. */
#define LIBCURL_VERSION "7.85.0"
#define LIBCURL_VERSION_NUM 0x075500

typedef void CURL;
typedef void CURLM;
typedef int64_t curl_off_t;
typedef int curl_socket_t;

/* The numbers are libcurl's, which are also curl(1)'s exit statuses and the bridge's codes. */
typedef enum {
    CURLE_OK = 0,
    CURLE_URL_MALFORMAT = 3,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_FTP_COULDNT_RETR_FILE = 19,
    CURLE_HTTP_RETURNED_ERROR = 22,
    CURLE_WRITE_ERROR = 23,
    CURLE_READ_ERROR = 26,
    CURLE_OUT_OF_MEMORY = 27,
    CURLE_FILE_COULDNT_READ_FILE = 37,
    CURLE_ABORTED_BY_CALLBACK = 42,
    CURLE_UNKNOWN_OPTION = 48,
    CURLE_GOT_NOTHING = 52,
    CURLE_SSL_CERTPROBLEM = 58,
    CURLE_BAD_CONTENT_ENCODING = 61,
    CURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
} CURLcode;

typedef enum { CURLM_CALL_MULTI_PERFORM = -1, CURLM_OK = 0, CURLM_OUT_OF_MEMORY = 3 } CURLMcode;

/* The number of an option contains its type. */
enum { CURL_LONG = 0, CURL_POINTER = 10000, CURL_OFFSET = 30000 };

typedef enum {
    CURLOPT_FAILONERROR = CURL_LONG,
    CURLOPT_FOLLOWLOCATION,
    CURLOPT_FTP_USE_EPSV,
    CURLOPT_GSSAPI_DELEGATION,
    CURLOPT_HTTPAUTH,
    CURLOPT_HTTPGET,
    CURLOPT_HTTP_VERSION,
    CURLOPT_IPRESOLVE,
    CURLOPT_LOW_SPEED_LIMIT,
    CURLOPT_LOW_SPEED_TIME,
    CURLOPT_MAXREDIRS,
    CURLOPT_NETRC,
    CURLOPT_NOBODY,
    CURLOPT_POST,
    CURLOPT_POSTFIELDSIZE,
    CURLOPT_POSTREDIR,
    CURLOPT_PROXYAUTH,
    CURLOPT_PROXYTYPE,
    CURLOPT_SSL_OPTIONS,
    CURLOPT_SSL_VERIFYHOST,
    CURLOPT_SSL_VERIFYPEER,
    CURLOPT_SSLVERSION,
    CURLOPT_TCP_KEEPALIVE,
    CURLOPT_UPLOAD,
    CURLOPT_USE_SSL,
    CURLOPT_VERBOSE,
    CURLOPT_CAINFO = CURL_POINTER,
    CURLOPT_CAPATH,
    CURLOPT_COOKIEFILE,
    CURLOPT_COOKIEJAR,
    CURLOPT_CUSTOMREQUEST,
    CURLOPT_DEBUGDATA,
    CURLOPT_DEBUGFUNCTION,
    CURLOPT_ENCODING,
    CURLOPT_ERRORBUFFER,
    CURLOPT_HEADERDATA,
    CURLOPT_HEADERFUNCTION,
    CURLOPT_HTTPHEADER,
    CURLOPT_KEYPASSWD,
    CURLOPT_NOPROXY,
    CURLOPT_PASSWORD,
    CURLOPT_PINNEDPUBLICKEY,
    CURLOPT_POSTFIELDS,
    CURLOPT_PROTOCOLS_STR,
    CURLOPT_PROXY,
    CURLOPT_PROXYHEADER,
    CURLOPT_PROXYPASSWORD,
    CURLOPT_PROXYUSERNAME,
    CURLOPT_PROXY_CAINFO,
    CURLOPT_PROXY_KEYPASSWD,
    CURLOPT_PROXY_SSLCERT,
    CURLOPT_PROXY_SSLKEY,
    CURLOPT_RANGE,
    CURLOPT_READDATA,
    CURLOPT_READFUNCTION,
    CURLOPT_REDIR_PROTOCOLS_STR,
    CURLOPT_RESOLVE,
    CURLOPT_SEEKDATA,
    CURLOPT_SEEKFUNCTION,
    CURLOPT_SOCKOPTFUNCTION,
    CURLOPT_SSLCERT,
    CURLOPT_SSLCERTTYPE,
    CURLOPT_SSLKEY,
    CURLOPT_SSLKEYTYPE,
    CURLOPT_SSL_CIPHER_LIST,
    CURLOPT_URL,
    CURLOPT_USERAGENT,
    CURLOPT_USERNAME,
    CURLOPT_USERPWD,
    CURLOPT_WRITEDATA,
    CURLOPT_WRITEFUNCTION,
    CURLOPT_POSTFIELDSIZE_LARGE = CURL_OFFSET,
} CURLoption;
#define CURLOPT_INFILE CURLOPT_READDATA

typedef enum {
    CURLINFO_RESPONSE_CODE,
    CURLINFO_HTTP_CONNECTCODE,
    CURLINFO_HTTPAUTH_AVAIL,
    CURLINFO_EFFECTIVE_URL,
    CURLINFO_CONTENT_TYPE,
} CURLINFO;
#define CURLINFO_HTTP_CODE CURLINFO_RESPONSE_CODE

/* The kinds of data that a debug function receives. */
typedef enum {
    CURLINFO_TEXT,
    CURLINFO_HEADER_IN,
    CURLINFO_HEADER_OUT,
    CURLINFO_DATA_IN,
    CURLINFO_DATA_OUT,
    CURLINFO_SSL_DATA_IN,
    CURLINFO_SSL_DATA_OUT,
} curl_infotype;

enum {
    CURL_ERROR_SIZE = 256,
    CURLAUTH_BASIC = 1,
    CURLAUTH_DIGEST = 2,
    CURLAUTH_GSSNEGOTIATE = 4,
    CURLAUTH_NTLM = 8,
    CURLAUTH_DIGEST_IE = 16,
    CURLGSSAPI_DELEGATION_NONE = 0,
    CURLGSSAPI_DELEGATION_POLICY_FLAG = 1,
    CURLGSSAPI_DELEGATION_FLAG = 2,
    CURLPROTO_HTTP = 1,
    CURLPROTO_HTTPS = 2,
    CURLPROTO_FTP = 4,
    CURLPROTO_FTPS = 8,
    CURLPROXY_HTTP = 0,
    CURLPROXY_HTTPS = 2,
    CURLPROXY_SOCKS4 = 4,
    CURLPROXY_SOCKS5 = 5,
    CURLPROXY_SOCKS4A = 6,
    CURLPROXY_SOCKS5_HOSTNAME = 7,
    CURLSSLOPT_NO_REVOKE = 2,
    CURLUSESSL_TRY = 1,
    CURL_GLOBAL_ALL = 3,
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_HTTP_VERSION_2 = 3,
    CURL_IPRESOLVE_WHATEVER = 0,
    CURL_IPRESOLVE_V4 = 1,
    CURL_IPRESOLVE_V6 = 2,
    CURL_NETRC_OPTIONAL = 1,
    CURL_REDIR_POST_ALL = 7,
    CURL_SEEKFUNC_OK = 0,
    CURL_SEEKFUNC_FAIL = 1,
    CURL_SOCKOPT_OK = 0,
    CURL_SSLVERSION_TLSv1 = 1,
    CURL_SSLVERSION_SSLv2 = 2,
    CURL_SSLVERSION_SSLv3 = 3,
    CURL_SSLVERSION_TLSv1_0 = 4,
    CURL_SSLVERSION_TLSv1_1 = 5,
    CURL_SSLVERSION_TLSv1_2 = 6,
    CURL_SSLVERSION_TLSv1_3 = 7,
};
#define CURLAUTH_ANY (~(unsigned long)CURLAUTH_DIGEST_IE)

typedef enum { CURLSOCKTYPE_IPCXN } curlsocktype;

typedef size_t (*curl_write_callback)(char *data, size_t size, size_t count, void *with);
typedef size_t (*curl_read_callback)(char *room, size_t size, size_t count, void *with);

struct curl_slist {
    char *data;
    struct curl_slist *next;
};

typedef enum { CURLMSG_DONE = 1 } CURLMSG;
typedef struct {
    CURLMSG msg;
    CURL *easy_handle;
    union {
        void *whatever;
        CURLcode result;
    } data;
} CURLMsg;

typedef enum { CURLSSLBACKEND_NONE } curl_sslbackend;
typedef struct {
    curl_sslbackend id;
    const char *name;
} curl_ssl_backend;
typedef enum {
    CURLSSLSET_OK,
    CURLSSLSET_UNKNOWN_BACKEND,
    CURLSSLSET_TOO_LATE,
    CURLSSLSET_NO_BACKENDS,
} CURLsslset;

typedef enum { CURLVERSION_NOW } CURLversion;
typedef struct {
    const char *version;
    unsigned version_num;
} curl_version_info_data;

CURLcode curl_global_init(long flags);
void curl_global_cleanup(void);
CURLsslset curl_global_sslset(curl_sslbackend id, const char *name,
                              const curl_ssl_backend ***available);
curl_version_info_data *curl_version_info(CURLversion version);

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
void curl_slist_free_all(struct curl_slist *list);

CURL *curl_easy_init(void);
CURL *curl_easy_duphandle(CURL *handle);
void curl_easy_cleanup(CURL *handle);
CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...);
CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...);
CURLcode curl_easy_perform(CURL *handle);
const char *curl_easy_strerror(CURLcode code);

CURLM *curl_multi_init(void);
CURLMcode curl_multi_cleanup(CURLM *multi);
CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode curl_multi_perform(CURLM *multi, int *running);
CURLMsg *curl_multi_info_read(CURLM *multi, int *left);
CURLMcode curl_multi_fdset(CURLM *multi, fd_set *reads, fd_set *writes, fd_set *others, int *most);
CURLMcode curl_multi_timeout(CURLM *multi, long *milliseconds);
const char *curl_multi_strerror(CURLMcode code);

#endif
