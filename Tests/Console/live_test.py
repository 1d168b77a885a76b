"""Clicks through the console of a server and of a gateway, with devices and writes at work.

Scripts/test-console runs it; STITCHSYNC names the tool.
"""
import http.client
import json
import threading
import unittest
from urllib.parse import urlsplit

from pymongo.errors import OperationFailure
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import world
from console_test import CONTRAST, LABELS, PAGES, TODOS, Browser

OUTLINE = r"""
const node = document.activeElement;
const place = node.matches("[role=treeitem]") ? node.querySelector(".row") : node;
const style = getComputedStyle(place);
return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
"""
STRUCTURE = r"""
const bad = [];
let last = 0;
for (const node of document.querySelectorAll("h1, h2, h3, h4")) {
  if (!node.checkVisibility()) continue;
  const level = Number(node.tagName[1]);
  if (level > last + 1) bad.push(`${node.tagName} after h${last}: ${node.textContent.slice(0, 40)}`);
  last = level;
}
for (const node of document.querySelectorAll("table")) if (!node.querySelector("thead th[scope=col]")) bad.push("a table without headers");
if (document.documentElement.lang !== "en") bad.push("the language is not set");
return bad;
"""


class Looks(Browser):
    """The checks that every page passes."""
    __test__ = False

    def look(self, hash):
        """Checks the form of a page at both widths in both schemes, and returns its text."""
        script = self.driver.execute_script
        for scheme in ["dark", "light"]:
            self.scheme(scheme)
            for width in [400, 1280]:
                self.resize(width)
                self.until(lambda: not self.find("[aria-busy=true]"))
                with self.subTest(page=hash, width=width, scheme=scheme):
                    self.assertEqual(script(CONTRAST), [])
                    self.assertEqual(script(LABELS), [])
                    self.assertEqual(script(STRUCTURE), [])
                    self.assertNotRegex(self.text(), r"\b(undefined|\[object|NaN)\b")
                    self.assertLessEqual(script("return document.documentElement.scrollWidth"), width)
        return self.text()

    def visit(self, hash, *texts):
        self.open(hash)
        for text in texts:
            self.see(text)
        self.look(hash)


