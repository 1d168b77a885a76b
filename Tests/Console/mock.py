"""A server that answers as `stitchsync serve --console` does, with plausible and hostile data.

Run it: python3 mock.py [PORT] [--empty]. Sign in as root with the password "secret".
"""
import json
import re
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

PAGES = Path(__file__).resolve().parents[2] / "Sources/StitchConsoleC/Pages"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
HOSTILE = "<script>alert(1)</script>"
IMAGE = "\"><img src=x onerror=alert(1)>"
LONG = "A very long text without end " * 200
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def now():
    return int(time.time() * 1000)


def integer(value):
    return {"$numberInt": str(value)}


def long(value):
    return {"$numberLong": str(value)}


def date(ms):
    return {"$date": long(ms)}


def plain(value):
    """Returns a number of Extended JSON as a number."""
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if key in ("$numberInt", "$numberLong"):
            return int(inner)
        if key == "$numberDouble":
            return float(inner)
    return value


def nested(depth):
    return {"level": integer(depth), "deeper": nested(depth - 1)} if depth else "the bottom"


def oid(number):
    return {"$oid": f"{number:024x}"}


def todos():
    titles = ["Buy milk", "Call Ann", "Mend the gate", "Water the plants", "Write the report"]
    version = {"spv": integer(1), "id": "6f9a2c1e-0d5b-4b0e-9a52-1f1c44b6f7aa", "v": long(3),
               "op": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "00"}}}
    for i in range(57):
        yield {"_id": oid(i + 1), "title": titles[i % 5], "done": i % 3 == 0, "priority": integer(i % 4),
               "owner": "ann" if i % 2 else "ben", "at": date(now() - i * 3_600_000),
               "tags": ["home", "soon"][: i % 3], **({"__stitch_sync_version": version} if i % 2 == 0 else {})}


def oddities():
    yield {"_id": HOSTILE, "name": IMAGE, HOSTILE: "as a field's name", "2": integer(2), "1": integer(1),
           "__proto__": "own", "javascript:alert(1)": "javascript:alert(1)"}
    yield {"_id": integer(2), "long": LONG, "nan": {"$numberDouble": "NaN"},
           "infinity": {"$numberDouble": "-Infinity"}, "whole": {"$numberDouble": "1.0"},
           "decimal": {"$numberDecimal": "1E+400"}, "big": long(2**63 - 1), "regex": {
               "$regularExpression": {"pattern": "a/b[c]", "options": "i"}},
           "code": {"$code": "alert(1)"}, "min": {"$minKey": 1}, "far": date(9 * 10**15),
           "uuid": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}},
           "time": {"$timestamp": {"t": 5, "i": 1}}, "nothing": None, "reversed": "\u202egpj.exe"}
    yield {"_id": integer(3), "nested": nested(50)}
    yield {"_id": integer(4), "wide": {f"field {i}": integer(i) for i in range(700)}}


