"""Who tries passwords waits longer and longer; passwords are prepared before they are compared."""

import sys
import time
import unittest

import pymongo
from pymongo.errors import OperationFailure

PORT = int(sys.argv[1])


def attempt(user, password):
    """How long a sign-in took, and whether it was let in."""
    start = time.monotonic()
    with pymongo.MongoClient(
            "localhost", PORT, username=user, password=password, authMechanism="SCRAM-SHA-256",
            serverSelectionTimeoutMS=60000) as client:
        try:
            client.admin.command("connectionStatus")
            client.app.items.find_one()
            return time.monotonic() - start, True
        except OperationFailure as error:
            assert error.code == 18, error
            return time.monotonic() - start, False


class Delays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with pymongo.MongoClient("localhost", PORT) as client:
            client.admin.command("createUser", "root", pwd="r", roles=["root"])
        cls.root = pymongo.MongoClient("localhost", PORT, username="root", password="r")
        for user, password in (("ann", "a"), ("bob", "b"), ("roman", "\u2163 \u00aa")):
            cls.root.admin.command("createUser", user, pwd=password, roles=["readAnyDatabase"])

    def test_wrong_passwords_take_longer(self):
        times = []
        for _ in range(7):
            took, is_in = attempt("ann", "wrong")
            self.assertFalse(is_in)
            times.append(took)
        self.assertGreater(times[-1], 0.7, times)
        # The right one is let in, but not at once while somebody tries.
        self.assertTrue(attempt("ann", "a")[1])
        self.assertLess(self.best("ann", "a"), 0.7)
        # Others do not wait.
        self.assertLess(self.best("bob", "b"), 0.7)

    def best(self, user, password):
        """The shortest of some times to sign in: a busy machine makes single ones longer."""
        answers = [attempt(user, password) for _ in range(5)]
        self.assertTrue(all(is_in for _, is_in in answers))
        return min(took for took, _ in answers)

    def test_passwords_are_prepared(self):
        for password in ("\u2163 \u00aa", "IV a", "I\u00adV\u00a0a"):
            self.assertTrue(attempt("roman", password)[1], ascii(password))
        self.assertFalse(attempt("roman", "VI a")[1])


unittest.main(argv=sys.argv[:1])
