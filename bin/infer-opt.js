#!/usr/bin/env node
// CommonJS (see package.json beside this file): it starts sooner.
const { isWatched, start } = require("../dist/bundle/start.cjs");

// Until the work hears of signals itself: as it would end then.
process.on("SIGINT", () => {
  if (process.listenerCount("SIGINT") > 1) return;
  process.stderr.write("error INTERRUPTED\n  the run was interrupted\n");
  process.exit(130);
});

const run = isWatched ? start("foreground").foreground : start("main").main;
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
