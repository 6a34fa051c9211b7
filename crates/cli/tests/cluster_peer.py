"""Stock Zenoh, from its own package: a router that carries a cluster's control plane, a client that reads statistics, and one
that reads along what nodes are ordered and sends it again, and worse.

python3 cluster_peer.py router LISTEN FOLDER           prints "ready", runs until its input ends
python3 cluster_peer.py client CONNECT FOLDER KEY N    prints the first N samples, a line each
python3 cluster_peer.py hostile CONNECT FOLDER KEY     prints "ready"; once a run is started, what is answered to each message
"""

import json
import sys

import zenoh


def config(mode, folder, **endpoints):
    made = zenoh.Config()
    tls = "transport/link/tls/"
    for place, value in {
        "mode": mode,
        "scouting/multicast/enabled": False,
        tls + "root_ca_certificate": f"{folder}/ca.pem",
        tls + "enable_mtls": True,
        tls + "listen_certificate": f"{folder}/node.pem",
        tls + "listen_private_key": f"{folder}/node.key",
        tls + "connect_certificate": f"{folder}/node.pem",
        tls + "connect_private_key": f"{folder}/node.key",
        tls + "verify_name_on_connect": False,
        **{f"{end}/endpoints": [where] for end, where in endpoints.items()},
    }.items():
        made.insert_json5(place, json.dumps(value))
    return made


def router(listen, folder):
    with zenoh.open(config("router", folder, listen=listen)):
        print("ready", flush=True)
        sys.stdin.read()


def client(connect, folder, key, count):
    with zenoh.open(config("client", folder, connect=connect)) as session:
        subscriber = session.declare_subscriber(key)
        for _ in range(int(count)):
            print(subscriber.recv().payload.to_string(), flush=True)


def spans(file):
    """The spans of a file as OpenTelemetry's own schema reads them: name, parent's name, nodes, status."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    read = []
    with open(file) as lines:
        for line in lines:
            request = json_format.Parse(line, ExportTraceServiceRequest())
            for resource in request.resource_spans:
                assert any(fact.key == "service.name" for fact in resource.resource.attributes)
                read += [span for scope in resource.scope_spans for span in scope.spans]
    assert len({span.trace_id for span in read}) == 1 and len({span.span_id for span in read}) == len(read)
    names = {span.span_id: span.name for span in read}
    for span in read:
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        nodes = [fact.value.string_value for fact in span.attributes if fact.key in ("takt.node", "takt.lost")]
        print(span.name, "in", names[span.parent_span_id] if span.parent_span_id else "none", *nodes, span.status.code)


def asked(order):
    """What an order has a node do; none: it is none."""
    sealed = json.loads(order).get("order")
    return json.loads(sealed["text"])["order"]["ask"] if sealed else None


def worse(orders):
    """Messages that no node should do anything for, by name."""
    for name, order in orders.items():
        yield f"{name} again", order
        sealed = json.loads(order)["order"]
        given = json.loads(sealed["text"])
        yield f"{name} unsigned", document({"protocol": 3, "body": given["order"]})
        yield f"{name} cut short", order[: len(order) // 2]
        yield f"{name} of version 4", document({"protocol": 4, "order": sealed})
        yield f"{name} with more", document({"protocol": 3, "order": sealed, "more": 1})
        yield f"{name} without a certificate", document({"protocol": 3, "order": {**sealed, "certificate": ""}})
        yield f"{name} without a proof", document({"protocol": 3, "order": {**sealed, "signature": ""}})
        given["number"] ^= 1
        changed = {**sealed, "text": json.dumps(given)}
        yield f"{name} changed", document({"protocol": 3, "order": changed})
        given["order"] = {"ask": "stop", "run": given["order"]["run"], "manager": None}
        changed = {**sealed, "text": json.dumps(given)}
        yield f"{name} made a stop", document({"protocol": 3, "order": changed})
    yield "nothing", b""
    yield "no text", b"\xff\xfe\x00"
    yield "deep", b'{"protocol":3,"body":' + b"[" * 10_000
    yield "long", b"[" * (8 << 20)
    yield "out of range", b'{"protocol":99999999999999999999,"body":{"ask":"describe"}}'
    for again in range(300):
        yield f"flood {again}", b"flood"


def document(message):
    return json.dumps(message).encode()


def hostile(connect, folder, key):
    with zenoh.open(config("client", folder, connect=connect)) as session:
        # Who can send requests to nodes can also be sent theirs, and so reads along.
        reads = session.declare_queryable(key)
        print("ready", flush=True)
        orders = {}
        while "start" not in orders:
            with reads.recv() as query:
                order = bytes(query.payload)
                if asked(order):
                    orders[asked(order)] = order
        reads.undeclare()
        for name, message in worse(orders):
            for reply in session.get(key, payload=message, timeout=10):
                answer = json.loads(bytes(reply.ok.payload))["body"] if reply.ok else {"error": str(reply.err)}
                print(json.dumps({"message": name, "answer": answer}), flush=True)


if __name__ == "__main__":
    {"router": router, "client": client, "hostile": hostile, "spans": spans}[sys.argv[1]](*sys.argv[2:])