class State:
    def __init__(self, is_empty):
        self.is_empty = is_empty
        self.sessions = {}
        self.started = now()
        self.calls = []
        self.changes = threading.Condition()
        self.events = []
        self.databases = {} if is_empty else {
            "app": {"todos": list(todos()), "lists": [], HOSTILE: list(oddities()), "oddities": list(oddities())},
            "large": {f"collection{i:03d}": [] for i in range(200)},
            HOSTILE[:40]: {"x" * 200: []},
            "admin": {"system.users": []},
        }
        self.users = [] if is_empty else [
            {"user": "root", "db": "admin", "roles": [{"role": "root", "db": "admin"}]},
            {"user": "ann", "db": "app", "roles": []},
            {"user": "eve", "db": "app", "roles": [{"role": "read", "db": "app"}], "disabled": True},
            {"user": IMAGE, "db": "app", "roles": []},
        ]
        self.operations = [] if is_empty else [
            {"opid": integer(i), "op": "query", "type": "op", "ns": ns, "active": True, "client": "10.0.0.7:51234",
             "secs_running": long(us // 1_000_000), "microsecs_running": long(us), "desc": f"conn{i}",
             "command": {"find": ns.split(".")[-1], "filter": {"title": {"$regex": title}}},
             "effectiveUsers": [{"user": "ann", "db": "app"}]}
            for i, ns, us, title in [(11, "app.todos", 4200, "milk"), (12, "app.oddities", 8_300_000, LONG),
                                     (13, f"app.{HOSTILE}", 310_000, IMAGE)]]

    def devices(self):
        if self.is_empty:
            return []
        rows = [("ann", "Todos 1.2", "iOS 18.4"), ("ben", "Todos 1.1", "macOS 15.3"), (None, "Kiosk 3", "Linux"),
                (HOSTILE, LONG, IMAGE)]
        return [{"connections": [i + 7, i + 20] if i != 1 else [], "user": user, "database": "app", "app": app, "platform": platform,
                 "device": f"9f3c{i}a1b2", "appVersion": f"2.{i}", "connected": i != 1, "backlog": [None, {"pending": 4, "paused": 2, "rejected": 0}, {"pending": 0}, {}][i], "firstSeen": self.started - i * 9_000_000,
                 "driver": "StitchSync 0.1.0", "addresses": [f"10.0.0.{i}:51234"], "since": self.started - i * 4_000_000,
                 "lastSeen": now() - i * 5000, "commands": 120 * i, "waiting": i % 2 == 0,
                 "namespaces": [f"app.todos{n}" for n in range(i * 3)],
                 "streams": [{"namespace": f"app.{HOSTILE}", "filter": {IMAGE: LONG}}, {"namespace": "app.todos", "filter": None}][:i]} for i, (user, app, platform) in enumerate(rows)]

    def denied(self):
        if self.is_empty:
            return []
        rows = [("eve", "app.todos", oid(3), "reader", "writeFilter", "price"),
                ("ann", "app.todos", oid(4), None, "noRole", None),
                (IMAGE, f"app.{HOSTILE}", HOSTILE, "reader", "field", LONG),
                ("fay", "app.todos", None, "reader", "deleteDenied", None)]
        return [{"time": self.started - i * 60_000, "user": user, "database": "app", "namespace": ns, "documentID": id, "role": role, "hasLongID": id is None,
                 "cause": cause, "field": field, "message": f"write to {ns} was denied by {cause}" + (f": {field}" if field else "")}
                for i, (user, ns, id, role, cause, field) in enumerate(rows)]


RULES = '{\n  "roles": [\n    {"name": "owner", "apply_when": {"owner": "%user.id"}, "read": true},\n    {"name": 7}\n  ]\n}\n'
PLAN = {"stage": "LIMIT", "nReturned": integer(20), "limitAmount": integer(20), "inputStage": {
    "stage": "FETCH", "nReturned": integer(20), "docsExamined": integer(20), "filter": {"done": {"$eq": False}},
    "inputStage": {"stage": "IXSCAN", "nReturned": integer(20), "keysExamined": integer(21), "indexName": "owner_1",
                   "keyPattern": {"owner": integer(1)}, "indexBounds": {"owner": ['["ann", "ann"]']}}}}


def checked(files):
    answer = []
    for file in files:
        errors = []
        for number, line in enumerate(file["text"].split("\n"), 1):
            if '"name": 7' in line:
                errors.append({"line": number, "column": line.index("7") + 1, "path": "/roles/1/name",
                               "message": "name is a number; write a text such as \"reader\""})
        answer.append({**file, "errors": errors})
    return answer


class CommandError(Exception):
    def __init__(self, code, name, message):
        super().__init__(message)
        self.code, self.name = code, name


def cursor(ns, documents):
    return {"cursor": {"id": long(0), "ns": ns, "firstBatch": documents}, "ok": {"$numberDouble": "1.0"}}


def matches(document, query):
    for key, wanted in query.items():
        if key == "$expr":
            if wanted["$eq"][1]["$literal"] != document:
                return False
        elif key.startswith("$"):
            raise CommandError(2, "BadValue", f"unknown top level operator: {key}")
        elif isinstance(wanted, dict) and "$eq" in wanted:
            if document.get(key) != wanted["$eq"]:
                return False
        elif document.get(key) != wanted:
            return False
    return True


def run(state, database, command):
    name, target = next(iter(command.items()))
    state.calls.append((name, command))
    collections = state.databases.setdefault(database, {}) if name == "insert" else state.databases.get(database, {})
    ns, ok = f"{database}.{target}", {"ok": {"$numberDouble": "1.0"}}
    documents = collections.get(target, []) if isinstance(target, str) else []
    if name == "listDatabases":
        return {"databases": [{"name": each, "sizeOnDisk": long(81920)} for each in state.databases], **ok}
    if name == "listCollections":
        return cursor(f"{database}.$cmd.listCollections", [{"name": each, "type": "collection"} for each in collections])
    if name == "collStats":
        return {"count": integer(len(documents)), "size": integer(len(json.dumps(documents))),
                "storageSize": integer(65536), "nindexes": integer(2), **ok}
    if name == "find":
        found = [each for each in documents if matches(each, command.get("filter", {}))]
        skip, limit = plain(command.get("skip", 0)), plain(command.get("limit", 20))
        return cursor(ns, found[skip:skip + limit])
    if name == "count":
        return {"n": integer(sum(matches(each, command.get("query", {})) for each in documents)), **ok}
    if name == "listIndexes":
        return cursor(ns, [{"v": integer(2), "key": {"_id": integer(1)}, "name": "_id_"},
                           {"v": integer(2), "key": {"owner": integer(1), "at": integer(-1)}, "name": "owner_1_at_-1",
                            "unique": True, "partialFilterExpression": {"done": False}}])
    if name == "aggregate":
        return cursor(ns, [{"name": each, "accesses": {"ops": long(n), "since": date(state.started)}}
                           for each, n in [("_id_", 1290), ("owner_1_at_-1", 0)]])
    if name == "explain":
        return {"queryPlanner": {"winningPlan": PLAN, "rejectedPlans": [{"stage": "COLLSCAN"}]}, "executionStats": {
            "nReturned": integer(20), "executionTimeMillis": integer(0), "totalKeysExamined": integer(21),
            "totalDocsExamined": integer(20), "executionStages": PLAN}, **ok}
    if name == "insert":
        collections.setdefault(target, []).extend(command["documents"])
        for each in command["documents"]:
            change(state, database, target, "insert", each["_id"], each)
        return {"n": integer(len(command["documents"])), **ok}
    if name == "update":
        statement = command["updates"][0]
        for i, each in enumerate(documents):
            if matches(each, statement["q"]):
                documents[i] = statement["u"]
                change(state, database, target, "replace", each["_id"], statement["u"])
                return {"n": integer(1), "nModified": integer(1), **ok}
        return {"n": integer(0), "nModified": integer(0), **ok}
    if name == "delete":
        for each in [each for each in documents if matches(each, command["deletes"][0]["q"])]:
            documents.remove(each)
            change(state, database, target, "delete", each["_id"], None)
        return {"n": integer(1), **ok}
    if name == "currentOp":
        for each in state.operations:
            each["microsecs_running"] = long(plain(each["microsecs_running"]) + 1000)
        return {"inprog": state.operations, **ok}
    if name == "killOp":
        state.operations = [each for each in state.operations if each["opid"] != command["op"]]
        return {"info": "attempting to kill op", **ok}
    if name == "usersInfo":
        return {"users": state.users, **ok}
    if name == "createUser":
        if any(each["user"] == target and each["db"] == database for each in state.users):
            raise CommandError(51003, "Location51003", f'User "{target}@{database}" already exists')
        state.users.append({"user": target, "db": database, "roles": command["roles"]})
        return ok
    if name in ("updateUser", "dropUser"):
        user = next((each for each in state.users if each["user"] == target and each["db"] == database), None)
        if not user:
            raise CommandError(11, "UserNotFound", f"User '{target}@{database}' not found")
        if name == "dropUser":
            state.users.remove(user)
        elif "disabled" in command:
            user["disabled"] = command["disabled"]
        return ok
    if name == "killCursors":
        return ok
    raise CommandError(59, "CommandNotFound", f"no such command: '{name}'")


def change(state, database, collection, kind, id, document):
    with state.changes:
        state.events.append({
            "_id": {"_data": secrets.token_hex(12)}, "operationType": kind, "wallTime": date(now()),
            "clusterTime": {"$timestamp": {"t": now() // 1000, "i": 1}}, "ns": {"db": database, "coll": collection},
            "documentKey": {"_id": id}, **({"fullDocument": document} if document else {})})
        state.changes.notify_all()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *arguments):
        pass

    def start(self, status, kind, length=None, extra=()):
        self.send_response(status)
        for name, value in [("Content-Type", kind + "; charset=utf-8"), ("Content-Security-Policy", POLICY),
                            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                            ("Cache-Control", "no-store"), *extra]:
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def answer(self, value, status=200, extra=()):
        body = b"" if value is None else json.dumps(value).encode()
        self.start(status, "application/json", len(body), extra)
        self.wfile.write(body)

    def fail(self, status, code, name, message):
        self.answer({"error": {"code": code, "name": name, "message": message}}, status)

    def session(self):
        token = re.search(r"session=(\w+)", self.headers.get("Cookie", ""))
        return self.state.sessions.get(token.group(1)) if token else None

    def do_GET(self):
        address = urlparse(self.path)
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        if not address.path.startswith("/api/"):
            return self.page(address.path)
        session = self.session()
        if not session:
            return self.fail(401, 18, "AuthenticationFailed", "sign in first")
        state = self.state
        if address.path == "/api/session":
            return self.answer(session)
        if address.path == "/api/devices":
            return self.answer({"devices": state.devices()})
        if address.path == "/api/denied":
            return self.answer({"denied": state.denied()})
        if address.path == "/api/slow":
            return self.answer({"slow": [] if state.is_empty else [
                {"time": state.started, "microseconds": us, "command": "find", "namespace": ns, "fields": [IMAGE, "owner"], "user": user,
                 "app": LONG, "client": "10.0.0.7:51234"}
                for us, ns, user in [(8_300_000, "app.todos", "ann"), (4200, f"app.{HOSTILE}", None)]]})
        if address.path == "/api/write":
            version = {"spv": integer(1), "id": IMAGE, "v": long(3)}
            return self.answer({
                "namespace": query["namespace"], "id": json.loads(query["id"]), "document": None, "isComplete": False, "denied": state.denied(),
                "readers": [] if state.is_empty else [
                    {"device": "9f3c0a1b2", "user": user, "database": "app", "app": IMAGE, "appVersion": "2.1", "connected": seen,
                     "upTo": long(state.started), "hasSeen": seen} for user, seen in [("ann", True), (HOSTILE, False), (None, True)]],
                "changes": [] if state.is_empty else [
                    {"time": state.started, "operation": kind, "version": kind != "delete" and version or None, "updated": [HOSTILE], "removed": []}
                    for kind in ["insert", "update", HOSTILE, "delete"]]})
        if address.path == "/api/rules":
            if state.is_empty:
                return self.fail(404, 26, "NotFound", "the server has no rules")
            return self.answer({"folder": "rules", "loaded": state.started, "files": checked([
                {"path": "app/todos/rules.json", "text": RULES}, {"path": f"app/{HOSTILE}/rules.json", "text": "{}\n"}])})
        if address.path == "/api/log":
            lines = [] if state.is_empty else [
                {"number": i, "time": state.started - (40 - i) * 9000, "level": ["info", "info", "warning", "error"][i % 4],
                 "text": [f"connection {i} from 10.0.0.7 opened", "sync of app.todos took 12 ms", f"sign-in of {IMAGE} failed", LONG][i % 4]}
                for i in range(1, 41)]
            return self.answer({"lines": [each for each in lines if each["number"] > int(query.get("after", 0))]})
        if address.path == "/api/stats":
            return self.stats()
        if address.path == "/api/changes":
            return self.follow(query)
        return self.fail(404, 26, "NotFound", "no such address")

    def page(self, path):
        name = "index.html" if path == "/" else path.lstrip("/")
        if not re.fullmatch(r"((js|device)/)?[a-z-]+\.(html|css|js|svg)", name) or not (PAGES / name).is_file():
            return self.fail(404, 26, "NotFound", "no such page")
        body = (PAGES / name).read_bytes()
        self.start(200, KINDS[name.rsplit(".", 1)[1]], len(body))
        self.wfile.write(body)

    def event(self, name, value):
        self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def stats(self):
        self.start(200, "text/event-stream")
        state, quiet = self.state, self.state.is_empty
        # The first samples lie in the past, so that a screenshot shows full graphs.
        samples = range(-119, 1_000_000)
        try:
            for i in samples:
                if not self.session():
                    return
                wave = abs((i % 40) - 20)
                self.event("stats", {
                    "time": now() + min(i, 0) * 1000, "connections": 0 if quiet else 12, "devices": 0 if quiet else 5 + wave // 8,
                    "commands": {} if quiet else {"find": 31.0 + wave, "insert": 2.0, "update": 7.5, "getMore": 12 + i % 5, HOSTILE: 0.2},
                    "latencyMS": {"median": 0.8, "p99": 4 + (i * 7 % 11)}, "deniedWrites": 0 if quiet else 40 + max(i + 119, 0) // 30,
                    "conflicts": 0 if quiet else 12 + (i + 119) // 50, "storageBytes": 1_048_576 + (i + 119) * 9000, "cursors": 3, "waiting": 5,
                    "upstream": None if quiet else {"reachable": True, "latencyMS": 1.2, "feeds": 3}})
                if i >= 0:
                    time.sleep(1)
        except OSError:
            pass  # The browser left.

    def follow(self, query):
        self.start(200, "text/event-stream")
        seen = len(self.state.events)
        try:
            self.wfile.write(b": hello\n\n")
            self.wfile.flush()
            while True:
                with self.state.changes:
                    self.state.changes.wait(1)
                    fresh, seen = self.state.events[seen:], len(self.state.events)
                for each in fresh:
                    ns = each["ns"]
                    if ns["db"] == query.get("database") and query.get("collection", ns["coll"]) == ns["coll"]:
                        self.event("change", each)
                self.wfile.write(b":\n\n")
                self.wfile.flush()
        except OSError:
            pass  # The browser left.

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        state = self.state
        if self.path == "/api/signin":
            if (body["user"], body["password"], body["database"]) != ("root", "secret", "admin"):
                return self.fail(401, 18, "AuthenticationFailed", "Authentication failed.")
            token = secrets.token_hex(16)
            state.sessions[token] = {
                "user": "root", "database": "admin", "csrf": secrets.token_hex(16),
                "server": {"version": "0.1.0", "host": "sync.example.org:27017", "kind": "file",
                           "rules": not state.is_empty, "auth": True}}
            return self.answer(None, 204, [("Set-Cookie", f"session={token}; HttpOnly; SameSite=Strict; Path=/")])
        session = self.session()
        if not session:
            return self.fail(401, 18, "AuthenticationFailed", "sign in first")
        if self.headers.get("X-CSRF-Token") != session["csrf"]:
            return self.fail(403, 13, "Unauthorized", "the header X-CSRF-Token is missing or wrong")
        if self.path == "/api/signout":
            for token in [key for key, each in state.sessions.items() if each is session]:
                del state.sessions[token]
            return self.answer(None, 204)
        if self.path == "/api/command":
            try:
                return self.answer({"reply": run(state, body["database"], body["command"])})
            except CommandError as error:
                return self.fail(400, error.code, error.name, str(error))
        if self.path == "/api/rules/check":
            return self.answer({"files": checked(body["files"]), "loaded": now(), "folder": "rules"})
        if self.path == "/api/rules/diff":
            some = {"documents": 3, "example": HOSTILE}
            return self.answer({"users": 3, "documents": 57, "notes": ["app.todos: a sample."], "differences": [
                {"user": IMAGE, "collection": "app.todos", "visible": {"documents": 0, "example": None}, "invisible": some,
                 "readable": {}, "hidden": {HOSTILE: some}, "writable": {}, "notWritable": {}}]})
        if self.path == "/api/rules/explain":
            return self.answer({
                "steps": [{"question": "Which role?", "answer": "reader, since apply_when of owner does not hold", "holds": True},
                          {"question": "May the role write?", "answer": f"no, the role may not write {HOSTILE}", "holds": False}],
                "sees": {"_id": body["id"], "title": IMAGE}, "mayWrite": False, "mayDelete": False,
                "fields": {"title": {"read": True, "write": False}, HOSTILE: {"read": True, "write": False}}})
        return self.fail(404, 26, "NotFound", "no such address")


def serve(port=0, is_empty=False):
    """Starts the server on a thread and returns it."""
    handler = type("BoundHandler", (Handler,), {"state": State(is_empty)})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--empty"]
    running = serve(int(arguments[0]) if arguments else 8484, "--empty" in sys.argv)
    print(f"http://127.0.0.1:{running.server_address[1]}/ (root, secret)")
    threading.Event().wait()
