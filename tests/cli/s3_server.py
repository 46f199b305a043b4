#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for S3 in memory, for tests. Each request's signature (Signature Version 4) is computed again, from the
description of the method and not from the client's code: a wrong one is answered by 403. Faults are made to order.

    with Server() as server:
        server.objects["bucket"]["key"] = Object(b"...")
        server.faults.append(Fault("PUT", "a.tar", 503, times=2))
"""
import dataclasses
import datetime
import email.utils
import hashlib
import hmac
import http.server
import re
import ssl
import threading
import time
import urllib.parse
import xml.sax.saxutils

ACCESS, SECRET, REGION = "ZENITHTESTACCESS", "a/secret+with=signs", "eu-test-1"


class Object:
    def __init__(self, data, etag=None):
        self.data, self.changed = data, time.time()
        self.etag = etag or hashlib.md5(data).hexdigest()


@dataclasses.dataclass
class Fault:
    """what: a status to answer, "drop" (the connection ends without an answer), "lost" (the same, after the request was
    carried out), "cut" (half of the bytes come), "slow" (they come in small pieces), or a function of the server."""
    method: str
    ending: str  # of the key
    what: object
    times: int = 1
    query: str = ""  # that the query begins with


def quote(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


def signature_fault(method, target, headers, body, secret=SECRET):
    """None, or what is wrong."""
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, "
                         r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", headers.get("Authorization", ""))
    if not match:
        return "no signature"
    access, day, region, signed, signature = match.groups()
    if access != ACCESS or region != REGION:
        return "another key or region"
    names = signed.split(";")
    # Whatever decides what is done must be signed; a range is not, as libcurl sends it.
    wanted = {"host", "x-amz-date", "x-amz-content-sha256"} | {n for n in ("if-match", "if-none-match", "x-amz-security-token")
                                                                if headers.get(n)}
    if names != sorted(names) or not wanted <= set(names) or any(headers.get(n) is None for n in names):
        return f"signed headers {signed}"
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "the body is not the one that was signed"
    stamp = headers["x-amz-date"]
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%S%z")
    if not stamp.startswith(day) or abs(age.total_seconds()) > 900:
        return "the time"
    path, _, query = target.partition("?")
    pairs = sorted((quote(urllib.parse.unquote(k)), quote(urllib.parse.unquote(v)))
                   for k, _, v in (pair.partition("=") for pair in query.split("&") if pair))
    request = "\n".join([method, quote(urllib.parse.unquote(path), "/"), "&".join(f"{k}={v}" for k, v in pairs),
                         *(f"{name}:{' '.join(headers[name].split())}" for name in names), "", signed,
                         headers["x-amz-content-sha256"]])
    scope = f"{day}/{region}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return None if hmac.compare_digest(key.hex(), signature) else "the signature"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", headers=(), length=None):
        self.code = code
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault == "cut":
            self.wfile.write(body[:len(body) // 2])
            self.end()
        elif self.fault == "slow":
            for i in range(0, len(body), max(1, len(body) // 8)):
                self.wfile.write(body[i:i + max(1, len(body) // 8)])
                self.wfile.flush()
                time.sleep(0.02)
        else:
            self.wfile.write(body)

    def end(self):
        self.wfile.flush()
        self.connection.shutdown(2)
        self.close_connection = True

    def error(self, code, reason):
        self.answer(code, f"<?xml version='1.0'?>\n<Error><Code>{reason}</Code></Error>".encode(), [("Content-Type", "application/xml")])

    def handle_one(self):
        self.fault = self.code = None
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        bucket, _, key = urllib.parse.unquote(path)[1:].partition("/")
        server = self.server.owner
        with server.lock:
            for fault in server.faults:
                if fault.method == self.command and key.endswith(fault.ending) and query.startswith(fault.query) and fault.times > 0:
                    fault.times -= 1
                    self.fault = fault.what
                    break
        wrong = signature_fault(self.command, self.path, self.headers, body)
        if wrong:
            server.refused.append((self.command, self.path, wrong))
            return self.error(403, "SignatureDoesNotMatch")
        if isinstance(self.fault, int):
            self.error(self.fault, {503: "SlowDown", 409: "ConditionalRequestConflict"}.get(self.fault, "InternalError"))
        elif self.fault == "drop":
            self.end()
        elif bucket not in server.objects:
            self.error(404, "NoSuchBucket")
        else:
            if callable(self.fault):
                self.fault(server)
            with server.lock:
                self.carry_out(server, server.objects[bucket], key, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), body)
        server.requests.append((self.command, key, query, self.code))

    def carry_out(self, server, objects, key, query, body):
        there = objects.get(key)
        if self.command == "GET" and not key:
            return self.list(server, objects, query)
        if self.command == "PUT" and "uploadId" in query:
            server.uploads[query["uploadId"]][int(query["partNumber"])] = body
            return self.answer(200, headers=[("ETag", f'"{hashlib.md5(body).hexdigest()}"')])
        if self.command == "PUT":
            if self.headers.get("If-None-Match") == "*" and there:
                return self.error(412, "PreconditionFailed")
            objects[key] = Object(body)
            if self.fault == "lost":
                return self.end()
            return self.answer(200, headers=[("ETag", f'"{objects[key].etag}"')])
        if self.command == "POST":
            return self.upload(server, objects, key, query, body)
        if self.command == "DELETE":
            if "uploadId" in query:
                server.uploads.pop(query["uploadId"], None)
            else:
                objects.pop(key, None)
            return self.answer(204)
        if not there:
            return self.error(404, "NoSuchKey")
        if self.headers.get("If-Match") not in (None, f'"{there.etag}"'):
            return self.error(412, "PreconditionFailed")
        headers = [("ETag", f'"{there.etag}"'), ("Last-Modified", email.utils.formatdate(there.changed, usegmt=True))]
        range_ = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not range_ or not server.has_ranges:
            return self.answer(200, there.data, headers)
        begin = int(range_[1])
        if begin >= len(there.data):
            return self.error(416, "InvalidRange")
        self.answer(206, there.data[begin:], headers + [("Content-Range", f"bytes {begin}-{len(there.data) - 1}/{len(there.data)}")])

    def upload(self, server, objects, key, query, body):
        if "uploads" in query:
            name = f"an+id/{len(server.uploads)}=="
            server.uploads[name] = {}
            return self.answer(200, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode())
        parts = server.uploads.pop(query["uploadId"], None)
        if parts is None:
            return self.error(404, "NoSuchUpload")
        named = re.findall(rb'<PartNumber>(\d+)</PartNumber><ETag>"(\w+)"</ETag>', body)
        assert [(int(n), e.decode()) for n, e in named] == [(n, hashlib.md5(p).hexdigest()) for n, p in sorted(parts.items())]
        assert all(len(p) >= 5 << 20 for n, p in parts.items() if n < len(parts)), "a part is too small"
        digest = hashlib.md5(b"".join(hashlib.md5(p).digest() for _, p in sorted(parts.items()))).hexdigest()
        objects[key] = Object(b"".join(p for _, p in sorted(parts.items())), f"{digest}-{len(parts)}")
        if self.fault == "lost":
            return self.end()
        self.answer(200, f'<CompleteMultipartUploadResult><ETag>"{objects[key].etag}"</ETag></CompleteMultipartUploadResult>'.encode())

    def list(self, server, objects, query):
        assert query["list-type"] == "2" and query["encoding-type"] == "url"
        names = sorted((k for k in objects if k.startswith(query["prefix"])), key=str.encode)
        if "delimiter" in query:
            names = [k for k in names if "/" not in k[len(query["prefix"]):]]
        names = [k for k in names if k.encode() > bytes.fromhex(query.get("continuation-token", ""))]
        more, names = len(names) > server.page, names[:server.page]
        rows = "".join(f"<Contents><Key>{urllib.parse.quote_plus(k)}</Key><Size>{len(objects[k].data)}</Size>"
                       f"<ETag>{xml.sax.saxutils.escape(chr(34) + objects[k].etag + chr(34))}</ETag></Contents>" for k in names)
        token = f"<NextContinuationToken>{names[-1].encode().hex()}</NextContinuationToken>" if more else ""
        self.answer(200, f"<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><EncodingType>url</EncodingType>"
                         f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{token}{rows}</ListBucketResult>".encode())

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        error = __import__("sys").exc_info()[1]
        if not isinstance(error, (ConnectionError, BrokenPipeError, OSError)):
            self.owner.refused.append(("server", repr(error)))


class Server:
    def __init__(self, page=1000, has_ranges=True, certificate=None):
        """certificate: a file with one and its key: then by TLS."""
        self.objects, self.uploads, self.faults = {"bucket": {}}, {}, []
        self.requests, self.refused = [], []
        self.page, self.has_ranges, self.lock = page, has_ranges, threading.RLock()
        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.listener.owner = self
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.listener.server_close()

    @property
    def address(self):
        return f"{self.scheme}://127.0.0.1:{self.listener.server_address[1]}"

    def environment(self, secret=SECRET):
        return {"AWS_ENDPOINT_URL_S3": self.address, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": ACCESS,
                "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "a+token/of=letters", "NO_PROXY": "127.0.0.1"}
