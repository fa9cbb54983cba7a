import { describe, expect, it } from "vitest";
import { namesIn, type Origins } from "../../src/ir/provenance.js";

describe("namesIn", () => {
  it("gives each name once, in the order in which it comes first", () => {
    expect(namesIn([["a", "b"], "c", [["b"], "d"], "a"])).toEqual(["a", "b", "c", "d"]);
    expect(namesIn("x")).toEqual(["x"]);
    expect(namesIn([])).toEqual([]);
  });

  it("goes as deep as rewrites follow each other", () => {
    let origins: Origins = ["first"];
    for (let i = 0; i < 100_000; i++) origins = [origins, "next"];
    expect(namesIn(origins)).toEqual(["first", "next"]);
  });

  it("visits what is shared once", () => {
    let origins: Origins = ["only"];
    for (let i = 0; i < 200; i++) origins = [origins, origins];
    expect(namesIn(origins)).toEqual(["only"]);
  });
});
