"""What becomes of a picture before it is a sample."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union


@dataclass(frozen=True)
class PictureForm:
    """A picture is resized, then its centre is cut out, as torchvision's Resize and CenterCrop do with Pillow's images.

    resize: the shorter side, which keeps the aspect, or (height, width); None: it is not resized.
    crop: (height, width); None: nothing is cut out.
    interpolation: "nearest", "box", "bilinear", "bicubic" or "lanczos", as Pillow and torchvision.transforms.InterpolationMode
    call them.

    Where both are None, a picture is scaled, its aspect kept, to cover the input, whose size is then cut out of its centre.
    """

    resize: Union[int, tuple[int, int], None] = None
    crop: Optional[tuple[int, int]] = None
    interpolation: str = "bilinear"


def form_of(facts: Any) -> PictureForm:
    """Of what the compiled module says: sides of 0 are not given."""
    (height, width), crop, interpolation = facts
    resize = (height, width) if width else height or None
    return PictureForm(resize, crop if crop[0] else None, interpolation)
