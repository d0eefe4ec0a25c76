#!/bin/bash
# torch_networks_test.sh SOURCE FOLDER BIN_DIR LIBWINNOW OPTION...: runs torch_networks_test.py in an environment of its own in FOLDER.
set -eu
. "$1/tests/python/environment.sh"
environment "$2" numpy onnx safetensors pillow
add_torchvision "$2"
exec "$2/venv/bin/python" -B "$1/tests/import/torch_networks_test.py" "${@:3}"
