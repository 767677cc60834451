import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

export interface BuiltScript {
  readonly script: string;
  remove(): void;
}

/**
 * A source that runs on a thread or in a process of its own as JavaScript, which is all that those understand; where it was put.
 * `alias`: sources of other packages by their names.
 */
export function buildScript(source: string, alias: Readonly<Record<string, string>> = {}): BuiltScript {
  const folder = mkdtempSync(join(tmpdir(), 'parley-script-'));
  const script = join(folder, 'script.cjs');
  buildSync({
    entryPoints: [source],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    alias,
    // Libraries are looked for from there, as in the package itself.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
  });
  return { script, remove: () => rmSync(folder, { recursive: true }) };
}
