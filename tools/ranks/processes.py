"""Programs that are timed as several ranks: under mpirun, alone, and behind a slower network."""
import json
import os
import subprocess
import sys
import tempfile

from bench_turns import TOP, Resident, environment

PROGRAM = os.path.join(TOP, "build", "bench_ranks")
# As ranks on several machines: they send all messages through the loopback device, and read no memory of each other.
LOOPBACK = ["-x", "LAMINA_SHARED_MEMORY=0", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
            "--mca", "oob_tcp_if_include", "lo"]
ALGORITHM_NUMBERS = {"ring": "1", "tree": "2"}  # of Open MPI's non-blocking sums


def mpirun(ranks, algorithm="tree", options=()):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", "--quiet", *root, "--oversubscribe", "--bind-to", "none",
            "--mca", "coll_libnbc_iallreduce_algorithm", ALGORITHM_NUMBERS[algorithm], *options, "-n", str(ranks)]


def lines_of(command):
    """The JSON lines that a program prints."""
    done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def bursts(command, seconds, rounds):
    """Milliseconds of a step of a command, in each of some bursts."""
    return in_turns([command], seconds, rounds)[0]


def in_turns(commands, seconds, rounds):
    """Milliseconds of a step of each command, in bursts that take turns."""
    residents = [Resident(command) for command in commands]
    times = [[each.burst(seconds) for each in residents] for _ in range(rounds)]
    for each in residents:
        each.close()
    return list(zip(*times))


def in_turns_anew(commands, seconds, rounds):
    """The same, where each burst has processes of its own: a rank that waited for its next one would look for messages all
    the while, and keep the other command from a core."""
    times = [[bursts(command, seconds / 2, 2)[1] for command in commands] for _ in range(rounds)]
    return list(zip(*times))


def behind(network, command):
    """The command in a network namespace of its own, whose loopback device has these tc arguments."""
    script = f'ip link set lo up && tc qdisc add dev lo root {network} && exec "$@"'
    return ["unshare", "--net", "sh", "-c", script, "sh", *command]


def permits(network):
    """Whether this machine lets us limit a loopback device of our own in this way."""
    try:
        return subprocess.run(behind(network, ["true"]), capture_output=True).returncode == 0
    except OSError:
        return False


# Runs a command and writes the largest part of memory that it had at a time, in kilobytes, to a new file of a folder.
WATCH = ("import os, resource, subprocess, sys; subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, "
         "stdout=subprocess.DEVNULL, check=True); open(os.path.join(sys.argv[1], str(os.getpid())), 'w')"
         ".write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))")


def peak(command, ranks=1):
    """Megabytes of the process, or of the rank that has most. Each rank has a file: what two of them print can come as one line."""
    with tempfile.TemporaryDirectory() as folder:
        watched = [sys.executable, "-c", WATCH, folder, *command]
        done = subprocess.run([*mpirun(ranks), *watched] if ranks > 1 else watched, env=environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        files = [os.path.join(folder, name) for name in os.listdir(folder)]
        if done.returncode or len(files) != ranks:
            sys.exit(f"{' '.join(command)} ended with {done.returncode} and {len(files)} of {ranks} ranks measured:\n{done.stderr}")
        return max(int(open(file).read()) for file in files) * 1024 / 1e6
