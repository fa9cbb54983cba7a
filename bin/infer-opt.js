#!/usr/bin/env node
// CommonJS (see package.json beside this file): it starts sooner.
const { existsSync } = require("node:fs");
const bundle = require("node:path").join(__dirname, "../dist/bundle/start.cjs");
if (!existsSync(bundle)) {
  // A checkout, or a package that was installed from one by its address.
  process.stderr.write(
    "infer-opt: this copy was not built\n" +
      "  fix: Run `npm run setup` in a clone of it; `npm pack` there makes a package to install elsewhere.\n",
  );
  process.exit(1);
}
const { isWatched, start } = require(bundle);

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
