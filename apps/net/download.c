// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See download.h. Servers are not trusted: redirects stay within HTTP and HTTPS, a reply that is
// longer than the file is cut off, and the checksum decides. A reply 200 to a request for a range
// means that the server ignores ranges, so the file begins again; a connection that breaks is taken
// up again where it broke, a few times.
#include "apps/net/download.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "src/base/sha256.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 4, CONNECT_SECONDS = 20, STALL_SECONDS = 30 };

struct transfer {
    const cli_download *download;
    char part[4096];
    FILE *file;
    CURL *curl;
    uint64_t have;   // bytes in the file
    bool started;    // the first bytes of this reply have come
    bool too_long;   // more bytes than the file has
    int write_error; // errno
    char problem[CURL_ERROR_SIZE];
};

const bool cli_can_download = true;

bool cli_file_is(const char *path, uint64_t size, const char *sha256)
{
    char hex[65], bytes[1 << 14];
    size_t count;
    zn_sha256 hash;
    struct stat facts;
    if (stat(path, &facts) != 0 || (uint64_t)facts.st_size != size) return false;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    zn_sha256_begin(&hash);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) zn_sha256_add(&hash, bytes, count);
    bool whole = !ferror(file);
    fclose(file);
    zn_sha256_end(&hash, hex);
    return whole && strcmp(hex, sha256) == 0;
}

static bool begin_again(struct transfer *transfer)
{
    transfer->have = 0;
    transfer->download->progress->begun = 0;
    rewind(transfer->file);
    return ftruncate(fileno(transfer->file), 0) == 0;
}

// The body of a reply; that of an error page is passed over. Another count than it was given ends
// the transfer.
static size_t on_bytes(char *bytes, size_t one, size_t count, void *cookie)
{
    struct transfer *transfer = cookie;
    long code = 0;
    size_t size = one * count;
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 && code != 206) return size;
    if (!transfer->started && code == 200 && transfer->have > 0 && !begin_again(transfer)) {
        transfer->write_error = errno;
        return 0;
    }
    transfer->started = true;
    if (size > transfer->download->size - transfer->have) {
        transfer->too_long = true;
        return 0;
    }
    if (fwrite(bytes, 1, size, transfer->file) != size) {
        transfer->write_error = errno;
        return 0;
    }
    transfer->have += size;
    return size;
}

static int on_progress(void *cookie, curl_off_t total, curl_off_t now, curl_off_t a, curl_off_t b)
{
    struct transfer *transfer = cookie;
    (void)total, (void)now, (void)a, (void)b;
    cli_progress_update(transfer->download->progress,
                        (double)transfer->have / (double)transfer->download->size);
    return cli_interrupted();
}

static void set_up(struct transfer *transfer, char range[32])
{
    CURL *curl = transfer->curl;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, transfer->download->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    // What was asked for in secret is not fetched in the open.
    bool secret = strncasecmp(transfer->download->url, "https:", 6) == 0;
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secret ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "zenith");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
    if (transfer->have == 0) return;
    snprintf(range, 32, "%llu-", (unsigned long long)transfer->have);
    curl_easy_setopt(curl, CURLOPT_RANGE, range);
}

static bool refused(const struct transfer *transfer, long code, cli_failure *failure)
{
    const char *url = transfer->download->url;
    if (code == 404)
        return cli_fail_text(failure, ZENITH_NOT_FOUND,
                             "%s is not there (404): it may have moved; --endpoint URL names "
                             "another server",
                             url);
    if (code == 401 || code == 403)
        return cli_fail_text(failure, ZENITH_IO,
                             "%s may not be read (%ld): --endpoint URL names another server", url,
                             code);
    return cli_fail_text(failure, ZENITH_IO, "%s: the server answered %ld; try again later", url,
                         code);
}

static bool broken(const struct transfer *transfer, CURLcode code, cli_failure *failure)
{
    const char *why = transfer->problem[0] != 0 ? transfer->problem : curl_easy_strerror(code);
    if (transfer->have == 0)
        return cli_fail_text(failure, ZENITH_IO,
                             "cannot fetch %s: %s. Is there a way to the network? --endpoint URL "
                             "names another server",
                             transfer->download->url, why);
    return cli_fail_text(failure, ZENITH_IO,
                         "the connection to %s broke (%s); %.1f of %.1f MB are kept in %s: run the "
                         "command again to go on",
                         transfer->download->url, why, (double)transfer->have * 1e-6,
                         (double)transfer->download->size * 1e-6, transfer->part);
}

