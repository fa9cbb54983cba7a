/** Contrast as WCAG 2.2 counts it (1.4.3 and 1.4.11), over every panel in both colour schemes: what the browser paints, not what the style says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { renderHtml } from "../../../src/report/html/page.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { browserForTests, chromiumPath } from "./chromium.js";
import { everyPanel } from "./every-panel.js";

/** In the page: [what, how much] of all that is below; the words for it are the browser's own. */
const MEASURE = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const read = (colour) => {
    if (!known.has(colour)) known.set(colour, painted(colour));
    return known.get(colour);
  };
  const painted = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const faded = (colour, ...shares) => { const [r, g, b, a] = read(colour); return [r, g, b, shares.reduce((all, share) => all * Number(share), a)]; };
  const opacityOf = (element) => { let all = 1; for (let each = element; each instanceof Element; each = each.parentElement) all *= Number(getComputedStyle(each).opacity); return all; };
  const behind = (element) => {
    const above = [];
    for (let each = element; each instanceof Element; each = each.parentElement) above.push(getComputedStyle(each).backgroundColor);
    return above.reverse().reduce((under, colour) => over(read(colour), under), [255, 255, 255]);
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const found = [];
  const name = (element) => (element.closest("section")?.id ?? "page") + " " + element.tagName + "." + (element.getAttribute("class") ?? "") + " in ." + (element.parentElement.getAttribute("class") ?? "") + " " + (element.textContent ?? "").trim().slice(0, 20);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, noscript, title") || !isSeen(element)) continue;
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    // What a text in a box or a tile stands on.
    const plate = isDrawn ? (element.closest(".box, .tile")?.querySelector(":scope > rect") ?? null) : null;
    let under = behind(isDrawn ? element.closest("svg").parentElement : element);
    if (plate) under = over(faded(getComputedStyle(plate).fill, getComputedStyle(plate).fillOpacity, opacityOf(plate)), under);
    const ink = over(faded(isDrawn ? style.fill : style.color, opacityOf(element)), under);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.push([name(element), contrast(ink, under), isLarge ? 3 : 4.5]);
  }
  for (const mark of document.querySelectorAll("svg :is(rect, circle, path, line, polyline)")) {
    // Lines behind the marks only help to read a value off, and say nothing themselves.
    if (!isSeen(mark) || mark.closest(".grid")) continue;
    const style = getComputedStyle(mark);
    const under = behind(mark.closest("svg").parentElement);
    const share = opacityOf(mark);
    const ways = [];
    if (style.fill !== "none") ways.push(over(faded(style.fill, style.fillOpacity, share), under));
    if (style.stroke !== "none" && parseFloat(style.strokeWidth) > 0) ways.push(over(faded(style.stroke, style.strokeOpacity, share), under));
    found.push([name(mark), Math.max(0, ...ways.map((way) => contrast(way, under))), 3]);
  }
  return found;
})()`;

describe.skipIf(chromiumPath === undefined)("the page's colours", () => {
  const browser = browserForTests();

  it.each(["light", "dark"] as const)("are told apart: %s", async (colorScheme) => {
    const path = join(temporaryFolder(), "report.html");
    writeFileSync(path, renderHtml(everyPanel(), "infer-opt quantize net.onnx"));
    const page = await browser().newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
    await page.goto(pathToFileURL(path).href);
    // Everything is opened, drawn and in sight, and every way of colouring the graph is looked at.
    await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true;
      for (const each of document.querySelectorAll("section")) each.style.contentVisibility = "visible";
      for (const drawNow of drawings) drawNow();`);
    const colourings = await page.evaluate(`[...document.querySelectorAll("#graph option")].map(({ value }) => value)`);
    const found: [string, number, number][] = [];
    for (const colouring of colourings as string[]) {
      await page.locator("#graph select.colour").selectOption(colouring);
      found.push(...((await page.evaluate(MEASURE)) as [string, number, number][]));
    }
    expect(found.length).toBeGreaterThan(1000);
    const low = found.filter(([, contrast, wanted]) => contrast < wanted);
    expect([...new Set(low.map(([what, contrast]) => `${what}: ${contrast.toFixed(2)}`))]).toEqual([]);
  });
});
