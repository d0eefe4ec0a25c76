#!/bin/bash
# package_test.sh SOURCE FOLDER BIN_DIR: installs the package into a fresh virtual environment in FOLDER, as a user does, and
# tests it there, against ONNX Runtime where pip gets that. Where pip cannot get what the build needs, it says "skipped: ...".
set -eu
source=$1 folder=$2 bin=$3
. "$source/tests/python/environment.sh"
rm -rf "$folder/venv"
environment "$folder" scikit-build-core nanobind numpy
headers=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
if [ ! -e "$headers/Python.h" ]; then
  echo "skipped: no Python.h in $headers (Debian's package python3-dev)"
  exit
fi
pip="$folder/venv/bin/pip --disable-pip-version-check"
# As in pip's own isolation, but with a build folder that is kept, so that a second run compiles what has changed.
$pip install -q --no-build-isolation --config-settings=build-dir="$folder/build" \
  --config-settings=cmake.define.WINNOW_CUDA="${WINNOW_CUDA:-AUTO}" "$source"
if ! $pip install -q onnxruntime > "$folder/log" 2>&1; then
  echo "without ONNX Runtime: $(tail -1 "$folder/log")"
fi
"$folder/venv/bin/python" "$source/tests/python/package_test.py" "$source/tests/model/data/golden-1.0.wnw" "$bin/export" "$folder"
