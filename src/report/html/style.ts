/** The page's only style sheet. */
export const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2024, #e8eaed); --faint: light-dark(#5b6470, #9aa4b1); --line: light-dark(#d7dce2, #3a414b);
  --paper: light-dark(#ffffff, #16191d); --panel: light-dark(#f6f8fa, #1e2228); --before: light-dark(#8a5a00, #e0a63a); --after: light-dark(#0b5fb0, #6cb6ff);
  --good: light-dark(#0a6b35, #58c886); --bad: light-dark(#b3261e, #ff8a80); --unsure: light-dark(#7a5b00, #e3c04d); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 20px; }
h1 { font-size: 1.25rem; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 8px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
nav { position: sticky; top: 0; background: var(--paper); border-bottom: 1px solid var(--line); z-index: 1; }
nav ul { max-width: 1180px; margin: 0 auto; padding: 8px 20px; display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; }
a { color: var(--after); }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin: 16px 0; scroll-margin-top: 56px; }
.word { display: inline-block; font-weight: 700; padding: 2px 10px; border: 2px solid currentColor; border-radius: 6px; margin-right: 8px; }
.pass, .met { color: var(--good); } .fail, .missed { color: var(--bad); } .inconclusive { color: var(--unsure); }
.faint { color: var(--faint); }
.table { overflow-x: auto; max-width: 100%; margin: 8px 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding: 2px 0; }
th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:not(.n) { overflow-wrap: anywhere; min-width: 12ch; }
th.n, td.n { text-align: right; white-space: nowrap; }
th button { all: unset; cursor: pointer; }
th button:focus-visible, a:focus-visible, summary:focus-visible, input:focus-visible, button:focus-visible { outline: 2px solid var(--after); outline-offset: 2px; }
th[aria-sort=ascending] button::after { content: " \\25B2"; } th[aria-sort=descending] button::after { content: " \\25BC"; }
tr.chosen td { font-weight: 700; }
.filter { display: block; margin: 4px 0; } .filter input { font: inherit; width: min(28ch, 60%); }
svg { width: 100%; max-width: 720px; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg text { fill: var(--faint); } svg text.axis { fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: 1; }
.before { stroke: var(--before); fill: none; stroke-width: 2; stroke-dasharray: 6 3; } .after { stroke: var(--after); fill: none; stroke-width: 2; }
.dot { fill: var(--paper); stroke: var(--faint); stroke-width: 2; } .dot.front { stroke: var(--after); } .dot.taken { fill: var(--after); stroke: var(--after); } .dot.base { stroke: var(--before); }
.front-line { stroke: var(--after); stroke-width: 1; fill: none; stroke-dasharray: 2 3; }
.limit { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 4; }
.bar.before { fill: var(--before); stroke: none; opacity: .55; } .bar.after { fill: var(--after); stroke: none; }
.key { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 4px 0; } .key svg { width: 28px; height: 12px; display: inline-block; vertical-align: middle; margin-right: 6px; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 8px; border: 1px solid var(--line); border-radius: 6px; margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
details > summary { cursor: pointer; color: var(--after); }
button.copy { font: inherit; }
@media (max-width: 600px) { header, main, footer { padding: 0 10px; } nav { position: static; } nav ul { padding: 8px 10px; } section { padding: 10px; } }
@media print { :root { color-scheme: light; } nav, .filter, button.copy { display: none; } section { break-inside: avoid; } }
`;
