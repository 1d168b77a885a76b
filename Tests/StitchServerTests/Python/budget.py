"""Expensive requests end at their time, by killOp, and with the server; none runs on."""

import os
import threading
import time

import pymongo

from served import PORT, ServedTest, main

LIMIT = 100  # milliseconds
# Seconds. Without a budget these requests run for minutes; debug builds beside others are slow.
ALLOWED = 60


class Budget(ServedTest):
    def ends(self, *stages, code=50):
        start = time.monotonic()
        refusal = self.refused(
            "aggregate", "items", pipeline=list(stages), cursor={}, maxTimeMS=LIMIT)
        took = time.monotonic() - start
        self.assertEqual(refusal[0], code, refusal)
        self.assertLess(took, ALLOWED, repr(stages)[:200])

    def computes(self, expression):
        self.items.insert_one({"_id": 0, "t": "ab" * 20000})
        self.ends({"$project": {"x": expression}})

    def test_lookups(self):
        self.items.insert_many([{"_id": n, "k": 1} for n in range(200)])
        join = [
            {"$lookup": {"from": "items", "localField": "k", "foreignField": "k", "as": "j"}},
            {"$unwind": "$j"}]
        self.ends(*(join * 6), {"$count": "n"})

    def test_map_over_index(self):
        self.computes({"$let": {
            "vars": {"a": {"$range": [{"$min": [0, 1]}, 300000]}},
            "in": {"$map": {
                "input": "$$a", "in": {"$indexOfArray": ["$$a", {"$add": ["$$this", 1e9]}]}}}}})

    def test_constant_expression(self):
        self.computes({"$reduce": {
            "input": {"$range": [0, 5000000]}, "initialValue": 0,
            "in": {"$add": ["$$this", "$$value"]}}})

    def test_sets_and_zip(self):
        ranges = [{"$range": [{"$strLenBytes": "$t"}, 3000000 + n]} for n in range(8)]
        self.computes({"$size": {"$setUnion": ranges}})
        self.items.drop()
        self.computes({"$size": {"$setDifference": ranges[:2]}})
        self.items.drop()
        self.computes({"$size": {"$zip": {"inputs": ranges}}})

    def test_patterns(self):
        long = {"$reduce": {
            "input": {"$range": [0, 8]}, "initialValue": "$t",
            "in": {"$concat": ["$$value", "$$value"]}}}
        self.computes({"$size": {"$regexFindAll": {"input": long, "regex": "a|b"}}})
        self.items.drop()
        self.items.insert_many([{"_id": n, "t": "x" * 40000} for n in range(20)])
        pattern = "|".join("x{1,9}y%d" % n for n in range(700))
        self.ends({"$match": {"t": {"$regex": pattern}}})

    def test_text(self):
        self.items.create_index([("t", "text")])
        words = " ".join("w%d" % n for n in range(100000))
        self.items.insert_many([{"_id": n, "t": words} for n in range(3)])
        self.ends({"$match": {"$text": {"$search": words}}})

    def test_kill_op(self):
        self.items.insert_many([{"_id": n, "k": 1} for n in range(200)])
        join = [
            {"$lookup": {"from": "items", "localField": "k", "foreignField": "k", "as": "j"}},
            {"$unwind": "$j"}]
        errors = []

        def work():
            try:
                self.items.aggregate(join * 6 + [{"$count": "n"}]).to_list()
            except pymongo.errors.OperationFailure as error:
                errors.append(error.code)

        thread = threading.Thread(target=work)
        thread.start()
        number = self.running("aggregate")
        self.client.admin.command("killOp", op=number)
        thread.join(ALLOWED)
        self.assertEqual(errors, [11601])

    def test_client_left(self):
        self.items.insert_many([{"_id": n, "k": 1} for n in range(200)])
        join = [
            {"$lookup": {"from": "items", "localField": "k", "foreignField": "k", "as": "j"}},
            {"$unwind": "$j"}]
        # The driver closes the connection when its own time is over.
        with pymongo.MongoClient(
                "127.0.0.1", PORT, socketTimeoutMS=500, retryReads=False) as other:
            with self.assertRaises(pymongo.errors.NetworkTimeout):
                other["served"]["items"].aggregate(join * 6 + [{"$count": "n"}])
        end = time.monotonic() + ALLOWED
        while self.operations("aggregate"):
            self.assertLess(time.monotonic(), end, "it still runs")

    def test_memory_of_parts(self):
        if not os.path.exists("/proc/self/status"):
            self.skipTest("no /proc")
        pad = "x" * (12 << 20)
        for n in range(8):
            self.items.insert_one({"_id": n, "a": [{"x": m} for m in range(30)], "pad": pad})
        unwound = [{"$unwind": "$a"}]
        parts = unwound + [{"$replaceRoot": {"newRoot": "$a"}}]
        for stages in [
                parts + [{"$sort": {"x": 1}}], parts + [{"$group": {"_id": "$$ROOT"}}],
                unwound + [{"$group": {"_id": 1, "all": {"$push": "$a"}}}],
                unwound + [{"$unset": "pad"}, {"$sort": {"a.x": 1}}],
                parts + [{"$facet": {"all": []}}]]:
            with open("/proc/%d/clear_refs" % self.process(), "w") as file:
                file.write("5")
            before = self.peak()
            self.items.aggregate(stages + [{"$limit": 1}]).to_list()
            # Without the copies 240 parts keep 2.9 GB.
            self.assertLess(self.peak() - before, 600 << 20, stages)

    def process(self):
        return self.client.admin.command("serverStatus")["pid"]

    def peak(self):
        with open("/proc/%d/status" % self.process()) as file:
            line = [line for line in file if line.startswith("VmHWM")][0]
        return int(line.split()[1]) << 10

    def test_waiting_is_listed(self):
        stream = self.items.watch(max_await_time_ms=20000)
        thread = threading.Thread(target=stream.try_next)
        thread.start()
        self.running("getMore")
        self.items.insert_one({"_id": 1})
        thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertEqual(self.operations("getMore"), [])
        stream.close()

    def test_kill_of_what_waits(self):
        stream = self.items.watch(max_await_time_ms=300000)
        errors = []

        def wait():
            try:
                stream._cursor.next()
            except pymongo.errors.OperationFailure as error:
                errors.append(error.code)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        self.client.admin.command("killOp", op=self.running("getMore"))
        thread.join(60)
        self.assertFalse(thread.is_alive(), "it waits for its time")
        self.assertEqual(errors, [11601])

    def test_text_of_many_words(self):
        self.items.create_index([("t", "text")])
        self.items.insert_one({"_id": 0, "t": "one"})
        self.ends({"$match": {"$text": {"$search": " ".join("w%d" % n for n in range(500000))}}})

    def operations(self, name):
        found = self.client.admin.command("currentOp")["inprog"]
        return [op["opid"] for op in found if name in op.get("command", {})]

    def running(self, name):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if found := self.operations(name):
                return found[0]
        self.fail("no " + name + " runs")


main()
