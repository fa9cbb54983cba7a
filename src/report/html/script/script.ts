/** What the page does when it is touched. It reads the page it is in, and nothing else. */
import { DOTS } from "./dots.js";
import { GRAPH } from "./graph.js";
import { MARKING } from "./marking.js";
import { PRINT } from "./print.js";
import { TABLES } from "./tables.js";

/** A flag is never broken after its dashes: each word is a box of its own, and only one wider than the page is cut. */
const COMMANDS = `
const showCommand = (pre, command) => {
  pre.replaceChildren(...command.split(" ").flatMap((word, i) => {
    const box = document.createElement("span");
    box.textContent = word;
    return i === 0 ? [box] : [" ", box];
  }));
};
for (const pre of document.querySelectorAll("pre.command")) showCommand(pre, pre.textContent);
`;

const COPY = `
for (const pre of document.querySelectorAll("pre.command")) {
  if (!navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
  });
  pre.after(button);
}
`;

/** What few open stands there as text until somebody does. */
const PACKED = `
const unpack = (details) => {
  const packed = details.querySelector(":scope > noscript");
  if (packed) packed.outerHTML = packed.textContent;
};
addEventListener("toggle", ({ target }) => unpack(target), true);
`;

export const SCRIPT = `"use strict";${PACKED}${COMMANDS}${MARKING}${TABLES}${DOTS}${GRAPH}${PRINT}${COPY}`;
