"""pillow_test.py PROGRAM FOLDER: compares the pixels that PROGRAM (picture_pixels) makes with Pillow's, bit by bit.

Pillow comes into a virtual environment in FOLDER; where it cannot be had, the test says "skipped: ...". From version
13 on Pillow begins with the columns of some pictures, which rounds otherwise; ours are the pixels of the versions
before it, which begin with the rows."""

import io
import os
import pathlib
import random
import subprocess
import sys

FILTERS = ["nearest", "box", "bilinear", "bicubic", "lanczos"]


def run_in_environment(folder):
    """Starts this file again where Pillow is."""
    environment = folder / "venv"
    python = environment / "bin" / "python"
    steps = [[sys.executable, "-m", "venv", str(environment)],
             [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", "pillow<13"]]
    if not python.exists() or subprocess.run([str(python), "-c", "import PIL"], stderr=subprocess.DEVNULL).returncode:
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                lines = (done.stderr + done.stdout).strip().splitlines()
                print("skipped: Pillow is not to be had:", lines[-1] if lines else "no reason given")
                return 0
    return subprocess.run([str(python), "-B", *sys.argv]).returncode


def torchvision_form(image, resize, crop, resample):
    """Resize and CenterCrop by torchvision's documented rules, on Pillow's own resize."""
    if resize and len(resize) == 1:
        width, height = image.size
        short, long = min(width, height), max(width, height)
        sides = (resize[0], int(resize[0] * long / short))
        image = image.resize(sides if width <= height else sides[::-1], resample)
    elif resize:
        image = image.resize((resize[1], resize[0]), resample)
    if crop:
        top, left = (int(round((have - keep) / 2.0)) for have, keep in zip(image.size[::-1], crop))
        image = image.crop((left, top, left + crop[1], top + crop[0]))
    return image


def noise(randomness, mode, height, width):
    """Steps, ramps and noise: what overshoots, and what rounds."""
    from PIL import Image
    channels = len(mode)
    kind = randomness.choice(["noise", "steps", "ramp"])
    values = {"noise": lambda y, x: randomness.randrange(256), "steps": lambda y, x: 255 * ((x // 3 + y // 2) % 2),
              "ramp": lambda y, x: (3 * x + 5 * y) % 256}[kind]
    data = bytes(values(y, x) for y in range(height) for x in range(width) for _ in range(channels))
    return Image.frombytes(mode, (width, height), data)


def compare(program, folder, randomness):
    from PIL import Image
    mode = randomness.choice(["L", "RGB"])
    height, width = randomness.randint(1, 90), randomness.randint(1, 90)
    image = noise(randomness, mode, height, width)
    path = folder / "picture.png"
    image.save(path)
    resize = randomness.choice([[], [randomness.randint(1, 120)], [randomness.randint(1, 120), randomness.randint(1, 120)]])
    name = randomness.choice(FILTERS)
    expected = torchvision_form(image, resize, [], Image.Resampling[name.upper()])
    crop = []
    if randomness.random() < 0.5:
        crop = [randomness.randint(1, expected.size[1]), randomness.randint(1, expected.size[0])]
        if len(resize) == 1:  # what every picture of that shorter side has
            crop = [min(side, resize[0]) for side in crop]
        expected = torchvision_form(image, resize, crop, Image.Resampling[name.upper()])
    texts = ["x".join(map(str, sides)) for sides in (resize, crop)]
    done = subprocess.run([program, "pixels", str(path), str(len(mode)), *texts, name], capture_output=True)
    case = f"{mode} {height} x {width}, resize {texts[0]!r}, crop {texts[1]!r}, {name}"
    if done.returncode:
        sys.exit(f"{case}: {done.stderr.decode()}")
    found = Image.open(io.BytesIO(done.stdout))
    if found.size != expected.size or found.tobytes() != expected.tobytes():
        steps = max((abs(a - b) for a, b in zip(found.tobytes(), expected.tobytes())), default=0)
        sys.exit(f"{case}: {found.size} and {expected.size}, pixels differ by up to {steps}")


def compare_classes(program, folder):
    """torchvision's ImageFolder: names of subfolders, sorted."""
    from PIL import Image
    for name in ["n02", "n01", "Zebra", "ant", "10", "9", "\u00e4", "_x"]:
        (folder / "data" / "train" / name).mkdir(parents=True, exist_ok=True)
        Image.new("L", (2, 2)).save(folder / "data" / "train" / name / "1.png")
    expected = sorted(entry.name for entry in os.scandir(folder / "data" / "train") if entry.is_dir())
    done = subprocess.run([program, "classes", str(folder / "data")], capture_output=True, check=True)
    found = done.stdout.decode().splitlines()
    assert found == expected, (found, expected)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    try:
        import PIL
    except ImportError:
        folder.mkdir(parents=True, exist_ok=True)
        return run_in_environment(folder)
    folder.mkdir(parents=True, exist_ok=True)
    compare_classes(program, folder)
    randomness = random.Random(1)
    for _ in range(400):
        compare(program, folder, randomness)
    print(f"400 pictures equal to those of Pillow {PIL.__version__}, bit by bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
