import { encode, formOf } from './encode.js';

it('encode places path parameters and encodes the others as fields', () => {
  const params = { message_id: 7, content: 'true', narrow: [['is', 'dm']], read: false, none: null, absent: undefined };
  expect(encode('PATCH /messages/{message_id}', '/messages/{message_id}', params)).toEqual({
    path: '/messages/7',
    fields: [
      ['content', 'true'],
      ['narrow', '[["is","dm"]]'],
      ['read', 'false'],
      ['none', 'null'],
    ],
  });
});

it('encode escapes path parameters and requires all of them', () => {
  const name = 'DELETE /navigation_views/{fragment}';
  expect(encode(name, '/navigation_views/{fragment}', { fragment: 'narrow/../x?y' }).path).toBe(
    '/navigation_views/narrow%2F..%2Fx%3Fy',
  );
  expect(() => encode(name, '/navigation_views/{fragment}', { fragment: '' })).toThrow('requires fragment');
});

it('encode sends strings as JSON for JSON parameters', () => {
  const fieldsOf = (params: object) => encode('POST /messages', '/messages', { ...params }).fields;
  expect(fieldsOf({ to: '7', content: '7' })).toEqual([
    ['to', '"7"'],
    ['content', '7'],
  ]);
});

it('formOf uses multipart encoding for files', () => {
  expect(String(formOf([['a', 'b c']]))).toBe('a=b+c');
  const form = formOf([
    ['note', 'x'],
    ['filename', new File(['data'], 'data.txt')],
  ]) as FormData;
  expect([form.get('note'), (form.get('filename') as File).name]).toEqual(['x', 'data.txt']);
});
