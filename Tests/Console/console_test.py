"""Clicks through the console in a browser.

    python3 console_test.py                          against the mock server
    python3 console_test.py URL [USER PASSWORD]      against a running server, without the mock's contents

Needs selenium, chromium and chromedriver. SHOTS=FOLDER also writes screenshots.
"""
import os
import sys
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import mock

BASE, USER, PASSWORD = None, "root", "secret"
PAGES = ["overview", "data", "devices", "denied", "write", "rules", "changes", "operations", "users", "log"]
TODOS = "data/app/todos"

CONTRAST = r"""
const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
function background(node) {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color.length < 4 || color[3] === 1) return color;
  }
  return [255, 255, 255];
}
const bad = new Set();
for (const node of document.querySelectorAll("body *")) {
  if (![...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim())) continue;
  if (!node.checkVisibility() || node.disabled || node.closest(".unseen, .skip, svg")) continue;
  const [a, b] = [light(parse(getComputedStyle(node).color)), light(background(node))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  if (ratio < 4.5) bad.add(`${ratio.toFixed(2)} ${node.tagName}.${node.className} ${node.textContent.slice(0, 30)}`);
}
return [...bad];
"""

LABELS = r"""
const bad = [];
for (const node of document.querySelectorAll("input, select, textarea")) {
  if (!node.labels?.length && !node.getAttribute("aria-label")) bad.push(`no label: ${node.outerHTML.slice(0, 80)}`);
}
for (const node of document.querySelectorAll("button, a[href], [role=treeitem] > .row, summary")) {
  if (!node.textContent.trim() && !node.getAttribute("aria-label")) bad.push(`no name: ${node.outerHTML.slice(0, 80)}`);
}
for (const node of document.querySelectorAll("table")) if (!node.caption) bad.push("a table without a caption");
for (const node of document.querySelectorAll("img:not([alt]), svg.graph:not([aria-label])")) bad.push("a picture without a text");
const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
ids.filter((each, i) => ids.indexOf(each) !== i).forEach((each) => bad.push(`two elements have the id ${each}`));
if (document.querySelectorAll("h1").length !== 1) bad.push(`${document.querySelectorAll("h1").length} h1`);
if (!document.documentElement.lang || !document.title) bad.push("no language or title");
return bad;
"""


class Browser(unittest.TestCase):
    is_empty = False

    @classmethod
    def setUpClass(cls):
        cls.base = cls.address()
        options = webdriver.ChromeOptions()
        for each in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--ignore-certificate-errors"]:
            options.add_argument(each)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService("/usr/bin/chromedriver") if Path("/usr/bin/chromedriver").exists() else None
        cls.driver = webdriver.Chrome(options=options, service=service)
        cls.addClassCleanup(cls.driver.quit)
        cls.resize(1600)
        cls.sign_in()

    @classmethod
    def address(cls):
        """Starts a server and returns the address of its console."""
        if BASE:
            return BASE
        cls.server = mock.serve(is_empty=cls.is_empty)
        cls.addClassCleanup(cls.server.shutdown)
        return f"http://127.0.0.1:{cls.server.server_address[1]}/"

    @classmethod
    def credentials(cls):
        return USER, PASSWORD

    def tearDown(self):
        errors = [each for each in self.driver.get_log("browser") if each["level"] in ("SEVERE", "WARNING")]
        expected = ("400", "401", "403", "404")
        self.assertEqual([each["message"] for each in errors if not any(
            f"status of {code}" in each["message"] for code in expected)], [])
        self.assertFalse(self.driver.execute_script("return document.querySelectorAll('main script, main img').length"))

    @classmethod
    def resize(cls, width, height=1000):
        cls.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    @classmethod
    def scheme(cls, name):
        cls.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    @classmethod
    def until(cls, condition, what=""):
        return WebDriverWait(cls.driver, 60, 0.05, (StaleElementReferenceException,)).until(lambda _: condition(), what)

    @classmethod
    def sign_in(cls):
        cls.driver.get(cls.base)
        cls.until(lambda: cls.find("main h1"), "the first page")
        if cls.driver.find_element(By.ID, "main").get_attribute("data-page") == "signin":
            user, password = cls.credentials()
            cls.field("User").send_keys(user)
            cls.field("Password").send_keys(password + Keys.ENTER)
        cls.until(lambda: cls.find("#pages a"), "the navigation")

    @classmethod
    def find(cls, selector):
        return next((each for each in cls.driver.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()), None)

    @classmethod
    def field(cls, label):
        return cls.driver.find_element(By.XPATH, f"//*[@id=(//label[normalize-space()='{label}'])[last()]/@for]")

    def button(self, text, within="body"):
        return self.until(lambda: next((each for each in self.driver.find_elements(By.CSS_SELECTOR, f"{within} button, {within} a.button")
                                        if each.is_displayed() and text in (each.text, each.get_attribute("aria-label"))), None), f"button {text}")

    def text(self):
        return self.driver.execute_script("return document.getElementById('main').textContent")

    def see(self, text):
        try:
            self.until(lambda: text in self.text())
        except Exception:
            self.fail(f"the page does not show {text!r}: {self.text()[:600]}")

    def open(self, hash):
        self.driver.execute_script("document.activeElement.blur(); location.hash = arguments[0]", "#/" + hash)
        name = hash.split("/")[0].split("?")[0]
        self.until(lambda: self.find(f"main[data-page={name}] h1"), hash)

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def focused(self):
        return self.driver.execute_script("const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent.trim() || e.id")


