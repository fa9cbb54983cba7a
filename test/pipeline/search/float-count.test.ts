import { describe, expect, it } from "vitest";
import { FloatCount } from "../../../src/pipeline/search/float-count.js";

/** Four that cause nearly all of it, and four that cause next to nothing. */
const steep = new FloatCount([0.4, 0.3, 0.2, 0.1, 0.001, 0.001, 0.001, 0.001]);
const even = new FloatCount(new Array(10).fill(0));

describe("FloatCount", () => {
  it("expects enough where the noise that is left fits into the limit, and somewhat less", () => {
    expect(steep.enough({ count: 0, drop: 1.1 })).toBe(1);
    expect(steep.enough({ count: 0, drop: 2 })).toBe(2);
    expect(steep.enough({ count: 0, drop: 10 })).toBe(4);
  });

  it("goes by the last measurement: where less was gained than expected, more is needed", () => {
    expect(steep.enough({ count: 2, drop: 1.2 })).toBe(3);
    expect(steep.enough({ count: 2, drop: 4 })).toBe(4);
    expect(steep.enough({ count: 4, drop: 1.01 })).toBe(6);
  });

  it("takes all regions to be alike where nothing is known of them", () => {
    expect(even.enough({ count: 0, drop: 2 })).toBe(7);
    expect(even.ample({ count: 0, drop: 4 })).toBe(9);
  });

  it("always goes on, and doubles where the drop tells nothing", () => {
    expect(steep.enough({ count: 0, drop: null })).toBe(1);
    expect(steep.enough({ count: 3, drop: null })).toBe(6);
    expect(steep.enough({ count: 3, drop: 0.5 })).toBe(6);
    expect(new FloatCount([1, 0, 0, 0]).enough({ count: 2, drop: 3 })).toBe(3);
  });

  it("knows of no more than all where nothing may be lost at all", () => {
    expect(steep.enough({ count: 0, drop: Number.POSITIVE_INFINITY })).toBe(8);
    expect(steep.ample({ count: 3, drop: null })).toBe(8);
  });

  it("has ample where even the last regions gain no more than a mean one", () => {
    expect(steep.ample({ count: 0, drop: 2 })).toBe(4);
    expect(even.ample({ count: 4, drop: 2 })).toBe(8);
  });

  it("finds the number between two by what they leave of the noise, and by the number itself", () => {
    expect(even.between({ count: 0, drop: 3 }, { count: 8, drop: 0.5 }, false)).toBe(7);
    // By noise 2, by number 6.
    expect(steep.between({ count: 0, drop: 3 }, { count: 8, drop: 0 }, false)).toBe(4);
    expect(steep.between({ count: 0, drop: 3 }, { count: 8, drop: 0 }, true)).toBe(6);
  });

  it("stays between them, and takes the middle where drops tell nothing", () => {
    expect(even.between({ count: 2, drop: 1.001 }, { count: 5, drop: 0.99 }, false)).toBe(4);
    expect(even.between({ count: 2, drop: 9 }, { count: 9, drop: 8.9 }, false)).toBe(8);
    expect(even.between({ count: 2, drop: null }, { count: 8, drop: 0.5 }, true)).toBe(5);
    expect(even.between({ count: 2, drop: Number.POSITIVE_INFINITY }, { count: 8, drop: 0 }, false)).toBe(5);
  });
});
