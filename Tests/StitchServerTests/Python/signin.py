"""With --auth only those who sign in get in, and only as far as their roles go."""

import socket
import ssl
import struct
import sys
import unittest

import bson
import pymongo
from pymongo.errors import OperationFailure

PORT = int(sys.argv[1])
TLS = {"tls": True, "tlsCAFile": sys.argv[2]} if len(sys.argv) > 2 else {}


def client(user=None, password=None, **options):
    signed = {"username": user, "password": password} if user else {}
    return pymongo.MongoClient(
        "localhost", PORT, serverSelectionTimeoutMS=60000, **signed, **TLS, **options)


def is_cut_off(length):
    """Whether the server ends a connection that begins a message of so many bytes."""
    plain = socket.create_connection(("localhost", PORT))
    if TLS:
        context = ssl.create_default_context(cafile=sys.argv[2])
        plain = context.wrap_socket(plain, server_hostname="localhost")
    with plain as connection:
        connection.settimeout(120)
        connection.sendall(struct.pack("<iiii", length, 1, 0, 2013))
        body = struct.pack("<IB", 0, 0) + bson.encode({"ping": 1, "$db": "admin"})
        rest = length - 16 - len(body)
        if rest <= 0:
            connection.sendall(body)
        try:
            return connection.recv(16) == b""
        except ConnectionResetError:
            return True


