# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of tests: waiting with a deadline, and kills."""
import signal
import subprocess
import time


def wait_until(condition, what, seconds=60, pause=0.01):
    """The first true value of condition(); an AssertionError with `what` when it does not come in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(pause)
    return value


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
