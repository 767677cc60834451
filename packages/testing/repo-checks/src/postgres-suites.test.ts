import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chosenOf, missingIn, partsOf, type Recording } from './postgres-suites.js';
import { packageFolder } from './source-code.js';

const recording = (suite: string | null, statements: string, cpuMs = 1000): Recording => ({
  suite,
  statements: new Set(statements),
  cpuMs,
});
const recordings = [
  recording(null, 'ab'),
  recording('kept', 'c', 5000),
  recording('long', 'abcdef', 9000),
  recording('d', 'd', 500),
  recording('de', 'de', 1500),
  recording('f', 'f'),
];

describe('list of suites on PostgreSQL', () => {
  it('names existing acceptance suites, each once', () => {
    const list = readFileSync(join(packageFolder('acceptance'), 'postgres-suites.json'), 'utf8');
    const { always, chosen }: { readonly always: object; readonly chosen: readonly string[] } = JSON.parse(list);
    const all = [...Object.keys(always), ...chosen];
    const isThere = (name: string) => existsSync(join(packageFolder('acceptance'), `src/${name}.test.ts`));
    expect(all.filter((name) => !isThere(name))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('gets the cheapest suites that execute all statements', () => {
    expect(chosenOf(recordings, ['kept'])).toEqual(['de', 'f']);
  });

  it('lacks statements that only other suites execute', () => {
    expect([...missingIn(recordings, new Set(['kept', 'd']))]).toEqual([
      ['e', ['long', 'de']],
      ['f', ['long', 'f']],
    ]);
  });

  it('counts statements without their numbers, and assembled queries by condition', () => {
    expect(partsOf('SELECT a FROM b\n  WHERE (c, d) IN (($1, $2), ($3, $4)) LIMIT 10')).toEqual([
      'SELECT a FROM b WHERE (c, d) IN ((0)) LIMIT 0',
    ]);
    expect(partsOf('SELECT m.id, m.sender_id, m.version FROM message m WHERE m.realm_id = $1 AND m.x <> $2')).toEqual([
      'SELECT m.id, m.sender_id, m.version FROM message m',
      'm.realm_id = 0',
      'm.x <> 0',
    ]);
  });
});
