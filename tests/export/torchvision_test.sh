#!/bin/bash
# torchvision_test.sh SOURCE FOLDER BIN_DIR LIBWINNOW: runs torchvision_test.py in an environment of its own in FOLDER.
set -eu
. "$1/tests/python/environment.sh"
environment "$2" numpy
add_torchvision "$2"
exec "$2/venv/bin/python" -B "$1/tests/export/torchvision_test.py" "$3" "$4"
