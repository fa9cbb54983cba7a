/** The page in a browser, where there is one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../../src/pipeline/result.js";
import { printable } from "../../../src/report/escape.js";
import { renderHtml } from "../../../src/report/html/page.js";
import { hostileNames } from "../../support/result-arbitrary.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { graphResult } from "../graph-result.js";
import { sampleResult } from "../sample-result.js";
import { browserForTests, chromiumPath } from "./chromium.js";
import { everyPanel } from "./every-panel.js";

const regions = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].map((region, i) => ({
  region,
  nodes: [region],
  form: "static" as const,
  sqnrDb: i === 3 ? null : 40 - ((i * 7) % 12),
  beforeMs: 0.1 * ((i * 5) % 12),
  afterMs: 0.05,
  reason: i === 5 ? "depthwise </script>" : "",
}));

const result = (): RunResult =>
  sampleResult({
    quantization: { ...sampleResult().quantization!, regions, forms: [], float: [] },
    latency: {
      ...sampleResult().latency!,
      distribution: { at: [0, 0.5, 1], baselineMs: [20, 24.31, 30], candidateMs: [10, 11.36, 14] },
    },
  });

const hostile = (name: string): RunResult["quantization"] => ({
  ...sampleResult().quantization!,
  forms: [],
  float: [],
  regions: Array.from({ length: 100 }, (_, i) => ({
    ...regions[0]!,
    region: `${name}${i}`,
    nodes: [],
    reason: `why ${name}`,
  })),
});

/** Brings it into view, and waits until it stays where it is: sections are laid out, and graphs drawn, as they come near. */
async function scrollTo(target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  await target.evaluate(`async (element) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let calm = 0, before = null; calm < 5; ) {
      await frame();
      const { x, y, width } = element.getBoundingClientRect();
      const now = [x, y, width].join();
      calm = now === before ? calm + 1 : 0;
      before = now;
    }
  }`);
}

