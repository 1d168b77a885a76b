"""The server has the options of its file, and tells figures of what was done."""

import sys
import unittest
import urllib.error
import urllib.request

from served import ServedTest, main

METRICS = "http://127.0.0.1:" + sys.argv[2]


class Operation(ServedTest):
    def test_options_of_the_file(self):
        self.assertEqual(self.client.admin.command("hello")["setName"], "fromFile")
        self.client.admin.command("configureFailPoint", "failCommand", mode="off")

    def test_figures(self):
        for number in range(5):
            self.items.insert_one({"_id": number, "text": "marker"})
        self.refused("find")
        text = urllib.request.urlopen(METRICS + "/metrics", timeout=60).read().decode()
        figures = dict(
            line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        self.assertEqual(figures['stitchsync_commands_total{command="insert"}'], "5.0")
        self.assertGreater(
            float(figures['stitchsync_command_seconds_total{command="insert"}']), 0)
        self.assertGreaterEqual(
            float(figures['stitchsync_command_failures_total{command="find"}']), 1)
        self.assertGreaterEqual(float(figures["stitchsync_connections_open"]), 1)
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(METRICS + "/other", timeout=60)


main()