static bool longer(const struct transfer *transfer, cli_failure *failure)
{
    return cli_fail_text(failure, ZENITH_BAD_FILE,
                         "%s is longer than the %llu bytes of the published file; it was not kept",
                         transfer->download->url, (unsigned long long)transfer->download->size);
}

// One request. True when the file has all its bytes; *again where another one could go on.
static bool request(struct transfer *transfer, bool *again, cli_failure *failure)
{
    char range[32];
    long code = 0;
    uint64_t before = transfer->have;
    *again = transfer->started = false;
    transfer->problem[0] = 0;
    set_up(transfer, range);
    CURLcode result = curl_easy_perform(transfer->curl);
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &code);
    if (cli_interrupted()) return cli_fail_text(failure, ZENITH_CANCELLED, "interrupted");
    if (transfer->write_error != 0)
        return cli_fail_text(failure, ZENITH_IO, "cannot write '%s': %s", transfer->part,
                             strerror(transfer->write_error));
    if (transfer->too_long) return longer(transfer, failure);
    if (code == 416 && before > 0) { // the server's file is shorter than what we have of it
        *again = begin_again(transfer);
        return refused(transfer, code, failure);
    }
    if (code >= 300) return refused(transfer, code, failure);
    if (transfer->have == transfer->download->size) return true;
    *again = transfer->have > 0 && (transfer->have > before || result == CURLE_OK);
    return broken(transfer, result, failure);
}

static bool check_and_place(struct transfer *transfer, cli_failure *failure)
{
    const cli_download *download = transfer->download;
    bool written = fflush(transfer->file) == 0 && fsync(fileno(transfer->file)) == 0;
    if (!written)
        return cli_fail_text(failure, ZENITH_IO, "cannot write '%s': %s", transfer->part,
                             strerror(errno));
    if (!cli_file_is(transfer->part, download->size, download->sha256)) {
        unlink(transfer->part);
        return cli_fail_text(
            failure, ZENITH_BAD_FILE,
            "%s is not the published file (its SHA-256 is another); it was not "
            "kept. Run the command again, or name another server by --endpoint URL",
            download->url);
    }
    if (rename(transfer->part, download->path) == 0) return true;
    return cli_fail_text(failure, ZENITH_IO, "cannot rename '%s' to '%s': %s", transfer->part,
                         download->path, strerror(errno));
}

static bool open_part(struct transfer *transfer, cli_failure *failure)
{
    const char *path = transfer->download->path;
    snprintf(transfer->part, sizeof transfer->part, "%s.part", path);
    transfer->file = fopen(transfer->part, "ab+");
    if (transfer->file == NULL)
        return cli_fail_text(failure, ZENITH_IO, "cannot write '%s': %s", transfer->part,
                             strerror(errno));
    fseek(transfer->file, 0, SEEK_END);
    long have = ftell(transfer->file);
    transfer->have = have > 0 ? (uint64_t)have : 0;
    transfer->download->progress->begun = (double)transfer->have / (double)transfer->download->size;
    // Bytes of another file, or of this one with something added: nothing to go on with.
    if (transfer->have > transfer->download->size) begin_again(transfer);
    return true;
}

bool cli_download_file(const cli_download *download, cli_failure *failure)
{
    struct transfer transfer = {.download = download};
    bool whole = false, again = true;
    if (!open_part(&transfer, failure)) return false;
    transfer.curl = curl_easy_init();
    if (transfer.curl == NULL)
        cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for libcurl");
    if (transfer.have == download->size) whole = true; // only its check was missing
    for (int i = 0; transfer.curl != NULL && !whole && again && i < TRIES; i++)
        whole = request(&transfer, &again, failure);
    bool placed = whole && check_and_place(&transfer, failure);
    fclose(transfer.file);
    bool useless = transfer.have == 0 || transfer.too_long;
    if (!placed && useless) unlink(transfer.part);
    curl_easy_cleanup(transfer.curl);
    return placed;
}
