#!/usr/bin/env node
// CommonJS (see package.json beside this file): it starts sooner.
const { isWatched, start } = require("../dist/bundle/start.cjs");

const run = isWatched ? start("foreground").foreground : start("main").main;
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
