"""What an administrator's slow requests leave of a console to others: console_busy.py PORT

The user root sends 24 aggregates that run for minutes, each by a connection of its own. Meanwhile
the pages are there, another administrator signs in, sees them and ends one, and so does root. When
the connections close, all of them end.
"""
import http.client
import json
import sys
import time

PORT = int(sys.argv[1])
HOST = f"localhost:{PORT}"
# The longest time for an answer of a debug build beside other tests; the aggregates take longer.
PATIENCE = 100
JOIN = [{"$lookup": {"from": "items", "localField": "k", "foreignField": "k", "as": "j"}}, {"$unwind": "$j"}]
SLOW = {"aggregate": "items", "pipeline": JOIN * 6 + [{"$count": "n"}], "cursor": {}}


def send(method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    connection.request(method, path, body and json.dumps(body), {
        "Host": HOST, "Origin": f"http://{HOST}", "Content-Type": "application/json", **(headers or {})})
    return connection


def ask(method, path, body=None, headers=None):
    answer = send(method, path, body, headers).getresponse()
    return answer.status, answer.getheader("set-cookie"), answer.read()


def check(holds, what):
    if not holds:
        print("failed:", what)
        sys.exit(1)


def sign_in(user):
    status, cookie, _ = ask("POST", "/api/signin", {
        "user": user, "password": f"{user}'s password", "database": "admin"})
    check(status == 204, (user, status))
    mine = {"Cookie": cookie.split(";")[0]}
    status, _, text = ask("GET", "/api/session", headers=mine)
    check(status == 200, text)
    return {**mine, "X-CSRF-Token": json.loads(text)["csrf"]}


def command(who, command, database="admin"):
    status, _, text = ask("POST", "/api/command", {"database": database, "command": command}, who)
    check(status == 200, text)
    return json.loads(text)["reply"]


def slow_ones(who):
    """The numbers of the aggregates that run."""
    return [each["opid"] for each in command(who, {"currentOp": 1})["inprog"]
            if "aggregate" in each.get("command", {})]


root = sign_in("root")
command(root, {"insert": "items", "documents": [{"_id": n, "k": 1} for n in range(200)]}, "app")
slow = [send("POST", "/api/command", {"database": "app", "command": SLOW}, root) for _ in range(24)]
# A half of the threads for users, and of those for operators.
while len(slow_ones(root)) < 18:
    pass

status, _, page = ask("GET", "/")
check(status == 200 and b"<title>" in page, status)
other = sign_in("second")
check(ask("GET", "/api/devices", headers=other)[0] == 200, "another administrator's devices")
stream = send("GET", "/api/stats", headers=root).getresponse()
check(stream.status == 200 and stream.readline() == b"event: stats\n", stream.status)
for who in [other, root]:
    command(who, {"killOp": 1, "op": slow_ones(who)[0]})
check(slow_ones(other), "they ended by themselves")

for connection in slow:
    connection.close()
end = time.monotonic() + PATIENCE
while slow_ones(other):
    check(time.monotonic() < end, "aggregates run although their browsers have left")
check(ask("GET", "/api/devices", headers=root)[0] == 200, "root's own devices")
print("ok")