class EveryServer(Browser):
    """What holds for every server, with whatever data."""

    def settle(self, hash):
        self.open(hash)
        if hash == "overview":
            self.see("Live")
        self.until(lambda: not self.find("[aria-busy=true]"))

    def test_pages_open_by_click_and_are_marked_as_current(self):
        for name in PAGES:
            link = self.find(f"#pages a[data-page={name}]")
            link.click()
            self.until(lambda: self.find(f"main[data-page={name}] h1"))
            self.assertEqual(self.find("#pages a[aria-current=page]").get_attribute("data-page"), name)
            self.assertIn(link.text, self.driver.title)

    def test_labels_contrast_and_no_sideways_scrolling(self):
        for scheme in ["light", "dark"]:
            self.scheme(scheme)
            for width in [400, 1600]:
                self.resize(width)
                for hash in PAGES + [TODOS, TODOS + "/indexes"]:
                    with self.subTest(page=hash, width=width, scheme=scheme):
                        self.settle(hash)
                        script = self.driver.execute_script
                        self.assertEqual(script(CONTRAST), [])
                        self.assertEqual(script(LABELS), [])
                        self.assertNotRegex(self.text(), r"\b(undefined|\[object|NaN)\b")
                        self.assertLessEqual(script("return document.documentElement.scrollWidth"), width)
        self.scheme("light")
        self.resize(1600)

    def test_skip_link_and_menu_work_by_keyboard(self):
        self.driver.get(self.base)
        self.until(lambda: self.find("#pages a"))
        self.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        self.assertEqual(self.focused(), "Skip to the page")
        self.keys(Keys.ENTER)
        self.assertEqual(self.driver.execute_script("return document.activeElement.id"), "main")
        self.resize(400)
        menu = self.find("#menu")
        menu.send_keys(Keys.ENTER)
        self.assertEqual(self.focused(), "Overview")
        self.keys(Keys.ESCAPE)
        self.assertEqual(self.focused(), "Menu")
        self.assertEqual(menu.get_attribute("aria-expanded"), "false")
        self.resize(1600)

    def test_unknown_page_and_broken_address(self):
        self.driver.execute_script("location.hash = '#/%E0%A4%A'")
        self.see("Commands by kind")
        self.driver.execute_script("location.hash = '#/constructor'")
        self.see("This page does not exist.")


