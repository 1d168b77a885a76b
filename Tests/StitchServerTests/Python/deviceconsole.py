"""Attacks on the pages of a device's file, and what they ask for: deviceconsole.py ADDRESS"""
import http.client
import json
import sys
from urllib.parse import urlsplit

ADDRESS = urlsplit(sys.argv[1])
TOKEN = ADDRESS.query.removeprefix("token=")


def ask(method, path, body=None, headers=None, host=ADDRESS.netloc):
    connection = http.client.HTTPConnection("127.0.0.1", ADDRESS.port, timeout=30)
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


# Without the address' secret there are pages without contents.
check(ask("GET", "/")[0] == 200, "the empty pages")
check("set-cookie" not in ask("GET", "/")[1], "a session without the secret")
for token in ["", TOKEN[:-1], TOKEN + "x", "x" * len(TOKEN)]:
    status, headers, _ = ask("GET", f"/?token={token}")
    check(status == 403 and "set-cookie" not in headers, ("a wrong secret", token, status))
for path in ["/api/session", "/api/device/overview", "/api/devices", "/api/log"]:
    status, _, found = ask("GET", path)
    check(status == 403 and b"inspect --serve" in found, (path, status, found))
for path in ["/api/signin", "/api/command", "/api/signout"]:
    check(ask("POST", path, {"user": "", "password": ""})[0] == 403, path)
check(ask("GET", f"/?token={TOKEN}", host="evil.example")[0] == 421, "another name of this machine")
check(ask("GET", f"/?token={TOKEN}", headers={"Origin": "http://evil.example"})[0] == 403, "another site")
for path in ["/../../etc/passwd", "/device/", "/device/../js/app.js", "//etc/passwd"]:
    check(ask("GET", path)[0] == 404, path)

# With it, the browser reads.
status, headers, page = ask("GET", f"/?token={TOKEN}")
check(status == 200 and b"<title>" in page, (status, page[:80]))
policy = headers["content-security-policy"]
check("default-src 'none'" in policy and "unsafe" not in policy, policy)
cookie = headers["set-cookie"]
check("HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie, cookie)
mine = {"Cookie": cookie.split(";")[0]}
session = json.loads(ask("GET", "/api/session", headers=mine)[2])
check(session["server"]["kind"] == "device" and session["server"]["host"] == "device.stitch", session)
check(json.loads(ask("GET", "/api/device/overview?id=7", headers=mine)[2]) == {"id": "7"}, "a page")
for path in ["/api/device/", "/api/device/other", "/api/devices", "/api/log", "/api/stats", "/api/changes?database=app",
             "/api/write?namespace=app.todos&id=1", "/api/rules"]:
    check(ask("GET", path, headers=mine)[0] == 404, path)
check(ask("GET", "/api/device/overview", headers={**mine, "Origin": "http://evil.example"})[0] == 403, "another site")


def command(body, **headers):
    status, _, found = ask("POST", "/api/command", {"database": "app", "command": body},
                           {**mine, "X-CSRF-Token": session["csrf"], **headers})
    return status, json.loads(found)


check(command({"find": "todos"}, **{"X-CSRF-Token": "x"})[0] == 403, "no token of the pages")
status, found = command({"find": "todos", "filter": {"_id": 1}})
check(status == 200 and found["reply"]["cursor"]["firstBatch"][0]["title"] == "one", found)
for each in [{"count": "todos"}, {"listCollections": 1}, {"collStats": "todos"}, {"listIndexes": "todos"}, {"explain": {"find": "todos"}},
             {"aggregate": "todos", "pipeline": [{"$match": {}}], "cursor": {}}]:
    status, found = command(each)
    check(status == 200, (each, found))
check(json.dumps(command({"listCollections": 1})[1]).count('"todos"') == 1, "the collection is listed")
for each in [{"insert": "todos", "documents": [{"_id": 3}]}, {"delete": "todos", "deletes": [{"q": {}, "limit": 0}]}, {"drop": "todos"},
             {"update": "todos", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}, {"dropDatabase": 1}, {"createUser": "x", "pwd": "x", "roles": []},
             {"findAndModify": "todos", "remove": True}, {"FIND": "todos"}, {}]:
    check(command(each)[0] in (400, 403), each)
for stage in [{"$out": "other"}, {"$merge": {"into": "other"}}]:
    status, found = command({"aggregate": "todos", "pipeline": [stage], "cursor": {}})
    check(status != 200, (stage, found))
print("ok")
