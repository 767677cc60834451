import { workMsOf } from '@parley/testkit/process-usage';
import { isParsableUrl, isUrl } from './text.js';

describe('isUrl', () => {
  it.each([
    'https://example.com',
    'http://example.com:8080/path?query#fragment',
    'https://user:word@example.com/',
    'ftp://example.com/file',
    'http://localhost:9991',
    'http://127.0.0.1/x',
    'http://[::1]:80/',
    'https://bücher.example/ä',
  ])('accepts %s', (text) => expect(isUrl(text)).toBe(true));

  it.each([
    '',
    'example.com',
    '//example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://',
    'https://example',
    'https://exa mple.com',
    'https://example.com/a b',
    ' https://example.com',
    'https://-example.com',
    'https://example..com',
    `https://example.com/${'x'.repeat(2000)}`,
  ])('rejects %j as a URL', (text) => expect(isUrl(text)).toBe(false));

  it('takes time proportional to the length', async () => {
    const ask = () => {
      for (const text of [
        `https://${'a.'.repeat(900)}`,
        `https://${'a-'.repeat(900)}!`,
        `https://${'@'.repeat(1900)}`,
      ]) {
        expect(isUrl(text)).toBe(false);
      }
    };
    expect(await workMsOf(ask, 100)).toBeLessThan(100);
  });
});

describe('isParsableUrl', () => {
  it('accepts letters of Latin-1 after any number of calls', () => {
    const urls = ['https://bücher.example/', 'https://example.com/é'];
    const rejected = Array.from({ length: 50_000 }, (_, n) => urls[n % 2]!).filter((url) => !isParsableUrl(url));
    expect(rejected).toEqual([]);
  });

  it('resolves a relative reference against the base', () => {
    expect(isParsableUrl('/path', 'https://example.com/')).toBe(true);
    expect(isParsableUrl('/path')).toBe(false);
  });
});
