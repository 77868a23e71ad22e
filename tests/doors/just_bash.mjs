// Times `true` in just-bash in this process, in one environment that is reused, which shows what
// the library costs without a door. WASIBOX_NODE_MODULES is the folder with the package.

import { createRequire } from "node:module";
import { join } from "node:path";

const { Bash } = createRequire(join(process.env.WASIBOX_NODE_MODULES, "of-these.js"))("just-bash");
const bash = new Bash();
const took = [];
for (let n = 0; n < 520; n++) {
  const begun = performance.now();
  const { exitCode } = await bash.exec("true");
  if (exitCode !== 0) {
    throw new Error(`status ${exitCode}`);
  }
  took.push(performance.now() - begun);
}
const counted = took.slice(20).sort((a, b) => a - b);
const at = (part) => counted[Math.floor(counted.length * part)].toFixed(3);
console.log(`just-bash              median ${at(0.5)} ms, p99 ${at(0.99)} ms (its library alone)`);
