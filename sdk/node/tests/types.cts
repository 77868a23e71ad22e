// A program that uses the package as a CommonJS module. It is not run; only its types are checked.
import wasibox = require("wasibox");

async function main(): Promise<string> {
  const s: wasibox.Session = await wasibox.Session.create({ limits: "strict" });
  return (await s.exec("true")).stdout;
}
void main();
