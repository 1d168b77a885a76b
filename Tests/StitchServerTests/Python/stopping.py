"""SIGTERM ends a server that works on an expensive request."""

import os
import signal
import threading
import time

import pymongo

from served import PORT, ServedTest, main


class Stopping(ServedTest):
    def test_sigterm(self):
        self.items.insert_many([{"_id": n, "k": 1} for n in range(200)])
        join = [
            {"$lookup": {"from": "items", "localField": "k", "foreignField": "k", "as": "j"}},
            {"$unwind": "$j"}]
        errors = []

        # The driver would look for another server to ask again.
        once = pymongo.MongoClient(port=PORT, retryReads=False, directConnection=True)
        items = once[self.items.database.name][self.items.name]

        def work():
            try:
                items.aggregate(join * 6 + [{"$count": "n"}]).to_list()
            except pymongo.errors.PyMongoError as error:
                errors.append(error)

        process = self.client.admin.command("serverStatus")["pid"]
        thread = threading.Thread(target=work)
        thread.start()
        end = time.monotonic() + 30
        while not any(
                "aggregate" in op.get("command", {})
                for op in self.client.admin.command("currentOp")["inprog"]):
            self.assertLess(time.monotonic(), end, "it does not run")
        os.kill(process, signal.SIGTERM)
        end = time.monotonic() + 20
        while self.runs(process):
            self.assertLess(time.monotonic(), end, "it still runs")
        thread.join(60)
        self.assertFalse(thread.is_alive())
        once.close()
        self.assertEqual(len(errors), 1)

    def runs(self, process):
        """Whether a process runs; one that has ended may not be asked for by its parent yet."""
        try:
            with open("/proc/%d/stat" % process) as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False


if os.path.exists("/proc/self/stat"):
    main()
