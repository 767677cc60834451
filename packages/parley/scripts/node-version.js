// Refuses other runtimes in one line, before they fail at newer syntax. Runs on old versions of Node.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { bun, node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (bun || major < 20 || (major === 20 && minor < 19)) {
  const text = `Parley needs Node 20.19 or newer; this is ${bun ? `Bun ${bun}` : `Node ${node}`}.`;
  const [, program] = process.argv;
  if (!program || realpathSync(program) !== fileURLToPath(new URL('main.js', import.meta.url))) throw new Error(text);
  console.error(`parley: ${text}`);
  process.exit(1);
}
