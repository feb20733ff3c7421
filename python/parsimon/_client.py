"""A client of ``parsimon serve``, on the standard library alone."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

Row: TypeAlias = Mapping[str, Any]
Ack: TypeAlias = Literal["durable", "logged", "visible"]

# What the service answers when a request should be sent again, and nothing was changed.
_AGAIN = (429, 503)


class ServiceError(RuntimeError):
    """The service refused a request.

    Attributes that do not apply are None.

    Attributes
    ----------
    status : int
        The HTTP status: 400 for a bad row, 401 and 403 for tokens, 404 for an unknown model or id, 409 for a contradiction, 413 for
        too much, 429 and 503 for "not now", 504 for a deadline.
    row : int or None
        The row of the request, counted from 1.
    column : int or None
        The byte in that row as JSON text, counted from 1.
    field : str or None
        The name of the field.
    token : str or None
        What was found.
    """

    __module__ = "parsimon"

    def __init__(self, status: int, answer: Mapping[str, Any]) -> None:
        super().__init__(f"{answer.get('error', 'no reason')} (status {status})")
        self.status = status
        self.row: int | None = answer.get("line")
        self.column: int | None = answer.get("column")
        self.field: str | None = answer.get("field")
        self.token: str | None = answer.get("token")


class Client:
    """Sends rows to one model of a running ``parsimon serve``.

    A client may be shared by threads; each thread has a connection, which is kept between calls.

    Parameters
    ----------
    url : str or sequence of str
        The address of the model, such as ``http://127.0.0.1:8080/v1/models/clicks``; several of a leader and its follower. Scores
        come from any of them, and rows are learned by the leader.
    token : str, optional
        The access token, if the service has any.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often a request is repeated that the service answers with 429 or 503, each time after the seconds it asks for. With
        several addresses also after a lost connection, and at the next address.
    """

    def __init__(self, url: str | Sequence[str], token: str | None = None, *, timeout: float = 60.0, retries: int = 5) -> None:
        urls = [url] if isinstance(url, str) else list(url)
        if not urls:
            raise ValueError("expected at least one address")
        self._places = [_place(one) for one in urls]
        if token is not None and not (token.isascii() and token.isprintable() and token):
            raise ValueError("the token must be one word of ASCII characters")
        self.url = urls[0]
        self.timeout = timeout
        self.retries = retries
        self._token = token
        self._here = threading.local()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_here"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._here = threading.local()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection of this thread. A later call opens it again."""
        connection: http.client.HTTPConnection | None = getattr(self._here, "connection", None)
        if connection is not None:
            connection.close()
            self._here.connection = None

    @overload
    def score(self, rows: Row, *, explain: bool = ..., deadline_ms: int | None = ...) -> dict[str, Any]: ...
    @overload
    def score(self, rows: Iterable[Row], *, explain: bool = ..., deadline_ms: int | None = ...) -> list[dict[str, Any]]: ...
    def score(
        self, rows: Row | Iterable[Row], *, explain: bool = False, deadline_ms: int | None = None
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Scores a row (a dictionary) or several (an iterable of them); the answer has the same shape.

        A row with an ``id`` is kept until :meth:`label` sends its label. ``explain`` adds the contribution of each feature. With
        ``deadline_ms`` the service answers nothing that would be later.
        """
        headers = {} if deadline_ms is None else {"x-deadline-ms": str(deadline_ms)}
        scores: dict[str, Any] | list[dict[str, Any]] = self._post("score", {"explain": explain}, rows, headers)
        return scores

    def learn(
        self,
        rows: Row | Iterable[Row],
        *,
        ack: Ack = "durable",
        key: str | None = None,
        partial: bool = False,
    ) -> dict[str, Any]:
        """Learns labelled rows: a dictionary with a ``label``, or several.

        Returns after the rows are in the log and synced; ``ack="logged"`` does not wait for the sync, ``ack="visible"`` waits until
        scores include the rows. Rows with an ``id`` are learned once, and so is a request with a ``key``; without one a random key
        makes the repeats of this call harmless. ``partial=True`` learns the good rows if others are bad, which ``refused`` lists.
        """
        headers = {"idempotency-key": key if key is not None else uuid.uuid4().hex}
        answer: dict[str, Any] = self._post("learn", {"ack": ack, "partial": partial}, rows, headers)
        return answer

    def label(self, labels: Row | Iterable[Row], *, ack: Ack = "durable") -> dict[str, Any]:
        """Sends labels for rows that were scored with ids: dictionaries with ``id``, ``label`` and, optionally, ``weight``."""
        answer: dict[str, Any] = self._post("label", {"ack": ack}, labels, {})
        return answer

    def info(self, *, digest: bool = False) -> dict[str, Any]:
        """What the model is and how far it is; with ``digest``, a number that only states with the same history share."""
        return self._json("GET", "?digest" if digest else "")

    def versions(self) -> dict[str, Any]:
        """The snapshots that are kept."""
        return self._json("GET", "/versions")

    def snapshot(self) -> dict[str, Any]:
        """Writes a snapshot now, and returns its version."""
        return self._json("POST", "/snapshot")

    def promote(self, epoch: int, seq: int) -> dict[str, Any]:
        """Goes on from a kept snapshot."""
        return self._json("POST", "/promote", {"epoch": epoch, "seq": seq})

    def promote_shadow(self, name: str) -> dict[str, Any]:
        """Goes on as a shadow of the model: its settings, with everything learned that was logged before."""
        return self._json("POST", "/promote", {"shadow": name})

    def shadows(self) -> list[dict[str, Any]]:
        """The shadows of the model, with their progressive losses beside the model's."""
        shadows: list[dict[str, Any]] = self._json("GET", "/shadows")["shadows"]
        return shadows

    def pause(self, reason: str = "") -> dict[str, Any]:
        """Pauses learning: rows are logged and acknowledged, but not learned."""
        return self._json("POST", "/pause", {"reason": reason})

    def resume(self, backlog: Literal["learn", "skip"]) -> dict[str, Any]:
        """Resumes learning; the rows that came meanwhile are learned now, or never."""
        return self._json("POST", "/resume", {"backlog": backlog})

    def rollback(self, epoch: int, seq: int) -> dict[str, Any]:
        """Goes back to a kept snapshot, with its ids and waiting rows. Learning goes on in a new epoch."""
        return self._json("POST", "/rollback", {"epoch": epoch, "seq": seq})

    def download(self, path: str | Path) -> Path:
        """Writes the model file as it is now, for :func:`parsimon.load` and ``parsimon predict``."""
        path = Path(path)
        path.write_bytes(self._send("GET", "/download", b"", {}))
        return path

    def _post(self, what: str, flags: Mapping[str, Any], rows: Row | Iterable[Row], headers: Mapping[str, str]) -> Any:
        query = urllib.parse.urlencode({name: str(value).lower() for name, value in flags.items() if value is not False})
        body = _encoded(rows if isinstance(rows, Mapping) else list(rows))
        sent = {"content-type": "application/json", **headers}
        return json.loads(self._send("POST", f"/{what}?{query}" if query else f"/{what}", body, sent))

    def _json(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        sent = {} if body is None else {"content-type": "application/json"}
        answer: dict[str, Any] = json.loads(self._send(method, path, b"" if body is None else _encoded(body), sent))
        return answer

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        sent = dict(headers)
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token}"
        left = self.retries * len(self._places)
        tried = 0
        while True:
            tried += 1
            try:
                status, answer, after = self._exchange(method, path, body, sent)
            except OSError:
                if len(self._places) == 1 or left <= 0:
                    raise
                after = 0.1 * 2.0 ** min(tried // len(self._places), 6)
            else:
                if status == http.client.OK:
                    return answer
                # A follower takes no rows, and names its leader.
                elsewhere = status == http.client.CONFLICT and len(self._places) > 1 and "leader" in _refusal(answer)
                if (status not in _AGAIN and not elsewhere) or left <= 0:
                    raise ServiceError(status, _refusal(answer))
            left -= 1
            if len(self._places) > 1:
                self.close()
                self._here.at = (self._at() + 1) % len(self._places)
            # Every address is asked before the client waits.
            if tried % len(self._places) == 0:
                time.sleep(min(after, 60.0))

    def _at(self) -> int:
        at: int = getattr(self._here, "at", 0)
        return at

    def _exchange(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, float]:
        connection: http.client.HTTPConnection | None = getattr(self._here, "connection", None)
        was_kept = connection is not None
        if connection is None:
            connection = self._connect()
        try:
            connection.request(method, self._places[self._at()][3] + path, body, headers)
            response = connection.getresponse()
            answer = response.read()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            # The service has closed a connection that was kept for long.
            if was_kept:
                return self._exchange(method, path, body, headers)
            raise
        except BaseException:
            # What is left of the answer would be read as the next one.
            self.close()
            raise
        after = response.headers.get("retry-after", "1")
        return response.status, answer, float(after) if after.isdigit() else 1.0

    def _connect(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        scheme, host, port, _ = self._places[self._at()]
        if scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=self.timeout)
        self._here.connection = connection
        return connection


def _place(url: str) -> tuple[str, str, int | None, str]:
    parts = urllib.parse.urlsplit(url)
    path = parts.path.rstrip("/")
    name = path.removeprefix("/v1/models/")
    if parts.scheme not in ("http", "https") or not parts.hostname or not name or name == path or "/" in name:
        raise ValueError(f"expected http://HOST:PORT/v1/models/NAME, got {url!r}")
    return parts.scheme, parts.hostname, parts.port, path


def _plain(value: Any) -> Any:
    """Numbers of NumPy, texts of paths, times: what JSON does not have."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return item()
    raise TypeError(f"a cell of type {type(value).__name__} cannot be sent: use numbers, texts, booleans or None")


def _encoded(rows: Any) -> bytes:
    try:
        return json.dumps(rows, default=_plain, allow_nan=False).encode()
    except ValueError as error:
        raise ValueError(f"a row cannot be sent: {error}; leave missing cells out, or send None") from None


def _refusal(answer: bytes) -> Mapping[str, Any]:
    try:
        refusal = json.loads(answer)
    except ValueError:
        refusal = None
    if isinstance(refusal, dict) and "refused" in refusal:
        first = refusal["refused"][0]
        return {**first, "line": first.get("row"), "error": f"every row was refused; row {first.get('row')}: {first.get('error')}"}
    return refusal if isinstance(refusal, dict) else {"error": answer[:300].decode(errors="replace").strip()}
