"""Many devices with open streams at two gateways of one upstream, while a writer changes documents.

usage: fanout.py TOOL DEVICES RATE SECONDS

Each device is a user with a team, and sees the documents of its team: a tenth. After RATE changes a
second for SECONDS seconds the second gateway is killed; its devices continue at the first. A ledger
says which events each device must get. The script ends with code 1 when a device got another team's
document, when an event was missing, out of order or repeated, when the writer could not keep its
rate, or when the devices were not in step within 10 s of the kill.

Environment: WAIT, the seconds that a device waits in one getMore (5); STREAM=full, streams with
fullDocument: updateLookup in place of the engine's projection; WRITER=gateway, writes as root
through the first gateway.
"""

import asyncio
import collections
import concurrent.futures
import gc
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time

from fanout_devices import COLLECTIONS, DATABASE, Fleet, Ledger
from fanout_processes import Clocks, Failure, Process
from fanout_wire import PATIENCE, CommandError, Connection, SignIn

TOOL, DEVICES, RATE, SECONDS = os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:5])
WAIT = int(os.environ.get("WAIT", "5"))
IS_FULL = os.environ.get("STREAM", "engine") == "full"
WRITES_THROUGH_GATEWAY = os.environ.get("WRITER", "upstream") == "gateway"
# Seconds of rest before idle memory is measured.
IDLE = 10
# Seconds after the kill within which devices must be in step.
IN_STEP = 10
# Seconds that the devices may take for the rest of the events once the writer has ended.
DRAIN = 60
# The seconds that setting up may take, for each device at least.
SET_UP = 60 + DEVICES * 0.5

ROOT = SignIn("root", "root-password")


def say(text):
    print(f"[{time.monotonic() - BEGIN:6.1f} s] {text}", flush=True)


async def within(seconds, what, work):
    """The result of work, or a failure that says what took too long."""
    try:
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        raise Failure(f"{what} took longer than {seconds:.0f} s") from None


def write_rules(folder):
    """Writes rules by which a user reads the documents of the own team; gives their folder."""
    rules = os.path.join(folder, "rules")

    def put(path, value):
        os.makedirs(os.path.dirname(os.path.join(rules, path)), exist_ok=True)
        with open(os.path.join(rules, path), "w") as file:
            json.dump(value, file)

    put("auth/custom_user_data.json", {
        "enabled": True, "database_name": DATABASE, "collection_name": "profiles",
        "user_id_field": "user"})
    put(f"data_sources/mongodb-atlas/{DATABASE}/profiles/rules.json", {"roles": []})
    for number in range(COLLECTIONS):
        put(f"data_sources/mongodb-atlas/{DATABASE}/c{number}/rules.json", {"roles": [{
            "name": "member", "apply_when": {}, "read": True, "write": False,
            "document_filters": {
                "read": {"team": "%%user.custom_data.team"}, "write": False}}]})
    return rules


def start_gateway(name, folder, upstream, rules):
    return Process(
        name, TOOL, folder, ["--auth", "--rules", rules],
        STITCHSYNC_UPSTREAM=f"mongodb://127.0.0.1:{upstream.port}/?replicaSet=rs0")


async def make_users(port, fleet, pool):
    """Creates root, then the collections, the users and their teams, as root through a gateway."""
    connection = await Connection.to(port)
    await connection.command({"createUser": ROOT.user, "pwd": ROOT.password, "roles": ["root"]})
    await ROOT.run(connection, pool)
    for number in range(COLLECTIONS):
        await connection.command({"create": f"c{number}"}, DATABASE)
    await connection.command({"createIndexes": "profiles", "indexes": [
        {"key": {"user": 1}, "name": "user", "unique": True}]}, DATABASE)
    for start in range(0, DEVICES, 500):
        await connection.command({"insert": "profiles", "documents": [
            {"user": d.login.user, "team": d.team}
            for d in fleet.devices[start:start + 500]]}, DATABASE)
    connection.close()
    rest = iter(fleet.devices)

    async def create():
        own = await Connection.to(port)
        await ROOT.run(own, pool)
        for device in rest:
            await own.command({
                "createUser": device.login.user, "pwd": device.login.password,
                "roles": [{"role": "readWrite", "db": DATABASE}], "mechanisms": ["SCRAM-SHA-256"]})
        own.close()

    await asyncio.gather(*(create() for _ in range(8)))


