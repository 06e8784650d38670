from pathlib import Path
from typing import BinaryIO

def open(filename: Path) -> BinaryIO: ...
