"""Users of two identity providers are different users, and each token counts at its provider only.

usage: providers.py PORT CERTIFICATE FOLDER-A FOLDER-B
"""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import time
import unittest

import pymongo
from pymongo.errors import OperationFailure

PORT, CERTIFICATE = int(sys.argv[1]), sys.argv[2]
FOLDERS = {"a": pathlib.Path(sys.argv[3]), "b": pathlib.Path(sys.argv[4])}


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(provider, signer=None, header=None, sign=None, **claims):
    now = int(time.time())
    head = {"alg": "RS256", "kid": "rsa", **(header or {})}
    body = {"sub": "ann", "iss": f"https://{provider}.example", "aud": "shop", "iat": now,
            "exp": now + 600, **claims}
    signed = coded(json.dumps(head).encode()) + "." + coded(json.dumps(
        {name: value for name, value in body.items() if value is not None}).encode())
    if sign:
        return signed + "." + coded(sign(signed.encode()))
    key = FOLDERS[signer or provider] / "rsa.pem"
    signature = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(),
        capture_output=True, check=True).stdout
    return signed + "." + coded(signature)


def client(password, user="ann"):
    return pymongo.MongoClient(
        "localhost", PORT, username=user, password=password, authMechanism="PLAIN", tls=True,
        tlsCAFile=CERTIFICATE, serverSelectionTimeoutMS=60000)


class Providers(unittest.TestCase):
    def test_users_of_two_providers(self):
        ids = {}
        for provider in "ab":
            text = token(provider, team="red", roles=["root@admin"])
            # A token may be used again until it ends.
            for _ in range(2):
                with client(text) as ann:
                    status = ann.admin.command("connectionStatus")["authInfo"]
                    self.assertEqual(
                        status["authenticatedUsers"],
                        [{"user": "ann", "db": f"$external/{provider}"}])
                    self.assertEqual(status["authenticatedUserRoles"], [])
            ids[provider] = f":$external/{provider}.ann"
            with client(text) as ann:
                ann.app.own.insert_one({"_id": provider, "owner": ids[provider]})
                self.assertEqual([each["_id"] for each in ann.app.own.find()], [provider])
                with self.assertRaises(OperationFailure):
                    ann.app.own.insert_one({"owner": "ann"})
        # Only provider a maps the claim to custom data.
        for provider, allowed in [("a", True), ("b", False)]:
            with client(token(provider, team="red")) as ann:
                if allowed:
                    ann.app.team.insert_one({"team": "red"})
                    with self.assertRaises(OperationFailure):
                        ann.app.team.insert_one({"team": "blue"})
                else:
                    with self.assertRaises(OperationFailure):
                        ann.app.team.insert_one({"team": "red"})

    def refused(self, name, password):
        with client(password, name) as refused:
            with self.assertRaises(OperationFailure, msg=name) as caught:
                refused.app.own.find_one()
            self.assertEqual(caught.exception.code, 18, name)

    def test_wrong_tokens(self):
        now = int(time.time())
        pem = subprocess.run(
            ["openssl", "rsa", "-in", FOLDERS["a"] / "rsa.pem", "-pubout"], capture_output=True,
            check=True).stdout
        self.refused("w1", token("a", signer="b", sub="w1"))
        self.refused("w2", token("c", signer="a", sub="w2"))
        self.refused("w3", token("a", sub="w3", iss=None))
        self.refused("w4", token("a", sub="w4", aud="bank"))
        self.refused("w5", token("a", sub="w5", aud=None))
        self.refused("w6", token("a", sub="w6", exp=now - 60))
        self.refused("w7", token("a", sub="w7", nbf=now + 100))
        self.refused("w8", token("a", sub="w8", iat=now + 100))
        self.refused("w9", token("a", sub="w9", exp=None))
        self.refused("w10", token("a", sub="w10", header={"alg": "none"}, sign=lambda _: b""))
        self.refused("w11", token(
            "a", sub="w11", header={"alg": "HS256"},
            sign=lambda text: hmac.new(pem, text, hashlib.sha256).digest()))
        # Provider b accepts ES256 only beside RS256.
        self.refused("w12", token("b", sub="w12", header={"alg": "PS256"}))
        self.refused("w13", token("a", sub="w13", header={"kid": "unknown"}))
        # The other audience of provider b.
        with client(token("b", sub="w14", aud=["x", "app"]), "w14") as accepted:
            accepted.app.own.find_one()


unittest.main(argv=sys.argv[:1])