class Writer:
    """Sends changes at a rate.

    Each collection has a connection, so that its changes keep their order.
    """

    def __init__(self, port, ledger, pool):
        self.port, self.ledger, self.pool = port, ledger, pool
        self.queues = [asyncio.Queue() for _ in range(COLLECTIONS)]
        self.acknowledged = 0
        self.behindMax = 0
        self.isOver = False

    async def run(self):
        """Writes until `isOver`; ends with the answer to the last write."""
        workers = [self.work(collection) for collection in range(COLLECTIONS)]
        await asyncio.gather(self.pace(), *workers)

    async def pace(self):
        begin, count = time.monotonic(), 0
        while not self.isOver:
            while count < (time.monotonic() - begin) * RATE:
                self.queues[self.ledger.random.randrange(COLLECTIONS)].put_nowait(True)
                count += 1
            self.behindMax = max(self.behindMax, count - self.acknowledged)
            await asyncio.sleep(min(0.5 / RATE, 0.05))
        for queue in self.queues:
            queue.put_nowait(False)

    async def work(self, collection):
        connection = await Connection.to(self.port)
        if WRITES_THROUGH_GATEWAY:
            await ROOT.run(connection, self.pool)
        while await self.queues[collection].get() and not self.isOver:
            command = self.ledger.write(collection)
            try:
                reply = await connection.command(command, DATABASE)
            except (OSError, CommandError, asyncio.TimeoutError) as error:
                raise Failure(f"a write failed: {type(error).__name__}: {error}") from error
            if reply["n"] != 1 or "writeErrors" in reply:
                raise Failure(f"a write was not applied: {command}: {reply}")
            self.acknowledged += 1
        connection.close()


class Table:
    """The report, and whether all is as it must be."""

    def __init__(self):
        self.rows, self.failures = [], []

    def add(self, name, value, isWrong=False):
        self.rows.append((name, f"{value}{'   WRONG' if isWrong else ''}"))
        if isWrong:
            self.failures.append(name)

    def memory(self, gateways, fleet, looks):
        """Adds what each gateway took at each look, and what a device adds to that."""
        for place, gateway in enumerate(gateways):
            count = sum(d.gateway == place for d in fleet.devices)
            for name, look in looks.items():
                resident, own, threads = look[place]
                before = looks["before the devices"][place]
                more = f", {(resident - before[0]) / count:.1f} KiB a device"
                self.add(f"{gateway.name}, {name}", f"{resident / 1024:.1f} MiB resident "
                         f"({own / 1024:.1f} without files), {threads} threads"
                         f"{more if look is not looks['before the devices'] else ''}")

    def latencies(self, name, values, seconds):
        values = sorted(values)
        if not values:
            return self.add(name, "no deliveries", name == "delivery")
        at = lambda share: values[min(int(len(values) * share), len(values) - 1)] * 1000
        self.add(name, f"p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, max {at(1):.1f} ms; "
                       f"{len(values)} deliveries, {len(values) / seconds:.0f}/s")

    def show(self):
        width = max(len(name) for name, _ in self.rows)
        for name, value in self.rows:
            print(f"{name:<{width}}  {value}")


async def watch(fleet, tasks):
    """Ends the script when a process, a device, the writer or an answer is lost."""
    while True:
        await asyncio.sleep(1)
        for task in tasks:
            if task.done() and task.exception():
                raise task.exception()
        for process in Process.running:
            if process.process.poll() is not None and not process.killed:
                raise Failure(f"{process.name} ended while it was needed")
        if fleet.silent and not fleet.isOver:
            raise Failure(f"getMore of devices {fleet.silent[:10]} has had no answer for "
                          f"{WAIT + PATIENCE} s")


