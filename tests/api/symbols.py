#!/usr/bin/env python3
"""What the library gives and takes: it exports zenith_* only, and imports nothing that prints or ends the process.

    symbols.py NM libzenith.so
"""
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"abort|exit|_exit|_Exit|quick_exit|__assert_fail|__assert|perror|puts|fputs|putchar|putc|fputc"
    r"|(__)?v?(f|s|sn|d|as)?printf(_chk)?"
)
LINKER = {"__bss_start", "_edata", "_end"}  # marks that GNU ld puts into every library


def names(nm, library, *options):
    text = subprocess.run([nm, "-D", *options, library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.strip()}


def main(nm, library):
    exported, imported = names(nm, library, "--defined-only"), names(nm, library, "--undefined-only")
    foreign = sorted(name for name in exported if not name.startswith("zenith_") and name not in LINKER)
    forbidden = sorted(name for name in imported if FORBIDDEN.fullmatch(name))
    for name in foreign:
        print(f"exported, but not zenith_*: {name}")
    for name in forbidden:
        print(f"imported, but the library never prints or ends the process: {name}")
    if not exported or not imported:
        print(f"no symbols were found in {library}: nothing was checked")
    print(f"{len(exported)} exported, {len(imported)} imported")
    return bool(foreign or forbidden or not exported or not imported)


sys.exit(main(*sys.argv[1:]))
