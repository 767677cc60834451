import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { packagesDir } from '../source-code.js';
import { EQUIVALENTS } from './equivalents.js';
import { allRandomFaults } from './random-faults.js';
import { equivalentsOf, faultsIn, nearestSuites, ruleFaults, withFaults } from './rule-faults.js';

const ROOT = resolve(packagesDir, '..');

const faultsOf = (code: string) => faultsIn('a.ts', code).map(({ text, replacement }) => [text, replacement]);

describe('faults of rules', () => {
  it.each<[string, string, (string | null)[][]]>([
    [
      'a condition',
      'if (a) b = 1;',
      [
        ['a', 'true'],
        ['a', 'false'],
      ],
    ],
    [
      'a conjunct',
      'const c = a && b;',
      [
        ['a && b', 'true'],
        ['a && b', 'false'],
        ['a', 'true'],
        ['b', 'true'],
      ],
    ],
    [
      'a limit',
      'const c = ä < b;',
      [
        ['ä < b', 'true'],
        ['ä < b', 'false'],
        ['ä < b', 'ä <= b'],
      ],
    ],
    ['a statement', 'await publish(a);', [['await publish(a);', null]]],
    [
      'a returned rule',
      'const f = (a: A): Promise<boolean> => g(a);',
      [
        ['g(a)', 'true'],
        ['g(a)', 'false'],
      ],
    ],
    [
      'a part of a decision',
      'const c = all(a, b);',
      [
        ['a', '{ allowed: true }'],
        ['b', '{ allowed: true }'],
      ],
    ],
    [
      'an audience',
      'const c = { audience: a };',
      [
        ['a', "{ kind: 'nobody' }"],
        ['a', "{ kind: 'realm' }"],
      ],
    ],
  ])('change %s', (_title, code, expected) => {
    expect(faultsOf(code)).toEqual(expected);
  });

  it('are planted so that the code without a selected fault behaves as before', () => {
    const code = "let r = ''; if (a && !b) add('x'); else add('y'); function add(x) { r += x; }";
    const run = (plantedFault: string | undefined, a: boolean, b: boolean) => {
      const planted = withFaults('a.ts', code).replace('id: string', 'id').replace('(globalThis as any).', '');
      return new Function('plantedFault', 'a', 'b', `${planted}; return r;`)(plantedFault, a, b);
    };
    expect(run(undefined, true, false)).toBe('x');
    expect(run(undefined, true, true)).toBe('y');
    const results = faultsIn('a.ts', code).map(({ replacement, text, id }) => [text, replacement, run(id, true, true)]);
    expect(results).toEqual([
      ['a && !b', 'true', 'x'],
      ['a && !b', 'false', 'y'],
      ['a', 'true', 'y'],
      ['!b', 'true', 'x'],
      ["add('x');", null, 'y'],
      ["add('y');", null, ''],
    ]);
  });

  it('have suites', () => {
    const sources = new Set(ruleFaults().map(({ source }) => source));
    expect([...sources].filter((source) => nearestSuites(source).length === 0)).toEqual([]);
  });

  it('include each equivalent once', () => {
    const described = [...ruleFaults(), ...allRandomFaults()].flatMap(equivalentsOf);
    for (const one of EQUIVALENTS) expect(described.filter((other) => other === one)).toHaveLength(one.changes.length);
  });

  it('are found in a sample', () => {
    const env = { ...process.env, PARLEY_FAULTS: 'messages/file-access' };
    const output = execFileSync('npm', ['run', '--silent', 'faults'], { cwd: ROOT, env, encoding: 'utf8' });
    expect(output).toMatch(/(\d+) of \1 faults found/);
  });
});
