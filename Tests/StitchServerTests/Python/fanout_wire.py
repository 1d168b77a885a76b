"""A light client of MongoDB's wire protocol: one connection, one command under way at a time."""

import asyncio
import base64
import hashlib
import hmac
import os
import struct

import bson

# OP_MSG: the header, no flags, one section of kind 0.
HEADER = struct.Struct("<iiiiIB")
# The seconds within which an answer must arrive, beyond the wait that a command asks for.
PATIENCE = 30


class CommandError(Exception):
    """An answer that is an error."""

    def __init__(self, reply, name):
        self.code = reply.get("code", 0)
        super().__init__(f"{name}: error {self.code}: {reply.get('errmsg', reply)}")


def message(body, database="admin"):
    """The bytes of a command."""
    data = bson.encode({**body, "$db": database})
    return HEADER.pack(HEADER.size + len(data), 1, 0, 2013, 0, 0) + data


class Connection(asyncio.Protocol):
    """A connection, opened by `Connection.to`. Each answer is whole when it is given."""

    __slots__ = ("transport", "waiter", "parts", "missing", "loop")

    def __init__(self):
        self.transport = self.waiter = None
        self.parts, self.missing = [], 0
        self.loop = asyncio.get_running_loop()

    @classmethod
    async def to(cls, port):
        loop = asyncio.get_running_loop()
        return (await asyncio.wait_for(
            loop.create_connection(cls, "127.0.0.1", port), PATIENCE))[1]

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if self.parts:
            self.parts.append(data)
            self.missing -= len(data)
            if self.missing > 0:
                return
            data, self.parts = b"".join(self.parts), []
        # A header that was cut is as good as a message that was cut by a byte.
        length = int.from_bytes(data[:4], "little") if len(data) >= 4 else 4
        if len(data) < length or len(data) < 4:
            self.parts, self.missing = [data], max(length - len(data), 1)
            return
        waiter, self.waiter = self.waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(data)

    def connection_lost(self, error):
        waiter, self.waiter = self.waiter, None
        self.transport = None
        if waiter is not None and not waiter.done():
            waiter.set_exception(ConnectionResetError("the connection was lost"))

    def exchange(self, request):
        """Sends a message; the future gives the bytes of the answer."""
        if self.transport is None:
            raise ConnectionResetError("the connection was lost")
        self.waiter = self.loop.create_future()
        self.transport.write(request)
        return self.waiter

    async def command(self, body, database="admin", patience=PATIENCE):
        """The answer to a command.

        Throws CommandError for an error, ConnectionError or TimeoutError without an answer.
        """
        data = await asyncio.wait_for(self.exchange(message(body, database)), patience)
        return answer(data, body)

    def close(self):
        if self.transport is not None:
            self.transport.abort()


def answer(data, body):
    """The document of an answer to a command."""
    reply = bson.decode(data[HEADER.size:])
    if reply["ok"] != 1:
        raise CommandError(reply, next(iter(body)))
    return reply


class SignIn:
    """A user's sign-in by SCRAM-SHA-256 (RFC 5802), which keeps the salted password."""

    __slots__ = ("user", "password", "salted")

    def __init__(self, user, password):
        self.user, self.password = user, password
        self.salted = {}

    async def run(self, connection, pool):
        """Signs in, with a guess in the first message, as drivers do.

        - pool: salts the password.
        """
        nonce = base64.b64encode(os.urandom(18)).decode()
        first = f"n={self.user},r={nonce}"
        start = {"saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": f"n,,{first}".encode(),
                 "options": {"skipEmptyExchange": True}}
        hello = await connection.command({
            "hello": 1, "client": {"driver": {"name": "fanout", "version": "1"},
                                   "os": {"type": "Linux"}},
            "speculativeAuthenticate": {**start, "db": "admin"}})
        # Where the server does not answer the guess, it takes a round trip more.
        started = hello.get("speculativeAuthenticate") or await connection.command(start)
        challenge = started["payload"].decode()
        fields = dict(part.split("=", 1) for part in challenge.split(","))
        if not fields["r"].startswith(nonce):
            raise ValueError("the server's nonce does not begin with the client's")
        known = (fields["s"], fields["i"])
        if known not in self.salted:
            self.salted = {known: await asyncio.get_running_loop().run_in_executor(
                pool, hashlib.pbkdf2_hmac, "sha256", self.password.encode(),
                base64.b64decode(fields["s"]), int(fields["i"]))}
        salted = self.salted[known]
        last = f"c=biws,r={fields['r']}"
        signed = f"{first},{challenge},{last}".encode()
        key = self.code(salted, b"Client Key")
        signature = self.code(hashlib.sha256(key).digest(), signed)
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()
        ended = await connection.command({
            "saslContinue": 1, "conversationId": started["conversationId"],
            "payload": f"{last},p={proof}".encode()})
        expected = self.code(self.code(salted, b"Server Key"), signed)
        if not ended["done"] or ended["payload"] != b"v=" + base64.b64encode(expected):
            raise ValueError("the server does not prove that it knows the user")

    @staticmethod
    def code(key, text):
        return hmac.digest(key, text, "sha256")
