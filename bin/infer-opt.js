#!/usr/bin/env node
import bundle from "../dist/bundle/start.cjs";

process.exitCode = await bundle.start("main").main(process.argv.slice(2));
