#!/usr/bin/env python3
"""Runs a command in a terminal of its own and prints, byte for byte, what it writes there.

    tests/tools/in_terminal.py [--columns 80] [--stop-at TEXT] COMMAND...

With --stop-at Ctrl-C is pressed in this terminal as soon as the output holds TEXT. The exit code is the command's."""
import argparse
import fcntl
import os
import pty
import struct
import sys
import termios

parser = argparse.ArgumentParser()
parser.add_argument("--columns", type=int, default=80)
parser.add_argument("--stop-at", default="")
parser.add_argument("command", nargs=argparse.REMAINDER)
options = parser.parse_args()

child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 25, options.columns, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execvp(options.command[0], options.command)

output, stopped = b"", False
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # the command has ended
        break
    if not part:
        break
    output += part
    if options.stop_at and not stopped and options.stop_at.encode() in output:
        os.write(terminal, b"\x03")
        stopped = True
sys.stdout.buffer.write(output)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
