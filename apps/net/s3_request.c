// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_request.h. libcurl 7.88 signs the query, the path and the headers of its caller as they
// are: addresses are strictly encoded (s3_address.c), queries sorted, and no header is set to
// nothing, since that would be signed and not sent. The SHA-256 of the body is among the headers,
// so that a server refuses bytes that changed on their way.
#include "apps/net/s3_request.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "src/base/sha256.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_TRIES = 3, CONNECT_SECONDS = 20, STALL_SECONDS = 30, IDLE_HANDLES = 4 };
static const size_t most_body = (size_t)32 << 20; // of an answer that is held
static const double first_wait = 0.2, longest_wait = 20, longest_asked = 60;

struct s3_client {
    s3_server server;
    bool quiet;
    pthread_mutex_t lock;     // of what follows
    CURL *idle[IDLE_HANDLES]; // they keep connections
    CURLM *idle_multis[IDLE_HANDLES];
    size_t idle_count, idle_multi_count;
    bool answered; // something has ever come from the server
};

s3_client *s3_client_open(bool quiet, char message[S3_MESSAGE])
{
    s3_client *client = calloc(1, sizeof *client);
    if (client == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(client);
        snprintf(message, S3_MESSAGE, "no memory for libcurl");
        return NULL;
    }
    client->quiet = quiet;
    pthread_mutex_init(&client->lock, NULL);
    if (s3_server_read(&client->server, message)) return client;
    s3_client_close(client);
    return NULL;
}

void s3_client_close(s3_client *client)
{
    if (client == NULL) return;
    for (size_t i = 0; i < client->idle_count; i++) curl_easy_cleanup(client->idle[i]);
    for (size_t i = 0; i < client->idle_multi_count; i++)
        curl_multi_cleanup(client->idle_multis[i]);
    pthread_mutex_destroy(&client->lock);
    curl_global_cleanup();
    free(client);
}

// --- setting up ---------------------------------------------------------------------------------

// What undoes things is not interrupted.
static bool is_stopped(const s3_ask *ask)
{
    return cli_interrupted() && strcmp(ask->method, "DELETE") != 0;
}

static int on_progress(void *cookie, curl_off_t total, curl_off_t now, curl_off_t a, curl_off_t b)
{
    (void)total, (void)now, (void)a, (void)b;
    return is_stopped(cookie);
}

static bool add_header(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer == NULL) return false;
    *list = longer;
    return true;
}

static bool add_headers(const s3_client *client, const s3_ask *ask, struct curl_slist **list)
{
    char line[sizeof client->server.token + 64], hex[65];
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, ask->body, ask->size);
    zn_sha256_end(&hash, hex);
    snprintf(line, sizeof line, "x-amz-content-sha256: %s", hex);
    if (!add_header(list, line)) return false;
    snprintf(line, sizeof line, "x-amz-security-token: %s", client->server.token);
    if (client->server.token[0] != 0 && !add_header(list, line)) return false;
    if (ask->size > 0 && !add_header(list, "Content-Type: application/octet-stream")) return false;
    return ask->header == NULL || add_header(list, ask->header);
}

static CURL *take_handle(s3_client *client)
{
    pthread_mutex_lock(&client->lock);
    CURL *curl = client->idle_count > 0 ? client->idle[--client->idle_count] : NULL;
    pthread_mutex_unlock(&client->lock);
    return curl != NULL ? curl : curl_easy_init();
}

static void set_method(CURL *curl, const s3_ask *ask)
{
    if (strcmp(ask->method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (ask->size > 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->size);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, ask->body);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, ask->method);
    } else if (strcmp(ask->method, "GET") != 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L); // the length is said, which is 0
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, ask->method);
    }
}

static void set_up(const s3_client *client, CURL *curl, const s3_ask *ask)
{
    char provider[sizeof client->server.region + 16];
    snprintf(provider, sizeof provider, "aws:amz:%s:s3", client->server.region);
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, provider);
    curl_easy_setopt(curl, CURLOPT_USERNAME, client->server.access);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, client->server.secret);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (client->server.certificates[0] != 0)
        curl_easy_setopt(curl, CURLOPT_CAINFO, client->server.certificates);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); // a key may have ".." in it
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "zenith");
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)(uintptr_t)ask);
    set_method(curl, ask);
}

CURL *s3_begin(s3_client *client, const s3_ask *ask, struct curl_slist **headers)
{
    char bucket[S3_BUCKET], unheard[S3_MESSAGE];
    const char *key = "";
    *headers = NULL;
    CURL *curl = take_handle(client);
    char *url = s3_path_split(ask->path, bucket, &key, unheard)
                    ? s3_url(&client->server, bucket, ask->of_bucket ? "" : key, ask->query)
                    : NULL;
    if (curl == NULL || url == NULL || !add_headers(client, ask, headers)) {
        free(url);
        s3_end(client, curl, *headers);
        return NULL;
    }
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url); // which it copies
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *headers);
    set_up(client, curl, ask);
    free(url);
    return curl;
}

