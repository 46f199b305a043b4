# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of tests: waiting with a deadline, kills, and ports for programs that cannot choose one themselves."""
import fcntl
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

PORTS = []  # open files: the locks are held until this process ends


def free_port():
    """A port that no other test is given while this one runs, and that the system hands to nobody: below those it chooses from."""
    least, most = 10000, int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    folder = pathlib.Path(tempfile.gettempdir(), "zenith-test-ports")
    folder.mkdir(exist_ok=True)
    while True:
        port = random.randrange(least, most)
        held = (folder / str(port)).open("w")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            held.close()
            continue
        PORTS.append(held)
        return port


def wait_until(condition, what, seconds=60, pause=0.01):
    """The first true value of condition(); an AssertionError with `what` when it does not come in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(pause)
    return value


def start_threads(function, rows):
    """A thread for each row of arguments."""
    threads = [threading.Thread(target=function, args=row) for row in rows]
    for thread in threads:
        thread.start()
    return threads


def join_threads(threads):
    for thread in threads:
        thread.join()


def kill_at_random(start, times, longest, chance, after):
    """kill -9 at a random moment, within `longest` seconds, of `times` processes that start() returns. after(killed) looks at what
    a process left: after a kill it says whether that is half-done, which one at least must be; a process that ended by itself,
    which must be well, does not count, and after(False) clears what it made away so that the next one has work."""
    killed, torn = 0, False
    for _ in range(20 * times + 100):
        process = start()
        try:
            code = process.wait(chance.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        assert code in (0, -signal.SIGKILL), f"it ended with code {code}"
        killed += code != 0
        torn = after(code != 0) or torn
        if killed >= times and torn:
            return
    raise AssertionError(f"{killed} of {times} kills; half-done work was {'' if torn else 'not '}seen")
