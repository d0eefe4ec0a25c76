#!/bin/bash
# package_test.sh SOURCE FOLDER: installs the package into a fresh virtual environment in FOLDER, as a user does, and
# tests it there. Where pip cannot get what the build needs, it says "skipped: ...".
set -eu
source=$1 folder=$2
rm -rf "$folder/venv"
mkdir -p "$folder"
if ! python3 -m venv "$folder/venv" > "$folder/log" 2>&1; then
  echo "skipped: python3 -m venv: $(tail -1 "$folder/log")"
  exit
fi
pip="$folder/venv/bin/pip --disable-pip-version-check"
if ! $pip install -q scikit-build-core nanobind numpy > "$folder/log" 2>&1; then
  echo "skipped: pip cannot install what the build needs: $(tail -1 "$folder/log")"
  exit
fi
# As in pip's own isolation, but with a build folder that is kept, so that a second run compiles what has changed.
$pip install -q --no-build-isolation -C build-dir="$folder/build" -C cmake.define.WINNOW_CUDA="${WINNOW_CUDA:-AUTO}" "$source"
"$folder/venv/bin/python" "$source/tests/python/package_test.py" "$source/tests/model/data/golden-1.0.wnw" "$folder/checkpoint.safetensors"
