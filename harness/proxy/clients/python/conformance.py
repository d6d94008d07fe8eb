"""Runs toxiproxy-python 0.1.1 against the server at TOXIPROXY_ADDR (host:port), and checks what it says and what it
does to connections. The first failure raises; the last line says how many checks passed."""

import os
import socket
import threading
import time

from toxiproxy import Toxiproxy
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

# Far beyond what a busy machine needs; only a hang reaches it.
PATIENCE = 30
TOXICS = {
    "latency": {"latency": 10, "jitter": 5},
    "bandwidth": {"rate": 500},
    "slow_close": {"delay": 50},
    "timeout": {"timeout": 70},
    "reset_peer": {"timeout": 80},
    "slicer": {"average_size": 1024, "size_variation": 128, "delay": 500},
    "limit_data": {"bytes": 2048},
    "noop": {},
}

passed = 0


def equal(what, got, expected):
    global passed
    if got != expected:
        raise SystemExit(f"{what}: got {got!r}, expected {expected!r}")
    passed += 1


def raises(what, error, call):
    try:
        call()
    except error as refused:
        equal(what, type(refused), error)
    else:
        raise SystemExit(f"{what}: not refused")


def echo():
    """An upstream that sends back what it gets, for the rest of the process."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(stream):
        with stream:
            try:
                while data := stream.recv(65536):
                    stream.sendall(data)
            except OSError:
                pass  # a fault cut it

    def accept():
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=serve, args=(stream,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return "127.0.0.1:%d" % listener.getsockname()[1]


def exchange(listen, text):
    """Sends `text` and takes as many bytes back: what came, and how long it took."""
    host, port = listen.rsplit(":", 1)
    with socket.create_connection((host, int(port)), PATIENCE) as stream:
        started = time.monotonic()
        stream.sendall(text)
        got = b""
        while len(got) < len(text):
            data = stream.recv(65536)
            if not data:
                break
            got += data
        return got, time.monotonic() - started


def is_refused(listen):
    host, port = listen.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except ConnectionRefusedError:
        return True
    return False


def proxies(server, upstream):
    equal("the server runs", server.running(), True)
    equal("it names the version it is compatible with", b'"2.12.0' in server.version(), True)
    made = server.create(upstream=upstream, name="python")
    equal("a new proxy is enabled", made.enabled, True)
    equal("bytes pass", exchange(made.listen, b"hello")[0], b"hello")
    equal("it is listed", server.get_proxy("python").listen, made.listen)
    raises("a name is taken once", ProxyExists, lambda: server.create(upstream=upstream, name="python"))
    with made.down():
        equal("a disabled proxy refuses", is_refused(made.listen), True)
        equal("and says so", server.get_proxy("python").enabled, False)
    equal("an enabled one passes", exchange(made.listen, b"again")[0], b"again")
    off = server.create(upstream=upstream, name="python-off", enabled=False)
    equal("a proxy can be born disabled", (off.enabled, off.listen), (False, "127.0.0.1:0"))
    equal("and destroyed", off.destroy(), True)
    raises("once", NotFound, off.destroy)
    return made


def toxics(server, proxy):
    for kind, attributes in TOXICS.items():
        proxy.add_toxic(type=kind, attributes=attributes, toxicity=0.0)
    listed = proxy.toxics()
    equal("every toxic is listed", list(listed), [f"{kind}_downstream" for kind in TOXICS])
    for kind, attributes in TOXICS.items():
        toxic = listed[f"{kind}_downstream"]
        equal(kind, (toxic.attributes, toxic.stream, toxic.toxicity), (attributes, "downstream", 0))
    raises("a toxic's name is taken once", ProxyExists, lambda: proxy.add_toxic(type="noop"))
    raises("an unknown type is refused", InvalidToxic, lambda: proxy.add_toxic(type="nonsense"))
    for name in listed:
        equal(f"{name} is removed", proxy.destroy_toxic(name), True)
    raises("a removed toxic is gone", NotFound, lambda: proxy.destroy_toxic("noop_downstream"))
    proxy.add_toxic(type="latency", stream="upstream", name="slow", attributes={"latency": 150})
    got, took = exchange(proxy.listen, b"late")
    equal("latency delays", (got, took >= 0.15), (b"late", True))
    proxy.add_toxic(type="limit_data", attributes={"bytes": 4})
    equal("limit_data closes behind its bytes", exchange(proxy.listen, b"12345678")[0], b"1234")
    proxy.disable()
    server.reset()
    equal("a reset removes toxics", proxy.toxics(), {})
    equal("and starts what was stopped", exchange(proxy.listen, b"up")[0], b"up")


def populate(server, upstream):
    entries = [{"name": f"python-{i}", "upstream": upstream, "listen": "127.0.0.1:0"} for i in range(3)]
    made = server.populate(entries)
    equal("all are created", [proxy.name for proxy in made], ["python-0", "python-1", "python-2"])
    for proxy in made:
        equal(f"{proxy.name} passes", exchange(proxy.listen, b"bytes")[0], b"bytes")
    server.destroy_all()
    equal("nothing is left", server.proxies(), {})


def main():
    host, port = os.environ["TOXIPROXY_ADDR"].rsplit(":", 1)
    server = Toxiproxy()
    server.update_api_consumer(host, int(port))
    server.destroy_all()
    upstream = echo()
    proxy = proxies(server, upstream)
    toxics(server, proxy)
    populate(server, upstream)
    print(f"python: {passed} client checks passed")


if __name__ == "__main__":
    main()
