/* libcurl's interface is spread over several headers, but here curl.h has all of it. */
#include <curl/curl.h>
