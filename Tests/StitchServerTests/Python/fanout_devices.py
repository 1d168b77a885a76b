"""The devices of the fan-out, and the ledger that says which events each of them must get.

A device may see the documents of its team. All devices of a collection and a team get the same
events, so the ledger has one list for them. A device compares each event with the next entry of its
list.
"""

import asyncio
import collections
import random
import re
import time
import uuid
from array import array

from bson import Binary, Int64
from fanout_wire import PATIENCE, CommandError, Connection, SignIn, answer, message

DATABASE = "fan"
COLLECTIONS = 20
TEAMS = 10
VERSION = "__stitch_sync_version"
# The projection with which the engine opens its stream (MongoChangeStream.projection).
PROJECTION = {
    "operationType": 1, "documentKey": 1, "fullDocument": 1, "leftView": 1,
    "updateDescription.removedFields": 1,
    "versionFields": {"$filter": {
        "input": {"$objectToArray": "$updateDescription.updatedFields"},
        "cond": {"$eq": [{"$indexOfBytes": ["$$this.k", VERSION]}, 0]}}},
}
# The devices that connect again at once; fewer would wait for each other more than for the gateway.
RECONNECTS = 400
# The size of a batch that the engine asks for.
BATCH = 2000
# Each document has a text that names its team.
MARK = re.compile(rb"team-(\d+)")
# The errors after which a device connects again, as the engine does.
RETRYABLE = {6, 7, 43, 89, 91, 189, 10107, 11600, 11602, 13435, 13436}


class Ledger:
    """What was written, and which events each collection and team must get for it, in order."""

    def __init__(self, seed=1):
        self.random = random.Random(seed)
        # The time before each write was sent, by its number.
        self.sent = array("d")
        self.lists = {(c, t): [] for c in range(COLLECTIONS) for t in range(TEAMS)}
        # The documents that exist: of each collection, pairs of id and team.
        self.living = [[] for _ in range(COLLECTIONS)]
        self.kinds = collections.Counter()

    def write(self, collection):
        """Chooses the next write to a collection, notes its events, and gives its command."""
        number = len(self.sent)
        living = self.living[collection]
        kind = self.random.choices(
            ("insert", "update", "move", "delete"), (40, 30, 15, 15))[0] if living else "insert"
        self.kinds[kind] += 1
        command = getattr(self, kind)(f"c{collection}", collection, living, number)
        self.sent.append(time.monotonic())
        return command

    def note(self, collection, team, operation, id, number, shown):
        """Adds an event.

        - shown: the number that the event shows, None for one without.
        """
        self.lists[collection, team].append((operation, id, shown, number))

    def fields(self, team, number):
        """The fields that each write sets: the version has the write's number."""
        return {"text": f"written for team-{team} by write {number}", VERSION: {
            "spv": 1, "id": "fanout", "v": Int64(number), "op": Binary(number.to_bytes(16, "big"))}}

    def insert(self, name, collection, living, number):
        team = self.random.randrange(TEAMS)
        living.append([number, team])
        self.note(collection, team, "insert", number, number, number)
        return {"insert": name, "documents": [
            {"_id": number, "team": team, "pad": "x" * 200, **self.fields(team, number)}]}

    def update(self, name, collection, living, number):
        id, team = self.random.choice(living)
        self.note(collection, team, "update", id, number, number)
        return {"update": name, "updates": [
            {"q": {"_id": id}, "u": {"$set": self.fields(team, number)}}]}

    def move(self, name, collection, living, number):
        """An update that takes a document from the view of one team into that of another."""
        document = self.random.choice(living)
        id, old = document
        team = document[1] = (old + self.random.randrange(1, TEAMS)) % TEAMS
        self.note(collection, old, "leave", id, number, None)
        self.note(collection, team, "insert", id, number, number)
        return {"update": name, "updates": [
            {"q": {"_id": id}, "u": {"$set": {"team": team, **self.fields(team, number)}}}]}

    def delete(self, name, collection, living, number):
        place = self.random.randrange(len(living))
        id, team = living[place]
        living[place] = living[-1]
        living.pop()
        self.note(collection, team, "delete", id, number, None)
        return {"delete": name, "deletes": [{"q": {"_id": id}, "limit": 1}]}


