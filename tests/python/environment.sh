# Sourced by tests that run Python packages:
#   environment FOLDER PACKAGE...   makes FOLDER/venv with the packages, unless it is there, or says "skipped: ..." and ends the test
#   add_torchvision FOLDER          adds torchvision with the torch of .venv (`make deps`) or python3, else with one for CPUs
# WINNOW_TEST_SITE may name a folder of packages (site-packages) that are then not fetched: torch is large.

environment() {
  local folder=$1
  shift
  mkdir -p "$folder"
  if [ -x "$folder/venv/bin/python" ] && [ "$(cat "$folder/packages" 2> /dev/null)" = "$*" ]; then return; fi
  rm -rf "$folder/venv" "$folder/packages"
  if ! python3 -m venv "$folder/venv" > "$folder/log" 2>&1; then
    echo "skipped: python3 -m venv: $(tail -1 "$folder/log")"
    exit
  fi
  [ -z "${WINNOW_TEST_SITE:-}" ] || share "$folder" "$WINNOW_TEST_SITE"
  fetch "$folder" "$@"
  echo "$*" > "$folder/packages"
}

fetch() {
  local folder=$1
  shift
  if ! "$folder/venv/bin/pip" --disable-pip-version-check install -q --retries 1 --timeout 20 "$@" > "$folder/log" 2>&1; then
    echo "skipped: pip cannot install $*: $(tail -1 "$folder/log")"
    exit
  fi
}

# The packages of another place come after the environment's own.
share() {
  echo "$2" > "$("$1/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth"
}

add_torchvision() {
  local folder=$1 root python=$1/venv/bin/python other site
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  if "$python" -c "import torchvision" 2> /dev/null; then return; fi
  for other in "$root/.venv/bin/python3" python3; do
    if "$python" -c "import torch" 2> /dev/null; then break; fi
    if site=$("$other" -c "import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))" 2> /dev/null); then
      share "$folder" "$site"
    fi
  done
  "$python" -c "import torch" 2> /dev/null || fetch "$folder" torch --index-url https://download.pytorch.org/whl/cpu
  # torchvision 0.26 is made for PyTorch 2.11, and so on; --no-deps, because it would bring another PyTorch.
  fetch "$folder" --no-deps "torchvision==$("$python" -c "import torch; print(f'0.{int(torch.__version__.split(\".\")[1]) + 15}.*')")"
}
