"""What one user under rules asks for, and how long another user waits meanwhile.

usage: fairness.py TOOL REQUESTS

REQUESTS is a file of `Attacker print=200`: a line of Extended JSON for each command that fills the
database, then one for each expensive request. Ann sends all requests at the same time, each on a
connection of its own. Until they are answered, Ben pings, signs in with a new connection, and
writes. Then Ann's transactions hold what they wrote for as long as they may, each with a read every
0.1 s, and begin again. The script ends with code 1 when a request of Ben's took longer than 0.5 s. It
runs over a file and over two gateways, where Ann's requests go to both.
"""

import collections
import json
import os
import sys
import tempfile
import threading
import time

import pymongo
from bson import json_util
from bson.codec_options import CodecOptions

from fanout_processes import Failure, Process

TOOL, REQUESTS = os.path.abspath(sys.argv[1]), sys.argv[2]
# The longest time that a request of the other user may take, in seconds.
ALLOWED = 0.5
# The number of times that Ben measures, at least, so that a short flood counts, too.
LEAST = 20
# The number of Ann's transactions at a time, and how long they go on and each lasts, in seconds.
HOLDERS, HOLDING, HELD = 12, 20, 10


def commands():
    """The commands that fill the database, and the expensive ones."""
    options = json_util.JSONOptions(document_class=collections.OrderedDict)
    found = {"fill": [], "request": []}
    with open(REQUESTS) as lines:
        for line in lines:
            ((kind, command),) = json_util.loads(line, json_options=options).items()
            found[kind].append(command)
    if not found["fill"] or not found["request"]:
        raise Failure(f"{REQUESTS} has no requests")
    return found["fill"], found["request"]


def write_rules(folder, database):
    """Rules by which users read and write all documents of the database but for a field."""
    rules = os.path.join(folder, "rules")
    place = os.path.join(rules, "data_sources", "mongodb-atlas", database)
    for collection in ["items", "nodes", "large", "words", "spoils", "merged", "others"]:
        os.makedirs(os.path.join(place, collection))
        with open(os.path.join(place, collection, "rules.json"), "w") as file:
            json.dump({"roles": [{
                "name": "user", "apply_when": {}, "insert": True, "delete": True,
                "document_filters": {"read": {"secret": {"$exists": False}}, "write": True},
                "read": True, "write": True}]}, file)
    return rules


def client(port, user=None):
    where = {"username": user, "password": "pw", "authSource": "admin"} if user else {}
    return pymongo.MongoClient(
        "127.0.0.1", port, directConnection=True, maxPoolSize=1, retryReads=False,
        retryWrites=False, serverSelectionTimeoutMS=60_000, **where)


def fill(port, database, fills):
    with client(port) as first:
        first.admin.command("createUser", "root", pwd="pw", roles=["root"])
    with client(port, "root") as root:
        for user in ["ann", "ben"]:
            root.admin.command(
                "createUser", user, pwd="pw", roles=[{"role": "readWrite", "db": database}])
        for command in fills:
            root[database].command(command)


class Flood:
    """Ann's requests, each on a connection of its own."""

    def __init__(self, ports, database, requests):
        self.database, self.answers = database, collections.Counter()
        self.lock, self.begin = threading.Lock(), threading.Event()
        self.threads = [
            threading.Thread(target=self.send, args=(ports[n % len(ports)], request))
            for n, request in enumerate(requests)]
        self.ready = threading.Semaphore(0)

    def run(self):
        """Sends all of them at once, when each has signed in."""
        for thread in self.threads:
            thread.start()
        for _ in self.threads:
            self.ready.acquire()
        self.begin.set()

    def send(self, port, request):
        with client(port, "ann") as ann:
            try:
                ann.admin.command("ping")
            finally:
                self.ready.release()
            self.begin.wait()
            try:
                ann[self.database].command(request, codec_options=CodecOptions(
                    document_class=collections.OrderedDict))
                answer = "ok"
            except pymongo.errors.OperationFailure as error:
                answer = f"error {error.code}"
            except pymongo.errors.PyMongoError as error:
                answer = type(error).__name__
        with self.lock:
            self.answers[answer] += 1

    @property
    def is_over(self):
        return not any(thread.is_alive() for thread in self.threads)


