"""Text of a report as its reader sees it."""

import re
from html.parser import HTMLParser

from bayesagree.report.page import sentences

VOID = {"meta", "link", "img", "br", "input", "hr"}
BLOCKS = {"p", "li", "dd", "figcaption", "caption", "summary"}


def sentence(data, part):
    """Return the one sentence that has a part."""
    [found] = [text for text in sentences(data) if part in text]
    return found


class Text(HTMLParser):
    """Text of a page by block: (path of tags and ids, text)."""

    def __init__(self, page):
        super().__init__()
        self.open, self.blocks = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id") or "", dict(attributes).get("class") or ""))
        if tag in BLOCKS:
            self.blocks.append((list(self.open), []))

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        tags = [one[0] for one in self.open]
        if BLOCKS & set(tags) and "script" not in tags and self.blocks:
            self.blocks[-1][1].append(data)

    def outside(self, *names):
        """Return the text of each block that is not in an element of these tags, ids or classes."""
        for path, parts in self.blocks:
            if not {word for one in path for word in one} & set(names):
                yield path[-1][0], " ".join("".join(parts).split())


def first_screen(page):
    """Return the text of the summary without what is folded, as one line."""
    summary = re.search(r'<section id="summary".*?</section>', page, flags=re.DOTALL)[0]
    summary = re.sub(r"<details.*?</details>", "", summary, flags=re.DOTALL)
    from markupsafe import Markup

    return Markup(re.sub(r"</(p|h2|th|td|strong)>", r"</\1> ", summary)).striptags()