void s3_end(s3_client *client, CURL *curl, struct curl_slist *headers)
{
    curl_slist_free_all(headers);
    if (curl == NULL) return;
    curl_easy_reset(curl);
    pthread_mutex_lock(&client->lock);
    const bool room = client->idle_count < IDLE_HANDLES;
    if (room) client->idle[client->idle_count++] = curl;
    pthread_mutex_unlock(&client->lock);
    if (!room) curl_easy_cleanup(curl);
}

CURLM *s3_take_multi(s3_client *client)
{
    pthread_mutex_lock(&client->lock);
    CURLM *multi = client->idle_multi_count > 0 ? client->idle_multis[--client->idle_multi_count]
                                                : NULL;
    pthread_mutex_unlock(&client->lock);
    return multi != NULL ? multi : curl_multi_init();
}

void s3_give_multi(s3_client *client, CURLM *multi)
{
    if (multi == NULL) return;
    pthread_mutex_lock(&client->lock);
    const bool room = client->idle_multi_count < IDLE_HANDLES;
    if (room) client->idle_multis[client->idle_multi_count++] = multi;
    pthread_mutex_unlock(&client->lock);
    if (!room) curl_multi_cleanup(multi);
}

// --- trying again -------------------------------------------------------------------------------

static bool passes(const s3_tries *tries)
{
    switch (tries->result) {
    case CURLE_OK:
        break;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_WRITE_ERROR:
        return false;
    default:
        return true;
    }
    return tries->code == 408 || tries->code == 409 || tries->code == 429 ||
           (tries->code >= 500 && tries->code != 501) ||
           strcmp(tries->reason, "RequestTimeout") == 0;
}

// What to do about an answer.
static void say_refused(const s3_client *client, const s3_ask *ask, const s3_tries *tries,
                        const s3_headers *headers, char message[S3_MESSAGE])
{
    const char *advice = "";
    char region[160] = "";
    if (headers->region[0] != 0 && strcmp(headers->region, client->server.region) != 0) {
        snprintf(region, sizeof region, ": the bucket is in the region %s: set AWS_REGION",
                 headers->region);
        advice = region;
    } else if (strcmp(tries->reason, "SignatureDoesNotMatch") == 0) {
        advice = ": AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID";
    } else if (strcmp(tries->reason, "RequestTimeTooSkewed") == 0) {
        advice = ": the clock of this machine is wrong";
    } else if (strcmp(tries->reason, "ExpiredToken") == 0) {
        advice = ": AWS_SESSION_TOKEN is too old: get new keys, and give the same command again";
    } else if (strcmp(tries->reason, "NoSuchBucket") == 0) {
        advice = ": there is no such bucket; check its name, AWS_ENDPOINT_URL_S3 and AWS_REGION";
    } else if (tries->code == 501 && strcmp(ask->method, "PUT") == 0) {
        advice = ": it does not know conditional writes (If-None-Match), which a dataset needs";
    } else if (tries->code == 401 || tries->code == 403) {
        advice = ": check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and whether the key may list, "
                 "read, write and delete there";
    } else if (tries->code == 301 || tries->code == 307 || tries->code == 400) {
        advice = ": check AWS_REGION and AWS_ENDPOINT_URL_S3";
    }
    snprintf(message, S3_MESSAGE, "%.180s: the server answered %ld%s%s to %s%s", ask->path,
             tries->code, tries->reason[0] != 0 ? " " : "", tries->reason, ask->method, advice);
}

static void say_broken(bool answered, const s3_ask *ask, const s3_tries *tries,
                       char message[S3_MESSAGE])
{
    const char *why = tries->problem != NULL && tries->problem[0] != 0
                          ? tries->problem
                          : curl_easy_strerror(tries->result);
    snprintf(message, S3_MESSAGE, "%.180s: %.160s%s", ask->path, why,
             answered ? "" : ". Is AWS_ENDPOINT_URL_S3 right, and a way to the network?");
}

// Jitter: workers that failed together do not come back together.
static double seconds_to_wait(const s3_tries *tries)
{
    double wait = first_wait;
    for (int i = 1; i < tries->made && wait < longest_wait; i++) wait *= 2;
    if (wait > longest_wait) wait = longest_wait;
    const unsigned mixed = (unsigned)(cli_clock() * 1e6) * 2654435761u + (unsigned)getpid();
    wait *= 0.5 + 0.5 * (double)(mixed >> 16 & 1023) / 1024;
    const double asked = tries->retry_after < longest_asked ? tries->retry_after : longest_asked;
    return asked > wait ? asked : wait;
}

