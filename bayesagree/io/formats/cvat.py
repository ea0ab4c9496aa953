"""CVAT: a ZIP with the XML ("CVAT for images 1.1") of each annotator; tags of whole images are labels."""

from pathlib import PurePosixPath
from xml.etree import ElementTree

from bayesagree.errors import InputError
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

SHAPES = ("box", "polygon", "polyline", "points", "cuboid", "mask", "skeleton", "ellipse")


def read(file: File, question: str | None) -> Found:
    """Read tags; the annotator is the assignee of the job, else the name of the file. Shapes are left out."""
    found = Found()
    for name, text in file.contents(file.members):
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise InputError(f"{file.name}, {name}: not XML ({error}); export it again") from error
        if root.tag != "annotations":
            raise InputError(
                f"{file.name}, {name}: the XML begins with <{root.tag}>; export as 'CVAT for images 1.1'"
            )
        who = root.findtext("meta/job/assignee/username") or root.findtext("meta/task/assignee/username")
        for image in root.iter("image"):
            tags = [tag.attrib["label"] for tag in image.findall("tag")]
            found.left_out["boxes and other shapes"] += sum(len(image.findall(shape)) for shape in SHAPES)
            found.left_out["images without a tag"] += not tags
            found.answers += (
                [("tag", image.attrib["name"], who or PurePosixPath(name).stem, tags)] if tags else []
            )
    return found
