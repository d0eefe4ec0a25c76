"""The scripts of docs/import.md, run as they stand there, and what import makes of their results."""
import os
import re
import shlex
import subprocess
import sys

import torch
import torchvision

NETWORK = "resnet18"
PROJECT = '''
import sys
sys.path.insert(0, {tests!r})
from torch_networks_test import SmallNetwork as Network
'''


def import_options(folder, script, *arguments, **environment):
    """The options of the line that the script prints, its files with their folder."""
    ended = subprocess.run([sys.executable, "-B", "-c", script, *arguments], cwd=folder, capture_output=True, text=True,
                           env={**os.environ, **environment})
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    words = shlex.split(ended.stdout)
    options = words[1:words.index("-o")]
    return [os.path.join(folder, word) if os.path.exists(os.path.join(folder, word)) else word for word in options]


def page_tests(tests, page, network, small_network, graph):
    """`network` is torchvision's NETWORK; its weights stand in torch.hub's cache for those that the script would download."""
    with open(page, encoding="utf-8") as file:
        of_torchvision, of_state_dict = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)

    def torchvision_options(folder):
        cache = os.path.join(folder, "hub", "checkpoints")
        os.makedirs(cache)
        url = torchvision.models.get_model_weights(NETWORK).DEFAULT.url
        torch.save(network.state_dict(), os.path.join(cache, url.rsplit("/", 1)[1]))
        return import_options(folder, of_torchvision, NETWORK, TORCH_HOME=folder)

    def state_dict_options(folder):
        torch.save(small_network.state_dict(), os.path.join(folder, "trained.pt"))
        with open(os.path.join(folder, "my_project.py"), "w", encoding="utf-8") as file:
            file.write(PROJECT.format(tests=os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(folder, "graph.yaml"), "w", encoding="utf-8") as file:
            file.write(graph)
        return import_options(folder, of_state_dict)

    tests.compare("docs/import.md: torchvision", network, (3, 224, 224), torchvision_options)
    tests.compare("docs/import.md: state_dict", small_network, (1, 28, 28), state_dict_options)