static void sleep_for(const s3_ask *ask, double seconds)
{
    const double end = cli_clock() + seconds;
    while (cli_clock() < end && !is_stopped(ask)) usleep(20000);
}

bool s3_try_again(s3_client *client, const s3_ask *ask, s3_tries *tries, zenith_status *status,
                  const s3_headers *headers, char message[S3_MESSAGE])
{
    tries->made++;
    pthread_mutex_lock(&client->lock);
    client->answered |= tries->code != 0;
    const bool answered = client->answered;
    pthread_mutex_unlock(&client->lock);
    const int all = client->server.tries;
    const int most = answered || all < FIRST_TRIES ? all : FIRST_TRIES;
    if (is_stopped(ask)) {
        snprintf(message, S3_MESSAGE, "interrupted");
        *status = ZENITH_CANCELLED;
        return false;
    }
    if (tries->result == CURLE_OK)
        say_refused(client, ask, tries, headers, message);
    else
        say_broken(answered, ask, tries, message);
    *status = tries->code == 404 && tries->result == CURLE_OK ? ZENITH_NOT_FOUND : ZENITH_IO;
    if (tries->result == CURLE_OUT_OF_MEMORY) *status = ZENITH_OUT_OF_MEMORY;
    if (!passes(tries) || tries->made >= most) return false;
    const double wait = seconds_to_wait(tries);
    if (!client->quiet)
        cli_say("%s; trying again in %.1f s (%d of %d)", message, wait, tries->made + 1, most);
    sleep_for(ask, wait);
    message[0] = 0;
    return true;
}

// --- one request --------------------------------------------------------------------------------

static size_t on_body(char *bytes, size_t one, size_t count, void *cookie)
{
    s3_reply *reply = cookie;
    const size_t size = one * count;
    if (size > most_body - reply->size) return 0;
    char *grown = realloc(reply->body, reply->size + size + 1);
    if (grown == NULL) return 0;
    reply->body = grown;
    memcpy(grown + reply->size, bytes, size);
    reply->size += size;
    grown[reply->size] = 0;
    return size;
}

static size_t on_header(char *line, size_t one, size_t count, void *cookie)
{
    s3_reply *reply = cookie;
    s3_headers_add(&reply->headers, line, one * count);
    return one * count;
}

static CURLcode perform(s3_client *client, const s3_ask *ask, s3_reply *reply,
                        char problem[CURL_ERROR_SIZE])
{
    struct curl_slist *headers = NULL;
    curl_off_t length = 0;
    CURL *curl = s3_begin(client, ask, &headers);
    if (curl == NULL) return CURLE_OUT_OF_MEMORY;
    s3_headers_begin(&reply->headers);
    reply->size = 0;
    reply->code = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, reply);
    const CURLcode result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->code);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    reply->length = length > 0 ? (uint64_t)length : 0;
    s3_end(client, curl, headers);
    return result;
}

// The server's word for an error: of a 200 too, which a long request may have got before it failed.
static void read_reason(const s3_reply *reply, char reason[S3_CODE])
{
    s3_answer answer;
    reason[0] = 0;
    if (reply->size == 0 || memchr(reply->body, '<', reply->size) == NULL) return;
    if (s3_answer_parse(reply->body, reply->size, &answer)) memcpy(reason, answer.code, S3_CODE);
    s3_answer_free(&answer);
}

zenith_status s3_request(s3_client *client, const s3_ask *ask, s3_reply *out,
                         char message[S3_MESSAGE])
{
    s3_tries tries = {.made = 0};
    zenith_status status = ZENITH_OK;
    char problem[CURL_ERROR_SIZE], bucket[S3_BUCKET];
    const char *key;
    memset(out, 0, sizeof *out);
    if (!s3_path_split(ask->path, bucket, &key, message)) return ZENITH_INVALID_ARGUMENT;
    do {
        problem[0] = 0;
        tries.problem = problem;
        tries.result = perform(client, ask, out, problem);
        tries.code = out->code;
        tries.retry_after = out->headers.retry_after;
        tries.reason[0] = 0;
        const bool good = tries.result == CURLE_OK && out->code >= 200 && out->code < 300;
        if (!good || strcmp(ask->method, "POST") == 0) read_reason(out, tries.reason);
        const bool told = out->code == 404 && strcmp(tries.reason, "NoSuchBucket") != 0;
        if (good && tries.reason[0] == 0) break;
        if (good) tries.code = 500; // an error behind a 200
        if (tries.result == CURLE_OK && (told || out->code == 412)) break;
        if (!s3_try_again(client, ask, &tries, &status, &out->headers, message)) return status;
    } while (true);
    pthread_mutex_lock(&client->lock);
    client->answered = true;
    pthread_mutex_unlock(&client->lock);
    return ZENITH_OK;
}

void s3_reply_free(s3_reply *reply)
{
    free(reply->body);
    reply->body = NULL;
}
