"""Mixed load from many connections while the server is killed again and again.

usage: soak.py TOOL SECONDS KILL-EVERY CONNECTIONS

Outside of the server a ledger is kept of what was acknowledged (w: 1, j: true). In the end everything
in it must be there, and neither memory nor descriptors of the server may have grown.

Memory is judged twice. Each life stays below what the server may take in all: its program, the
caches of the file, a reader for each connection. And within lives it does not go up: the caches are
so small here that they are full within seconds, so that what grows after that is no cache. How much
a life grew is compared by its middle and its last third; the median of all lives counts, so that
neither a busy moment hides a leak nor makes one.
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import pymongo
from pymongo.errors import PyMongoError

TOOL, SECONDS, KILL_EVERY, CONNECTIONS = sys.argv[1], *map(int, sys.argv[2:5])
# Each writer has so many documents at most, so that the store does not grow.
WINDOW = 200
# MiB of the file that the server keeps in memory.
CACHE = 16
# MiB of the program with its libraries, and of what is under way.
PROGRAM = 48
# MiB that a connection may take: the cache of its reader.
READER = 2
# MiB that memory may go up from the middle third of a life to the last. A life of a minute does some
# 10,000 operations in 20 s, so that a leak of a kilobyte for each is seen.
GROWTH = 8
# Lives of so many looks are long enough to be compared with themselves.
LONG = 60


class Server:
    """A server process that can be killed and started again on the same file and port."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "soak.stitch")
        self.port = 0
        self.lives = []
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [TOOL, "serve", "--db", self.path, "--port", str(self.port),
             "--cache-mib", str(CACHE)],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit("the server did not start again: " + line)
        self.port = int(line.rsplit(":", 1)[1].split()[0])
        self.lives.append([])

    def measure(self):
        """Notes resident memory in MiB and the number of descriptors."""
        folder = f"/proc/{self.process.pid}"
        try:
            pages = int(open(folder + "/statm").read().split()[1])
            self.lives[-1].append((pages * 4096 / 2**20, len(os.listdir(folder + "/fd"))))
        except OSError:
            pass

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(60)


class Writer(threading.Thread):
    """One connection: writes, reads back, and keeps the ledger."""

    def __init__(self, port, number, stop):
        super().__init__(daemon=True)
        self.number, self.stop = number, stop
        self.random = random.Random(number)
        self.client = pymongo.MongoClient(
            "127.0.0.1", port, w=1, journal=True, maxPoolSize=1, serverSelectionTimeoutMS=60000)
        self.items = self.client.soak.items
        self.ledger = {}      # what is there for certain: id -> value
        self.unknown = set()  # ids of writes without an answer
        self.sequence = 0
        self.count = 0        # acknowledged increments
        self.maybe = 0        # increments without an answer
        self.operations = 0
        self.errors = 0
        self.wrong = []

    def run(self):
        while not self.stop.is_set():
            operation = self.random.choice(
                [self.insert, self.insert, self.change, self.increment, self.read, self.remove,
                 self.transact, self.aggregate])
            try:
                operation()
                self.operations += 1
            except PyMongoError:
                self.errors += 1

    def new(self):
        self.sequence += 1
        return f"{self.number}-{self.sequence}"

    def known(self):
        return self.random.choice(list(self.ledger)) if self.ledger else None

    def attempt(self, ids, write):
        """Does a write on ids whose outcome is not known until it is answered."""
        self.unknown.update(ids)
        before = {id: self.ledger.pop(id, None) for id in ids}
        after = write()
        self.unknown.difference_update(ids)
        for id in ids:
            value = after.get(id, before[id]) if after is not None else before[id]
            if value is not None:
                self.ledger[id] = value

    def insert(self):
        id, value = self.new(), self.random.random()
        document = {"_id": id, "w": self.number, "v": value, "pad": "x" * 200}
        self.attempt([id], lambda: self.items.insert_one(document) and {id: value})
        self.keep_small()

    def keep_small(self):
        while len(self.ledger) > WINDOW:
            self.remove()

    def change(self):
        id, value = self.known(), self.random.random()
        if id:
            self.attempt(
                [id], lambda: self.items.update_one({"_id": id}, {"$set": {"v": value}})
                and {id: value})

    def increment(self):
        self.maybe += 1
        self.items.find_one_and_update(
            {"_id": f"count-{self.number}"}, {"$inc": {"n": 1}}, upsert=True)
        self.maybe -= 1
        self.count += 1

    def read(self):
        id = self.known()
        if id:
            found = self.items.find_one({"_id": id})
            if found is None or found["v"] != self.ledger[id]:
                self.wrong.append((id, found, self.ledger[id]))

    def remove(self):
        id = self.known()
        if id:
            self.unknown.add(id)
            del self.ledger[id]
            self.items.delete_one({"_id": id})
            self.unknown.discard(id)

    def transact(self):
        ids, value = [self.new(), self.new()], self.random.random()

        def write():
            with self.client.start_session() as session, session.start_transaction():
                self.items.insert_many(
                    [{"_id": id, "w": self.number, "v": value} for id in ids], session=session)
            return {id: value for id in ids}

        try:
            self.attempt(ids, write)
        except PyMongoError as error:
            if error.has_error_label("TransientTransactionError"):
                self.unknown.difference_update(ids)
                if self.items.count_documents({"_id": {"$in": ids}}):
                    self.wrong.append((ids, "aborted, and yet there"))
            raise
        self.keep_small()

    def aggregate(self):
        list(self.items.aggregate(
            [{"$match": {"w": self.number}}, {"$group": {"_id": None, "n": {"$sum": 1}}}]))

    def check(self):
        found = {d["_id"]: d.get("v") for d in self.items.find({"w": self.number})}
        for id, value in self.ledger.items():
            if found.get(id) != value:
                self.wrong.append((id, found.get(id), value))
        for id in found:
            if id not in self.ledger and id not in self.unknown:
                self.wrong.append((id, "deleted or never written, and yet there"))
        counter = self.items.find_one({"_id": f"count-{self.number}"}) or {"n": 0}
        if not self.count <= counter["n"] <= self.count + self.maybe:
            self.wrong.append(("count", counter["n"], self.count, self.maybe))


