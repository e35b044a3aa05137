"""secure.py: servers of the tests in the place of hosts that exist elsewhere: as a proxy, which makes a certificate.

    context = make_context(folder, hosts)                       # folder/"certificate" is for SSL_CERT_FILE
    server = S3Server(objects, through(Handler, context))       # its address is for https_proxy
"""
import ssl
import subprocess


def make_context(folder, hosts):
    certificate, key = folder / "certificate", folder / "key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=x", "-addext",
                    "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts), "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def through(handler, context):
    """A handler for requests that a proxy is asked to send on to self.host, which it answers itself."""
    class Through(handler):
        def handle(self):
            self.read_request()
            self.host = self.path.partition(":")[0]
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            with context.wrap_socket(self.connection, server_side=True) as self.connection:
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", buffering=0)
                super().handle()
    return Through
