#!/bin/bash
# onnx_runtime_test.sh SOURCE FOLDER BIN_DIR LIBWINNOW: runs onnx_runtime_test.py in an environment of its own in FOLDER.
set -eu
. "$1/tests/python/environment.sh"
environment "$2" numpy onnx onnxruntime
exec "$2/venv/bin/python" -B "$1/tests/import/onnx_runtime_test.py" "$3" "$4"
