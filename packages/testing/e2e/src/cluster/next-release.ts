import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MIGRATIONS } from '@parley/postgres/testing';

const DIST = resolve(import.meta.dirname, '../../../../server/dist');

/** Version of the modified build. */
export const NEXT_RELEASE = '99.0.0';

/** Returns the number of a step after the last one of this release. Steps after the baselines begin with 022. */
function stepAfterLast(n: number): string {
  const numbers = MIGRATIONS.map(({ name }) => Number(/\.(\d{3})$/.exec(name)?.[1] ?? 0));
  return String(Math.max(21, ...numbers) + n).padStart(3, '0');
}

/**
 * Changes to the bundle: another version, a column, a migration incompatible with the previous release, and more data
 * in each event.
 */
function changes(): readonly (readonly [from: string, to: string])[] {
  return [
    ['parleyVersion=()=>', `parleyVersion=()=>"${NEXT_RELEASE}"||`],
    [
      '"leases.003.sql":',
      `"leases.${stepAfterLast(1)}.sql":"-- expand: test\\nALTER TABLE message ADD COLUMN of_next_release text DEFAULT 'new'",` +
        `"leases.${stepAfterLast(2)}.sql":"-- contract: test\\nALTER TABLE message ALTER COLUMN of_next_release SET NOT NULL","leases.003.sql":`,
    ],
    ['payload:JSON.stringify(stored)', 'payload:JSON.stringify({...stored,ofNextRelease:"new"})'],
    ['?format:format.writes', '?format+1:format.writes+1'],
  ];
}

/** Program built like this release that simulates the next one. */
export class NextRelease {
  private readonly folder = join(DIST, `next-release-${process.pid}`);
  readonly main = join(this.folder, 'main.js');

  constructor() {
    this.remove();
    // The program locates other files relative to its path.
    const isProgram = (path: string) => !/\.(cache|map)$/.test(path);
    cpSync(join(DIST, 'bundle'), this.folder, { recursive: true, filter: isProgram });
    const missing = new Set(changes().map(([from]) => from));
    for (const name of readdirSync(this.folder)) {
      const path = join(this.folder, name);
      let text = readFileSync(path, 'utf8');
      for (const [from, to] of changes()) {
        if (!text.includes(from)) continue;
        text = text.replace(from, to);
        missing.delete(from);
      }
      writeFileSync(path, text);
    }
    assert.deepEqual([...missing], [], 'the bundle lacks texts that the next release changes');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
