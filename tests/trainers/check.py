#!/usr/bin/env python3
"""check.py BUILD BASE ENVIRONMENTS [NAME]: the checks of this folder, with the real trainers; a line each, and their
count last. With SHARE=ci, one of those that install fast, by turns: another with each
commit.

BASE is the virtual environment that has torch. Each trainer has a small one in the folder ENVIRONMENTS, made when it is
first needed, which lies on top of it: what is in BASE counts as installed, and torch (5 GB) is there once. NAME.txt
says what pip installs; below a line "# alone" stands what is installed without what it asks for, because it asks for
another torch or for what only a GPU needs. A trainer that wants a newer Python than BASE has runs in a Debian 13, which
debootstrap makes in ENVIRONMENTS; there NAME.txt has all that it needs. If that is torch, alone, it is BASE's version,
and takes the libraries for a GPU, without which it does not start, from BASE."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import typing

HERE = pathlib.Path(__file__).resolve().parent
ALONE = "# alone\n"


class Trainer(typing.NamedTuple):
    name: str  # and so the program check_NAME.py and the requirements NAME.txt, which may be missing
    ci: bool = False  # installs and runs within two minutes
    program: str = ""  # that of another row, given this row's name
    requirements: str = ""  # those of another row
    least: tuple[int, int] = (3, 10)  # the oldest Python that it runs on


# How to add one: a row here, check_NAME.py, NAME.txt if it needs more than BASE has, and a page in docs/trainers.
TRAINERS = [
    Trainer("olmo-core", ci=True, program="olmo_core"),
    Trainer("olmo-core-3", program="olmo_core"),
    Trainer("torchtitan"),
    Trainer("torchtitan-main", program="torchtitan", requirements="torchtitan"),
    Trainer("nanochat"),
    Trainer("modded_nanogpt"),
    Trainer("grain", ci=True),
    Trainer("transformers", ci=True),
    Trainer("trl", ci=True, program="transformers"),
    Trainer("lightning", ci=True, program="loops"),
    Trainer("fabric", ci=True, program="loops"),
    Trainer("accelerate", ci=True, program="loops"),
    Trainer("deepspeed", ci=True, program="loops"),
    Trainer("ray-train", program="loops"),
    Trainer("litgpt"),
    Trainer("maxtext", least=(3, 12)),
    Trainer("levanter", least=(3, 12)),
    Trainer("torchdata", ci=True),
    Trainer("automodel", ci=True),
    Trainer("nanotron"),
    Trainer("megatron"),
    Trainer("megatron-0.19", program="megatron", least=(3, 12)),
    Trainer("megatron-bridge", program="megatron_bridge", requirements="megatron"),
    Trainer("megatron-main", program="megatron", requirements="megatron"),
    Trainer("llm_c"),
    Trainer("nanogpt"),
    Trainer("llamafactory"),
    Trainer("axolotl"),
    Trainer("verl"),
    Trainer("torchtune"),
    Trainer("skyrl", program="rl_trainers"),
    Trainer("nemo-rl", program="rl_trainers"),
    Trainer("open-instruct", program="rl_trainers", requirements="olmo-core"),
    Trainer("ms-swift", program="ms_swift"),
    Trainer("openrlhf"),
    Trainer("learned/trl", program="learned"),
    Trainer("learned/trl/published", program="learned"),
    Trainer("learned/twin", program="learned"),
    Trainer("learned/twin/published", program="learned"),
    Trainer("learned/axolotl", program="learned", requirements="axolotl"),
    Trainer("learned/llamafactory", program="learned", requirements="llamafactory"),
    Trainer("learned/verl", program="learned", requirements="verl"),
]


def command(*words, **options):
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)


def pip(python, requirements, *options):
    done = command(*python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile", *options, "-r",
                   requirements)
    if done.returncode != 0:
        raise OSError(f"pip fails: {last_line(done.stdout)}")


def installed(python):
    """The packages that this Python finds, as lines of requirements."""
    return command(*python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check").stdout


def last_line(text):
    return (text.strip() or "without a word").splitlines()[-1]


def debian_13(folder):
    """The words before a command that runs it with the programs of a Debian 13: its /usr lies over this system's, for
    that process and those that it starts, and so does a file with this machine's name, which gloo looks up."""
    root, part, packages = folder / "debian-13", folder / "debian-13.part", "python3-venv,git,zstd"
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise OSError("this Python is too old, and a Debian 13 needs root and debootstrap")
    ready = root / "ready"
    if not ready.exists() or ready.read_text() != packages:
        command("rm", "-rf", part, root)
        done = command("debootstrap", "--variant=minbase", f"--include={packages}", "trixie", part)
        if done.returncode != 0:
            raise OSError(f"debootstrap fails: {last_line(done.stdout)}")
        part.rename(root)
        ready.write_text(packages)
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    return ["unshare", "-m", "sh", "-c",
            'mount --bind "$0/usr" /usr && mount --bind "$0/etc/hosts" /etc/hosts && exec "$@"', root]


