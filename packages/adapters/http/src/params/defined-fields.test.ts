import { definedFields } from './params.js';

it('definedFields drops undefined properties but keeps null, false, zero and empty values', () => {
  const members = definedFields({ name: undefined, folder: null, isQuiet: false, count: 0, text: '' });
  expect(Object.keys(members)).toEqual(['folder', 'isQuiet', 'count', 'text']);
});