class SignIn(unittest.TestCase):
    def test_strangers_take_little_memory(self):
        self.assertTrue(is_cut_off(64 * 1024 + 1))
        ping = bson.encode({"ping": 1, "$db": "admin"})
        self.assertFalse(is_cut_off(16 + 5 + len(ping)))

    def refused(self, body, code):
        with self.assertRaises(OperationFailure) as caught:
            body()
        self.assertEqual(caught.exception.code, code)

    def test_who_gets_in_and_how_far(self):
        open_client = client()
        self.refused(lambda: open_client.app.items.find_one(), 13)
        self.refused(lambda: open_client.app.command("createUser", "x", pwd="p", roles=[]), 13)
        admin = open_client.admin
        admin.command("createUser", "root", pwd="se=cr,et", roles=["root"])
        # The door for the first user is closed now.
        self.refused(lambda: admin.command("createUser", "two", pwd="p", roles=["root"]), 13)

        for mechanism in ("SCRAM-SHA-1", "SCRAM-SHA-256"):
            with client("root", "se=cr,et", authMechanism=mechanism) as root:
                root.app.items.insert_one({"n": 1})
            with client("root", "wrong", authMechanism=mechanism) as wrong:
                self.refused(lambda: wrong.app.items.find_one(), 18)
            with client("nobody", "wrong", authMechanism=mechanism) as wrong:
                self.refused(lambda: wrong.app.items.find_one(), 18)

        root = client("root", "se=cr,et")
        app = root.app
        app.command("createUser", "reader", pwd="r", roles=["read"], customData={"a": 1})
        app.command("createUser", "writer", pwd="w", roles=[{"role": "readWrite", "db": "app"}],
                    mechanisms=["SCRAM-SHA-256"])
        self.refused(
            lambda: app.command("createUser", "reader", pwd="r", roles=["read"]), 51003)
        self.refused(lambda: app.command("createUser", "z", pwd="r", roles=["bogus"]), 31)
        shown = app.command("usersInfo", "reader")["users"][0]
        self.assertEqual(shown["roles"], [{"role": "read", "db": "app"}])
        self.assertNotIn("credentials", shown)

        # Drivers begin with SHA-256 before they know what the user has.
        app.command("createUser", "old", pwd="o", roles=["read"], mechanisms=["SCRAM-SHA-1"])
        with client("old", "o", authSource="app") as old:
            self.assertEqual(old.app.items.count_documents({}), 2)

        reader = client("reader", "r", authSource="app")
        self.assertEqual(reader.app.items.count_documents({}), 2)
        self.refused(lambda: reader.app.items.insert_one({}), 13)
        self.refused(lambda: reader.other.items.find_one(), 13)
        self.refused(lambda: reader.admin["system.users"].find_one(), 13)
        self.refused(lambda: list(reader.app.items.aggregate([{"$out": "copy"}])), 13)
        self.refused(lambda: reader.app.command("usersInfo"), 13)
        self.refused(lambda: reader.admin.command("serverStatus"), 13)
        status = reader.admin.command("connectionStatus")["authInfo"]
        self.assertEqual(status["authenticatedUsers"], [{"user": "reader", "db": "app"}])

        writer = client("writer", "w", authSource="app")
        writer.app.items.insert_one({"n": 2})
        writer.app.items.create_index("n")
        self.refused(lambda: writer.other.items.insert_one({}), 13)
        with client("writer", "w", authSource="app", authMechanism="SCRAM-SHA-1") as other:
            self.refused(lambda: other.app.items.find_one(), 18)

        # Who may write to admin does not come by the users that way.
        admin = root.admin
        admin.command("createUser", "keeper", pwd="k", roles=["readWrite"])
        keeper = client("keeper", "k", authSource="admin")
        keeper.admin.items.insert_one({"user": "keeper", "db": "admin"})
        users = "admin.system.users"
        for command in (
                {"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}], "nsInfo": [{"ns": users}]},
                {"renameCollection": "admin.items", "to": users, "dropTarget": True},
                {"renameCollection": users, "to": "admin.copy"},
                {"create": "shown", "viewOn": "system.users", "pipeline": []},
                {"insert": "system.users", "documents": [{}]},
                {"drop": "system.users"}):
            self.refused(lambda command=command: keeper.admin.command(command), 13)
        into = {"$out": {"db": "admin", "coll": "system.users"}}
        self.refused(lambda: list(keeper.admin.items.aggregate([into])), 13)
        self.refused(lambda: list(root.app.items.aggregate([into])), 17385)
        keeper.close()

        # Who administrates the users of one database gets no rights on others by that.
        app.command("createUser", "chief", pwd="c", roles=["userAdmin"])
        chief = client("chief", "c", authSource="app")
        chief.app.command("createUser", "mate", pwd="m", roles=["readWrite"])
        everywhere = [{"role": "root", "db": "admin"}]
        for name in ("createUser", "updateUser", "grantRolesToUser", "revokeRolesFromUser"):
            self.refused(lambda name=name: chief.app.command(
                name, "mate", roles=["read", *everywhere],
                **({"pwd": "m"} if name == "createUser" else {})), 13)
        for whose in ({"forAllDBs": True}, {"user": "root", "db": "admin"},
                      ["mate", {"user": "root", "db": "admin"}]):
            self.refused(
                lambda whose=whose: chief.app.command("usersInfo", whose, showCredentials=True), 13)
        self.assertEqual(len(chief.app.command("usersInfo", ["mate", "chief"])["users"]), 2)
        self.assertEqual(
            {u["db"] for u in root.app.command("usersInfo", {"forAllDBs": True})["users"]},
            {"admin", "app"})
        chief.app.command("dropUser", "mate")
        chief.close()
        app.command("dropUser", "chief")

        # Roles and users change for those who are signed in.
        app.command("revokeRolesFromUser", "writer", roles=["readWrite"])
        self.refused(lambda: writer.app.items.insert_one({}), 13)
        app.command("grantRolesToUser", "reader", roles=["readWrite"])
        reader.app.items.insert_one({"n": 3})
        app.command("updateUser", "reader", pwd="new")
        with client("reader", "r", authSource="app") as old:
            self.refused(lambda: old.app.items.find_one(), 18)
        app.command("dropUser", "reader")
        self.refused(lambda: reader.app.items.find_one(), 13)
        self.refused(lambda: app.command("dropUser", "reader"), 11)
        self.assertEqual(app.command("dropAllUsersFromDatabase")["n"], 2)
        for one in (open_client, root, reader, writer):
            one.close()


unittest.main(argv=sys.argv[:1])
