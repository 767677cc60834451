import { narrow } from './narrow-param.js';

const type = narrow();

function read(text: string): unknown {
  const value = type.normalize(type.decode(text));
  return type.check(value)?.messageFor('narrow') ?? value;
}

const term = (operator: string, operand: unknown, negated = false) => ({ operator, operand, negated });

describe('narrow parameter', () => {
  it.each([
    ['[]', []],
    ['[["channel","general"]]', [term('channel', 'general')]],
    ['[["stream","general"],["topic","x"]]', [term('stream', 'general'), term('topic', 'x')]],
    ['[{"operator":"stream","operand":5}]', [term('stream', 5)]],
    ['[{"operator":"pm-with","operand":[2,3],"negated":true}]', [term('pm-with', [2, 3], true)]],
    ['[{"operator":"pm_with","operand":"a@x.org"}]', [term('pm_with', 'a@x.org')]],
    ['[{"operator":"dm","operand":[]}]', [term('dm', [])]],
    ['[{"operator":"sender","operand":9,"unknown":1}]', [term('sender', 9)]],
    ['[{"operator":"colour","operand":"red"}]', [term('colour', 'red')]],
    ['[{"operator":"","operand":"red"}]', [term('', 'red')]],
  ])('parses %s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['[', 'narrow is not valid JSON'],
    ['{}', 'narrow is not a list'],
    ['[1,2]', 'Invalid narrow[0]: Value error, dict or list required'],
    ['["channel"]', 'Invalid narrow[0]: Value error, dict or list required'],
    ['[null]', 'Invalid narrow[0]: Value error, dict or list required'],
    ['[["x","y","z"]]', 'Invalid narrow[0]: Value error, element is not a string pair'],
    ['[["channel",5]]', 'Invalid narrow[0]: Value error, element is not a string pair'],
    ['[["channel","a"],["x"]]', 'Invalid narrow[1]: Value error, element is not a string pair'],
    ['[{"operator":"channel"}]', 'Invalid narrow[0]: Value error, operand is missing'],
    ['[{"operator":"channel","operand":null}]', 'Invalid narrow[0]: Value error, operand is missing'],
    ['[{"operand":"x"}]', 'Invalid narrow[0]: Value error, operator is missing'],
    ['[{}]', 'Invalid narrow[0]: Value error, operand is missing'],
    ['[{"operator":5,"operand":"x"}]', 'narrow[0]["operator"] is not a string'],
    ['[{"operator":"channel","operand":"x","negated":"x"}]', 'narrow[0]["negated"] is not a boolean'],
    ['[{"operator":"channel","operand":[1]}]', 'operand is not a string or integer'],
    ['[{"operator":"sender","operand":true}]', 'operand is not a string or integer'],
    ['[{"operator":"dm","operand":5}]', 'operand is not a string or an integer list'],
    ['[{"operator":"dm","operand":["a"]}]', 'operand[0] is not an integer'],
    ['[{"operator":"near","operand":5}]', 'operand is not a string'],
    ['[{"operator":"topic","operand":5}]', 'operand is not a string'],
    ['[{"operator":"colour","operand":5}]', 'operand is not a string'],
    ['[["search"," "]]', 'operand cannot be blank.'],
  ])('rejects %s', (text, message) => {
    expect(read(text)).toBe(message);
  });

  it.each([
    ['terms', Array(101).fill(['is', 'dm']), 'narrow is too long (limit: 100 items)'],
    ['an operator', [['o'.repeat(10_001), 'x']], 'narrow[0]["operator"] is too long (limit: 10000 characters)'],
    ['an operand', [['topic', 'x'.repeat(10_001)]], 'narrow[0]["operand"] is too long (limit: 10000 characters)'],
    [
      'people',
      [{ operator: 'dm', operand: Array(10_001).fill(0.5) }],
      'narrow[0]["operand"] is too long (limit: 10000 items)',
    ],
    ['everything', Array(100).fill(['topic', 'x'.repeat(2000)]), 'narrow is too long (limit: 101000 characters)'],
  ])('rejects a narrow with too much of %s', (_what, terms, message) => {
    expect(read(JSON.stringify(terms))).toBe(message);
  });
});
