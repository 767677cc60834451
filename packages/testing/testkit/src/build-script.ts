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
 * Bundles a source to JavaScript for a separate thread or process and returns its location. `alias`: sources of other
 * packages by name.
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
    // Libraries resolve from the source, as in its package.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
  });
  return { script, remove: () => rmSync(folder, { recursive: true }) };
}
