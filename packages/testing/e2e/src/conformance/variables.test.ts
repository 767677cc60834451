// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of cases look like that.
import type { Json } from './json.js';
import { dig, MissingValue, Variables } from './variables.js';

describe('Variables', () => {
  const variables = new Variables(() => 1_800_000_000);
  variables.set('channel', 7);
  variables.set('run', 'bcd');
  variables.set('order', [3, 1]);
  variables.set('nothing', null);

  it.each<[Json, Json]>([
    ['${channel}', 7],
    ['${order}', [3, 1]],
    ['id ${channel} of ${run}', 'id 7 of bcd'],
    ['${channel+2}', 9],
    ['${channel-10}', -3],
    ['${now}', 1_800_000_000],
    ['${now+60}', 1_800_000_060],
    ['plain', 'plain'],
    [
      [1, '${channel}', null],
      [1, 7, null],
    ],
    [{ '${run}-x': { deep: ['${channel}'] } }, { 'bcd-x': { deep: [7] } }],
  ])('replaces %j with %j', (template, filled) => {
    expect(variables.fill(template)).toEqual(filled);
  });

  it.each(['${unknown}', 'a ${nothing} b', '${run+1}'])('throws if undefined in %s', (template) => {
    expect(() => variables.fill(template)).toThrow(MissingValue);
  });
});

describe('dig', () => {
  const answer = {
    channel: { id: 7 },
    ids: [5, 6],
    groups: [
      { name: 'a', id: 1 },
      { name: 'role:x', id: 2 },
    ],
  };

  it.each<[string, Json]>([
    ['channel.id', 7],
    ['ids.0', 5],
    ['ids.-1', 6],
    ['groups.[name=role:x].id', 2],
    ['groups.[id=1].name', 'a'],
    ['groups.[name=nobody].id', null],
    ['ids.9', null],
    ['channel.id.deeper', null],
    ['ids.[name=a]', null],
  ])('resolves %s to %j', (path, value) => {
    expect(dig(answer, path)).toEqual(value);
  });
});
