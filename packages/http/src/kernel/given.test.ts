import { given } from './params.js';

it('leaves out what is undefined, and keeps what is null, false, zero or empty', () => {
  const members = given({ name: undefined, folder: null, isQuiet: false, count: 0, text: '' });
  expect(Object.keys(members)).toEqual(['folder', 'isQuiet', 'count', 'text']);
});
