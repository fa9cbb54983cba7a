/** Files on their way to a name: hidden beside it, and known as those of their process should that be killed. */
import { basename, dirname, join } from "node:path";
import { removeLeft } from "./remove-left.js";
import { sight } from "./sight.js";

const partialName = /^\..+\.(?<pid>\d+)-(?<seenBy>[0-9a-f]{8})-\d+\.partial(\.data)?$/s;
/** Characters of a target's name that are shown: file systems take 255 bytes, and a target may need them all. */
const SHOWN = 50;
/** Of this process so far: several may be on their way to one name. */
let count = 0;

/** Where to write what is then renamed to `target`. What killed runs left in that folder goes, where it is sure that they are gone. */
export function partialPath(target: string): string {
  const folder = dirname(target);
  removeLeft(folder, partialName);
  const own = [process.pid, sight(), ++count].filter((part) => part !== "").join("-");
  const shown = Array.from(basename(target)).slice(0, SHOWN).join("");
  return join(folder, `.${shown}.${own}.partial`);
}
