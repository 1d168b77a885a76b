"""A server, a gateway before another one, and two devices that sync while a program writes."""
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import pymongo
from bson import Binary
from pymongo.errors import PyMongoError

ROOT = "root's password"
HOSTILE = "<img src=x onerror=alert(1)>"
RULES = {
    "database": "app", "collection": "todos",
    "roles": [{
        "name": "member", "apply_when": {},
        "document_filters": {"read": True, "write": {"owner": "%%user.id"}}, "read": True, "write": True}]}
WRITE_PAUSE_SECONDS = 0.02
READY_SECONDS_MAX = 30


class Program:
    """A program whose lines are read until one tells that it is ready."""

    def __init__(self, arguments):
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines, self.news = [], queue.Queue()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            self.news.put(line)
        self.news.put(None)

    def find(self, pattern):
        while line := self.news.get(timeout=READY_SECONDS_MAX):
            if found := re.search(pattern, line):
                return found
        raise RuntimeError(f"{self.process.args} ended: {''.join(self.lines)}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.reader.join()
            self.process.stdout.close()


class World:
    """A server with a console, its devices and its load; a gateway if `is_gateway`."""

    def __init__(self, tool, is_gateway):
        self.tool, self.is_gateway = tool, is_gateway
        self.folder = Path(tempfile.mkdtemp(prefix="stitchconsole-"))
        self.programs, self.stopping, self.writes, self.failure = [], threading.Event(), 0, None
        self.writer = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        rules = self.folder / "rules/data_sources/mongodb-atlas/app/todos"
        rules.mkdir(parents=True)
        (rules / "rules.json").write_text(json.dumps(RULES, indent=2))
        place = ["--db", self.path("server.stitch")]
        if self.is_gateway:
            upstream = self.run("serve", "--db", self.path("upstream.stitch"), "--port", "0")
            port = upstream.find(r"listening on [^ ]*:(\d+)").group(1)
            place = ["--upstream", f"mongodb://127.0.0.1:{port}/?replicaSet=rs0"]
        server = self.run("serve", *place, "--port", "0", "--auth", "--rules", str(self.folder / "rules"), "--console", "0",
                          "--log-level", "info")
        ports = {}
        while len(ports) < 2:
            found = server.find(r"(listening|console) on (?:http://)?[^ ]*:(\d+)")
            ports[found.group(1)] = int(found.group(2))
        self.port, self.base = ports["listening"], f"http://localhost:{ports['console']}/"
        first = pymongo.MongoClient(port=self.port, directConnection=True)
        first.admin.command("createUser", "root", pwd=ROOT, roles=["root"])
        first.close()
        self.root = self.client("root")
        for name in ["ann", "ben", "second", HOSTILE]:
            self.root.admin.command("createUser", name, pwd=f"{name}'s password", roles=["root" if name == "second" else {"role": "readWrite", "db": "app"}])
        todos = self.root.app.todos
        todos.create_index([("owner", 1)])
        todos.insert_many([{"_id": i, "title": f"Todo {i}", "owner": ["ann", "ben"][i % 2], "done": i % 3 == 0} for i in range(60)])
        todos.insert_one({"_id": HOSTILE, "title": "<script>alert(1)</script>", "owner": "ann", HOSTILE: "a field",
                          "javascript:alert(1)": Binary(b"\0<b>")})
        self.root.app[HOSTILE].insert_one({"_id": 1, "text": HOSTILE})
        for name in ["ann", "ben"]:
            sync = ["sync", "--db", self.path(f"{name}.stitch"), "--namespace", "app.todos", "--remote",
                    f"stitchsync://{name}:{name}'s%20password@localhost:{self.port}", "--filter", '{"done": false}' if name == "ben" else "{}"]
            # In step first: then the insert is a device's write that waits for the next pass.
            self.finish(*sync, "--once")
            self.finish("insert", self.path(f"{name}.stitch"), "app.todos", json.dumps(
                {"_id": f"of {name}", "owner": name, "title": f"Written by {name}'s device", "done": False}))
            self.run(*sync, "--watch")
        # What rules refuse, also with names that try to become markup.
        for name, where in [("ann", {"_id": 1}), (HOSTILE, {"_id": HOSTILE})]:
            client = self.client(name)
            try:
                client.app.todos.update_one(where, {"$set": {"title": "Mine"}})
                raise AssertionError("the rules let a foreign write pass")
            except PyMongoError:
                client.close()
        todos.update_one({"_id": 2}, {"$set": {"title": "Two"}, "$unset": {"done": ""}})
        self.writer = threading.Thread(target=self.write)
        self.writer.start()

    def path(self, name):
        return str(self.folder / name)

    def run(self, *arguments):
        program = Program([self.tool, *arguments])
        self.programs.append(program)
        return program

    def finish(self, *arguments):
        subprocess.run([self.tool, *arguments], check=True, stdout=subprocess.DEVNULL)

    def client(self, name):
        return pymongo.MongoClient(port=self.port, username=name, password=f"{name}'s password", directConnection=True)

    def write(self):
        """Writes until the end: the load under which the pages are used."""
        try:
            while not self.stopping.wait(WRITE_PAUSE_SECONDS):
                self.writes += 1
                self.root.app.load.replace_one({"_id": self.writes % 100}, {"n": self.writes}, upsert=True)
                if self.writes % 20 == 0:
                    self.root.app.todos.update_one({"_id": self.writes % 60}, {"$inc": {"edits": 1}})
        except PyMongoError as error:
            self.failure = error

    def stop(self):
        self.stopping.set()
        if self.writer:
            self.writer.join()
            self.root.close()
        for program in reversed(self.programs):
            program.stop()
        shutil.rmtree(self.folder)
        if self.failure:
            raise self.failure


class Secure:
    """A server whose console is open to other machines, by a certificate of its own."""

    def __init__(self, tool):
        self.folder = Path(tempfile.mkdtemp(prefix="stitchsecure-"))
        self.program = None
        try:
            chain, key = str(self.folder / "chain.pem"), str(self.folder / "key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                            "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            file = str(self.folder / "server.stitch")
            subprocess.run([tool, "insert", file, "app.notes", '{"_id": 1}'], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([tool, "adduser", file, "root", "--role", "root"], check=True, input=ROOT + "\n", text=True,
                           stdout=subprocess.DEVNULL)
            self.program = Program([tool, "serve", "--db", file, "--port", "0", "--auth", "--tls-cert", chain, "--tls-key", key,
                                    "--console", "0", "--console-host", "0.0.0.0"])
            found = self.program.find(r"console on (https?)://[^ ]*:(\d+)")
            self.base = f"{found.group(1)}://localhost:{found.group(2)}/"
        except BaseException:
            self.stop()
            raise

    def stop(self):
        if self.program:
            self.program.stop()
        shutil.rmtree(self.folder)


# Twice this is more than a document may hold, so a merge of both fails.
HALF = {"$reduce": {"input": {"$range": [0, 23]}, "initialValue": "x", "in": {"$concat": ["$$value", "$$value"]}}}


class Device:
    """A device's file with a merged conflict, a paused document, a denied write and a change that waits; and one
    that was never synced. Both are shown by `inspect --serve`."""

    def __init__(self, tool):
        self.tool, self.programs = tool, []
        self.folder = Path(tempfile.mkdtemp(prefix="stitchdevice-"))
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        rules = self.folder / "rules/data_sources/mongodb-atlas/app/todos"
        rules.mkdir(parents=True)
        (rules / "rules.json").write_text(json.dumps(RULES))
        server = Program([self.tool, "serve", "--db", str(self.folder / "server.stitch"), "--port", "0", "--auth",
                          "--rules", str(self.folder / "rules")])
        self.programs.append(server)
        port = server.find(r"listening on [^ ]*:(\d+)").group(1)
        with pymongo.MongoClient(port=int(port), directConnection=True) as first:
            first.admin.command("createUser", "root", pwd=ROOT, roles=["root"])
        with pymongo.MongoClient(port=int(port), username="root", password=ROOT, directConnection=True) as root:
            root.admin.command("createUser", "ann", pwd="ann's password", roles=[{"role": "readWrite", "db": "app"}])
            root.app.todos.insert_many([
                {"_id": 1, "owner": "ann", "title": "one", "tags": ["a"]}, {"_id": 2, "owner": "ben", "title": "two"},
                {"_id": 3, "owner": "ann"}, {"_id": HOSTILE, "owner": "ann", "title": "<script>alert(1)</script>"}])
        self.remote = f"stitchsync://ann:ann's%20password@localhost:{port}"
        for name in ["phone", "tablet"]:
            self.sync(name)
        self.update("tablet", 1, {"$set": {"title": "by the tablet", HOSTILE: HOSTILE}})
        self.update("phone", 1, {"$set": {"tags": ["a", "b"], "title": "by the phone"}})
        self.update("tablet", 3, [{"$set": {"tablet": HALF}}])
        self.update("phone", 3, [{"$set": {"phone": HALF}}])
        self.update("phone", 2, {"$set": {"title": "mine"}})
        self.sync("tablet")
        self.sync("phone", "--conflicts", "merge", code=1)
        self.update("phone", HOSTILE, {"$set": {"done": True}})
        self.finish("insert", "new.stitch", "app.notes", '{"_id": 1}')
        self.base, self.fresh = self.show("phone"), self.show("new")

    def show(self, name):
        """Returns the address at which a file is shown."""
        program = Program([self.tool, "inspect", str(self.folder / f"{name}.stitch"), "--serve"])
        self.programs.append(program)
        return program.find(r"is shown at (\S+)").group(1)

    def sync(self, name, *more, code=0):
        self.finish("sync", f"{name}.stitch", "app.todos", "--remote", self.remote, *more, code=code)

    def update(self, name, id, change):
        self.finish("update", f"{name}.stitch", "app.todos", json.dumps({"_id": id}), json.dumps(change))

    def finish(self, command, file, *arguments, code=0):
        done = subprocess.run([self.tool, command, str(self.folder / file), *arguments], capture_output=True, text=True)
        if done.returncode != code:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def stop(self):
        for program in reversed(self.programs):
            program.stop()
        shutil.rmtree(self.folder)


def tool():
    return os.environ["STITCHSYNC"]
