# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts for the tests of fleets, on one machine: each a network namespace with a name of its own, joined to the server's by a
pair of veth links that can be taken down. Where namespaces are not permitted, loopback ports behind a proxy that holds bytes back."""
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time

ENTERED = "ZENITH_FLEET_ENTERED"
SERVER = "10.77.0.1"
NAMED = ("unshare", "--uts", "sh", "-c", 'echo "$0" >/proc/sys/kernel/hostname && exec "$@"')


def tool(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


def enter():
    """Starts this script again inside a network and a mount namespace of its own, where that is permitted; True: we are in."""
    if ENTERED in os.environ:
        return os.environ[ENTERED] == "yes"
    probe = "ip link add veth0 type veth peer name veth1 && ip netns add probe && ip netns del probe"
    able = shutil.which("ip") and subprocess.run(["unshare", "--net", "--mount", "sh", "-c", f"mount -t tmpfs x /run && {probe}"],
                                                 capture_output=True).returncode == 0
    os.environ[ENTERED] = "yes" if able else "no"
    before = ["unshare", "--net", "--mount"] if able else []
    os.execvp((before or [sys.executable])[0], [*before, sys.executable, *sys.argv])


class Namespaces:
    what = "network namespaces"
    address = SERVER

    def __init__(self, count):
        tool("mount", "-t", "tmpfs", "x", "/run")  # of this process and its children alone, as all that follows
        tool("ip", "link", "set", "lo", "up")
        tool("ip", "link", "add", "bridge", "type", "bridge")
        tool("ip", "addr", "add", f"{SERVER}/24", "dev", "bridge")
        tool("ip", "link", "set", "bridge", "up")
        for number in range(count):
            name, link = f"host{number}", f"link{number}"
            tool("ip", "netns", "add", name)
            tool("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            tool("ip", "link", "set", link, "master", "bridge", "up")
            tool("ip", "-n", name, "link", "set", "lo", "up")
            tool("ip", "-n", name, "addr", "add", f"10.77.0.{10 + number}/24", "dev", "eth0")
            tool("ip", "-n", name, "link", "set", "eth0", "up")
        probe = subprocess.run(["tc", "qdisc", "add", "dev", "link0", "root", "netem", "loss", "1%"], capture_output=True)
        self.netem = probe.returncode == 0
        if self.netem:
            tool("tc", "qdisc", "del", "dev", "link0", "root")

    def words(self, number):
        """What stands before a command that runs on a host."""
        return ["ip", "netns", "exec", f"host{number}", *NAMED, f"host{number}"]

    def server(self, number, port):
        return SERVER, port

    def cut(self, number, yes):
        tool("ip", "link", "set", f"link{number}", "down" if yes else "up")

    def lossy(self, number, yes):
        """Every fifth packet is lost. Without netem in the kernel: flap() takes the link down for moments."""
        if self.netem:
            tool("tc", "qdisc", "add" if yes else "del", "dev", f"link{number}", "root", "netem", "loss", "20%", "delay", "30ms")

    def flap(self, number):
        if not self.netem:
            self.cut(number, True)
            time.sleep(random.uniform(0.01, 0.1))
            self.cut(number, False)


class Loopback:
    what = "loopback ports behind a proxy"
    address = "127.0.0.1"

    def __init__(self, count):
        self.held, self.slow, self.ports = [False] * count, [False] * count, [None] * count

    def words(self, number):
        return []

    def server(self, number, port):
        if self.ports[number] is None:
            listener = socket.create_server(("127.0.0.1", 0))
            self.ports[number] = listener.getsockname()[1]
            threading.Thread(target=self.accept, args=(number, listener, port), daemon=True).start()
        return "127.0.0.1", self.ports[number]

    def accept(self, number, listener, port):
        while True:
            near = listener.accept()[0]
            try:
                far = socket.create_connection(("127.0.0.1", port), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(number, source, target), daemon=True).start()

    def pump(self, number, source, target):
        try:
            while data := source.recv(65536):
                while self.held[number]:
                    time.sleep(0.05)
                if self.slow[number]:
                    time.sleep(random.uniform(0, 0.3))
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, number, yes):
        self.held[number] = yes

    def lossy(self, number, yes):
        self.slow[number] = yes

    def flap(self, number):
        pass