def environment(trainer, base, folder):
    """The words of the command that is the Python of this trainer's check."""
    wanted = HERE / f"{trainer.requirements or trainer.name}.txt"
    if not wanted.exists():
        return [base / "bin" / "python"]
    inside = debian_13(folder) if sys.version_info < trainer.least else []
    venv = folder / wanted.stem
    python, ready = [*inside, venv / "bin" / "python"], venv / "ready"
    text = wanted.read_text()
    if ready.exists() and ready.read_text() == text:
        return python
    command("rm", "-rf", venv)
    first, alone = (text.split(ALONE) + [""])[:2]
    below = next((base / "lib").glob("python3*/site-packages")).resolve()
    if inside:
        command(*inside, "/usr/bin/python3", "-m", "venv", venv, check=True)
        if "torch" in alone.split():
            next((venv / "lib").glob("python3*/site-packages")).joinpath("nvidia").symlink_to(below / "nvidia")
    else:
        command(base / "bin" / "python", "-m", "venv", "--without-pip", venv, check=True)
        next((venv / "lib").glob("python3*/site-packages")).joinpath("base.pth").write_text(f"{below}\n")
    # a trainer that asks for another torch must not bring one
    fixed = venv / "fixed.txt"
    fixed.write_text("".join(line + "\n" for line in installed([base / "bin" / "python"]).splitlines()
                             if line.startswith(("torch==", "triton=="))))
    for part, options in ((first, []), (alone, ["--no-deps"])):
        (venv / "part.txt").write_text(part)
        pip(python, venv / "part.txt", "-c", fixed, *options)
    ready.write_text(text)
    return python


def check(trainer, build, base, folder):
    """The status and what was printed."""
    try:
        python = environment(trainer, base, folder)
    except OSError as error:
        return 77, f"its environment cannot be made: {error}"
    program = HERE / f"check_{trainer.program or trainer.name}.py"
    # The package's own commands bring their libraries. Each check starts several processes: without kept bytecode, each
    # would compile torch anew, half of its import.
    done = command(*python, program, *([trainer.name] if trainer.program else []),
                   env={**os.environ, "LEAT_BUILD": str(build / "python/leat/bin"),
                        "PYTHONPATH": str(build / "python"), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
                        "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")})
    return done.returncode, done.stdout


def chosen(name):
    if name:
        return [trainer for trainer in TRAINERS if name in (trainer.name, trainer.name.split("/")[0])]
    if os.environ.get("SHARE") == "ci":
        quick = [trainer for trainer in TRAINERS if trainer.ci]
        commits = command("git", "rev-list", "--count", "HEAD", cwd=HERE).stdout.strip()
        return [quick[int(commits) % len(quick)]] if quick and commits.isdigit() else quick[:1]
    return TRAINERS


def main(build, base, folder, name=""):
    build, base, folder = pathlib.Path(build).resolve(), pathlib.Path(base), pathlib.Path(folder).resolve()
    counts = {"passed": 0, "failed": 0, "not run": 0}
    trainers = chosen(name)
    if not trainers:
        sys.exit(f"no trainer {name}: {', '.join(trainer.name for trainer in TRAINERS)}")
    for trainer in trainers:
        status, text = check(trainer, build, base, folder)
        result = {0: "passed", 77: "not run"}.get(status, "failed")
        counts[result] += 1
        why = f": {last_line(text)}" if status == 77 else ""
        print(f"{result:8} {trainer.name}{why}", flush=True)
        if result == "failed":
            print(text, flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
