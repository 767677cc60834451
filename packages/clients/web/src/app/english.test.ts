import { compiled } from './english.js';

it('compiles texts with and without placeholders', () => {
  expect(compiled('All messages')).toEqual(['All messages']);
  expect(compiled('Leave #{channel}?')).toEqual(['Leave #', ['channel'], '?']);
  expect(compiled('{name} at {time}')).toEqual([['name'], ' at ', ['time']]);
});