def flat(lives):
    """What takes or grew too much, by the lives of full length."""
    lives = [life for life in lives if len(life) > 3]
    memory_max = PROGRAM + CACHE + READER * CONNECTIONS
    growths = []
    for number, life in enumerate(lives):
        memories, descriptors = zip(*life)
        line = f"life {number}: {max(memories):.0f} MiB, {max(descriptors)} descriptors"
        if len(life) >= LONG:
            third = len(life) // 3
            growths.append(
                statistics.median(memories[-third:]) - statistics.median(memories[third:-third]))
            line += f", {growths[-1]:+.1f} MiB in the last third"
        print(line)
    grown = []
    peak = max(memory for life in lives for memory, _ in life)
    print(f"peak {peak:.0f} of {memory_max} MiB")
    # A sanitizer's own memory is several times the program's.
    if peak > memory_max and "STITCHSYNC_SANITIZER" not in os.environ:
        grown.append("memory")
    if growths:
        print(f"median growth {statistics.median(growths):+.1f} of {GROWTH} MiB")
        if statistics.median(growths) > GROWTH:
            grown.append("memory within lives")
    if max(f for _, f in lives[-1]) > max(f for _, f in lives[0]) + CONNECTIONS:
        grown.append("descriptors")
    return grown


def main():
    with tempfile.TemporaryDirectory(prefix="stitchsoak-") as folder:
        server = Server(folder)
        stop = threading.Event()
        writers = [Writer(server.port, number, stop) for number in range(CONNECTIONS)]
        for writer in writers:
            writer.start()
        begin = last = time.monotonic()
        kills = 0
        while time.monotonic() - begin < SECONDS:
            time.sleep(0.5)
            server.measure()
            if time.monotonic() - last >= KILL_EVERY:
                server.end(signal.SIGKILL)
                server.start()
                kills += 1
                last = time.monotonic()
        stop.set()
        for writer in writers:
            writer.join(60)
        for writer in writers:
            writer.check()
            writer.client.close()
        operations = sum(w.operations for w in writers)
        print(f"{operations} operations, {kills} kills, {sum(w.errors for w in writers)} errors, "
              f"{sum(len(w.ledger) + w.count for w in writers)} acknowledged writes looked for")
        wrong = [entry for writer in writers for entry in writer.wrong]
        grown = flat(server.lives)
        code = server.end(signal.SIGTERM)
        print("wrong:", wrong[:10], "grown:", grown, "exit code:", code)
        sys.exit(1 if wrong or grown or code or not kills or operations < CONNECTIONS else 0)


main()