class Live(Looks):
    """What every page of a working server shows, and how it is used."""
    is_gateway = False
    __test__ = False

    @classmethod
    def address(cls):
        cls.world = world.World(world.tool(), cls.is_gateway)
        cls.addClassCleanup(cls.world.stop)
        return cls.world.base

    @classmethod
    def credentials(cls):
        return "root", world.ROOT

    def test_overview(self):
        self.visit("overview", "Live", "Devices online", "Commands by kind", "update")

    def test_figures(self):
        _, mine = self.enter("root")
        stream = http.client.HTTPConnection(self.base.split("/")[2], timeout=30)
        stream.request("GET", "/api/stats", headers=mine)
        answer = stream.getresponse()
        try:
            while True:
                line = answer.readline()
                self.assertTrue(line, "the stream ended")
                sample = json.loads(line[6:]) if line.startswith(b"data: ") else {}
                # A gateway reads the sizes now and then.
                if sample.get("storageBytes") is not None:
                    break
        finally:
            stream.close()
        self.assertGreater(sample["storageBytes"], 0)
        self.assertGreaterEqual(sample["conflicts"], 0)
        if self.is_gateway:
            self.assertIs(sample["upstream"]["reachable"], True)
            self.assertGreater(sample["upstream"]["latencyMS"], 0)
        else:
            self.assertIsNone(sample["upstream"])

    def test_data_documents_and_plan(self):
        self.open(TODOS)
        self.see("of 6")
        self.field("Filter").send_keys("{owner: 'ann'}" + Keys.ENTER)
        self.see("of 3")
        self.button("Explain").click()
        self.see("An index serves the query.")
        self.see("owner_1")
        self.assertIn("IXSCAN", self.find("svg.picture").get_attribute("aria-label"))
        self.look("plan")
        self.visit(TODOS + "/indexes", "owner_1", "Counted since")

    def test_data_with_a_large_document(self):
        large = {"_id": "large", "text": "é\\\"" * 2_000_000, "numbers": list(range(100_000)), "deep": {"a": {"b": {"c": [1]}}},
                 "notes": [{"n": i, "text": "word " * 20} for i in range(5_000)]}
        self.world.root.app.large.replace_one({"_id": "large"}, large, upsert=True)
        _, mine = self.enter("root")
        mine["X-CSRF-Token"] = json.loads(self.ask("GET", "/api/session", mine)[2])["csrf"]
        body = {"database": "app", "command": {"find": "large", "filter": {}}}
        status, _, whole = self.ask("POST", "/api/command", mine, body)
        self.assertEqual(status, 200)
        self.assertGreater(len(whole), 8_000_000)
        status, _, part = self.ask("POST", "/api/command", mine, {**body, "excerpt": True})
        self.assertEqual(status, 200)
        self.assertLess(len(part), 200_000)
        reply = json.loads(part)["reply"]
        self.assertGreater(int(reply["cut"][0]["$numberLong"]), 8_000_000)
        self.assertEqual(reply["cursor"]["firstBatch"][0]["_id"], "large")
        self.visit("data/app/large", "MB; … marks what this page leaves out.")
        self.button("JSON").click()
        self.see("more items)")
        self.button("Tree").click()
        self.button('Show all of "large"').click()
        self.see("100,000 items")
        self.until(lambda: "marks what this page leaves out" not in self.text())
        self.see("Show 6,000,000 characters")
        self.assertLess(self.driver.execute_script("return document.getElementById('main').textContent.length"), 20_000)

    def test_changes_and_a_story_with_a_large_document(self):
        large = {"_id": "grown", "text": "word " * 1_600_000, "numbers": list(range(1_000))}
        self.open("changes/app/huge")
        self.see("No change happened yet.")
        self.world.root.app.huge.replace_one({"_id": "grown"}, large, upsert=True)
        summary = self.until(lambda: self.find(".changes summary"))
        summary.send_keys(Keys.ENTER)
        self.see("MB; … marks what this page leaves out.")
        self.see("a button that shows the whole document")
        self.assertLess(self.driver.execute_script("return document.getElementById('main').textContent.length"), 60_000)
        _, mine = self.enter("root")
        status, _, story = self.ask("GET", "/api/write?namespace=app.huge&id=%22grown%22", mine)
        self.assertEqual(status, 200)
        self.assertLess(len(story), 200_000)
        self.assertGreater(int(json.loads(story)["$stitchsyncCutFrom"]["$numberLong"]), 8_000_000)
        self.open("write?namespace=app.huge&id=%22grown%22")
        self.see("MB; … marks what this page leaves out.")
        self.button("Show all of the document").click()
        self.see("Show 8,000,000 characters")

    def test_edit_of_a_large_document(self):
        self.world.root.app.huge.replace_one({"_id": "wide"}, {"_id": "wide", "text": "word " * 400_000}, upsert=True)
        self.open("data/app/huge/documents?filter=%7B_id%3A+%22wide%22%7D")
        self.button('Edit "wide"').click()
        self.until(lambda: self.find("dialog") and "at most 1.0 MB" in self.find("dialog").text)
        self.assertIn(".updateOne({_id: ", self.find("dialog").text)
        self.assertFalse(self.find("dialog textarea"))

    def test_edit_of_a_document(self):
        self.open(TODOS + "?filter=%7B_id%3A+5%7D")
        self.open("data/app/todos/documents?filter=%7B_id%3A+5%7D")
        self.button("Edit 5").click()
        area = self.until(lambda: self.find("dialog textarea"))
        text = area.get_attribute("value")
        self.driver.execute_script("arguments[0].value = arguments[1]", area, text.replace("Todo 5", "Todo five"))
        self.button("Show the difference").click()
        self.button("Save").click()
        # The load may change the document between the look and the save; then the page says so.
        def answer():
            dialog = self.find("dialog")
            return "Todo five" in self.text() or dialog and "Another client changed" in dialog.text
        self.until(answer)

    def test_devices(self):
        self.open("devices")
        self.until(lambda: "ann" in self.text() and "ben" in self.text(), "both devices")
        self.see("app.todos")
        # Each device is one row, although it has several connections and synced by another program before.
        self.until(lambda: sorted(row for row in self.rows() if row.startswith(("ann in", "ben in"))) == ["ann in admin", "ben in admin"],
                   "one row of each device")
        self.assertNotIn("undefined", self.text())
        self.look("devices")

    def rows(self):
        """Returns the first line of each row of the table."""
        return [each.text.split("\n")[0] for each in self.driver.find_elements(By.CSS_SELECTOR, "tbody tr")]

    def test_denied_writes_and_the_story_of_one(self):
        self.visit("denied", "2 denied writes", "writeFilter", "write to app.todos was denied by", world.HOSTILE)
        self.field("Show only user, collection or cause with").send_keys("ann")
        self.see("1 denied write")
        self.button("Story of 1 in app.todos").click()
        self.until(lambda: self.find("main[data-page=write] table"))
        for each in ["Denied", "Inserted", "member", "The document now"]:
            self.see(each)
        self.look("write")

    def test_story_of_a_write_by_hand(self):
        self.open("write")
        self.see("No document is chosen.")
        self.field("Collection").send_keys("app.todos")
        self.field("_id of the document").send_keys("2" + Keys.ENTER)
        self.see("sets title; removes done")
        self.open("write?namespace=app.todos&id=%22of+ann%22")
        self.see("Inserted")
        self.see("device")
        self.see("Written by ann's device")
        self.open("write?namespace=app.todos&id=99999")
        self.see("The server remembers no write of this document.")
        self.open("write?namespace=app.todos&id=%7B")
        self.until(lambda: self.find("main .error"))

    def test_why_a_write_was_denied(self):
        self.open("denied")
        self.field("Show only user, collection or cause with").send_keys("ann")
        self.see("1 denied write")
        self.button("Why was the write of ann to app.todos denied?").click()
        self.see("ann sees the document")
        self.see("may not write it")
        self.look("rules")

    def test_rules_are_tried_on_real_documents(self):
        self.visit("rules", "rules.json")
        self.driver.execute_script("document.querySelectorAll('details.file').forEach((each) => { each.open = true; })")
        area = self.find("details.file textarea")
        self.type(area, area.get_attribute("value").replace('"read": true,\n        "write": {', '"read": {"owner": "%%user.id"},\n        "write": {'))
        self.button("Try on real documents").click()
        self.see("What the changed rules would change")
        self.see("no longer sees documents")
        self.look("rules")
        self.type(area, "{")
        self.button("Try on real documents").click()
        self.see("Mend the errors first")

    def type(self, area, text):
        self.driver.execute_script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", area, text)

    def test_changes(self):
        self.open("changes/app")
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".changes li")) > 3, "changes")
        self.button("Pause").click()
        summary = self.find(".changes summary")
        summary.send_keys(Keys.ENTER)
        self.see("Story of the document")
        self.look("changes")

    def test_operations(self):
        self.visit("operations", "Running now", "Slowest since the start")
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, "tbody tr")) > 0)

    def test_an_operation_is_stopped(self):
        client = self.world.client("second")
        client.app.waits.insert_one({"_id": 1})
        opened = client.app.command("aggregate", "waits", pipeline=[{"$changeStream": {}}], cursor={})
        failures = []

        def wait():
            try:
                client.app.command("getMore", opened["cursor"]["id"], collection="waits", maxTimeMS=120_000)
            except OperationFailure as error:
                failures.append(error.code)

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            self.open("operations")
            row = self.until(lambda: next((each for each in self.driver.find_elements(By.CSS_SELECTOR, "tbody tr")
                                           if "waits" in each.text and "second" in each.text and each.find_elements(By.TAG_NAME, "button")), None))
            row.find_element(By.TAG_NAME, "button").click()
            self.button("Stop the operation", "dialog").click()
            self.until(lambda: failures == [11601], "the end of the operation")
        finally:
            thread.join(150)
            client.close()

    def test_users(self):
        self.visit("users", "ann", "second", world.HOSTILE)

    def test_a_user_is_created_disabled_and_dropped(self):
        self.open("users")
        self.button("Create a user…").click()
        self.until(lambda: self.find("dialog"))
        self.field("User").send_keys("zoe")
        self.field("Password").send_keys("zoe's password" + Keys.ENTER)
        self.see("zoe")
        self.assertEqual(self.signs_in("zoe"), True)
        self.button("Disable zoe (admin)").click()
        self.button("Disable", "dialog").click()
        self.until(lambda: self.signs_in("zoe") is False, "the refused sign-in")
        self.button("Enable zoe (admin)").click()
        self.until(lambda: self.signs_in("zoe"), "the sign-in")
        self.button("Drop zoe (admin)").click()
        self.until(lambda: self.find("dialog input")).send_keys("zoe")
        self.button("Drop", "dialog").click()
        self.until(lambda: "zoe" not in self.text(), "the page without the user")
        self.assertEqual(self.signs_in("zoe"), False)

    def signs_in(self, name):
        client = self.world.client(name)
        try:
            return client.admin.command("ping")["ok"] == 1
        except OperationFailure as error:
            self.assertEqual(error.code, 18)
            return False
        finally:
            client.close()

    def test_log(self):
        self.visit("log", "denied a write")

    def test_hostile_texts_stay_text(self):
        self.open("data/app/" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
        self.see(world.HOSTILE)
        self.look("hostile collection")
        self.open("data/app/todos/documents?filter=%7B_id%3A+%2F%3C%2F%7D")
        self.open("data/app/todos/documents?filter=" + "%7B_id%3A%20%22%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%22%7D")
        self.see("<script>alert(1)</script>")
        self.open("write?namespace=app.todos&id=%22%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%22")
        self.see(world.HOSTILE)

    def test_by_keyboard_only(self):
        self.resize(1280)
        self.driver.get(self.base)
        self.until(lambda: self.find("#pages a"))
        self.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        self.assertEqual(self.focused(), "Skip to the page")
        seen = []
        for _ in range(len(PAGES) + 1):
            self.keys(Keys.TAB)
            seen.append(self.focused())
            self.assertTrue(self.driver.execute_script(OUTLINE), f"the focus on {self.focused()} is not visible")
        self.assertEqual(seen[1:3], ["Overview", "Data"])
        self.keys(Keys.ENTER)
        self.until(lambda: self.find("main[data-page=log] h1"))
        self.open("users")
        button = self.button("Create a user…")
        button.send_keys(Keys.ENTER)
        self.until(lambda: self.find("dialog"))
        for _ in range(8):
            self.keys(Keys.TAB)
            # The browser's own bar takes part in the round; then the focus is the page itself.
            isInside = "return document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            self.assertTrue(self.driver.execute_script(isInside), "the focus leaves the dialog")
        self.keys(Keys.ESCAPE)
        self.until(lambda: not self.find("dialog"))
        self.assertEqual(self.focused(), "Create a user…")

    # What other pages and other users try.

    def ask(self, method, path, headers=None, body=None):
        connection = http.client.HTTPConnection(self.base.split("/")[2], timeout=30)
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def enter(self, user):
        status, headers, _ = self.ask("POST", "/api/signin", body={"user": user, "password": f"{user}'s password", "database": "admin"})
        if status != 204:
            return status, None
        name = next(value for key, value in headers.items() if key.lower() == "set-cookie")
        return status, {"Cookie": name.split(";")[0]}

    def test_attacks_over_the_new_requests(self):
        for path in ["/api/write?namespace=app.todos&id=1", "/api/slow"]:
            self.assertEqual(self.ask("GET", path)[0], 401)
        self.assertEqual(self.ask("POST", "/api/rules/diff", body={"files": []})[0], 401)
        self.assertEqual(self.enter("ann")[0], 401, "a user without rights signs in")
        _, mine = self.enter("second")
        self.assertEqual(self.ask("POST", "/api/rules/diff", mine, {"files": []})[0], 403, "no token")
        self.assertEqual(self.ask("GET", "/api/slow", {**mine, "Host": "evil.example"})[0], 421)
        self.assertEqual(self.ask("GET", "/api/slow", {**mine, "Origin": "http://evil.example"})[0], 403)
        for id in ["", "%7B", "1%2C%22x%22%3A2", "%7B%22%24oid%22%3A1%7D"]:
            self.assertEqual(self.ask("GET", f"/api/write?namespace=app.todos&id={id}", mine)[0], 400, id)
        self.assertGreaterEqual(self.ask("GET", "/api/write?namespace=app&id=1", mine)[0], 400)
        for path in ["/js/../../rules", "/js/%2e%2e/console.css", "/js//app.js", "/js/app.js%00", "/../rules/rules.json"]:
            self.assertEqual(self.ask("GET", path, mine)[0], 404, path)

    def test_streams_and_sessions_end_with_the_role(self):
        _, mine = self.enter("second")
        self.assertEqual(self.ask("GET", "/api/stats")[0], 401)
        self.assertEqual(self.ask("GET", "/api/stats", {"Cookie": "stitchsync-console=x"})[0], 401)
        streams, answers = [], []
        for path in ("/api/stats", "/api/changes?database=app"):
            streams.append(http.client.HTTPConnection(self.base.split("/")[2], timeout=30))
            streams[-1].request("GET", path, headers=mine)
            answers.append(streams[-1].getresponse())
        self.assertEqual(answers[0].readline(), b"event: stats\n")
        self.world.root.admin.command("revokeRolesFromUser", "second", roles=["root"])
        try:
            self.assertEqual(self.ask("GET", "/api/session", mine)[0], 401)
            for answer in answers:
                while answer.readline():  # Ends, or the connection's time is up, which fails.
                    pass
        finally:
            for stream in streams:
                stream.close()
            self.world.root.admin.command("grantRolesToUser", "second", roles=["root"])


class LiveServer(Live):
    """A server over a file."""


class LiveGateway(Live):
    """A gateway in front of a server."""
    is_gateway = True

    def test_overview(self):
        super().test_overview()
        self.see("reachable")
        self.assertIn("gateway", self.driver.find_element(By.ID, "server").get_attribute("textContent"))


class LiveSecure(Looks):
    """The console of a server with a certificate, which browsers of other machines may open."""

    @classmethod
    def address(cls):
        cls.secure = world.Secure(world.tool())
        cls.addClassCleanup(cls.secure.stop)
        return cls.secure.base

    @classmethod
    def credentials(cls):
        return "root", world.ROOT

    def test_pages_work_over_tls(self):
        self.assertTrue(self.base.startswith("https://"))
        for page in ["overview", "devices", "users", "log"]:
            self.open(page)
        self.visit("data/app/notes", "of 1")

    def test_the_session_is_sent_over_tls_only(self):
        cookie = next(each for each in self.driver.get_cookies() if each["name"].startswith("stitchsync"))
        self.assertEqual((cookie["secure"], cookie["httpOnly"], cookie["sameSite"]), (True, True, "Strict"))
        self.assertEqual(self.driver.execute_script("return document.cookie"), "")

    def test_a_page_without_tls_gets_nothing(self):
        connection = http.client.HTTPConnection(urlsplit(self.base).netloc, timeout=30)
        with self.assertRaises((http.client.HTTPException, ConnectionError)):
            connection.request("GET", "/")
            connection.getresponse()
        connection.close()


class LiveDevice(Looks):
    """The pages of a device's file, which a command changes meanwhile."""

    @classmethod
    def address(cls):
        cls.device = world.Device(world.tool())
        cls.addClassCleanup(cls.device.stop)
        return cls.device.base

    def setUp(self):
        # The cookie of the session; the address no longer has the secret.
        self.assertNotIn("token", self.driver.current_url)

    def test_overview_says_what_waits_and_what_helps(self):
        self.visit("overview", "What waits", "paused", "is too large", "stitchsync resume", "rejected", "stitchsync retry", "pending",
                   "Latest syncs")
        self.assertEqual([each.text for each in self.driver.find_elements(By.CSS_SELECTOR, "#pages a")],
                         ["Overview", "Data", "Conflicts", "Write", "Syncs"])
        # A change of another program shows without a reload.
        self.device.finish("insert", "phone.stitch", "app.later", '{"_id": 1}')
        self.see("app.later")

    def test_conflicts_show_the_fields_that_differ(self):
        self.visit("conflicts", "1 conflict", "a merged document was kept", "by the tablet", "by the phone", world.HOSTILE)
        self.assertNotIn("owner", self.text())
        self.assertTrue(self.find(".marked"))

    def test_data_only_reads(self):
        # Without the document that is too large.
        self.visit(TODOS + "/documents?filter=%7Bowner%3A+%22ben%22%7D", "of 1", "two")
        buttons = [each.text for each in self.driver.find_elements(By.CSS_SELECTOR, "main button, main a.button")]
        self.assertIn("Story", buttons)
        self.assertFalse([each for each in buttons if each.startswith(("Edit", "Delete", "Insert"))])
        self.button("Explain").click()
        self.see("Back to the documents")
        self.visit(TODOS + "/indexes", "_id_")

    def test_story_of_a_write(self):
        self.open("overview")
        self.until(lambda: self.find("main td a[href*='id=2']")).click()
        self.until(lambda: self.find("main[data-page=write] table"))
        for each in ["Rejected writes", "mine", "written here", "What was wanted"]:
            self.see(each)
        self.look("write")
        self.visit("write?namespace=app.todos&id=99", "This device remembers nothing of the document.")

    def test_syncs(self):
        self.visit("passes", "Received", "Conflicts")

    def test_store_that_was_never_synced(self):
        self.driver.get(self.device.fresh)
        self.until(lambda: self.find("main[data-page=overview] h1"))
        self.see("This store was never synced.")
        self.see("app.notes")
        self.look("never synced")
        self.driver.get(self.base.split("?")[0])
        self.see("What waits")

    def test_without_the_secret(self):
        self.driver.delete_all_cookies()
        self.driver.get(self.base.split("?")[0])
        self.see("open the address that `stitchsync inspect --serve` printed")
        self.driver.get(self.base)
        self.see("What waits")


def load_tests(loader, tests, pattern):
    # The common classes are no tests of their own.
    return unittest.TestSuite(loader.loadTestsFromTestCase(each) for each in (LiveServer, LiveGateway, LiveSecure, LiveDevice))


if __name__ == "__main__":
    unittest.main(verbosity=2)
