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

it('tells which cases have stopped passing, and which pass that did not', () => {
  expect(compareWithBaseline(baseline, compared)).toEqual({ regressions: ['b'], gains: ['d'] });
});

it('accepts what passed, in the order of the story, and keeps what was not compared', () => {
  expect(renderBaseline(['a', 'b', 'c', 'd', 'e'], baseline, compared)).toBe('a\nc\nd\n');
});

it.each([
  [['--show', 'many'], '--show takes a number'],
  [['--against', 'nowhere'], '--against takes a URL'],
])('refuses %j', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

describe('the recordings', () => {
  const names = loadCases(join(DATA, 'cases.json')).flatMap((item) => ('step' in item ? [] : [item.name]));

  it('hold an answer to each case, in order', () => {
    expect([...readRecording(join(DATA, 'answers.jsonl')).answers.keys()]).toEqual(names);
  });

  it('are what passing.txt names cases of', () => {
    const listed = [...parseBaseline(readFileSync(join(DATA, 'passing.txt'), 'utf8'))];
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });
});
