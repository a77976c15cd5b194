"""The style of the page and of notebooks.

Colors are those of Okabe and Ito, safe for the color-blind, and lighter on a dark page. Every rule that both share is
below `.binfm`, so that a notebook keeps its own style elsewhere.
"""

_LIGHT = """--c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b0568c; --c4: #2f8fc4; --c5: #b47b00; --c6: #444444;"""
_DARK = """--c0: #56b4e9; --c1: #ff8a3d; --c2: #2fc99b; --c3: #e39fc6; --c4: #9bd4f5; --c5: #f0b429; --c6: #cccccc;"""

_SHARED = """
.binfm * { box-sizing: border-box; }
.binfm h3 { font-size: 1rem; font-weight: 600; margin: 0 0 .25rem; overflow-wrap: anywhere; }
.binfm p { margin: .25rem 0 .75rem; max-width: 48rem; }
.binfm .soft { color: var(--soft); }
.binfm .cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
.binfm .cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .5rem .9rem; }
.binfm .cards b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.binfm .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1rem;
  margin: 1rem 0; }
.binfm .grid > section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem; min-width: 0; }
.binfm .beside { display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: flex-start; }
.binfm .beside > * { max-width: 100%; }
.binfm table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.binfm th, .binfm td { text-align: right; padding: .15rem .7rem .15rem 0; vertical-align: middle; }
.binfm th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.binfm th:first-child, .binfm td:first-child { text-align: left; overflow-wrap: anywhere; }
.binfm .two th:nth-child(2), .binfm .two td:nth-child(2) { text-align: left; overflow-wrap: anywhere; }
.binfm tbody tr { border-top: 1px solid var(--line); }
.binfm .wide { overflow-x: auto; }
.binfm .track { display: inline-block; width: 8rem; text-align: left; white-space: nowrap; }
.binfm .bar { display: inline-block; height: .7em; background: var(--c0); border-radius: 2px; min-width: 1px; }
.binfm .bar.down { background: var(--c1); }
.binfm details summary { cursor: pointer; color: var(--soft); }
.binfm details table { font-size: .85rem; margin-top: .4rem; }
.binfm svg { display: block; width: 100%; height: auto; }
.binfm svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
.binfm svg .soft { fill: currentColor; }
.binfm svg .count { fill: var(--soft); fill-opacity: .35; } .binfm i.count { background: var(--soft); opacity: .35; }
.binfm svg .h0 { fill: var(--c0); } .binfm svg .h1 { fill: var(--c1); } .binfm svg .h5 { fill: var(--c5); }
.binfm svg .h0, .binfm svg .h1, .binfm svg .h5 { stroke: var(--line); stroke-width: .5; }
.binfm svg .axis { stroke: var(--line); } .binfm svg .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
.binfm .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0; }
.binfm .legend i { display: inline-block; width: 1.1em; height: .4em; margin-right: .4em; vertical-align: middle; }
"""

PAGE = f"""
:root {{ color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d8dde3; --page: #ffffff; --card: #f6f8fa;
  {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e6e9ed; --soft: #9aa4b0; --line: #363d47; --page: #14171b;
  --card: #1d2127; {_DARK} }} }}
body {{ margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }}
{_SHARED}
@media print {{ details {{ display: none; }} }}
"""

NOTEBOOK = f"""
.binfm {{ --ink: currentColor; --soft: color-mix(in srgb, currentColor 65%, transparent);
  --line: color-mix(in srgb, currentColor 20%, transparent); --card: transparent;
  {_LIGHT}
  background: transparent; color: inherit; font: 13px/1.45 system-ui, sans-serif; max-width: 64rem; }}
@media (prefers-color-scheme: dark) {{ .binfm {{ {_DARK} }} }}
[data-jp-theme-light="true"] .binfm, .vscode-light .binfm, [theme="light"] .binfm {{ {_LIGHT} }}
[data-jp-theme-light="false"] .binfm, .vscode-dark .binfm, [theme="dark"] .binfm {{ {_DARK} }}
{_SHARED}
.binfm .cards {{ gap: .5rem; margin: .5rem 0; }}
.binfm .cards div {{ padding: .25rem .7rem; }}
.binfm .cards b {{ font-size: 1.1rem; }}
.binfm .grid {{ grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: .6rem; margin: .5rem 0; }}
.binfm table {{ border: 0; margin: .4rem 0; table-layout: auto; }}
.binfm th, .binfm td {{ color: inherit; max-width: 24rem; border: 0; }}
.binfm th {{ color: var(--soft); }}
.binfm p {{ margin: .2rem 0 .4rem; }}
"""
"""In a notebook text has the color of the notebook, and the background shows through. Colors follow the theme of
JupyterLab, VS Code or Colab where that is known, else the reader's choice of light or dark."""
