"""http_requests.py: requests and answers of HTTP/1.1, for the server of the tests. It gets them by the ten thousand,
and the standard library's http.server takes three times as long for each.

A Handler has run(), which is called for each request, with self.command, self.path, self.headers (names in small
letters) and self.sent (names as they came); it reads a body from self.rfile, and calls send() once.
"""
import functools
import http
import socketserver
import time


@functools.lru_cache(maxsize=16)
def date_of(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    close_connection = False  # after this request

    def handle(self):
        while not self.close_connection and self.read_request():
            self.run()

    def read_request(self):
        """False if the client has closed the connection."""
        words = self.rfile.readline().decode("latin-1").split()
        if len(words) != 3:
            return False
        self.command, self.path, _ = words
        self.sent = {}
        while (line := self.rfile.readline().decode("latin-1").strip()):
            name, _, value = line.partition(":")
            self.sent[name] = value.strip()
        self.headers = {name.lower(): value for name, value in self.sent.items()}
        self.close_connection = self.headers.get("connection") == "close"
        return True

    def send(self, status, headers, length, body):
        """An answer whose body has a length; less of it may be sent here."""
        lines = [f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}",
                 f"Date: {date_of(int(self.server.now()))}", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join(lines) + "\r\n\r\n"
        self.wfile.write(head.encode("latin-1") + body)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64
