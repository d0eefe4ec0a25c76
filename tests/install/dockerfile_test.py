#!/usr/bin/env python3
"""The commands of the Dockerfile, in place: there need be no docker.

  dockerfile_test.py SOURCE BUILD FOLDER

They configure in FOLDER without a compilation (what they would build is only looked at), install from BUILD, and what is
then in the image must run by what the image has.
"""
import json
import os
import re
import shutil
import subprocess
import sys


def instructions(path):
    """Pairs of instruction and text, with lines that a backslash continues as one."""
    with open(path) as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.MULTILINE)
    lines = [line for line in re.sub(r"\\\n\s*", " ", text).split("\n") if line]
    return [tuple(line.split(" ", 1)) for line in lines]


def run(command, **settings):
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    assert done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def cmake_lines(stage):
    return [text.split() for name, text in stage if name == "RUN" and text.startswith("cmake ")]


def check_configure(line, places, arguments):
    line = [places.get(word, word) for word in line]
    run([re.sub(r"\$\{(\w+)\}", lambda found: arguments[found.group(1)], word) for word in line])


def check_build(line, places):
    """Ninja plans the targets, and nothing else of the tree, without a compilation."""
    planned = run([places.get(word, word) for word in line] + ["--", "-n"])
    for file in ("bin/runtime", "libwinnow.so"):
        assert file in planned, f"{line}: does not build {file}"
    assert "bin/export" not in planned, f"{line}: builds more than it should"


def check_installed(prefix):
    found = {os.path.relpath(os.path.join(folder, file), prefix)
             for folder, _, files in os.walk(prefix) for file in files}
    found = {file for file in found if not file.startswith("lib/winnow/needed/")}
    expected = {"bin/winnow-runtime", "libexec/winnow/runtime"}
    libraries = {file for file in found if re.fullmatch(r"lib/libwinnow\.so\.[0-9.]+", file)}
    assert libraries and found == expected | libraries, f"{prefix}: found {sorted(found)}"
    return [os.path.join(prefix, "libexec/winnow/runtime"), *(os.path.join(prefix, file) for file in libraries)]


def check_libraries(binaries, prefix, loader):
    """Each library is one of the image's own or one that every system with a C++ program has."""
    system = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so")
    for binary in binaries:
        for line in run(["ldd", binary], env=loader).splitlines():
            name, _, place = line.strip().partition(" => ")
            assert "not found" not in place, f"{binary}: {line.strip()}"
            is_own = place.startswith(prefix + "/")
            assert is_own or system.match(os.path.basename(name.split(" ")[0])), f"{binary}: {line.strip()}: not in the image"


def main():
    source, build, folder = sys.argv[1:4]
    all_ = instructions(os.path.join(source, "Dockerfile"))
    begins = [i for i, (name, _) in enumerate(all_) if name == "FROM"]
    assert len(begins) == 2, "expected two stages"
    stage, image = all_[begins[0]:begins[1]], all_[begins[1]:]
    shutil.rmtree(folder, ignore_errors=True)
    prefix = os.path.join(folder, "opt/winnow")
    arguments = dict(text.split("=", 1) for name, text in stage if name == "ARG")
    configure, make, install = cmake_lines(stage)

    places = {"/source": source, "/build": os.path.join(folder, "build"), "/opt/winnow": prefix}
    check_configure(configure, places, arguments)
    check_build(make, places)
    run([{**places, "/build": build}.get(word, word) for word in install])
    binaries = check_installed(prefix)

    # The second stage: what is copied is what was installed, and its loader is told of the libraries.
    assert ("COPY", "--from=build /opt/winnow /opt/winnow") in image
    told = re.search(r"printf '(.*)' > /etc/ld\.so\.conf\.d", dict(image)["RUN"]).group(1).split(r"\n")
    folders = [place.replace("/opt/winnow", prefix) for place in told if place]
    assert all(os.path.isdir(place) for place in folders), folders
    loader = {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}
    check_libraries(binaries, prefix, loader)
    last = dict(image)
    assert last["USER"] not in ("root", "0") and f"useradd --system --no-create-home --shell /usr/sbin/nologin {last['USER']}" in \
        last["RUN"]
    path = {**loader, "PATH": os.path.join(prefix, "bin") + ":" + os.environ["PATH"]}
    assert last["ENV"] == "PATH=/opt/winnow/bin:$PATH"
    health = json.loads(last["HEALTHCHECK"].split("CMD ", 1)[1])
    assert "instruction set" in run(health, env=path)
    assert "Run, measure" in run(json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]), env=path)
    print(f"{len(os.listdir(os.path.join(prefix, 'lib/winnow/needed')))} libraries come along")


if __name__ == "__main__":
    main()
