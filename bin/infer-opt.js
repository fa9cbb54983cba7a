#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { main } from "../dist/bundle/main.js";

// Most commands end within a second or two: with its usual patience (66 KB of byte code run in a function) the engine
// spends a third of that on optimizing functions that soon are not called any more. Loops over weights still get their
// turn within milliseconds. The room for young objects stays at 2 MB instead of growing to 34, at no cost that can
// be measured: next to the processes that run models every megabyte here counts. Only for versions of V8 that are known to have the flag: others complain.
if (/^1[1-4]\./.test(process.versions.v8)) {
  setFlagsFromString("--interrupt-budget=500000");
  setFlagsFromString("--semi-space-growth-factor=1");
}

process.exitCode = await main(process.argv.slice(2));
