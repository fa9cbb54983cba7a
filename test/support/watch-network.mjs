// Loaded into every process by NODE_OPTIONS: each try to reach another computer becomes a line in the file that
// INFER_OPT_TEST_NETWORK names. Channels between parent and child are no such thing: they have no port.
import dgram from "node:dgram";
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const log = process.env.INFER_OPT_TEST_NETWORK;
const watch = (owner, name) => {
  const before = owner[name];
  owner[name] = function watched(...given) {
    appendFileSync(log, `${process.pid} ${name} ${JSON.stringify(given[0])}\n`);
    return before.apply(this, given);
  };
};
for (const name of ["lookup", "resolve", "resolve4", "resolve6", "resolveAny"]) {
  watch(dns, name);
  watch(dns.promises, name);
}
watch(net.Socket.prototype, "connect");
watch(net.Server.prototype, "listen");
watch(dgram.Socket.prototype, "send");
watch(globalThis, "fetch");
syncBuiltinESMExports();
appendFileSync(log, `${process.pid} watched\n`);
