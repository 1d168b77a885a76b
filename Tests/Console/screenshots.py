"""Writes pictures of the pages of a server and of a device's file: screenshots.py TOOL FOLDER"""
import sys
from pathlib import Path

from selenium.webdriver.common.by import By

import world
from console_test import TODOS
from live_test import LiveDevice, LiveServer

WIDTH, HEIGHT = 1280, 800
BYTES_MAX = 150_000
SHOTS = {
    "overview": "overview", "data": TODOS, "plan": TODOS + "/documents?filter=%7Bowner%3A+%22ann%22%7D",
    "indexes": TODOS + "/indexes", "devices": "devices", "denied": "denied",
    "write": "write?namespace=app.todos&id=1", "rules": "rules",
    "why": "rules?user=ann&database=admin&namespace=app.todos&id=1",
    "changes": "changes/app", "operations": "operations", "users": "users", "log": "log"}

DEVICE_SHOTS = {"overview": "Latest syncs", "conflicts": "by the tablet", "story": "merged"}


class Camera(LiveServer):
    def prepare(self, name):
        """Waits until the page shows what its picture is about."""
        if name == "overview":
            points = "return document.querySelector('svg.graph .line')?.getAttribute('points')?.split(' ').length ?? 0"
            self.until(lambda: self.driver.execute_script(points) > 6)
        elif name == "plan":
            self.button("Explain").click()
            self.until(lambda: self.find("svg.picture"))
        elif name == "changes":
            self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".changes li")) > 24)
            self.button("Pause").click()
        elif name == "devices":
            self.see("ben")
        elif name == "why":
            self.see("ann sees the document")
        elif name == "operations":
            self.see("Slowest since the start")
            self.until(lambda: self.find("tbody tr"))

    def runTest(self):
        self.resize(WIDTH, HEIGHT)
        for name, hash in SHOTS.items():
            self.open(hash)
            self.prepare(name)
            shoot(self, f"console-{name}")


class DeviceCamera(LiveDevice):
    def runTest(self):
        self.resize(WIDTH, HEIGHT)
        for name in ["overview", "conflicts"]:
            self.open(name)
            self.see(DEVICE_SHOTS[name])
            shoot(self, f"inspect-{name}")
        self.open("write?namespace=app.todos&id=1")
        self.see(DEVICE_SHOTS["story"])
        shoot(self, "inspect-story")
        self.resize(400, HEIGHT)
        self.open("conflicts")
        self.see(DEVICE_SHOTS["conflicts"])
        shoot(self, "inspect-phone")


def shoot(case, name):
    case.until(lambda: not case.find("[aria-busy=true]"))
    path = case.folder / f"{name}.png"
    case.driver.save_screenshot(str(path))
    assert path.stat().st_size <= BYTES_MAX, f"{path} is too large"


if __name__ == "__main__":
    world.tool = lambda: sys.argv[1]
    for camera in [Camera, DeviceCamera]:
        camera.folder = Path(sys.argv[2]).resolve()
        camera.setUpClass()
        try:
            camera().runTest()
        finally:
            camera.doClassCleanups()
