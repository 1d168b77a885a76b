"""Attacks on the console of a server, and what its pages ask for: console.py PORT RULED"""
import http.client
import json
import sys
import threading
import time

PORT = int(sys.argv[1])
HOST = f"localhost:{PORT}"


def ask(method, path, body=None, headers=None, host=HOST):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host)
    data = None if body is None else json.dumps(body).encode()
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    if data is not None:
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data)
    answer = connection.getresponse()
    return answer.status, dict((k.lower(), v) for k, v in answer.getheaders()), answer.read()


def check(holds, what):
    if not holds:
        print("failed:", what)
        sys.exit(1)


# The pages, and nothing else of the disk.
status, headers, page = ask("GET", "/")
check(status == 200 and b"<title>" in page, (status, page[:80]))
policy = headers["content-security-policy"]
check("default-src 'none'" in policy and "unsafe" not in policy, policy)
check(headers["x-content-type-options"] == "nosniff", headers)
for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/js/", "/index.html/x", "/\0", "/Package.swift"]:
    try:
        status, _, found = ask("GET", path.replace("\0", "%00"))
    except http.client.HTTPException:
        continue
    check(status == 404 and b"root:" not in found, (path, status))

# Nobody gets in without a password, or as someone who is no administrator.
check(ask("GET", "/api/session")[0] == 401, "a session without sign-in")
for path in ["/api/devices", "/api/denied", "/api/log", "/api/rules", "/api/stats", "/api/changes?database=app",
             "/api/slow", "/api/write?namespace=app.todos&id=1"]:
    check(ask("GET", path)[0] == 401, path)
check(ask("POST", "/api/command", {"database": "admin", "command": {"ping": 1}})[0] == 401, "command")
# The memory of the server is not theirs either.
for path in ["/api/command", "/api/signin"]:
    for headers in [{}, {"Cookie": "stitchsync-console=" + "x" * 43}]:
        status, _, text = ask("POST", path, {"a": "x" * 100_000}, headers)
        check(status == 401 and b"65536 bytes" in text, (path, status, text))


def sign_in(user, password, headers=None, host=HOST):
    return ask("POST", "/api/signin", {"user": user, "password": password, "database": "admin"}, headers, host)


