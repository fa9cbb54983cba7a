/** The browser that pages are tried in, where there is one. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** CHROMIUM names it, else the usual places are looked at; undefined where there is none. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));

/** Opens one for the tests of a `describe` and closes it after them. */
export function browserForTests(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath!,
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    });
  }, 60_000);
  afterAll(() => browser?.close());
  return () => browser!;
}