class Fleet:
    """All devices, and what they share."""

    def __init__(self, count, ports, ledger, wait, isFull, pool):
        self.ports, self.ledger, self.pool, self.isFull = ports, ledger, pool, isFull
        self.wait = wait
        self.isOver = False
        self.violations = collections.Counter()
        self.examples = []
        self.refusals = self.events = 0
        # When streams were resumed.
        self.resumed = []
        # The latencies of the writes from the number `first` on.
        self.first = 0
        self.latencies = array("d")
        # How far each list must be read, until which a device is not in step.
        self.targets = None
        self.behind = 0
        self.inStep = asyncio.Event()
        self.connecting = asyncio.Semaphore(RECONNECTS)
        self.devices = [Device(self, i) for i in range(count)]

    def violation(self, kind, device, text):
        self.violations[kind] += 1
        if len(self.examples) < 10:
            self.examples.append(f"{kind}: device {device.number} (c{device.collection}, "
                                 f"team {device.team}, gateway {device.gateway + 1}): {text}")

    async def each(self, step, countMax=64):
        """Runs a step of each device, so many at once."""
        room = asyncio.Semaphore(countMax)

        async def one(device):
            async with room:
                await getattr(device, step)()

        await asyncio.gather(*(one(device) for device in self.devices))

    def wait_until(self, targets):
        """Sets how far each list must be read before `inStep` is set."""
        self.targets = targets
        self.behind = len(self.devices)
        self.inStep.clear()
        now = time.monotonic()
        for device in self.devices:
            device.stepped = None
            device.settle(now)

    @property
    def lagging(self):
        """The first devices that are not in step, for a message."""
        return "; ".join(
            f"device {d.number} (gateway {d.gateway + 1}, {'open' if d.isOpen else 'not open'}) "
            f"has {d.place} of {self.targets[d.key]} events"
            for d in [d for d in self.devices if d.stepped is None][:5])

    @property
    def silent(self):
        """The devices whose request has been without an answer for too long."""
        limit = time.monotonic() - self.wait - PATIENCE
        return [d.number for d in self.devices if d.isOpen and d.heard < limit]


