import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const DIST = resolve(import.meta.dirname, '../../../server/dist');
const SQL = resolve(import.meta.dirname, '../../../postgres/src');

/** Version of the modified build. */
export const NEXT_RELEASE = '99.0.0';

/** Returns the number after the last migration of any release. */
function nextStep(): string {
  const files = readdirSync(SQL, { recursive: true, encoding: 'utf8' });
  const numbers = files.flatMap((file) => /\.(\d{3})\.sql$/.exec(file)?.slice(1) ?? []).map(Number);
  return String(Math.max(1, ...numbers) + 1).padStart(3, '0');
}

/**
 * Changes to the bundle: another version, a column, a migration incompatible with the previous release, and more data
 * in each event.
 */
function changes(): readonly (readonly [from: string, to: string])[] {
  const first = nextStep();
  const second = String(Number(first) + 1).padStart(3, '0');
  return [
    ['parleyVersion=()=>', `parleyVersion=()=>"${NEXT_RELEASE}"||`],
    [
      '"leases.003.sql":',
      `"leases.${first}.sql":"-- expand: test\\nALTER TABLE message ADD COLUMN of_next_release text DEFAULT 'new'",` +
        `"leases.${second}.sql":"-- contract: test\\nALTER TABLE message ALTER COLUMN of_next_release SET NOT NULL","leases.003.sql":`,
    ],
    ['payload:JSON.stringify(packed(event))', 'payload:JSON.stringify({...packed(event),ofNextRelease:"new"})'],
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
