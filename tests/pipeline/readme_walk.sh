#!/bin/bash
# readme_walk.sh SOURCE BUILD FOLDER: runs every line of README.md's "From torchvision to a program" as it stands there, in FOLDER, where
# build and docs are links. Set-up puts packages into FOLDER/walk, which is kept for the next call; where they cannot be had, it
# says "skipped: ...". WINNOW_PYTHON_PACKAGES names a folder that has that torch already (site-packages). Weights are random: a
# file in the cache of torch.hub stands for the download.
set -eu
source=$1 build=$2 folder=$3
torch=$(sed -n 's/^torch_version=//p' "$source/.ci/setup")
torchvision=0.26.0  # the version for that torch
skip() { echo "skipped: $*"; exit 0; }

[ -x "$build/bin/quantize" ] || [ -x "$folder/walk/bin/winnow-quantize" ] || skip "this build has no quantize"
command -v pkg-config >/dev/null || skip "pkg-config is not installed"
mkdir -p "$folder"
cd "$folder"
ln -sfn "$build" build
ln -sfn "$source/docs" docs
ln -sfn "$source/configs" configs
python3 -m venv walk > log 2>&1 || skip "python3 -m venv: $(tail -1 log)"
# A torch that is there already is shared; else its CPU build is fetched. With PIP_NO_DEPS the line of the page, which finds all packages
# there, does not fetch NVIDIA's libraries besides, which take gigabytes.
export PIP_NO_DEPS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
packages=("torchvision==$torchvision" pillow numpy safetensors)
shared=${WINNOW_PYTHON_PACKAGES:-}
for python in "$source/.venv/bin/python3" python3; do
  [ -n "$shared" ] || shared=$("$python" - "$torch" 2>/dev/null <<'END'
import os, sys, torch
if torch.__version__.split("+")[0] == sys.argv[1]:
    print(os.path.dirname(os.path.dirname(torch.__file__)))
END
  ) || true
done
if [ -n "$shared" ]; then
  echo "$shared" > "$(walk/bin/python -c 'import site; print(site.getsitepackages()[0])')/torch.pth"
else
  packages+=("torch==$torch+cpu" filelock fsspec jinja2 markupsafe mpmath networkx sympy typing-extensions)
fi
walk/bin/pip install -q "${packages[@]}" > log 2>&1 || skip "pip: $(tail -1 log)"
walk/bin/python -c 'import torchvision' > log 2>&1 || skip "torchvision: $(tail -1 log)"

export TORCH_HOME=$PWD/torch-home
walk/bin/python - <<'END'
import os, torch, torchvision
from PIL import Image
torch.manual_seed(1)
place = os.path.join(torch.hub.get_dir(), "checkpoints")
os.makedirs(place, exist_ok=True)
url = torchvision.models.ResNet18_Weights.DEFAULT.url
torch.save(torchvision.models.resnet18().state_dict(), os.path.join(place, url.rsplit("/", 1)[1]))
# A picture neither square nor of the network's size.
Image.radial_gradient("L").resize((300, 260)).convert("RGB").save("picture.jpg")
END

# Lines of the block, each with its number in front when it is run.
awk '/^## /{on=0} /^## From torchvision to a program$/{on=1} /^```/{block=on && /^```sh$/; next} block' "$source/README.md" > lines.sh
count=$(grep -c . lines.sh)
[ "$count" -ge 9 ] || { echo "README.md: found $count lines of the walk"; exit 1; }
{
  echo 'set -eu; trap '\''echo "README.md: line $line of the walk failed"'\'' ERR'
  awk '{printf "line=%d; echo \"--- line %d\"\n%s\n", NR, NR, $0}' lines.sh
} > walk.sh
export WINNOW_CACHE=
bash walk.sh > output 2>&1 || { tail -30 output; exit 1; }

expect() { grep -qE "$2" output || { echo "README.md: no $1: found no line '$2' in $folder/output"; exit 1; }; }
expect "five classes" '^picture\.jpg: ([^,%]+ [0-9.]+ %, ){4}[^%]+ [0-9.]+ %'
expect "times" '^chosen +[0-9]+\.[0-9]+ '
expect "answer of the program in C" '^(cpu|cuda).*: class [0-9]+ \(.+\)$'
expect "last line" "^--- line $count\$"
# The same answer from what torchvision computes, but for rounding of weights to 8 bits.
walk/bin/winnow run walk/resnet18.wnw picture.jpg --quiet --json answer.json > log
walk/bin/python - <<'END'
import json, safetensors.torch, torch, torchvision
from PIL import Image
network = torchvision.models.resnet18()
network.load_state_dict(safetensors.torch.load_file("walk/resnet18.weights"))
picture = torchvision.models.ResNet18_Weights.DEFAULT.transforms()(Image.open("picture.jpg"))
with torch.no_grad():
    expected = network.eval()(picture[None]).softmax(1)[0]
for one in json.load(open("answer.json"))["images"][0]["top"]:
    found, wanted = one["probability"], expected[one["index"]].item()
    assert abs(found - wanted) < 0.1 * wanted, f"class {one['index']}: {found}, torchvision says {wanted}"
END

# The line that prunes, on two pictures of noise for each class, and less of everything.
prune=$(grep -E '^winnow prune --config configs/imported\.yaml ' "$source/README.md") || { echo "README.md: no line that prunes"; exit 1; }
if [ -x walk/bin/winnow-prune ]; then
  walk/bin/python - <<'END'
import os
from PIL import Image
Image.effect_noise((40, 50), 80).convert("RGB").save("noise.png")
for index in range(1000):
    for split, count in (("train", 2), ("test", 1)):
        folder = f"imagenet/{split}/n{index:08d}"
        os.makedirs(folder, exist_ok=True)
        for i in range(count):
            if not os.path.exists(f"{folder}/{i}.png"):
                os.link("noise.png", f"{folder}/{i}.png")
END
  PATH=$PWD/walk/bin:$PATH
  $prune data.limit=8 data.validation=8 train.batch_size=4 prune.iter_nr=1 prune.batch_nr=1 prune.pool_size=2 --device cpu --overwrite --quiet > log 2>&1 ||
    { cat log; exit 1; }
  winnow export --in runs/imported/pruned.safetensors -o pruned.wnw > log
  winnow run pruned.wnw picture.jpg --quiet > log
fi
echo "all $count lines of README.md run"
