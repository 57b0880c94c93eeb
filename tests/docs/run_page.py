#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the blocks of code of a page of docs/, or of README, as a reader would.

    run_page.py PAGE BUILD [--show]

What a page may have:

* ```console: `$ ` begins a command, `> ` continues it; the lines below are its
  output, all of it, in which `...` stands for any text, a line of `...` for any
  lines, `pid 4711, ann@db1` for any process, and `3 s` for any time. A command
  ends with 0, unless the next one is `echo $?`. All commands of a page run in
  one bash, in their order, in a new folder, with an empty store of their own.
* ```LANGUAGE title="NAME": a file of this name, for commands further down.
* ```c without a title: statements that compile, without a warning, and run with
  the variables of tests/docs/fragment.c.
* ```sh without a title: commands, of which no output is compared.
* <!-- run: first_steps -->: what follows is run by tools/first_steps.sh.
* <!-- run: COMMANDS -->: what a reader has anyway, such as programs to run; a
  line each. <!-- run: redis --> starts a server: it is redis://db.example/0.
  <!-- run: postgres -->: postgres://db.example/app, which is psql's, too.

Other languages, and ```text, are not run. Exit code 77: there is no server, no
module for PostgreSQL, or no redis-py, and the page needs it.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REDIS_URL = "redis://db.example/0"
POSTGRES_URL = "postgres://db.example/app"
LIMIT_S = 120
BLOCK = re.compile(r"^( *)```(\w+)?(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^\1```$|"
                   r"^ *<!-- run: (.*?) -->$", re.M | re.S)


def fail(page, line, what):
    sys.exit(f"{page}:{line}: {what}")


ANY = ((r"\.\.\.", ".*"), (r"pid \d+, [^)]+", r"pid \d+, [^)]+"),
       (r"\b\d+ s\b", r"\d+ s"))


def as_pattern(line):
    """A line of output, in which some words stand for any."""
    parts = re.split("(" + "|".join(shown for shown, _ in ANY) + ")", line)
    return "".join(next((meant for shown, meant in ANY
                         if re.fullmatch(shown, part)), re.escape(part))
                   for part in parts)


class Command:
    """Words for bash, what it should print, and where it is."""

    def __init__(self, line, text, compare):
        self.line, self.text, self.compare = line, text, compare
        self.expected = []

    def matches(self, output):
        lines = [as_pattern(line.rstrip()) for line in self.expected]
        pattern = "".join(r"(?:.*\n)*" if line == ".*" else line + r"\n"
                          for line in lines)
        printed = "".join(line.rstrip() + "\n"
                          for line in output.splitlines())
        return re.fullmatch(pattern, printed)


def console(line, text):
    commands = []
    for number, words in enumerate(text.splitlines(), start=line + 1):
        if words.startswith("$ "):
            commands.append(Command(number, words[2:], True))
        elif words.startswith("> ") and commands and not commands[-1].expected:
            commands[-1].text += "\n" + words[2:]
        elif commands:
            commands[-1].expected.append(words)
        else:
            raise ValueError("output before the first command")
    return commands


def indented(text, by):
    return re.sub(f"^{' ' * by}", "", text, flags=re.M)


class Page:
    def __init__(self, path, build, folder):
        self.path, self.build, self.folder = path, build, folder
        self.programs = folder / "programs"
        self.commands, self.fragments, self.redis = [], [], False
        self.postgres = None
        self.programs.mkdir()
        (folder / "here").mkdir()

    def read(self):
        text = self.path.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if match[5] == "first_steps":
                break
            if match[5] is not None:
                self.prepare(line, match[5])
                continue
            code = indented(match[4], len(match[1]))
            if match[3]:
                self.file(line, match[3], code)
            elif match[2] == "console":
                self.commands += console(line, code)
            elif match[2] == "sh":
                self.commands.append(Command(line + 1, code, False))
            elif match[2] == "c":
                self.fragments.append((line, code))

    def prepare(self, line, text):
        for words in text.splitlines():
            if words.strip() == "redis":
                self.redis = True
            elif words.strip() == "postgres":
                self.start_postgres()
            elif words.strip():
                self.commands.append(Command(line, words.strip(), False))

    def file(self, line, name, code):
        """Written when it is its turn: a later block may replace it."""
        path = self.folder / f"file.{len(self.commands)}"
        path.write_text(code)
        self.commands.append(Command(
            line, f'mkdir -p "$(dirname {name})" && cp {path} {name} && '
            f'chmod +x {name}', False))

    # ------------------------------------------------------------ what it has

    def program(self, name, text):
        path = self.programs / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def environment(self):
        flags = (f"-I{ROOT}/include -L{self.build} -Wl,-rpath,{self.build} "
                 "-lholdfast -lpthread")
        self.program("pkg-config", f'echo "{flags}"\n')
        self.program("holdfast", f'exec {self.build}/holdfast "$@"\n')
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import redis"],
                              capture_output=True).returncode == 0:
                self.program("python3", f'exec {python} "$@"\n')
                break
        else:
            if re.search(r"^import redis", self.path.read_text(), re.M):
                sys.exit(77)
        return os.environ | {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(self.folder), "PAGE": str(self.path.resolve()), "LC_ALL": "C", "SHELL": "/bin/sh",
            "HOLDFAST_STORE": f"volatile:{self.folder}/store",
            "XDG_RUNTIME_DIR": str(self.folder),
            "PGHOST": self.postgres or "", "PGUSER": "postgres",
            "LSAN_OPTIONS": "detect_leaks=0"}

    def start_redis(self):
        server = shutil.which("redis-server")
        if server is None:
            sys.exit(77)
        return subprocess.Popen(
            [server, "--port", "0", "--unixsocket", f"{self.folder}/redis",
             "--save", "", "--dir", str(self.folder)],
            stdout=subprocess.DEVNULL)

    def start_postgres(self):
        """Not as root, which it refuses to run as."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))
        if not found or not (self.build / "libholdfast-postgres.so").exists():
            sys.exit(77)
        self.postgres = tempfile.mkdtemp(prefix="hf-pg-")
        self.pg_ctl = [found[-1], "-D", f"{self.postgres}/data", "-w", "-s"]
        self.as_user = {"user": "postgres", "cwd": "/"} if os.getuid() == 0 else {}
        if os.getuid() == 0:
            shutil.chown(self.postgres, "postgres")
        for words in (["init", "-o", "-U postgres -A trust -N"],
                      ["start", "-l", f"{self.postgres}/log",
                       "-o", f"-h '' -k {self.postgres} -F"]):
            subprocess.run(self.pg_ctl + words, check=True, **self.as_user)
        subprocess.run(["createdb", "-h", self.postgres, "-U", "postgres",
                        "app"], check=True)

    def stop_postgres(self):
        subprocess.run(self.pg_ctl + ["stop", "-m", "immediate"],
                       check=False, **self.as_user)
        shutil.rmtree(self.postgres)

    def url(self, text):
        text = text.replace(
            POSTGRES_URL, f"'postgres:///app?host={self.postgres}'")
        return text.replace(REDIS_URL, f"redis+unix://{self.folder}/redis")

    # ------------------------------------------------------------------- runs

    def script(self):
        """Each command in the same bash; its output and status in files."""
        lines = ["set +m"]
        for number, command in enumerate(self.commands):
            output = self.folder / f"out.{number}"
            lines += [f"(exit ${{status:-0}})",
                      "{ " + self.url(command.text), f"}} >{output} 2>&1",
                      f"status=$?; echo $status >{output}.status"]
        lines += ["kill $(jobs -p) 2>/dev/null", "wait"]
        return "\n".join(lines) + "\n"

    def run_commands(self, show):
        if not self.commands:
            return
        shell = subprocess.Popen(
            ["bash", "-c", self.script()], cwd=self.folder / "here",
            env=self.environment(), stdin=subprocess.DEVNULL,
            start_new_session=True,
            stderr=subprocess.DEVNULL)
        try:
            shell.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
        for number, command in enumerate(self.commands):
            self.check(number, command, show)

    def check(self, number, command, show):
        output = self.folder / f"out.{number}"
        printed = output.read_text() if output.exists() else ""
        # What bash says of a job that was killed.
        printed = re.sub(r"^bash: line \d+: +\d+ (Killed|Terminated) .*\n", "",
                         printed, flags=re.M)
        printed = printed.replace(f"redis+unix://{self.folder}/redis",
                                  REDIS_URL)
        if show:
            print(f"$ {command.text}\n{printed}", end="")
        status = Path(f"{output}.status")
        if not status.exists():
            fail(self.path, command.line,
                 f"has not ended in {LIMIT_S} s: {command.text}\n{printed}")
        following = self.commands[number + 1:number + 2]
        if status.read_text() != "0\n" and not (
                following and following[0].text.startswith("echo $?")):
            fail(self.path, command.line, f"ended with {status.read_text()}"
                 f"{command.text}\n{printed}")
        if command.compare and not command.matches(printed):
            fail(self.path, command.line, f"{command.text}\nprinted:\n{printed}"
                 "but should print:\n" + "\n".join(command.expected))

    def run_fragments(self):
        around = (Path(__file__).parent / "fragment.c").read_text()
        environment = self.environment()
        for number, (line, code) in enumerate(self.fragments):
            source = self.folder / f"fragment{number}.c"
            source.write_text(around.replace(
                "    /* the fragment */\n",
                f'#line {line + 1} "{self.path}"\n{code}'))
            program = source.with_suffix("")
            flags = subprocess.run([self.programs / "pkg-config"], text=True,
                                   capture_output=True).stdout.split()
            built = subprocess.run(
                ["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
                 "-Werror", "-Wno-unused", "-o", program, source, *flags],
                text=True, capture_output=True)
            if built.returncode != 0:
                fail(self.path, line, built.stderr)
            ran = subprocess.run([program], env=environment, text=True,
                                 cwd=self.folder / "here", capture_output=True,
                                 timeout=LIMIT_S)
            if ran.returncode != 0:
                fail(self.path, line, f"the fragment ended with "
                     f"{ran.returncode}: {ran.stderr}")


def main():
    page, build = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        self = Page(page, build, Path(folder))
        redis = None
        try:
            self.read()
            redis = self.start_redis() if self.redis else None
            while redis and not (Path(folder) / "redis").exists():
                time.sleep(0.02)
            self.run_commands("--show" in sys.argv)
            self.run_fragments()
        finally:
            if redis:
                redis.kill()
                redis.wait()
            if self.postgres:
                self.stop_postgres()
    print(f"{page}: {len(self.commands)} commands, "
          f"{len(self.fragments)} fragments")


main()