async def under_watch(fleet, tasks, work):
    """The result of work, unless something else fails before."""
    own, guard = asyncio.ensure_future(work), asyncio.ensure_future(watch(fleet, tasks))
    try:
        await asyncio.wait({own, guard}, return_when=asyncio.FIRST_COMPLETED)
        if guard.done():
            guard.result()
        return await own
    finally:
        own.cancel()
        guard.cancel()


async def connect(fleet, gateways, upstream, table):
    """Lets all devices sign in and open their streams; notes the memory that it takes."""
    looks = {"before the devices": [g.status() for g in gateways]}
    start = time.monotonic()
    await within(SET_UP, "signing in", fleet.each("sign_in"))
    looks["after the sign-in"] = [g.status() for g in gateways]
    say(f"{DEVICES} devices have signed in")
    table.add("sign-in of all", f"{time.monotonic() - start:.1f} s")
    start = time.monotonic()
    await within(SET_UP, "opening the streams", fleet.each("open"))
    table.add("opening all streams", f"{time.monotonic() - start:.1f} s")
    followers = [asyncio.create_task(device.follow()) for device in fleet.devices]
    say("the streams are open")
    idle = Clocks(gateways, upstream)
    await under_watch(fleet, followers, asyncio.sleep(IDLE))
    looks[f"idle for {IDLE} s"] = [g.status() for g in gateways]
    table.memory(gateways, fleet, looks)
    for name, value in idle.rows():
        table.add(f"idle: {name}", value)
    return followers