wrong = sign_in("root", "wrong")
stranger = sign_in("nobody", "wrong")
plain = sign_in("ann", "ann's password")
check([wrong[0], stranger[0], plain[0]] == [401] * 3, (wrong, stranger, plain))
check(wrong[2] == stranger[2] == plain[2], "the refusals differ")
check(sign_in("root", "root's password", host="evil.example")[0] == 421, "another host")
check(sign_in("root", "root's password", {"Origin": "http://evil.example"})[0] == 403, "another origin")
status, headers, _ = sign_in("root", "root's password")
check(status == 204, status)
cookie = headers["set-cookie"]
check("HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
mine = {"Cookie": cookie.split(";")[0]}
status, _, text = ask("GET", "/api/session", headers=mine)
session = json.loads(text)
check(status == 200 and session["user"] == "root", text)

# A change needs the token, from the console's own pages.
command = {"database": "app", "command": {"insert": "todos", "documents": [{"_id": 1, "text": "<script>alert(1)</script>"}]}}
check(ask("POST", "/api/command", command, mine)[0] == 403, "no token")
check(ask("POST", "/api/command", command, {**mine, "X-CSRF-Token": "x"})[0] == 403, "a wrong token")
token = {**mine, "X-CSRF-Token": session["csrf"]}
check(ask("POST", "/api/command", command, {**token, "Origin": "http://evil.example"})[0] == 403, "origin with token")
check(ask("POST", "/api/command", command, token, host="evil.example:80")[0] == 421, "host with token")
status, _, text = ask("POST", "/api/command", command, token)
check(status == 200 and json.loads(text)["reply"]["n"] == {"$numberInt": "1"}, text)
status, _, text = ask("POST", "/api/command", {"database": "app", "command": {"nonsense": 1}}, token)
check(status == 422 and json.loads(text)["error"]["code"] == 59, text)
for bad in [b"", b"{", b"[]", b"\xff", b'{"database": 1}']:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("POST", "/api/command", bad, {**token, "Host": HOST, "Content-Type": "application/json"})
    check(connection.getresponse().status == 400, bad)
check(ask("DELETE", "/api/session", headers=mine)[0] == 404, "another method")

# Rules: their files, a check, and what a user sees and why.
status, _, text = ask("GET", "/api/rules", headers=mine)
check(status == 200 and json.loads(text)["files"], text)
broken = {"files": [{"path": "app/todos/rules.json", "text": '{"roles": [{"nam": 1}]}'}]}
status, _, text = ask("POST", "/api/rules/check", broken, token)
check(json.loads(text)["files"][0]["errors"], text)
question = {"user": "ann", "database": "admin", "namespace": "app.todos", "id": 1}
status, _, text = ask("POST", "/api/rules/explain", question, token)
answer = json.loads(text)
check(status == 200 and answer["steps"] and answer["mayDelete"] is False, text)

# What other rules would change, and the story of a document.
changed = {"files": [{"path": "data_sources/mongodb-atlas/app/todos/rules.json", "text": json.dumps({
    "database": "app", "collection": "todos", "roles": [{"name": "none", "apply_when": {}, "read": False, "write": False}]})}]}
check(ask("POST", "/api/rules/diff", changed, mine)[0] == 403, "diff without token")
status, _, text = ask("POST", "/api/rules/diff", changed, token)
check(status == 200 and json.loads(text)["users"], text)
status, _, text = ask("POST", "/api/rules/diff", broken, token)
check(json.loads(text)["files"][0]["errors"], text)
status, _, text = ask("GET", "/api/write?namespace=app.todos&id=1", headers=mine)
story = json.loads(text)
check(status == 200 and [each["operation"] for each in story["changes"]] == ["insert"], text)
for id in ["", "%7B", "1,%22x%22:2"]:
    check(ask("GET", f"/api/write?namespace=app.todos&id={id}", headers=mine)[0] == 400, id)
status, _, text = ask("GET", "/api/slow", headers=mine)
check(status == 200 and len(json.loads(text)["slow"]) <= 50, text)

# Figures and changes as they come.
connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
connection.request("GET", "/api/stats", headers={**mine, "Host": HOST})
stream = connection.getresponse()
check(stream.getheader("content-type").startswith("text/event-stream"), stream.getheaders())
check(stream.readline() == b"event: stats\n", "no figures")
figures = json.loads(stream.readline()[6:])
check("latencyMS" in figures and figures["conflicts"] == 0 and figures["storageBytes"] > 0, figures)
check(figures["upstream"] is None, figures)
watching = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
watching.request("GET", "/api/changes?database=app&collection=todos", headers={**mine, "Host": HOST})
changes = watching.getresponse()
check(changes.status == 200, changes.status)
command["command"]["documents"][0]["_id"] = 2
check(changes.readline() == b":\n", "no sign of life")
ask("POST", "/api/command", command, token)
line = b""
while not line.startswith(b"data:"):
    line = changes.readline()
check(json.loads(line[6:])["documentKey"] == {"_id": {"$numberInt": "2"}}, line)

# A large document is cut in a change and in a story, and the cut is marked; its _id is whole.
command["command"]["documents"] = [{"_id": 3, "text": "word " * 400_000, "numbers": list(range(1_000))}]
check(ask("POST", "/api/command", command, token)[0] == 200, "insert of a large document")
line = b""
while not line.startswith(b"data:") or b'"documentKey"' not in line:
    line = changes.readline()
check(len(line) < 50_000, len(line))
event = json.loads(line[6:])
check(event["documentKey"] == {"_id": {"$numberInt": "3"}}, event["documentKey"])
check(int(event["$stitchsyncCutFrom"]["$numberLong"]) > 2_000_000, line[:200])
check(event["fullDocument"]["text"]["$stitchsyncCut"]["size"] == {"$numberLong": "2000000"}, line[:200])
status, _, text = ask("GET", "/api/write?namespace=app.todos&id=3", headers=mine)
check(status == 200 and len(text) < 50_000, len(text))
story = json.loads(text)
check(int(story["$stitchsyncCutFrom"]["$numberLong"]) > 2_000_000 and story["document"]["_id"] == {"$numberInt": "3"}, text[:200])

# A user who loses the role loses the session.
other = sign_in("second", "second's password")
second = {"Cookie": other[1]["set-cookie"].split(";")[0]}
check(ask("GET", "/api/session", headers=second)[0] == 200, "the second administrator")
revoke = {"database": "admin", "command": {"revokeRolesFromUser": "second", "roles": ["root"]}}
check(ask("POST", "/api/command", revoke, token)[0] == 200, "revoke")
check(ask("GET", "/api/session", headers=second)[0] == 401, "the session outlives the role")

check(ask("POST", "/api/signout", {}, token)[0] == 204, "sign-out")
check(ask("GET", "/api/session", headers=mine)[0] == 401, "the session outlives the sign-out")
print("ok")