class Holders:
    """Ann's transactions, each on a connection of its own."""

    def __init__(self, ports, database):
        self.database, self.answers = database, collections.Counter()
        self.lock, self.end = threading.Lock(), time.monotonic() + HOLDING
        self.threads = [
            threading.Thread(target=self.hold, args=(ports[n % len(ports)], n))
            for n in range(HOLDERS)]
        self.begun = threading.Event()

    def run(self):
        """Begins, and returns when one holds what it wrote."""
        for thread in self.threads:
            thread.start()
        self.begun.wait(HOLDING)

    def hold(self, port, number):
        with client(port, "ann") as ann, ann.start_session() as session:
            while not self.is_over:
                answer = "committed"
                try:
                    self.once(ann[self.database], session, number)
                except pymongo.errors.OperationFailure as error:
                    isTransient = error.has_error_label("TransientTransactionError")
                    answer = f"error {error.code}" + ("" if isTransient else ", FINAL")
                with self.lock:
                    self.answers[answer] += 1

    def once(self, database, session, number):
        end = time.monotonic() + HELD
        with session.start_transaction():
            database.nodes.update_one({"_id": number}, {"$inc": {"n": 1}}, session=session)
            self.begun.set()
            while not self.is_over and time.monotonic() < end:
                database.items.find_one({"_id": 5}, session=session)
                time.sleep(0.1)

    @property
    def is_over(self):
        return time.monotonic() > self.end


def measure(port, database, flood, longest):
    """Measures Ben's requests until the flood is over."""
    known, count = client(port, "ben"), 0
    known[database].command("ping")
    while not flood.is_over or count < LEAST:
        for name, work in [
            ("ping", lambda: known.admin.command("ping")),
            ("write", lambda: known[database].others.insert_one({"port": port, "n": count})),
            ("sign-in", lambda: sign_in(port)),
        ]:
            start = time.monotonic()
            work()
            longest[name].append(time.monotonic() - start)
        count += 1
    known.close()


def sign_in(port):
    with client(port, "ben") as ben:
        ben.admin.command("ping")


def run(name, ports, database, flood):
    """Floods, and prints a row; returns whether each request was answered in time."""
    start = time.monotonic()
    flood.run()
    longest = {port: collections.defaultdict(list) for port in ports}
    failures = []

    def other(port):
        try:
            measure(port, database, flood, longest[port])
        except pymongo.errors.PyMongoError as error:
            failures.append(f"{type(error).__name__}: {error}")

    others = [threading.Thread(target=other, args=(port,)) for port in ports]
    for thread in others:
        thread.start()
    for thread in others + flood.threads:
        thread.join()
    print(f"{name}: {len(flood.threads)} {type(flood).__name__} in {time.monotonic() - start:.1f} s: "
          f"{dict(flood.answers)}")
    isInTime = not failures
    for failure in failures:
        print(f"  FAILED: {failure}")
    for place, port in enumerate(ports):
        for what, times in longest[port].items():
            times.sort()
            isLate = times[-1] > ALLOWED
            isInTime = isInTime and not isLate
            print(f"  server {place + 1}, {what:8} {len(times)} times, median "
                  f"{times[len(times) // 2] * 1000:.0f} ms, longest {times[-1] * 1000:.0f} ms"
                  f"{'   LATE' if isLate else ''}")
    return isInTime


def floods(name, ports, database, requests):
    """Runs each flood; returns whether all requests of the other user were answered in time."""
    isInTime = run(name, ports, database, Flood(ports, database, requests))
    return run(name, ports, database, Holders(ports, database)) and isInTime


def main():
    fills, requests = commands()
    database = fills[0].pop("$db")
    for command in fills[1:] + requests:
        command.pop("$db")
    results = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            rules = write_rules(folder, database)
            file = Process("file", TOOL, folder, [
                "--db", os.path.join(folder, "one.stitch"), "--auth", "--rules", rules])
            fill(file.port, database, fills)
            results.append(floods("a file", [file.port], database, requests))
            results.append(not file.end())
            upstream = Process(
                "upstream", TOOL, folder, ["--db", os.path.join(folder, "up.stitch")])
            gateways = [
                Process(
                    f"gateway {n}", TOOL, folder, ["--auth", "--rules", rules],
                    STITCHSYNC_UPSTREAM=f"mongodb://127.0.0.1:{upstream.port}/?replicaSet=rs0")
                for n in (1, 2)]
            fill(gateways[0].port, database, fills)
            ports = [gateway.port for gateway in gateways]
            results.append(floods("two gateways", ports, database, requests))
    finally:
        for wrong in Process.end_all():
            print(wrong)
            results.append(False)
    return 0 if all(results) else 1


sys.exit(main())