describe.skipIf(chromiumPath === undefined)("the page in a browser", () => {
  const browser = browserForTests();

  async function opened(options: { width?: number; colorScheme?: "light" | "dark"; shown?: RunResult } = {}) {
    const path = join(temporaryFolder(), "report.html");
    const { width = 1280, colorScheme = "light", shown = result() } = options;
    writeFileSync(path, renderHtml(shown, "infer-opt optimize net.onnx"));
    const page = await browser().newPage({ viewport: { width, height: 800 }, colorScheme });
    const said: string[] = [];
    const asked: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(path).href);
    return { page, said, asked };
  }

  const firstColumn = (page: Page): Promise<string[]> =>
    page.locator("#layers table").first().locator("tbody tr:not([hidden]) td:first-child").allTextContents();

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)("is quiet, asks once and fits: %i px, %s", async (width, colorScheme) => {
    const { page, said, asked } = await opened({ width, colorScheme });
    expect(said).toEqual([]);
    expect(asked).toHaveLength(1);
    // In the page's own words: the types here know no browser.
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const light = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(light).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(22, 25, 29)");
  });

  it("sorts a table by a click on its heading, numbers as numbers, what is missing last", async () => {
    const { page } = await opened();
    const heading = page.locator("#layers th", { hasText: "SQNR dB" }).first();
    await heading.getByRole("button").click();
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    const byDb = regions.filter(({ sqnrDb }) => sqnrDb !== null).sort((a, b) => b.sqnrDb! - a.sqnrDb!);
    expect(await firstColumn(page)).toEqual([...byDb.map(({ region }) => region), "d"]);
    await heading.getByRole("button").click();
    expect(await heading.getAttribute("aria-sort")).toBe("ascending");
    expect(await firstColumn(page)).toEqual([...byDb.reverse().map(({ region }) => region), "d"]);
  });

  it("breaks commands between words, and copies them as they are", async () => {
    const command = `infer-opt optimize ${"--exclude /block/conv ".repeat(9)}--max-drop 0.5%`;
    const path = join(temporaryFolder(), "report.html");
    writeFileSync(path, renderHtml(result(), command));
    const page = await browser().newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(pathToFileURL(path).href);
    const shown = page.locator("#environment pre.command");
    expect(await shown.textContent()).toBe(command);
    const lines = await shown.locator("span").evaluateAll((words) => words.map((word) => word.getClientRects().length));
    expect(new Set(lines)).toEqual(new Set([1]));
    const heights = await shown.locator("span").evaluateAll((words) => words.map((word) => word.clientHeight));
    expect(new Set(heights).size).toBe(1);
  });

  it("filters a table by any cell, and says how many are left", async () => {
    const { page } = await opened();
    await page.locator("#layers input[type=search]").first().fill("DEPTHWISE");
    expect(await firstColumn(page)).toEqual(["f"]);
    expect(await page.locator("#layers output").first().textContent()).toBe("1 of 12");
  });

  it("colours both graphs, finds boxes, and tells what a box was", async () => {
    const { page, said } = await opened({ shown: graphResult(), width: 390 });
    const after = page.locator("#graph figure.of-after .box");
    expect(await after.count()).toBe(0);
    await scrollTo(page.locator("#graph"));
    expect(await after.first().getAttribute("class")).toBe("box p2");
    await page.locator("#graph select.colour").selectOption({ label: "precision" });
    expect(await after.first().getAttribute("class")).toBe("box q8");
    expect(await page.locator("#graph .legends .key:visible").count()).toBe(1);
    await page.locator("#graph input.find").fill("net/d");
    expect(await page.locator("#graph output.found").textContent()).toBe("2 of 6");
    await after.first().click();
    expect(await page.locator("#graph .picked").textContent()).toContain(
      "was: Conv net/a, BatchNormalization net/b, Relu net/c",
    );
    expect(await page.locator("#graph figure.of-before .box.on").count()).toBe(3);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(said).toEqual([]);
  });

  it("goes from box to box by keys, says which it is, and leaves with Escape", async () => {
    const { page, said } = await opened({ shown: everyPanel() });
    const frame = page.locator("#graph figure.of-after .scroll");
    await scrollTo(frame);
    await frame.focus();
    await page.keyboard.press("ArrowDown");
    const told = page.locator("#graph .picked");
    expect(await told.textContent()).toContain("Conv net/c");
    expect(await told.textContent()).toContain("provider cuda");
    await page.keyboard.press("ArrowDown");
    expect(await told.textContent()).toContain("Gemm net/d");
    expect(await page.locator("#graph figure.of-after .box.own").count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await page.locator("#graph .box.own, #graph .box.on").count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    expect(said).toEqual([]);
  });

  it("colours by provider where there are several", async () => {
    const { page } = await opened({ shown: everyPanel() });
    await scrollTo(page.locator("#graph"));
    await page.locator("#graph select.colour").selectOption("provider");
    const classes = await page.evaluate(
      `[...document.querySelectorAll("#graph figure.of-after .box")].map((box) => box.classList[1])`,
    );
    expect(classes).toEqual(["v1", "v0", "h-"]);
    expect(await page.locator("#graph .legends .key:visible").textContent()).toBe("cpucudanot executed by itself");
    const { page: one } = await opened({ shown: graphResult() });
    expect(await one.locator("#graph option[value=provider]").count()).toBe(0);
  });

  it("gives the command that keeps marked layers in float, quoted for a shell", async () => {
    const name = "it's <b>net";
    const { page } = await opened({ shown: graphResult(name) });
    await scrollTo(page.locator("#layers"));
    const boxes = page.locator("#layers .markable input[type=checkbox]");
    await boxes.first().check();
    expect(await page.locator("#layers .marked pre").textContent()).toBe(
      `infer-opt optimize net.onnx --exclude 'it'\\''s <b>net/c'`,
    );
    await boxes.first().uncheck();
    expect(await page.locator("#layers .marked").isVisible()).toBe(false);
  });

  it("says which of many dots is under the pointer, by its row in the table", async () => {
    const { page } = await opened({ shown: everyPanel() });
    const chart = page.locator("#depth svg").first();
    await scrollTo(chart);
    const box = (await chart.boundingBox())!;
    const [x, y] = (await page.evaluate(
      `(() => { const d = document.querySelector("#depth path[data-rows]").getAttribute("d"); const [, x, y, r] = /M([\\d.]+) ([\\d.]+)a([\\d.]+)/.exec(d); return [Number(x) + Number(r), Number(y)]; })()`,
    )) as [number, number];
    const scale = box.width / 640;
    await page.mouse.move(box.x + x * scale, box.y + y * scale);
    expect(await page.locator("#depth .tip").textContent()).toBe(
      "place 1, tensor net/c:0, node net/c, operator Conv, SQNR dB 40.0",
    );
    await page.keyboard.press("Escape");
    expect(await page.locator("#depth .tip").isVisible()).toBe(false);
  });

  it("moves nothing by itself, for readers who want no motion", async () => {
    const { page } = await opened({ shown: everyPanel() });
    const moving = `[...document.querySelectorAll("*")].filter((each) => { const style = getComputedStyle(each); return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === "smooth"; }).length`;
    expect(await page.evaluate(moving)).toBe(0);
  });

  const many = (): RunResult => {
    const long = Array.from({ length: 1000 }, (_, i) => ({
      ...regions[0]!,
      region: `layer ${i}`,
      nodes: [`layer ${i}`],
      sqnrDb: (i * 37) % 1000,
      reason: i === 999 ? "the last" : "",
    }));
    return sampleResult({ quantization: { ...sampleResult().quantization!, regions: long, forms: [], float: [] } });
  };

  it("shows a long table in pieces, and sorts, filters and shows all of it", async () => {
    const { page, said } = await opened({ shown: many() });
    const more = page.locator("#layers .more").first();
    expect(await firstColumn(page)).toHaveLength(50);
    expect(await more.textContent()).toContain("The first 50 of 1000 rows.");
    await page.locator("#layers th", { hasText: "SQNR dB" }).first().getByRole("button").click();
    expect((await firstColumn(page)).slice(0, 2)).toEqual(["layer 27", "layer 54"]);
    await page.locator("#layers input[type=search]").first().fill("the last");
    expect(await firstColumn(page)).toEqual(["layer 999"]);
    expect(await more.isVisible()).toBe(false);
    await page.locator("#layers input[type=search]").first().fill("");
    await more.getByRole("button").click();
    expect(await firstColumn(page)).toHaveLength(1000);
    expect(said).toEqual([]);
  });

  it("prints bins of small charts only where they stand open", async () => {
    const { page } = await opened({ shown: graphResult() });
    const bins = page.locator("#calibration .small-charts details").first();
    expect(await bins.count()).toBe(1);
    await page.emulateMedia({ media: "print" });
    expect(await bins.isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await bins.locator("summary").click();
    await page.emulateMedia({ media: "print" });
    expect(await bins.locator("td").first().isVisible()).toBe(true);
  });

  it("prints, with every row of what is open and all that is drawn", async () => {
    const { page } = await opened({ shown: { ...graphResult(), quantization: many().quantization } });
    await page.evaluate(
      `void addEventListener("beforeprint", () => {
        seen = [document.querySelectorAll("#layers tbody tr").length, document.querySelectorAll("#graph svg.graph .box").length];
      })`,
    );
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
    expect(await page.evaluate("seen")).toEqual([1000 + 2 + 100, 6]);
    expect(await firstColumn(page)).toHaveLength(50);
  });

  it("can be read without a script: verdict, limits, numbers and the first rows of tables", async () => {
    const path = join(temporaryFolder(), "report.html");
    writeFileSync(path, renderHtml(many()));
    const page = await browser().newPage({ javaScriptEnabled: false });
    await page.goto(pathToFileURL(path).href);
    expect(await page.locator("header").textContent()).toContain("PASS");
    expect(await page.locator("#verdict").textContent()).toContain("2.14x as fast, at least 1.2x wanted");
    expect(await firstColumn(page)).toHaveLength(50);
    expect(await page.locator("#layers").textContent()).toContain("The first 50 of 1000 rows.");
  });

  it.each(hostileNames)("takes names like %j for text, also those that the script puts there", async (name) => {
    const { page, said, asked } = await opened({ shown: { ...graphResult(name), quantization: hostile(name) } });
    await scrollTo(page.locator("#graph"));
    await page.locator("#graph figure.of-after .box").first().click();
    await page.locator("#layers .more button").first().click();
    expect(await page.locator("#graph svg.graph .box").count()).toBe(6);
    const last = await page.locator("#layers table").first().locator("tbody tr td").last().textContent();
    expect(last).toBe(printable(`why ${name}`));
    expect(await page.locator("img, iframe, object, svg svg").count()).toBe(0);
    expect(said).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});
