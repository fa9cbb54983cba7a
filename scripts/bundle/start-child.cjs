require("./start.cjs").start("child");
