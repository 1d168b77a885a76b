"""What the scripts about rules have in common: users, documents and what each user sees of them."""

import copy

import pymongo
from pymongo.errors import BulkWriteError, OperationFailure

# What is known of each user: the tenant, and the role that the profile names.
USERS = {
    "ann": {"tenant": "a"},
    "ben": {"tenant": "a"},
    "eve": {"tenant": "b"},
    "ron": {"tenant": "a", "role": "auditor"},
    "fay": {"tenant": "a", "role": "clerk"},
}

DOCUMENTS = [
    {"_id": "own", "owner": "ann", "tenant": "a", "title": "one", "n": 1, "salary": 10,
     "tags": ["x", "y"], "address": {"city": "Rome", "street": "Via 1"}, "at": [0, 0]},
    {"_id": "other", "owner": "ben", "tenant": "a", "title": "two", "n": 2, "salary": 20,
     "tags": ["y"], "address": {"city": "Bonn", "street": "Weg 2"}, "at": [1, 1]},
    {"_id": "fixed", "owner": "zoe", "tenant": "a", "title": "three", "n": 3, "salary": 30,
     "tags": [], "address": {"city": "Oslo", "street": "Vei 3"}, "locked": True, "at": [2, 2]},
    {"_id": "far", "owner": "eve", "tenant": "b", "title": "secret", "n": 4, "salary": 40,
     "tags": ["z"], "address": {"city": "Lima", "street": "Jiron 4"}, "at": [3, 3]},
    {"_id": "farther", "owner": "max", "tenant": "b", "title": "hush", "n": 5, "salary": 50,
     "tags": ["z"], "address": {"city": "Kyiv", "street": "Vul 5"}, "locked": True, "at": [4, 4]},
]

CLERK = {"_id", "owner", "tenant", "title", "n", "tags", "address"}


def seen(user, document):
    """The document as a user sees it; None when it is not there."""
    if user == "root":
        return document
    profile = USERS[user]
    writes = "role" not in profile and document.get("owner") == user
    if document.get("tenant") != profile["tenant"] and not writes:
        return None
    if profile.get("role") != "clerk":
        return document
    shown = {key: value for key, value in document.items() if key in CLERK}
    if isinstance(shown.get("address"), dict):
        shown["address"] = {k: v for k, v in shown["address"].items() if k == "city"}
    return shown


def view(user, documents):
    """All that a user sees."""
    return [s for s in (seen(user, d) for d in documents) if s is not None]


def client(port, user=None, **options):
    signed = {"username": user, "password": "pw"} if user else {}
    return pymongo.MongoClient(
        "127.0.0.1", port, serverSelectionTimeoutMS=60000, **signed, **options)


def prepare(port, documents=DOCUMENTS):
    """Makes the users, their profiles and the documents; gives the client of the administrator."""
    client(port).admin.command("createUser", "root", pwd="pw", roles=["root"])
    root = client(port, "root")
    for user in [*USERS, "gone"]:
        root.admin.command(
            "createUser", user, pwd="pw", roles=[{"role": "readWrite", "db": "shop"}])
    root.shop.profiles.insert_many([{"user": u, **profile} for u, profile in USERS.items()])
    root.shop.items.create_index("salary")
    root.shop.items.create_index([("tenant", 1), ("n", -1)])
    root.shop.items.create_index([("at", "2d")])
    root.shop.items.insert_many(copy.deepcopy(documents))
    return root


def outcome(body):
    """What a road leads to: a value, or the code of an error."""
    try:
        return body()
    except BulkWriteError as error:
        return ("denied", error.details["writeErrors"][0]["code"])
    except OperationFailure as error:
        return ("error", error.code)