@unittest.skipIf(len(sys.argv) > 1 and sys.argv[1].startswith("http"), "needs the mock's contents")
class FilledServer(Browser):
    def test_overview(self):
        self.open("overview")
        for each in ["Devices online", "Denied writes", "Conflicts", "Storage", "Upstream", "getMore", mock.HOSTILE]:
            self.see(each)
        self.assertGreater(len(self.find("svg.graph .line").get_attribute("points").split()), 100)

    def test_query_and_errors_in_place(self):
        self.open(TODOS)
        self.see("Documents 1–20 of 57")
        self.button("Next").click()
        self.see("Documents 21–40 of 57")
        self.field("Filter").send_keys("{owner: 'ann'}" + Keys.ENTER)
        self.see("Documents 1–20 of 28")
        self.field("Filter").send_keys("}")
        self.button("Find").click()
        self.see("The text goes on after its end (line 1, column 15)")
        self.assertEqual(self.field("Filter").get_attribute("aria-invalid"), "true")
        self.field("Filter").clear()
        self.field("Filter").send_keys("{$oops: 1}")
        self.button("Find").click()
        self.see("unknown top level operator: $oops")

    def test_plan_and_indexes(self):
        self.open(TODOS)
        self.see("Documents 1–20")
        self.button("Explain").click()
        self.see("An index serves the query.")
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, ".stage .stage .stage")), 1)
        self.see("owner_1")
        self.open(TODOS + "/indexes")
        self.see("1,290 times")
        self.see("never")

    def test_edit_shows_the_difference_and_the_version_sentence(self):
        self.open(TODOS)
        self.button("Edit ObjectId('000000000000000000000003')").click()
        area = self.until(lambda: self.find("dialog textarea"))
        text = area.get_attribute("value")
        self.assertIn("__stitch_sync_version", text)
        self.type(area, text.replace("v: Long('3')", "v: Long('4')"))
        self.button("Show the difference").click()
        self.until(lambda: "Sync owns the field" in self.find("dialog").text)
        self.type(area, text.replace("Mend the gate", "Mend the fence"))
        self.button("Show the difference").click()
        self.until(lambda: self.find("dialog .difference"))
        self.assertIn("leaves __stitch_sync_version as it is", self.find("dialog").text)
        self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, ".difference .new")), 1)
        self.button("Save").click()
        self.see("Mend the fence")
        saved = next(command for name, command in reversed(self.server.RequestHandlerClass.state.calls) if name == "update")
        before, after = saved["updates"][0]["q"]["$expr"]["$eq"][1]["$literal"], saved["updates"][0]["u"]
        self.assertEqual({**before, "title": "Mend the fence"}, after)

    def type(self, area, text):
        self.driver.execute_script("arguments[0].value = arguments[1]", area, text)

    def test_edit_refuses_to_overwrite_another_change(self):
        self.open(TODOS)
        self.button("Edit ObjectId('000000000000000000000005')").click()
        area = self.until(lambda: self.find("dialog textarea"))
        documents = self.server.RequestHandlerClass.state.databases["app"]["todos"]
        next(each for each in documents if each["_id"] == mock.oid(5))["title"] = "Changed by a device"
        self.type(area, area.get_attribute("value").replace("Write the report", "Mine"))
        self.button("Show the difference").click()
        self.button("Save").click()
        self.until(lambda: "Another client changed the document" in self.find("dialog").text)
        self.keys(Keys.ESCAPE)
        self.until(lambda: not self.find("dialog"))
        self.assertEqual(self.focused(), "Edit ObjectId('000000000000000000000005')")

    def test_insert_changes_and_delete(self):
        self.open("data/app/lists")
        self.see("The collection holds no document.")
        self.button("Insert…").click()
        self.type(self.until(lambda: self.find("dialog textarea")), '{_id: 7, at: ISODate("2024-01-01")}')
        self.button("Insert", "dialog").click()
        self.see("ISODate('2024-01-01T00:00:00.000Z')")
        self.button("Delete 7").click()
        self.until(lambda: self.find("dialog"))
        self.assertEqual(self.focused(), "Cancel")
        self.button("Delete", "dialog").click()
        self.see("The collection holds no document.")

    def test_changes_are_live_and_pause(self):
        self.open("changes/app/todos")
        self.see("No change happened yet.")
        state = self.server.RequestHandlerClass.state
        self.until(lambda: self.driver.execute_script("return performance.getEntriesByType('resource').length") or True)
        self.until(lambda: mock.change(state, "app", "todos", "insert", mock.HOSTILE, {"title": mock.IMAGE}) or "insert" in self.text())
        self.see(mock.HOSTILE)
        self.button("Pause").click()
        mock.change(state, "app", "todos", "delete", mock.oid(9), None)
        self.see("Paused, 1 new change")
        self.button("Pause").click()
        self.see("delete")
        self.field("Show only changes with").send_keys("delete")
        self.see("Live, 1 change")

    def test_hostile_documents_are_text(self):
        self.open("data/app/" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E")
        for each in [mock.IMAGE.replace('"', '\\"'), mock.HOSTILE, "__proto__", "NaN", "Decimal128('1E+400')", "\\u202egpj.exe", "Show "]:
            self.see(each)
        text = self.text()
        self.assertLess(text.index('"2": 2'), text.index('"1": 1'))
        self.button("JSON").click()
        self.see("the bottom")
        self.resize(400)
        self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 400)
        self.resize(1600)

    def test_tree_by_keyboard(self):
        self.open("data")
        self.see("large")
        first = self.find(".aside [role=treeitem]")
        first.send_keys(Keys.ARROW_RIGHT)
        self.until(lambda: "todos" in first.text)
        self.keys(Keys.ARROW_DOWN, Keys.END)
        self.assertIn("admin", self.focused())
        self.keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.assertEqual(first.get_attribute("aria-expanded"), "false")
        self.field("Find a collection").send_keys("n150")
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".aside [role=treeitem]")) == 2)
        self.keys(Keys.TAB, Keys.ARROW_DOWN, Keys.ENTER)
        self.until(lambda: self.driver.current_url.endswith("data/large/collection150/documents"))
        self.until(lambda: self.find(".tree-scroll") and self.find(".aside [aria-current]"))
        self.assertTrue(self.driver.execute_script("const a = document.querySelector('.tree-scroll').getBoundingClientRect(), "
                        "b = document.querySelector('.aside [aria-current]').getBoundingClientRect(); return a.top <= b.top && b.bottom <= a.bottom"))

    def test_nested_document_opens_by_keyboard_to_the_bottom(self):
        self.open("data/app/oddities?filter=%7B_id%3A+3%7D")
        self.see("Documents 1–1 of 1")
        self.button("Tree").click()
        self.find(".document [role=treeitem]").send_keys(Keys.ARROW_DOWN)
        for _ in range(50):
            self.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        self.assertIn("the bottom", self.focused())

    def test_devices_and_denied_writes_and_why(self):
        self.open("devices")
        for each in ["Todos 1.2", "waits for changes", "not signed in", mock.HOSTILE, "and 5 more",
                     "4 devices, 1 of them not connected", "not connected", "connections 7, 20", "9f3c0a1b2", "4 pending", "2 paused"]:
            self.see(each)
        self.open("denied")
        self.see("4 denied writes")
        self.see("its _id is too long to keep")
        links = [each.get_attribute("aria-label") for each in self.driver.find_elements(By.CSS_SELECTOR, "main a.button")]
        self.assertEqual((len(links), [each for each in links if "null" in each]), (6, []))
        self.find("main a.button").click()
        self.see("Which role?")
        self.see("eve sees the document")
        self.see(mock.HOSTILE)

    def test_rules_errors_and_check(self):
        self.open("rules")
        self.see("The loaded rules have 1 error.")
        self.button("Line 4, column 14").click()
        area = self.find("details[open] textarea")
        self.assertEqual(self.driver.execute_script("return arguments[0].value.slice(arguments[0].selectionStart, arguments[0].selectionEnd)", area), "7")
        area.send_keys('"reader"')
        self.button("Check the texts").click()
        self.see("The texts have no errors.")
        self.button("Try on real documents").click()
        self.see("may no longer read the field")
        self.see(mock.HOSTILE)

    def test_story_of_a_write(self):
        self.open("write?namespace=app.todos&id=3")
        for each in ["8 steps", "Inserted", "Denied", mock.HOSTILE, mock.IMAGE, "The document does not exist.",
                     "Who has seen it", "not yet", "not signed in with"]:
            self.see(each)

    def test_operations(self):
        self.open("operations")
        self.see("3 running operations")
        self.see("Slowest since the start")
        self.assertIn("8.3 s", self.find("tbody tr").text)
        self.button("Stop operation 12").click()
        self.button("Stop the operation", "dialog").click()
        self.see("2 running operations")

    def test_users(self):
        self.open("users")
        self.see("disabled")
        self.button("Create a user…").click()
        self.until(lambda: self.find("dialog"))
        self.field("User").send_keys("zoe")
        self.field("Password").send_keys("a long password" + Keys.ENTER)
        self.see("zoe")
        self.until(lambda: not self.find("dialog"))
        self.button("Disable zoe (admin)").click()
        self.button("Disable", "dialog").click()
        self.until(lambda: not self.find("dialog"))
        self.button("Enable zoe (admin)").click()
        self.button("Disable zoe (admin)")
        self.button("Drop zoe (admin)").click()
        drop = self.button("Drop", "dialog")
        self.assertFalse(drop.is_enabled())
        self.field("Type zoe to confirm").send_keys("zoe")
        drop.click()
        self.until(lambda: "zoe" not in self.text())

    def test_log(self):
        self.open("log")
        self.see("40 lines")
        self.button("Show 5,800 characters").click()
        self.assertIn(mock.LONG.strip(), self.text())
        self.see("x onerror")
        self.field("Only lines with").send_keys("12 ms")
        self.see("10 lines")

    def test_wrong_password_sign_out_and_lost_session(self):
        self.open("devices")
        self.button("Sign out").click()
        self.until(lambda: self.find("main[data-page=signin]"))
        self.field("User").send_keys("root")
        self.field("Password").send_keys("wrong" + Keys.ENTER)
        self.see("The sign-in failed.")
        self.field("Password").send_keys(Keys.BACKSPACE + "secret" + Keys.ENTER)
        self.see("4 devices")
        self.server.RequestHandlerClass.state.sessions.clear()
        self.until(lambda: self.find("main[data-page=signin]"), "the sign-in after the session ended")
        self.sign_in()

    def test_overview_asks_for_the_sign_in_after_the_session_ended(self):
        self.open("overview")
        self.see("Live")
        self.server.RequestHandlerClass.state.sessions.clear()
        self.until(lambda: self.find("main[data-page=signin]"), "the sign-in after the stream ended")
        self.sign_in()

    def test_a_post_without_the_token_is_refused(self):
        status = self.driver.execute_async_script(
            "fetch('/api/command', {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}}).then((answer) => arguments[0](answer.status))")
        self.assertEqual(status, 403)