async def lose_gateway(fleet, gateway, other, tasks, table):
    """Kills a gateway, and waits until all devices have what was written up to a second later."""
    fleet.latencies, fleet.first = fleet.latencies[:0], len(fleet.ledger.sent)
    moved = sum(d.gateway == 1 for d in fleet.devices)
    before = other.upstream_commands()[0]
    killed = time.monotonic()
    gateway.kill()
    await asyncio.sleep(1)
    fleet.wait_until({key: len(entries) for key, entries in fleet.ledger.lists.items()})
    try:
        await asyncio.wait_for(under_watch(fleet, tasks, fleet.inStep.wait()), DRAIN)
    except asyncio.TimeoutError:
        table.add("in step after the kill",
                  f"not within {DRAIN} s: {fleet.behind} devices are behind: {fleet.lagging}", True)
        return
    last = max(d.stepped for d in fleet.devices) - killed
    table.add("in step after the kill", f"{last:.2f} s, with what was written in the first "
              f"second; {moved} devices had moved", last > IN_STEP)
    opened = sorted(fleet.resumed)
    half = opened[len(opened) // 2] - killed
    table.add("moved devices' streams",
              f"half were open after {half:.2f} s, all after {opened[-1] - killed:.2f} s")
    sent = other.upstream_commands()[0] - before
    table.add("upstream commands after the kill", f"{sent / moved:.1f} for each moved device")
    table.latencies("delivery after the kill", fleet.latencies, time.monotonic() - killed)


async def finish(fleet, tasks, table):
    """Waits for the rest of the events, and reports what was wrong."""
    fleet.wait_until({key: len(entries) for key, entries in fleet.ledger.lists.items()})
    try:
        await asyncio.wait_for(under_watch(fleet, tasks, fleet.inStep.wait()), DRAIN)
    except asyncio.TimeoutError:
        table.add("all events", f"not within {DRAIN} s: {fleet.behind} devices are behind: "
                                f"{fleet.lagging}", True)
    # A little longer, for events that should not be.
    await asyncio.sleep(1)
    fleet.isOver = True
    missing = sum(len(d.log) - d.place for d in fleet.devices)
    expected = sum(len(d.log) for d in fleet.devices)
    table.add("events", f"{fleet.events} of {expected} expected, {missing} missing at the end",
              missing != 0 or fleet.events != expected)
    table.add("violations", dict(fleet.violations) or 0, bool(fleet.violations))
    table.add("resumed streams", f"{len(fleet.resumed)}, {fleet.refusals} retryable errors")


async def measure(folder, table):
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    upstream = Process("upstream", TOOL, folder, ["--db", os.path.join(folder, "up.stitch")])
    rules = write_rules(folder)
    ledger = Ledger()
    fleet = Fleet(DEVICES, [], ledger, WAIT, IS_FULL, pool)
    first = start_gateway("gateway for users", folder, upstream, rules)
    await within(SET_UP, "creating the users", make_users(first.port, fleet, pool))
    wrong = first.end()
    if wrong:
        raise Failure(wrong)
    say(f"{DEVICES} users were created")
    # Started anew, so that their memory is that of their devices.
    gateways = [start_gateway(f"gateway {n}", folder, upstream, rules) for n in (1, 2)]
    fleet.ports = [gateway.port for gateway in gateways]
    tasks = await connect(fleet, gateways, upstream, table)
    gc.collect()
    gc.freeze()

    writer = Writer(gateways[0].port if WRITES_THROUGH_GATEWAY else upstream.port, ledger, pool)
    clocks, start = Clocks(gateways, upstream), time.monotonic()
    writing = asyncio.create_task(writer.run())
    tasks.append(writing)
    await under_watch(fleet, tasks, asyncio.sleep(SECONDS))
    seconds = time.monotonic() - start
    count = writer.acknowledged
    table.add("writes", f"{count}, {count / seconds:.0f}/s of {RATE}/s; at most {writer.behindMax} "
                        f"were under way; {dict(ledger.kinds)}", count < 0.9 * RATE * seconds)
    table.latencies("delivery", fleet.latencies, seconds)
    for name, value in clocks.rows():
        table.add(name, value)
    for gateway in gateways:
        resident, own, threads = gateway.status()
        table.add(f"{gateway.name}, after the load", f"{resident / 1024:.1f} MiB resident "
                  f"({own / 1024:.1f} without files), {threads} threads")
    say("the second gateway is killed")
    await lose_gateway(fleet, gateways[1], gateways[0], tasks, table)
    writer.isOver = True
    await within(DRAIN, "the last writes", writing)
    await finish(fleet, tasks, table)
    for device in fleet.devices:
        device.connection and device.connection.close()
    await asyncio.gather(*tasks[:-1])
    for example in fleet.examples:
        print(example[:1000])
    for process in [*gateways, upstream]:
        lines = collections.Counter(re.sub(r"\d+(\.\d+)?", "N", line.split("] ", 1)[-1])[:200]
                                    for line in process.warnings())
        for line, count in lines.most_common(5):
            print(f"{process.name} logged {count} times: {line.strip()}")


def main():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < DEVICES * 1.2 + 500:
        raise Failure(f"the limit of {limit} open files is too low for {DEVICES} devices")
    if DEVICES < 2 or RATE < 1 or SECONDS < 1:
        raise Failure("DEVICES must be at least 2, RATE and SECONDS at least 1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    table = Table()
    with tempfile.TemporaryDirectory(prefix="fanout-") as folder:
        isWhole = False
        try:
            asyncio.run(measure(folder, table))
            isWhole = True
        finally:
            if not isWhole:
                for process in Process.running:
                    print(f"the log of {process.name} ends:\n{process.tail()}", file=sys.stderr)
            wrong = Process.end_all()
            table.add("end of the processes", "; ".join(wrong) or "code 0", bool(wrong))
            table.show()
    if table.failures:
        raise Failure(f"wrong: {', '.join(table.failures)}")


BEGIN = time.monotonic()
try:
    main()
except Failure as failure:
    sys.exit(f"fanout: {failure}")
except (CommandError, OSError, asyncio.TimeoutError) as error:
    sys.exit(f"fanout: {type(error).__name__}: {error}")
