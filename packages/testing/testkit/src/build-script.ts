import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

export interface BuiltScript {
  readonly script: string;
  /** Starts the script as a process, which finds external libraries in the repository. Its errors are printed. */
  start(...args: readonly string[]): ChildProcess & { readonly stdout: NodeJS.ReadableStream };
  remove(): void;
}

/**
 * Bundles a source of this repository to JavaScript for a separate thread or process and returns its location. Uses the
 * sources of all packages, so that the script is current and nothing must be built before. `external` libraries are not
 * part of the bundle.
 */
export function buildScript(source: string, external: readonly string[] = []): BuiltScript {
  const root = source.slice(0, source.indexOf(`${sep}packages${sep}`));
  const folder = mkdtempSync(join(tmpdir(), 'parley-script-'));
  const script = join(folder, 'script.cjs');
  buildSync({
    entryPoints: [source],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    alias: sourcesByName(root),
    external: [...external],
    // Libraries resolve from the source, as in its package.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
  });
  const env = { ...process.env, NODE_PATH: join(root, 'node_modules') };
  return {
    script,
    start: (...args) => spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Folders with the sources of the packages, which npm links by name. */
function sourcesByName(root: string): Record<string, string> {
  const links = join(root, 'node_modules/@parley');
  return Object.fromEntries(
    readdirSync(links).map((name) => [`@parley/${name}`, join(realpathSync(join(links, name)), 'src')]),
  );
}
