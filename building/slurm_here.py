"""A Slurm of one node on this machine: its services on the loopback, all files in one folder.

`python -m building.slurm_here COMMAND ...` runs a command with it: on Debian as root, with the
packages slurm-wlm and munge.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
_CLEAN_UP = 3  # seconds
_WAIT = 20.0  # seconds for a service to start or to end; each needs one on an idle machine

# As few seconds as there may be between a task's end and the next one's start, no cgroups (which a
# container has not), and no limits of memory.
_CONFIGURATION = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=2000
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def find_missing() -> str:
    """Return why there is no Slurm on this machine, or nothing where there is one."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "Slurm's services are started as root"
    missing = [name for name in _PROGRAMS if not shutil.which(name, path=_PATH)]
    return f"Slurm is not installed: no {missing[0]}" if missing else ""


@contextmanager
def run_slurm(cpus: int = 2) -> Iterator[dict[str, str]]:
    """Yield the environment in which Slurm's commands find a cluster that runs meanwhile.

    Raises `RuntimeError`, with the service's log, if one does not start.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        for name in ("state", "spool"):
            (folder / name).mkdir()
        environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
        _write_configuration(folder, cpus)
        for name, words in (
            ("munged", _list_munge_options(folder)),
            ("slurmctld", ["-D"]),
            ("slurmd", ["-D"]),
        ):
            stack.enter_context(_service(folder, name, words, environment))
        _wait_for_node(folder, environment)
        yield environment
        cancelling = ["scancel", "--user=root"]
        subprocess.run(cancelling, env=environment, check=False, timeout=_WAIT)


def wait_for_jobs(environment: dict[str, str], seconds: float) -> None:
    """Wait until no job is queued or runs; raises `TimeoutError` with what then still is."""
    end = time.monotonic() + seconds
    while queue := _ask(environment, "squeue", "--noheader", "--format=%i %j %T %r"):
        if time.monotonic() > end:
            raise TimeoutError(queue)
        time.sleep(0.2)


def requeue(job: str, environment: dict[str, str]) -> None:
    """End the running tasks of a job and queue them again, to start soon, not in two minutes.

    Soon is after the node has cleaned up: a task that starts before that ends at once, as failed.
    """
    which = ("squeue", "--array", "--noheader", f"--jobs={job}")
    for task in _ask(environment, *which, "--states=RUNNING", "--format=%i").split():
        _change(environment, "requeue", task)
        end = time.monotonic() + _WAIT
        while f"{task} BeginTime" not in _ask(environment, *which, "--format=%i %r"):
            if time.monotonic() > end:
                raise TimeoutError(f"task {task} is not queued again")
            time.sleep(0.1)
        _change(environment, "update", f"JobId={task}", f"StartTime=now+{_CLEAN_UP}")


def _change(environment: dict[str, str], *words: str) -> None:
    subprocess.run(["scontrol", *words], env=environment, check=True, timeout=_WAIT)


def _write_configuration(folder: Path, cpus: int) -> None:
    """Write the key that the services trust each other by, and Slurm's configuration."""
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    values = {"host": socket.gethostname().split(".")[0], "folder": folder, "cpus": cpus}
    ports = {"controller_port": _find_port(), "node_port": _find_port()}
    (folder / "slurm.conf").write_text(_CONFIGURATION.format(**values, **ports))


def _list_munge_options(folder: Path) -> list[str]:
    # --force: a temporary folder that others may write into is none that munge trusts
    endings = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
    endings["seed-file"] = "seed"
    files = [f"--{option}={folder}/munge.{ending}" for option, ending in endings.items()]
    return ["--foreground", "--force", *files]


@contextmanager
def _service(
    folder: Path, name: str, words: list[str], environment: dict[str, str]
) -> Iterator[None]:
    """Run a service meanwhile, in a group of processes of its own, with what it says in a file."""
    program = shutil.which(name, path=_PATH)
    if program is None:
        raise RuntimeError(f"Slurm is not installed: no {name}")
    with (folder / f"{name}.said").open("wb") as said:
        process = subprocess.Popen(
            [program, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_for_munge(folder, process)
            yield
        finally:
            process.terminate()
            try:
                process.wait(_WAIT)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_for_munge(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for the socket that Slurm's services need from their start."""
    end = time.monotonic() + _WAIT
    while not (folder / "munge.socket").exists():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(_read_logs(folder))
        time.sleep(0.05)


def _wait_for_node(folder: Path, environment: dict[str, str]) -> None:
    end = time.monotonic() + _WAIT
    while _ask(environment, "sinfo", "--noheader", "--format=%t") != "idle":
        if time.monotonic() > end:
            raise RuntimeError(_read_logs(folder))
        time.sleep(0.1)


def _ask(environment: dict[str, str], *words: str) -> str:
    """Return what one of Slurm's commands prints; nothing while no controller answers."""
    answer = subprocess.run(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_WAIT,
    )
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _read_logs(folder: Path) -> str:
    logs = [*sorted(folder.glob("*.log")), *sorted(folder.glob("*.said"))]
    return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1000:]}" for log in logs)


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def main(command: list[str]) -> int:
    """Run a command while a Slurm runs, and return its exit code."""
    if reason := find_missing():
        print(f"{reason}; install Debian's packages slurm-wlm and munge.", file=sys.stderr)
        return 1
    with run_slurm() as environment:
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
