import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { type BuiltScript, buildScript } from '@parley/testkit';

/** Process killed by a test. */
export class ChildProgram {
  private readonly built: BuiltScript;

  constructor(source: string) {
    this.built = buildScript(source, ['better-sqlite3']);
  }

  start(...args: readonly string[]): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
    const modules = dirname(dirname(require.resolve('better-sqlite3/package.json')));
    return spawn(process.execPath, [this.built.script, ...args], {
      env: { ...process.env, NODE_PATH: modules },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  remove(): void {
    this.built.remove();
  }
}
