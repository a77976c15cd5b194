"""A model as one page of HTML that needs nothing else: no network, no scripts, light and dark."""

from binfm.reading.html.page import html_report

__all__ = ["html_report"]
