import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { parseForm } from './bodies.js';

const decoded = (text: string) => parseForm(`name=${text}`).get('name');

describe('parseForm', () => {
  it.each([
    ['a+b', 'a b'],
    ['%2B', '+'],
    ['caf%C3%A9', 'café'],
    ['caf%c3%a9', 'café'],
    ['%F0%9F%98%80', '😀'],
    ['é%20é', 'é é'],
    ['100%', '100%'],
    ['100%2', '100%2'],
    ['%zz%G0%0g', '%zz%G0%0g'],
    ['%ff', '\ufffd'],
    ['%C3', '\ufffd'],
    ['%ed%a0%80', '\ufffd\ufffd\ufffd'],
    ['', ''],
  ])('decodes %p to %p', (text, value) => {
    expect(decoded(text)).toBe(value);
  });

  it('decodes an encoded field to its original text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decoded(encodeURIComponent(text))).toBe(text);
        expect(parseForm(new URLSearchParams({ name: text }).toString()).get('name')).toBe(text);
      }),
    );
  });

  it('decodes a field in linear time for any content', async () => {
    const length = 1024 * 1024;
    for (const piece of ['%ff%', '+%', '%', 'é%C3%A9%zz']) {
      const text = piece.repeat(length / piece.length);
      expect(await workMsOf(() => parseForm(`name=${text}`), 100)).toBeLessThan(100);
    }
  });

  it('rejects too many form fields', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `field${n}=1`).join('&');
    expect(parseForm(fields(1000)).size).toBe(1000);
    expect(() => parseForm(fields(1001))).toThrow('Request body is too large');
  });
});
