"""What the page frontier.md says of networks that have 160 epochs in all, with those of a teacher."""
from printers import frontier
from printers.frontier_runs import as_fast
from printers.runs import Runs

VGG16, RESNET50 = (Runs(f"{frontier.FOLDER}/{network}-cifar10-long-h200-b128") for network in ("vgg16", "resnet50"))
DENSE = "dense-160"
UNTAUGHT, TAUGHT = "cut6-vector16-3", "scratch-cut6-vector16-3-taught"
BETWEEN, SLOWER = "scratch-cut6-vector16-2.85-taught", "scratch-cut6-vector16-2.8-taught"
KEPT, KEPT_MORE = "kept-cut6-vector16-3-taught", "kept-cut6-vector16-3-taught-more"
KEPT_SLOWER, KEPT_FASTER = "kept-cut6-vector16-2.9-taught", "kept-cut6-vector16-3.2-taught"
LATE9, LAST8, LAST9 = "plain-late9", "last8-taught", "last9-taught"


BLOCKS = {
    "long_frontier.taught": lambda: VGG16.beside(TAUGHT, UNTAUGHT),
    "long_frontier.between_dense": lambda: VGG16.beside(BETWEEN, DENSE),
    "long_frontier.between_faster": lambda: as_fast(VGG16, BETWEEN),
    "long_frontier.slower": lambda: VGG16.beside(SLOWER, TAUGHT),
    "long_frontier.slower_dense": lambda: VGG16.beside(SLOWER, DENSE),
    "long_frontier.slower_faster": lambda: as_fast(VGG16, SLOWER),
    "long_frontier.kept": lambda: VGG16.beside(KEPT, TAUGHT),
    "long_frontier.kept_dense": lambda: VGG16.beside(KEPT, DENSE),
    "long_frontier.kept_faster": lambda: as_fast(VGG16, KEPT),
    "long_frontier.kept_more": lambda: VGG16.beside(KEPT_MORE, KEPT),
    "long_frontier.last8": lambda: RESNET50.beside(LAST8, DENSE),
    "long_frontier.last8_faster": lambda: as_fast(RESNET50, LAST8),
    "long_frontier.last9": lambda: RESNET50.beside(LAST9, DENSE),
    "long_frontier.last9_faster": lambda: as_fast(RESNET50, LAST9),
    "long_frontier.late9": lambda: RESNET50.beside(LATE9, DENSE),
    "long_frontier.late9_faster": lambda: as_fast(RESNET50, LATE9),
}
