"""The code of docs/python.md. Needs nothing but Python: another interpreter may load it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def sections():
    """The text of docs/python.md by its headings."""
    parts = re.split(r"^## (.*)\n", (ROOT / "docs/python.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(text):
    """The blocks of Python code in a text."""
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def architectures():
    """The calls in the table of PyTorch's modules, by the names of architectures."""
    return dict(re.findall(r"^\| `([a-z0-9-]+)` \| `(.*)` \|$", sections()["PyTorch"], flags=re.MULTILINE))
