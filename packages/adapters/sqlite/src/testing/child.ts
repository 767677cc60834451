import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

/** Process killed by a test. Built from source, so that the tested code is current. */
export class ChildProgram {
  constructor(
    source: string,
    private readonly outfile: string,
  ) {
    buildSync({
      entryPoints: [source],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['better-sqlite3'],
      // The only module with an `import.meta`.
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(__dirname, '../engine/sql-texts')).href) },
      alias: { '@parley/domain': join(__dirname, '../../../../domain/src') },
    });
  }

  start(...args: readonly string[]): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
    const modules = dirname(dirname(require.resolve('better-sqlite3/package.json')));
    return spawn(process.execPath, [this.outfile, ...args], {
      env: { ...process.env, NODE_PATH: modules },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }
}
