"""What a notebook shows of a run: its page in a frame, whose scripts run there."""

import shutil
import subprocess

import pytest


def test_a_run_shows_its_page(trained):
    html = trained._repr_html_()
    assert html.startswith("<iframe") and "&lt;html" in html
    # Quotes and brackets of the page, and the frame around it, are all that is added.
    page = (trained.path / "report.html").stat().st_size
    assert page < len(html.encode()) < 1.3 * page


def console(html, tmp_path):
    """What a browser says about a notebook that shows this."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium here")
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title>{html}")
    shown = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--enable-logging=stderr", "--virtual-time-budget=3000", f"--user-data-dir={tmp_path / 'profile'}",
            f"--screenshot={tmp_path / 'notebook.png'}", "--window-size=1000,800", notebook.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )
    assert (tmp_path / "notebook.png").is_file(), shown.stderr
    return [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


def test_the_scripts_of_the_page_run_in_the_frame(trained, tmp_path):
    assert console(trained._repr_html_(), tmp_path) == []


def test_a_script_that_is_not_of_the_page_does_not_run(trained, tmp_path):
    """Also shows that the test above would see it."""
    html = trained._repr_html_().replace("&lt;/body&gt;", "&lt;script&gt;var foreign&lt;/script&gt;&lt;/body&gt;")
    said = console(html, tmp_path)
    assert len(said) == 1 and "Content Security Policy" in said[0]
