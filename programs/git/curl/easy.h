/* libcurl has its interface in several headers; here all of it is in curl.h. */
#include <curl/curl.h>
