# Sourced by tests that run Python packages:
#   environment FOLDER PACKAGE...   makes FOLDER/venv with the packages, or says "skipped: ..." and ends the test
#   add_torchvision FOLDER          adds torch and torchvision for CPUs, or does the same
# WINNOW_TEST_SITE may name a folder of packages (site-packages) that are then not fetched: torch is large.

environment() {
  local folder=$1
  shift
  mkdir -p "$folder"
  if ! python3 -m venv "$folder/venv" > "$folder/log" 2>&1; then
    echo "skipped: python3 -m venv: $(tail -1 "$folder/log")"
    exit
  fi
  if [ -n "${WINNOW_TEST_SITE:-}" ]; then
    echo "$WINNOW_TEST_SITE" > "$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/site.pth"
  fi
  fetch "$folder" "$@"
}

fetch() {
  local folder=$1
  shift
  if ! "$folder/venv/bin/pip" --disable-pip-version-check install -q --retries 1 --timeout 20 "$@" > "$folder/log" 2>&1; then
    echo "skipped: pip cannot install $*: $(tail -1 "$folder/log")"
    exit
  fi
}

add_torchvision() {
  local folder=$1 version
  if version=$("$folder/venv/bin/python" -c 'import torch; print(torch.__version__.split("+")[0])' 2> "$folder/log"); then
    fetch "$folder" torchvision "torch==$version"
  else
    fetch "$folder" --index-url https://download.pytorch.org/whl/cpu torch torchvision
  fi
}
