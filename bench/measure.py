"""What the benchmark programs share: building, running, measuring, writing a record."""
import collections
import datetime
import os
import platform
import resource
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
PARSIMON = os.path.join(TARGET, "release", "parsimon")
GENERATE = os.path.join(TARGET, "release", "examples", "generate")
SCRATCH = os.path.join(tempfile.gettempdir(), "parsimon-bench")

# `foreign` is the share of the machine that other processes took meanwhile.
Run = collections.namedtuple("Run", "wall cpu peak_mb foreign")


def build():
    for what in (["-p", "parsimon-cli"], ["-p", "parsimon", "--example", "generate"]):
        subprocess.run(["cargo", "build", "--quiet", "--release", *what], cwd=ROOT, check=True)


def is_fresh(path, source):
    """Whether a file was made after what it is made from."""
    return os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(source)


def generate(shape, rows, seed, **forms):
    """Paths of generated files, by form; files newer than the generator are kept."""
    paths = {form.replace("_", "-"): os.path.join(SCRATCH, f"{shape}-{rows}-{seed}.{ending}") for form, ending in forms.items()}
    if not all(is_fresh(path, GENERATE) for path in paths.values()):
        os.makedirs(SCRATCH, exist_ok=True)
        partial = [f"{form}={path}.partial" for form, path in paths.items()]
        subprocess.run([GENERATE, shape, str(rows), str(seed), *partial], check=True)
        for path in paths.values():
            os.rename(path + ".partial", path)
    return paths


def busy():
    """CPU seconds of the whole machine since it started, and of this process and its finished children."""
    with open("/proc/stat") as f:
        ticks = [int(x) for x in f.readline().split()[1:]]
    idle, steal = ticks[3] + ticks[4], ticks[7]
    own = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return (sum(ticks[:8]) - idle - steal) / os.sysconf("SC_CLK_TCK"), own


class Peak(threading.Thread):
    """Watches a process's largest resident size. What wait4 tells will not do: it has this interpreter's size before the exec."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.kilobytes = f"/proc/{pid}/status", 0
        self.start()

    def run(self):
        while True:
            try:
                with open(self.path) as f:
                    sizes = [line.split()[1] for line in f if line.startswith("VmHWM")]
            except OSError:
                return
            if not sizes:
                return
            self.kilobytes = max(self.kilobytes, int(sizes[0]))
            time.sleep(0.01)

    def megabytes(self):
        self.join()
        return self.kilobytes / 1024


def timed(command, cwd=None):
    """Runs a command to its end."""
    everybody, own = busy()
    start = time.perf_counter()
    with open(os.path.join(SCRATCH, "errors"), "w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=cwd)
        watch = Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status != 0:
            errors.seek(0)
            raise SystemExit(f"failed: {' '.join(command)}\n{errors.read()}")
    everybody_now, own_now = busy()
    foreign = max(0.0, (everybody_now - everybody) - (own_now - own)) / wall / os.cpu_count()
    return Run(wall, usage.ru_utime + usage.ru_stime, watch.megabytes(), foreign)


class Patience:
    """A run while other processes are busy says little: it is made again, so often in all."""

    def __init__(self, times, limit=0.1):
        self.times, self.limit = times, limit

    def timed(self, command):
        while True:
            run = timed(command)
            if run.foreign <= self.limit or self.times <= 0:
                return run
            self.times -= 1
            time.sleep(2)


def interleaved(contestants, rounds, patience):
    """Runs every contestant once per round, the first round for warmth alone."""
    runs = {name: [] for name in contestants}
    for round_ in range(rounds + 1):
        for name, command in contestants.items():
            run = timed(command) if round_ == 0 else patience.timed(command)
            if round_ > 0:
                runs[name].append(run)
    return runs


def median(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def processor():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else platform.machine()}"


def commit():
    head = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return head.stdout.strip() or "unknown"


def today():
    return datetime.date.today().isoformat()


def command_line(arguments):
    """What was typed, without places that are this machine's own."""
    words, hidden = [], False
    for word in arguments:
        if not hidden and word not in ("--out", "--no-build"):
            words.append(word)
        elif hidden and words and words[-1] in ("--python", "--reference", "--real"):
            words.append("...")
        hidden = word in ("--out", "--python", "--reference", "--real")
    return " ".join(words)


def write_record(path, text):
    print(text)
    if path:
        with open(path, "w") as f:
            f.write(text)
        print(f"wrote {path}")
