"""A model as a self-contained HTML page: no network, no scripts, light and dark."""

from binfm.reading.html.page import html_report

__all__ = ["html_report"]
