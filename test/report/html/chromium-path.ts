import { existsSync } from "node:fs";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** CHROMIUM names it, else the usual places are looked at; undefined where there is none. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));
