"""What notebooks show of a run."""

from html import escape

from ._native import Run


def run_html(run: Run) -> str:
    """The page of a run in a frame; without a page, its scores, or what it is."""
    page = run._page()
    if page is not None:
        frame = "width: 100%; height: 720px; border: 1px solid #8884"
        # It may compute and save pictures and codes, but has no access to the notebook around it.
        rights = 'sandbox="allow-scripts allow-downloads" allow="clipboard-write"'
        return f'<iframe srcdoc="{escape(page)}" style="{frame}" title="{escape(repr(run))}" {rights}></iframe>'
    scores = run.scores
    table = "" if scores is None else scores._repr_html_()
    return f"<p><code>{escape(repr(run))}</code></p>{table}"
