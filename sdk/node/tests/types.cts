// The same package for CommonJS.
import wasibox = require("wasibox");

async function main(): Promise<string> {
  const s: wasibox.Session = await wasibox.Session.create({ limits: "strict" });
  return (await s.exec("true")).stdout;
}
void main();
