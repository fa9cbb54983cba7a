/**
 * Of the page's script: on paper nothing can be clicked, so that what is short of rows or not drawn yet is made up for. Bins of small
 * charts stay folded: two dozen tables would leave half of each sheet empty.
 */
export const PRINT = `
const FOLDED_ON_PAPER = 100;
let afterwards = [];
addEventListener("beforeprint", () => {
  for (const drawNow of drawings) drawNow();
  for (const details of document.querySelectorAll("details")) if (!details.closest(".small-charts")) unpack(details);
  afterwards = [...document.querySelectorAll(".table > .more")].map(({ parentElement }) => {
    const { box, limit, atMost } = tableOf(parentElement);
    const was = atMost();
    limit(box.closest("details:not([open])") ? Math.max(was, FOLDED_ON_PAPER) : Infinity);
    return () => limit(was);
  });
});
addEventListener("afterprint", () => {
  for (const restore of afterwards) restore();
  afterwards = [];
});
`;
