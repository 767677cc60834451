import { HmacPicturePaths } from './external-pictures.js';

describe('HmacPicturePaths', () => {
  const paths = new HmacPicturePaths('secret');
  const partsOf = (path: string) => path.split('/').slice(2) as [string, string];

  it.each(['https://a.example/é.png?x="y"&z', 'http://a.example/\u{1F600}'])('reads %s from its signed path', (url) => {
    const path = paths.pathOf(url);
    expect(path).toMatch(/^\/external_content\/[0-9a-f]{40}\/[0-9a-f]+$/);
    expect(paths.urlOf(...partsOf(path))).toBe(url);
  });

  it('rejects paths of another secret and changed paths', () => {
    const [signature, encoded] = partsOf(paths.pathOf('https://a.example/'));
    expect(new HmacPicturePaths('other').urlOf(signature, encoded)).toBe(null);
    expect(paths.urlOf(signature, `${encoded}00`)).toBe(null);
    expect(paths.urlOf(signature, `${encoded}0`)).toBe(null);
    expect(paths.urlOf(signature, encoded.toUpperCase())).toBe(null);
    expect(paths.urlOf(signature.slice(2), encoded)).toBe(null);
    expect(paths.urlOf(signature, '')).toBe(null);
  });
});
