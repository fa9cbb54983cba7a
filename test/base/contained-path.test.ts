import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { climbsOut } from "../../src/base/contained-path.js";

const home = resolve("home", "models");

it.each(["a.data", "deep/a.data", "..a.data", "deep/../a.data", "."])("finds %s inside", (path) => {
  expect(climbsOut(home, join(home, path))).toBe(false);
});

it.each(["..", "../a.data", "../models-2/a.data", "deep/../../a.data"])("finds %s outside", (path) => {
  expect(climbsOut(home, join(home, path))).toBe(true);
});
