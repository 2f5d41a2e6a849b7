"""An HTTP server in a thread that answers as the test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Request:
    """What the server received, and how it answers."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.line = f"{handler.command} {handler.path}"
        self.path = handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = handler.rfile.read(int(self.headers.get("content-length", 0)))
        self._handler = handler

    def answer(self, status: int, content: bytes, kind: str, **headers: str) -> None:
        self._handler.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(content)), **headers}.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()
        self._handler.wfile.write(content)

    def json(self, status: int, body: object, **headers: str) -> None:
        self.answer(status, json.dumps(body).encode(), "application/json", **headers)

    def pieces(self, kind: str, pieces: Iterator[bytes]) -> None:
        """A body of unknown length, one piece at a time."""
        self._handler.send_response(200)
        self._handler.send_header("content-type", kind)
        self._handler.send_header("transfer-encoding", "chunked")
        self._handler.end_headers()
        for piece in pieces:
            self._handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self._handler.wfile.flush()
        self._handler.wfile.write(b"0\r\n\r\n")

    def hang_up(self) -> None:
        """Ends the connection without an answer."""
        self._handler.close_connection = True
        self._handler.connection.close()


Answer = Callable[[Request], None]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[Request]]]:
    """Its address, and the requests so far."""
    asked: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            request = Request(self)
            asked.append(request)
            answer(request)

        do_GET = do_POST = do_PUT = _handle

        def log_message(self, *args: Any) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ValueError):
                self.close_connection = True

        def finish(self) -> None:
            try:
                super().finish()
            except (OSError, ValueError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
