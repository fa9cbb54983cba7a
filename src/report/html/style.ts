/** The page's only style sheet. */
export const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2024, #e8eaed); --faint: light-dark(#5b6470, #9aa4b1); --line: light-dark(#d7dce2, #3a414b);
  --paper: light-dark(#ffffff, #16191d); --panel: light-dark(#f6f8fa, #1e2228); --before: light-dark(#8a5a00, #e0a63a); --after: light-dark(#0b5fb0, #6cb6ff);
  --good: light-dark(#0a6b35, #58c886); --bad: light-dark(#b3261e, #ff8a80); --unsure: light-dark(#7a5b00, #e3c04d); }
* { box-sizing: border-box; } [hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 20px; }
h1 { font-size: 1.25rem; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 8px; }
p { margin: 4px 0; } p, li { overflow-wrap: anywhere; }
nav { position: sticky; top: 0; background: var(--paper); border-bottom: 1px solid var(--line); z-index: 1; }
nav ul { max-width: 1180px; margin: 0 auto; padding: 8px 20px; display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; }
a { color: var(--after); }
/* What is out of sight is neither styled nor laid out until it comes near. */
section { content-visibility: auto; contain-intrinsic-size: auto 600px; } @media print { section { content-visibility: visible; } }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin: 16px 0; scroll-margin-top: 56px; }
.word { display: inline-block; font-weight: 700; padding: 2px 10px; border: 2px solid currentColor; border-radius: 6px; margin-right: 8px; }
.pass, .met { color: var(--good); } .fail, .missed { color: var(--bad); } .inconclusive { color: var(--unsure); }
.faint { color: var(--faint); }
.table { overflow-x: auto; max-width: 100%; margin: 8px 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding: 2px 0; max-width: calc(100vw - 62px); }
th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:not(.n) { overflow-wrap: anywhere; } td.s { white-space: nowrap; } th.w2 { min-width: 22ch; } th.w3 { min-width: 30ch; }
table.stacked td:not(.note) { white-space: nowrap; } .limit-bar { width: 200px; min-width: 120px; } .span { stroke-width: 6; opacity: .7; } .span.met { stroke: var(--good); } .span.missed { stroke: var(--bad); } .span.inconclusive { stroke: var(--unsure); }
.point.met { fill: var(--good); } .point.missed { fill: var(--bad); } .point.inconclusive { fill: var(--unsure); }
.outside rect { fill: var(--bad); fill-opacity: .1; stroke: var(--bad); stroke-opacity: .8; stroke-width: .7; }
th.n, td.n { text-align: right; white-space: nowrap; }
th button { all: unset; cursor: pointer; }
th button:focus-visible, a:focus-visible, summary:focus-visible, input:focus-visible, button:focus-visible, select:focus-visible, .scroll:focus-visible { outline: 2px solid var(--after); outline-offset: 2px; }
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
.bar.before { fill: var(--before); stroke: none; } .bar.after { fill: var(--after); stroke: none; }
.key { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 4px 0; } .key svg { width: 28px; height: 12px; display: inline-block; vertical-align: middle; margin-right: 6px; }
.spot { fill: var(--after); fill-opacity: .8; stroke: var(--panel); stroke-width: .5; } .spot.base { fill: var(--before); } .spot.bad { fill: var(--bad); } .spot.good { fill: var(--good); } .spot.unsure { fill: var(--unsure); } .most { stroke: var(--good); stroke-width: 1.5; stroke-dasharray: 2 3; }
.ring { fill: none; stroke: var(--ink); stroke-width: 1.5; } .faint-line { stroke: var(--faint); stroke-width: 1; fill: none; opacity: .8; } .arrow { stroke: var(--faint); stroke-width: .7; opacity: .8; }
.roof { stroke: var(--before); stroke-width: 2; fill: none; } .roof.integers { stroke: var(--after); stroke-dasharray: 6 3; }
.answer { stroke: var(--faint); stroke-width: 1; } .answer.both { fill: color-mix(in srgb, var(--good) 45%, var(--panel)); } .answer.onlyBefore { fill: var(--bad); } .answer.onlyAfter { fill: var(--after); } .answer.neither { fill: var(--line); }
figure { margin: 0; min-width: 0; } figcaption { color: var(--faint); overflow-wrap: anywhere; }
.small-charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr)); gap: 12px 20px; } .small-charts svg { max-width: none; } .small-charts figcaption { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bars { fill: var(--faint); opacity: .8; } .range { stroke: var(--before); stroke-width: 1.2; stroke-dasharray: 3 3; } .range.taken { stroke: var(--after); stroke-width: 2.2; stroke-dasharray: none; }
.graphs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 12px; }
.scroll { overflow: auto; max-height: 560px; border: 1px solid var(--line); border-radius: 6px; background: var(--paper); }
svg.graph { width: auto; max-width: none; margin: 0 auto; font-size: 11px; } .edges { fill: none; stroke: var(--faint); stroke-width: 1; opacity: .7; }
.box rect { stroke: var(--faint); stroke-width: 1; fill: var(--paper); } svg .box text { fill: var(--ink); text-anchor: middle; } svg .box .sub, svg .tile .sub { font-size: 9px; }
svg.graph .box { cursor: pointer; } .box.dim { opacity: .15; } .box.hit rect, .box.on rect { stroke: var(--ink); stroke-width: 2.5; }
.h0 rect { fill: color-mix(in srgb, var(--after) 6%, var(--paper)); } .h1 rect { fill: color-mix(in srgb, var(--after) 16%, var(--paper)); } .h2 rect { fill: color-mix(in srgb, var(--after) 27%, var(--paper)); }
.h3 rect { fill: color-mix(in srgb, var(--after) 38%, var(--paper)); } .h4 rect { fill: color-mix(in srgb, var(--after) 49%, var(--paper)); }
.p1 rect { fill: color-mix(in srgb, var(--good) 25%, var(--paper)); } .p2 rect { fill: color-mix(in srgb, var(--good) 50%, var(--paper)); }
.n1 rect { fill: color-mix(in srgb, var(--bad) 25%, var(--paper)); } .n2 rect { fill: color-mix(in srgb, var(--bad) 50%, var(--paper)); }
.q8 rect { fill: color-mix(in srgb, var(--after) 40%, var(--paper)); } .qw rect { fill: color-mix(in srgb, var(--good) 35%, var(--paper)); } .qh rect { fill: color-mix(in srgb, var(--unsure) 40%, var(--paper)); } .qf rect { fill: color-mix(in srgb, var(--before) 18%, var(--paper)); }
.v0 rect { fill: color-mix(in srgb, var(--after) 40%, var(--paper)); } .v1 rect { fill: color-mix(in srgb, var(--before) 45%, var(--paper)); } .v2 rect { fill: color-mix(in srgb, var(--good) 40%, var(--paper)); } .v3 rect { fill: color-mix(in srgb, var(--bad) 35%, var(--paper)); }
.v1 rect, .v2 rect, .v3 rect { stroke-width: 2; } .v1 rect { stroke: var(--before); } .v2 rect { stroke: var(--good); } .v3 rect { stroke: var(--bad); }
.box.h- rect { stroke-dasharray: 2 2; } .box.own rect { stroke: var(--after); stroke-width: 3.5; }
.tip { position: fixed; z-index: 2; max-width: min(360px, 90vw); padding: 6px 10px; background: var(--paper); color: var(--ink); border: 1px solid var(--faint); border-radius: 6px; font-size: 13px; pointer-events: none; overflow-wrap: anywhere; }
td input[type=checkbox] { float: left; margin: 5px 6px 0 0; } .markable th:first-child { min-width: 22ch; }
.tile rect { stroke: var(--faint); stroke-width: 1; } svg .tile text { fill: var(--ink); } .t-f rect { fill: color-mix(in srgb, var(--before) 35%, var(--paper)); } .t-8 rect { fill: color-mix(in srgb, var(--after) 40%, var(--paper)); } .t-h rect { fill: color-mix(in srgb, var(--unsure) 45%, var(--paper)); } .t-o rect { fill: color-mix(in srgb, var(--faint) 30%, var(--paper)); }
.controls { display: flex; flex-wrap: wrap; gap: 4px 16px; } .controls select, .controls input { font: inherit; max-width: 60vw; }
.picked { white-space: pre-line; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 8px; border: 1px solid var(--line); border-radius: 6px; margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; } pre.command > span { display: inline-block; max-width: 100%; }
details > summary { cursor: pointer; color: var(--after); }
button.copy { font: inherit; }
.bar-chart { max-width: 600px; }
@media (max-width: 600px) { svg { font-size: 19px; } .small-charts svg { font-size: 12px; } .bar-chart { font-size: 13px; } svg .tile text { font-size: 17px; } svg .tile .sub { font-size: 14px; } svg .tile text { transform: translateY(3px); } svg .tile .sub { transform: translateY(5px); } svg text.name { display: none; }
  th.w2 { min-width: 16ch; } th.w3 { min-width: 24ch; }
  table.stacked thead th.note { display: none; } table.stacked tr { display: flex; flex-wrap: wrap; gap: 0 14px; border-bottom: 1px solid var(--line); } table.stacked td { border: 0; padding-right: 0; } table.stacked :is(td, th):first-child { min-width: 12ch; } table.stacked .n { min-width: 8ch; padding-right: 0; } table.stacked th { border: 0; } table.stacked td.note { flex-basis: 100%; color: var(--faint); } table.stacked td.note:empty { display: none; }
  header, main, footer { padding: 0 10px; } nav { position: static; } nav ul { padding: 8px 10px; } section { padding: 10px; } }
.more { color: var(--faint); } @media (scripting: none) { .more button { display: none; } } button { font: inherit; }
@media print { :root { color-scheme: light; } table { font-size: 11px; } th, td { padding-right: 8px; } .markable th:first-child, th.w2 { min-width: 12ch; } th.w3 { min-width: 16ch; } .table { overflow: visible; }  nav, .filter, button { display: none; } th button { display: inline; } .controls, .picked, .marking, td input, .tip, .small-charts details:not([open]) { display: none; }
  details:not([open])::details-content { content-visibility: visible; block-size: auto; } section { break-inside: auto; } figure, svg { break-inside: avoid; } .scroll { overflow: hidden; max-height: none; } svg.graph { width: 100%; height: auto; max-height: 24cm; } }
`;
