import { join } from 'node:path';
import { packageFolder } from '../source-code.js';
import { allRandomFaults, randomFaults, randomFaultsIn } from './random-faults.js';

const FILE = join(packageFolder('domain'), 'src/messages/a.ts');
const changesOf = (code: string) => randomFaultsIn(FILE, code).map(({ kind, planted }) => [kind, planted()]);

describe('random faults', () => {
  it.each<[string, ...[kind: string, planted: string][]]>([
    ['if (ä) b = 1;', ['negated condition', 'if (!(ä)) b = 1;']],
    ['a = b || c;', ['dropped conjunct', 'a = (b);'], ['dropped conjunct', 'a = (c);']],
    ['a = b >= c;', ['other limit', 'a = (b > c);']],
    ['a = b.filter(c);', ['dropped filter', 'a = (b);']],
    [
      "a = 'WHERE a = ? AND b.c = ? AND d IS NULL';",
      ...([
        ['dropped SQL condition', "a = 'WHERE a = ? AND ? IS NOT 0.5 AND d IS NULL';"],
        ['dropped SQL condition', "a = 'WHERE a = ? AND b.c = ? ';"],
      ] as [string, string][]),
    ],
    ['for (const a of b) { c = a; }', ['first element only', 'for (const a of b) { c = a; break; }']],
    ['const MAX = 9;', ['off by one', 'const MAX = (9 + 1);'], ['off by one', 'const MAX = (9 - 1);']],
    ['a = b - 1;', ['off by one', 'a = (b);']],
    ['await tx.events.append(a);', ['dropped event', ';'], ['dropped statement', ';']],
    ['a = b ?? c;', ['other branch of ??', 'a = (b);'], ['other branch of ??', 'a = (c);']],
  ])('change %s', (code, ...expected) => {
    expect(changesOf(code)).toEqual(expected);
  });

  it('are at most as many as there are', () => {
    expect(randomFaults(1, 20, randomFaultsIn(FILE, 'a = b - 1;'))).toHaveLength(1);
  });

  it('are the same for a seed, and others for another seed', () => {
    const all = allRandomFaults();
    const idsOf = (seed: number) => randomFaults(seed, 20, all).map(({ id }) => id);
    expect(idsOf(1)).toEqual(idsOf(1));
    expect(new Set([...idsOf(1), ...idsOf(2)]).size).toBeGreaterThan(30);
  });
});
