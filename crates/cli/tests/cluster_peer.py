"""Stock Zenoh, from its own package: a router that carries a cluster's control plane, and a client that reads statistics.

python3 cluster_peer.py router LISTEN FOLDER           prints "ready", runs until its input ends
python3 cluster_peer.py client CONNECT FOLDER KEY N    prints the first N samples, a line each
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


if __name__ == "__main__":
    {"router": router, "client": client}[sys.argv[1]](*sys.argv[2:])
