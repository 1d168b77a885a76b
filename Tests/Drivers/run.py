"""Runs the tests of other projects against a server and compares their failures with a list.

usage: run.py FOLDER STITCHSYNC SUITE...
"""

import fnmatch
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as XML
from pathlib import Path

# Where these suites look for a server; mongoengine and umongo know no other place.
PORT = 27017
SECONDS_MAX = 3600

SUITES = {
    "pymongo": (
        "pymongo-4.20.0", "test", ["-m", "default", "--ignore=test/asynchronous"],
        # Encryption and name servers, which have no server of this kind in them.
        ["test_encryption.py", "test_srv_polling.py", "test_dns.py", "test_load_balancer.py",
         "test_ocsp_support.py", "test_ssl.py", "test_bson.py", "test_client.py"]),
    "motor": ("motor-3.7.1", "test", ["-o", "addopts=", "-o", "filterwarnings="], []),
    "mongoengine": (
        "mongoengine-0.29.3", "tests", ["--continue-on-collection-errors"], []),
    "umongo": ("umongo-4.0.0", "tests", [], []),
    "mongomock": ("mongomock-4.3.0", "tests", [], []),
}


class Expected:
    """The known failures of one suite, each with the reason."""

    def __init__(self, suite):
        self.lines = []
        for line in (Path(__file__).parent / "expected-failures.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                name, pattern, reason = line.split(" ", 2)
                if name not in SUITES or not reason:
                    sys.exit(f"expected-failures.txt: no suite or no reason: {line}")
                if name == suite:
                    self.lines.append((pattern.lstrip("~"), pattern.startswith("~")))
        self.met = set()

    def takes(self, test):
        found = [line for line in self.lines if fnmatch.fnmatchcase(test, line[0])]
        self.met.update(found)
        return bool(found)

    def passing(self):
        return [line[0] for line in self.lines if line not in self.met and not line[1]]


def failures(report):
    """Returns the names of the tests that failed, and the number of all tests."""
    count, failed = 0, []
    for case in XML.parse(report).getroot().iter("testcase"):
        count += 1
        if case.find("failure") is not None or case.find("error") is not None:
            owner, name = case.get("classname"), case.get("name")
            failed.append(f"{owner}::{name}" if owner else name)
    return count, sorted(set(failed))


def run(suite, folder, tool):
    source, tests, options, ignored = SUITES[suite]
    with tempfile.TemporaryDirectory() as work:
        server = subprocess.Popen(
            [tool, "serve", "--db", f"{work}/served.stitch", "--port", str(PORT),
             "--test-commands"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if "listening on" not in server.stdout.readline():
                sys.exit(f"test-drivers: the server did not start; is port {PORT} free?")
            report = f"{work}/report.xml"
            environment = dict(os.environ, TEST_MONGO_HOST=f"127.0.0.1:{PORT}")
            subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=120",
                 "-o", "asyncio_default_fixture_loop_scope=function",
                 *options, *[f"--ignore={tests}/{name}" for name in ignored],
                 f"--junitxml={report}", tests],
                cwd=Path(folder) / source, env=environment, stdout=subprocess.DEVNULL,
                timeout=SECONDS_MAX, check=False)
            count, failed = failures(report)
        finally:
            server.kill()
            server.wait()
    expected = Expected(suite)
    others = [test for test in failed if not expected.takes(test)]
    for test in others:
        print(f"{suite}: fails, and is not in expected-failures.txt: {test}")
    for pattern in expected.passing():
        print(f"{suite}: passes, take it out of expected-failures.txt: {pattern}")
    print(f"{suite}: {count} tests, {len(failed)} failed, {len(failed) - len(others)} of them as expected")
    return count > 0 and not others and not expected.passing()


def main():
    folder, tool, *suites = sys.argv[1:]
    # A list, so that a failing suite does not hide the next one.
    if not all([run(suite, folder, tool) for suite in suites or SUITES]):
        sys.exit(1)


main()
