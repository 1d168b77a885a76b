"""Who has a token of the identity provider signs in with it; others do not.

usage: tokens.py PORT CERTIFICATE KEYS-FOLDER: the folder has rsa.pem, ec.pem and foreign.pem.
"""

import base64
import json
import pathlib
import subprocess
import sys
import time
import unittest

import pymongo
from pymongo.errors import ConnectionFailure, OperationFailure

PORT, CERTIFICATE, FOLDER = int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_signature(der):
    """The two numbers of a DER signature, 32 bytes each, as tokens want them."""
    numbers, at = [], 2
    for _ in range(2):
        length = der[at + 1]
        numbers.append(der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0"))
        at += 2 + length
    return b"".join(numbers)


def token(key="rsa", algorithm="RS256", kid=None, header=None, **claims):
    head = {"alg": algorithm, "typ": "JWT", "kid": kid or key, **(header or {})}
    now = int(time.time())
    body = {"sub": "ann", "iss": "https://id.example", "aud": "shop", "iat": now,
            "exp": now + 600, "roles": ["readWrite@shop"], **claims}
    body = {name: value for name, value in body.items() if value is not None}
    signed = coded(json.dumps(head).encode()) + "." + coded(json.dumps(body).encode())
    signature = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", FOLDER / f"{key}.pem"], input=signed.encode(),
        capture_output=True, check=True).stdout
    if key == "ec":
        signature = raw_signature(signature)
    return signed + "." + coded(signature)


def client(password, user="ann", **options):
    return pymongo.MongoClient(
        "localhost", PORT, username=user, password=password, authMechanism="PLAIN", tls=True,
        tlsCAFile=CERTIFICATE, serverSelectionTimeoutMS=60000, **options)


class Tokens(unittest.TestCase):
    def good(self, password, user="ann"):
        with client(password, user) as signed_in:
            signed_in.shop.items.insert_one({})
            status = signed_in.admin.command("connectionStatus")["authInfo"]
            self.assertEqual(
                status["authenticatedUsers"], [{"user": user, "db": "$external"}])
            with self.assertRaises(OperationFailure) as caught:
                signed_in.other.items.find_one()
            self.assertEqual(caught.exception.code, 13)

    def refused(self, password, user=None):
        # A user for each attempt, so that nobody has to wait for the one before.
        self.number = getattr(self, "number", 0) + 1
        with client(password, user or "ann") as refused:
            with self.assertRaises(OperationFailure) as caught:
                refused.shop.items.find_one()
            self.assertEqual(caught.exception.code, 18)

    def test_good_tokens(self):
        self.good(token())
        self.good(token("ec", "ES256"))
        self.good(token(sub="bob"), user="bob")
        self.good(token(aud=["other", "shop"], roles=[{"role": "readWrite", "db": "shop"}]))

    def test_tokens_that_are_over(self):
        self.refused(token(sub="over", exp=int(time.time()) - 100), "over")
        self.refused(token(sub="early", nbf=int(time.time()) + 100), "early")
        self.refused(token(sub="endless", exp=None), "endless")

    def test_forged_tokens(self):
        self.refused(token("foreign", kid="rsa", sub="f1"), "f1")
        self.refused(token("foreign", kid="foreign", sub="f2"), "f2")
        parts = token(sub="f3").split(".")
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
        claims["roles"] = ["root@admin"]
        self.refused(
            ".".join([parts[0], coded(json.dumps(claims).encode()), parts[2]]), "f3")
        none = coded(json.dumps({"alg": "none"}).encode())
        self.refused(".".join([none, parts[1], ""]), "f3")
        # The public key as the secret of a symmetric algorithm.
        self.refused(token(sub="f4", header={"alg": "HS256"}), "f4")
        # A key is used only by the algorithms of its kind.
        self.refused(token(sub="f5", header={"alg": "ES256"}), "f5")
        self.refused(token(sub="f6", header={"crit": ["exp"]}), "f6")

    def test_tokens_for_others(self):
        self.refused(token(sub="i", iss="https://evil.example"), "i")
        self.refused(token(sub="a", aud="bank"), "a")
        self.refused(token(sub="ann"), "somebody")
        self.refused("no token", "n")

    def test_a_token_ends_while_it_is_used(self):
        with client(token(sub="short", exp=int(time.time()) - 28), "short") as short:
            short.shop.items.find_one()
            deadline = time.monotonic() + 200
            while time.monotonic() < deadline:
                try:
                    short.shop.items.find_one()
                except OperationFailure as error:
                    self.assertIn(error.code, (18, 391))
                    return
            self.fail("the token did not end")

    def test_roles_of_users_on_external(self):
        with client(token(sub="root", roles=["root@admin"]), "root") as root:
            root["$external"].command("createUser", "carl", roles=[{"role": "read", "db": "other"}])
        with client(token(sub="carl", roles=None), "carl") as carl:
            carl.other.items.find_one()
            with self.assertRaises(OperationFailure):
                carl.shop.items.find_one()

    def test_nothing_goes_without_encryption(self):
        with pymongo.MongoClient("localhost", PORT, serverSelectionTimeoutMS=500) as plain:
            with self.assertRaises(ConnectionFailure):
                plain.admin.command("ping")


unittest.main(argv=sys.argv[:1])
