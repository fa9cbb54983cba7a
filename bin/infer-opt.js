#!/usr/bin/env node
// CommonJS (see package.json beside this file): it starts sooner.
const { start } = require("../dist/bundle/start.cjs");

void start("main")
  .main(process.argv.slice(2))
  .then((code) => {
    process.exitCode = code;
  });