@unittest.skipIf(len(sys.argv) > 1 and sys.argv[1].startswith("http"), "needs the mock's contents")
class EmptyServer(Browser):
    is_empty = True

    def test_empty_pages_say_what_to_do(self):
        for hash, text in [
            ("devices", "Devices connect by ServerRemote"), ("denied", "--rules FOLDER"), ("rules", "This server has no rules."),
            ("changes", "Choose a database"), ("operations", "No operation runs"), ("users", "Create the first one"),
            ("log", "The log is empty."), ("data", "The server holds no database."), ("overview", "No command runs at the moment."),
        ]:
            self.open(hash)
            self.see(text)


@unittest.skipUnless(os.environ.get("SHOTS"), "SHOTS names no folder")
class Screenshots(Browser):
    def test_all(self):
        folder = Path(os.environ["SHOTS"])
        shots = {each: each for each in PAGES} | {
            "documents": TODOS, "hostile": "data/app/oddities", "indexes": TODOS + "/indexes",
            "why": "rules?user=eve&database=app&namespace=app.todos&id=12", "plan": TODOS, "edit": TODOS, "changes": "changes/app"}
        state = self.server.RequestHandlerClass.state
        for scheme in ["light", "dark"]:
            self.scheme(scheme)
            for width in [400, 1600]:
                self.resize(width)
                for name, hash in shots.items():
                    self.open(hash)
                    self.until(lambda: not self.find("[aria-busy=true]"))
                    if name == "overview":
                        self.see("Live")
                    if name == "why":
                        self.see("Steps")
                    if name == "plan":
                        self.button("Explain").click()
                        self.see("Query plan")
                    if name == "edit":
                        self.see("Documents 1")
                        self.button("Edit ObjectId('000000000000000000000003')").click()
                        area = self.until(lambda: self.find("dialog textarea"))
                        self.driver.execute_script("arguments[0].value = arguments[0].value.replace('priority: 2', 'priority: 3')", area)
                        self.button("Show the difference").click()
                    if name == "changes":
                        self.until(lambda: mock.change(state, "app", "todos", "insert", mock.oid(5), {"title": "Milk"})
                                   or mock.change(state, "app", "lists", "delete", "a", None) or "insert" in self.text())
                    self.driver.save_screenshot(str(folder / f"{name}-{width}-{scheme}.png"))
                    if name == "edit":
                        self.keys(Keys.ESCAPE)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("http"):
        BASE = sys.argv[1].rstrip("/") + "/"
        USER, PASSWORD = (sys.argv[2:4] + [USER, PASSWORD][len(sys.argv[2:4]):])
        unittest.main(argv=sys.argv[:1], verbosity=2)
    unittest.main(verbosity=2)
