"""The processes of the fan-out: started, measured and ended."""

import os
import select
import signal
import socket
import subprocess
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")
# Seconds within which a process must listen, or end.
PATIENCE = 60


class Failure(Exception):
    """Why the run cannot go on."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Process:
    """A process of the tool that serves, with its log in a file."""

    running = []

    def __init__(self, name, tool, folder, arguments, **environment):
        self.name = name
        self.log = os.path.join(folder, name.replace(" ", "-") + ".log")
        self.killed = False
        self.metrics = free_port()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [tool, "serve", "--port", "0", "--metrics-port", str(self.metrics), *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "MONGOC_DISABLE_SHM": "1", **environment})
        Process.running.append(self)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else ""
        if "listening on" not in line:
            raise Failure(f"{name} did not start: {line}{self.tail()}")
        self.port = int(line.split("(")[0].rsplit(":", 1)[1])

    def upstream_commands(self):
        """The number of commands that a gateway has sent upstream, and of its feeds."""
        url = f"http://127.0.0.1:{self.metrics}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            lines = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines()
                         if not line.startswith("#"))
        return [int(float(lines[f"stitchsync_{name}"]))
                for name in ("upstream_commands_total", "feeds_open")]

    def tail(self, count=15):
        """The last lines of the log."""
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-count:])

    def warnings(self):
        with open(self.log, errors="replace") as log:
            return [line for line in log if "warning" in line.lower()]

    def kill(self):
        self.killed = True
        self.process.send_signal(signal.SIGKILL)

    def end(self):
        """Ends the process as an operator does; says what is wrong with its end."""
        if self in Process.running:
            Process.running.remove(self)
        if self.process.poll() is None and not self.killed:
            self.process.terminate()
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return f"{self.name} did not end within {PATIENCE} s of SIGTERM"
        finally:
            self.process.stdout.close()
        expected = -signal.SIGKILL if self.killed else 0
        return "" if code == expected else f"{self.name} ended with code {code}: {self.tail()}"

    @classmethod
    def end_all(cls):
        return [text for text in [process.end() for process in reversed(cls.running[:])] if text]

    def status(self):
        """Resident memory in KiB, of it what is no file, and the number of threads."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            found = dict(line.split(":", 1) for line in lines)
        return [int(found[key].split()[0]) for key in ("VmRSS", "RssAnon", "Threads")]

    def cpu(self):
        return cpu(self.process.pid)


def cpu(pid):
    """The seconds of processor time that a process has taken; 0 for one that has ended."""
    try:
        with open(f"/proc/{pid}/stat") as text:
            fields = text.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def machine():
    """The seconds of processor time of the whole machine: busy, and in all."""
    with open("/proc/stat") as text:
        fields = [int(field) for field in text.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS, sum(fields) / TICKS


class Clocks:
    """What processes have done since a moment: processor time, and commands to the upstream."""

    def __init__(self, gateways, upstream):
        processes = [*gateways, upstream]
        self.gateways = [(g, g.upstream_commands()[0]) for g in gateways]
        self.pids = {"load client": os.getpid(), **{p.name: p.process.pid for p in processes}}
        self.start = time.monotonic()
        self.before = {name: cpu(pid) for name, pid in self.pids.items()}
        self.machine = machine()

    def rows(self):
        """Lines of a table: seconds, share of these processes, cores."""
        seconds = time.monotonic() - self.start
        used = {name: cpu(pid) - self.before[name] for name, pid in self.pids.items()}
        whole = sum(used.values()) or 1
        busy, there = (b - a for a, b in zip(self.machine, machine()))
        for name, time_used in used.items():
            yield (f"cpu, {name}", f"{time_used:.1f} s, {time_used / whole:.0%} of these "
                                   f"processes, {time_used / seconds:.2f} cores")
        for gateway, before in self.gateways:
            now, feeds = gateway.upstream_commands()
            yield (f"upstream commands, {gateway.name}",
                   f"{(now - before) / seconds:.0f}/s, {feeds} feeds")
        yield ("cpu, others", f"{max(busy - whole, 0):.1f} s; the machine was busy "
                              f"{busy / there:.0%} of {os.cpu_count()} cores, "
                              f"load {os.getloadavg()[0]:.1f}")
