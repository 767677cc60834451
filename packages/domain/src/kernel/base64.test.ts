import { decodeBase64 } from './text.js';

it.each(['', 'a', 'ab', 'abc', 'abcd', 'püsh', '\u00ff\u0000?>', 'x'.repeat(33)])(
  'decodeBase64 decodes the Base64 of %j',
  (text) => {
    const bytes = Buffer.from(text);
    expect(decodeBase64(bytes.toString('base64'))).toEqual([...bytes]);
  },
);

it.each(['a', 'ab', 'abc', 'abc=d', '====', 'ab=c', 'YQ=', 'Y Q=', '_w==', 'YWI=\n'])(
  'decodeBase64 rejects %j',
  (text) => {
    expect(decodeBase64(text)).toBeNull();
  },
);