class Device:
    """A user's device: one connection with one stream, that goes on at the other gateway."""

    __slots__ = ("fleet", "number", "collection", "team", "gateway", "key", "log", "place", "token",
                 "login", "connection", "more", "isOpen", "heard", "stepped", "session")

    def __init__(self, fleet, number):
        self.fleet, self.number = fleet, number
        self.collection = number % COLLECTIONS
        self.team = number // COLLECTIONS % TEAMS
        # So that each team of each collection has devices at both gateways.
        self.gateway = (number + number // COLLECTIONS + number // (COLLECTIONS * TEAMS)) % 2
        self.key = (self.collection, self.team)
        self.log, self.place = fleet.ledger.lists[self.key], 0
        self.login = SignIn(f"device{number}", f"password-{number}")
        self.token = self.connection = self.more = self.stepped = self.session = None
        self.isOpen = False
        self.heard = 0.0

    async def sign_in(self):
        self.connection = await Connection.to(self.fleet.ports[self.gateway])
        await self.login.run(self.connection, self.fleet.pool)

    async def open(self):
        """Opens the stream, after the token if there is one."""
        name = f"c{self.collection}"
        options = {} if self.token is None else {"resumeAfter": self.token}
        pipeline = [{"$changeStream": options}, {"$project": PROJECTION}]
        if self.fleet.isFull:
            pipeline = [{"$changeStream": {**options, "fullDocument": "updateLookup"}}]
        self.session = {"id": Binary(uuid.uuid4().bytes, 4)}
        body = {"aggregate": name, "pipeline": pipeline, "cursor": {"batchSize": BATCH},
                "readConcern": {"level": "majority"}, "lsid": self.session}
        data = await asyncio.wait_for(
            self.connection.exchange(message(body, DATABASE)), PATIENCE)
        cursor = answer(data, body)["cursor"]
        self.isOpen = True
        self.take(data, cursor, cursor["firstBatch"])
        self.more = message({
            "getMore": Int64(cursor["id"]), "collection": name, "batchSize": BATCH,
            "maxTimeMS": Int64(self.fleet.wait * 1000), "lsid": self.session}, DATABASE)

    async def follow(self):
        """Reads the stream until the end; after an interruption it goes on at gateway 1."""
        pause = 0.1
        while not self.fleet.isOver:
            try:
                if not self.isOpen:
                    async with self.fleet.connecting:
                        await self.sign_in()
                        await self.open()
                    self.fleet.resumed.append(time.monotonic())
                    pause = 0.1
                while True:
                    data = await self.connection.exchange(self.more)
                    cursor = answer(data, {"getMore": 1})["cursor"]
                    self.take(data, cursor, cursor["nextBatch"])
                    if cursor["id"] == 0:
                        self.fleet.violation("ended", self, f"the stream ended: {cursor}")
                        return
            except (OSError, CommandError, asyncio.TimeoutError) as error:
                self.isOpen = False
                self.connection and self.connection.close()
                if self.fleet.isOver:
                    return
                if isinstance(error, CommandError) and error.code not in RETRYABLE:
                    self.fleet.violation("error", self, str(error))
                    return
                self.fleet.refusals += isinstance(error, CommandError)
                self.gateway = 0
                await asyncio.sleep(random.uniform(0, pause))
                pause = min(pause * 2, 2)

    def take(self, data, cursor, events):
        """Compares events with the list, and keeps the place after them."""
        now = self.heard = time.monotonic()
        if events:
            fleet, own = self.fleet, str(self.team).encode()
            if any(team != own for team in MARK.findall(data)):
                fleet.violation("hidden", self, f"another team's content in {events}")
            for event in events:
                self.compare(event, now)
                self.token = event["_id"]
        self.token = cursor.get("postBatchResumeToken", self.token)
        self.settle(now)

    def compare(self, event, now):
        fleet, log, place = self.fleet, self.log, self.place
        fleet.events += 1
        seen = self.read(event)
        if place < len(log) and log[place][:3] == seen:
            number = log[place][3]
            if number >= fleet.first:
                fleet.latencies.append(now - fleet.ledger.sent[number])
            self.place = place + 1
            return
        rest = [entry[:3] for entry in log[place:]]
        if seen in rest:
            skipped = rest.index(seen)
            fleet.violation("missing", self, f"{skipped} events before {seen}: {rest[0]} …")
            self.place = place + skipped + 1
        elif any(entry[:3] == seen for entry in log[:place]):
            fleet.violation("twice or late", self, f"{seen}, at place {place}")
        else:
            fleet.violation("unexpected", self, f"{event}, at place {place} of {len(log)}")

    def read(self, event):
        """The operation, the id and the write's number, as far as the event shows it."""
        operation, id = event["operationType"], event["documentKey"]["_id"]
        if operation == "insert":
            return operation, id, event["fullDocument"][VERSION]["v"]
        if operation == "delete":
            return "leave" if event.get("leftView") else operation, id, None
        if operation == "update":
            fields = ({f["k"]: f["v"] for f in event["versionFields"]} if not self.fleet.isFull
                      else event["updateDescription"]["updatedFields"])
            # An update tells the version as a whole, or the changed parts of it.
            whole = fields.get(VERSION) or {"v": fields.get(f"{VERSION}.v")}
            return operation, id, whole["v"]
        return operation, id, None

    def settle(self, now):
        """Notes the time from which the device is in step."""
        fleet = self.fleet
        if fleet.targets is None or self.stepped is not None or not self.isOpen:
            return
        if self.place >= fleet.targets[self.key]:
            self.stepped = now
            fleet.behind -= 1
            if fleet.behind == 0:
                fleet.inStep.set()
