"""What notebooks show of a run."""

from html import escape

from ._native import Run


def run_html(run: Run) -> str:
    """The page of a run in a frame; without a page, its scores, or what it is."""
    page = run._page()
    if page is not None:
        frame = "width: 100%; height: 720px; border: 1px solid #8884"
        return f'<iframe srcdoc="{escape(page)}" style="{frame}" sandbox="allow-scripts"></iframe>'
    scores = run.scores
    table = "" if scores is None else scores._repr_html_()
    return f"<p><code>{escape(repr(run))}</code></p>{table}"
