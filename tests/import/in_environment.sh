#!/bin/bash
# in_environment.sh FOLDER SCRIPT [ARGUMENT ...]: runs a test in Python with what it imports, in a virtual environment in
# FOLDER, which is made once. Where pip cannot get a package, it says "skipped: ...". With WITH_TORCH=1 the environment has
# PyTorch and torchvision too: the PyTorch that PYTHONPATH, .venv (`make deps`) or python3 has, else the one for CPUs.
set -eu
folder=$1 root=$(cd "$(dirname "$0")/../.." && pwd)
shift
packages="numpy onnx onnxruntime"
[ -z "${WITH_TORCH:-}" ] || packages="numpy onnx safetensors pillow"
python=$folder/venv/bin/python log=$folder/log

or_skip() {  # WHAT COMMAND ...
  "${@:2}" > "$log" 2>&1 && return
  echo "skipped: $1: $(tail -1 "$log")"
  exit 0
}
install() { or_skip "pip install $*" "$python" -m pip --disable-pip-version-check install -q "$@"; }

add_torch() {
  for other in "$root/.venv/bin/python3" python3; do
    "$python" -c "import torch" 2> /dev/null && break
    site=$("$other" -c "import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))" 2> /dev/null) || continue
    echo "$site" > "$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/other_torch.pth"
  done
  "$python" -c "import torch" 2> /dev/null || install torch --index-url https://download.pytorch.org/whl/cpu
  # torchvision 0.26 is made for PyTorch 2.11, and so on; --no-deps, because it would bring another PyTorch.
  install --no-deps "torchvision==$("$python" -c "import torch; print(f'0.{int(torch.__version__.split(\".\")[1]) + 15}.*')")"
}

mkdir -p "$folder"
if [ "$(cat "$folder/packages" 2> /dev/null)" != "$packages" ]; then
  rm -rf "$folder/venv"
  or_skip "python3 -m venv" python3 -m venv "$folder/venv"
  # shellcheck disable=SC2086  # several words
  install $packages
  [ -z "${WITH_TORCH:-}" ] || add_torch
  echo "$packages" > "$folder/packages"
fi
exec "$python" -B "$@"
