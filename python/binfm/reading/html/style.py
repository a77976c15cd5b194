"""The style of the page. Colors are those of Okabe and Ito, safe for the color-blind, and lighter on a dark page."""

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d8dde3; --page: #ffffff; --card: #f6f8fa;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b0568c; --c4: #2f8fc4; --c5: #b47b00; --c6: #444444; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --line: #363d47; --page: #14171b;
  --card: #1d2127; --c0: #56b4e9; --c1: #ff8a3d; --c2: #2fc99b; --c3: #e39fc6; --c4: #9bd4f5; --c5: #f0b429;
  --c6: #cccccc; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; max-width: 48rem; }
.soft { color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
.cards b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
.grid { margin: 1rem 0; }
.grid > section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
  min-width: 0; }
.beside { display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: flex-start; }
.beside > * { max-width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .7rem .15rem 0; vertical-align: middle; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
tbody tr { border-top: 1px solid var(--line); }
.wide { overflow-x: auto; }
.track { display: inline-block; width: 8rem; text-align: left; }
.bar { display: inline-block; height: .7em; background: var(--c0); border-radius: 2px; min-width: 1px; }
details summary { cursor: pointer; color: var(--soft); }
details table { font-size: .85rem; margin-top: .4rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
svg .soft { fill: var(--soft); }
svg .h0 { fill: var(--c0); } svg .h1 { fill: var(--c1); } svg .h5 { fill: var(--c5); }
svg .h0, svg .h1, svg .h5 { stroke: var(--line); stroke-width: .5; }
svg .axis { stroke: var(--line); } svg .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0; }
.legend i { display: inline-block; width: 1.1em; height: .25em; margin-right: .4em; vertical-align: middle; }
@media print { details { display: none; } }
"""
