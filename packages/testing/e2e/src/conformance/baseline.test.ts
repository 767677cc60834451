import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithBaseline, parseBaseline, renderBaseline } from './baseline.js';
import { loadCases, readRecording } from './cases.js';
import { readOptions } from './command-line.js';
import { DATA } from './files.js';

const baseline = parseBaseline('a\nb\nc\n');
const compared = [
  { name: 'd', passed: true },
  { name: 'a', passed: true },
  { name: 'b', passed: false },
];

it('baseline reports cases that stopped or started passing', () => {
  expect(compareWithBaseline(baseline, compared)).toEqual({ regressions: ['b'], gains: ['d'] });
});

it('baseline accepts passing cases in story order and keeps those not compared', () => {
  expect(renderBaseline(['a', 'b', 'c', 'd', 'e'], baseline, compared)).toBe('a\nc\nd\n');
});

it.each([
  [['--show', 'many'], '--show takes a number'],
  [['--against', 'nowhere'], '--against takes a URL'],
])('rejects %j', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

describe('set of recordings', () => {
  const names = loadCases(join(DATA, 'cases.json')).flatMap((item) => ('step' in item ? [] : [item.name]));

  it('contains a response for each case in order', () => {
    expect([...readRecording(join(DATA, 'answers.jsonl')).answers.keys()]).toEqual(names);
  });

  it('contains the cases named in passing.txt', () => {
    const listed = [...parseBaseline(readFileSync(join(DATA, 'passing.txt'), 'utf8'))];
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });
});
