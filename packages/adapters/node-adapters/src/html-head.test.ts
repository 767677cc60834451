import { workMsOf } from '@parley/testkit/process-usage';
import { HtmlHead } from './html-head.js';

const MAX_MS = 400;
const TITLE = { title: 'T', description: null, picture: null };

const titled = (head: string) => {
  const page = new HtmlHead('https://a.example/b/c', 'text/html; charset=utf-8');
  page.write(Buffer.from(head));
  return page.preview();
};

describe('HtmlHead', () => {
  it.each([
    ['a title', '<title> A\n b </title>', { title: 'A b', description: null, picture: null }],
    ['entities in a title', '<title>&lt;b&gt; &amp;amp; &#x41;&eacute;</title>', { ...TITLE, title: '<b> &amp; Aé' }],
    [
      'tags in a title',
      '<title>a <b onclick=x>b</b><script>c</script></title>',
      { ...TITLE, title: 'a <b onclick=x>b</b><script>c</script>' },
    ],
    ['the first of several titles', '<title>T</title><svg><title>U</title></svg>', TITLE],
    ['a description', '<meta name=Description content="D"><title>T</title>', { ...TITLE, description: 'D' }],
    [
      'Open Graph before other metadata',
      '<title>x</title><meta name="description" content="y"><meta content="T" property="og:title"><meta property="og:description" content="D"><meta property="og:image" content="../i.png?a=1&amp;b=2">',
      { title: 'T', description: 'D', picture: 'https://a.example/i.png?a=1&b=2' },
    ],
    [
      'the first of several pictures',
      '<meta property="og:image" content="/1"><meta property="og:image" content="/2">',
      { title: null, description: null, picture: 'https://a.example/1' },
    ],
    [
      'a script with metadata in a text',
      '<script>"<title>x</title><meta property=og:title content=x>"</script><title>T</title>',
      TITLE,
    ],
    [
      'metadata in comments and styles',
      '<!--<title>x</title>--><style><title>y</title></style><title>T</title>',
      TITLE,
    ],
    ['no metadata after the head', '<title>T</title></head><meta property="og:image" content="/1">', TITLE],
    ['no metadata in the body', '<title>T</title><body><meta property="og:image" content="/1">', TITLE],
    [
      'a picture without a usable scheme',
      '<title>T</title><meta property="og:image" content="javascript:alert(1)">',
      TITLE,
    ],
    ['a data picture', '<title>T</title><meta property="og:image" content="data:image/png;base64,AAAA">', TITLE],
    ['an invalid picture', '<title>T</title><meta property="og:image" content="http://[">', TITLE],
    ['control characters', '<title>a\u0002h0\u0003b</title>', { ...TITLE, title: 'a h0 b' }],
    ['no metadata at all', '<p>text', null],
    ['nothing', '', null],
    ['broken tags', '<title>T</title><meta property="og:title', TITLE],
  ])('reads %s', (_what, head, expected) => {
    expect(titled(head)).toEqual(expected);
  });

  it('reads all tags of a head without white space between them', () => {
    expect(titled(`${'<meta name="viewport" content="width=device-width">'.repeat(2000)}<title>T</title>`)).toEqual(
      TITLE,
    );
  });

  it('ignores attributes after the 64th of a tag', () => {
    const many = Array.from({ length: 63 }, (_, n) => `a${n}`).join(' ');
    expect(titled(`<meta ${many} property=og:title content=x><title>T</title>`)).toEqual(TITLE);
  });

  it('shortens long texts and omits long picture addresses', () => {
    const { title, description, picture } = titled(
      `<title>${'😀'.repeat(300)}</title><meta name="description" content="${'d '.repeat(2000)}"><meta property="og:image" content="/${'x'.repeat(2000)}">`,
    )!;
    expect([...title!]).toHaveLength(200);
    expect([...description!]).toHaveLength(500);
    expect(picture).toBe(null);
  });

  it.each([
    ['header', 'text/html; charset=ISO-8859-1', '<title>é</title>', 'latin1'],
    ['page', 'text/html', '<meta charset="windows-1252"><title>é</title>', 'latin1'],
    ['neither', 'text/html', '<title>é</title>', 'utf8'],
    ['unknown encoding', 'text/html; charset=nonsense', '<title>é</title>', 'utf8'],
  ] as const)('decodes the encoding declared by: %s', (_where, type, text, encoding) => {
    const page = new HtmlHead('https://a.example/', type);
    for (const byte of Buffer.from(text, encoding)) page.write(Uint8Array.of(byte));
    const whole = new HtmlHead('https://a.example/', type);
    whole.write(Buffer.from(text, encoding));
    expect(whole.preview()).toMatchObject({ title: 'é' });
    if (encoding === 'utf8') expect(page.preview()).toMatchObject({ title: 'é' });
  });

  it.each([
    ['attributes', (n: number) => `<meta ${Array.from({ length: n / 8 }, (_, i) => `a${i}`).join(' ')}`],
    [
      'attributes of an end tag',
      (n: number) => `<script></script ${Array.from({ length: n / 8 }, (_, i) => `a${i}`).join(' ')}`,
    ],
    [
      'tags with many attributes each',
      (n: number) => `<meta ${Array.from({ length: 1200 }, (_, i) => `a${i}=1`).join(' ')}>`.repeat(n / 9000),
    ],
    [
      'end tags with many attributes each',
      (n: number) => `</meta ${Array.from({ length: 1200 }, (_, i) => `a${i}`).join(' ')}>`.repeat(n / 7000),
    ],
    ['open tags', (n: number) => '<b><i>'.repeat(n / 6)],
    ['open and closed tags', (n: number) => '<x1>'.repeat(n / 9) + '</y>'.repeat(n / 9)],
    ['entities', (n: number) => `<title>${'&amp'.repeat(n / 4)}`],
    ['titles', (n: number) => '<title>a</title>'.repeat(n / 16)],
    ['metadata', (n: number) => '<meta name=description content=a>'.repeat(n / 33)],
    ['comments', (n: number) => '<!--'.repeat(n / 4)],
    ['angle brackets', (n: number) => '<'.repeat(n)],
    ['scripts', (n: number) => '<script><!--'.repeat(n / 12)],
  ])('reads a megabyte of %s in linear time', async (_what, make) => {
    const text = Buffer.from(make(1024 * 1024));
    const ms = await workMsOf(async () => {
      const page = new HtmlHead('https://a.example/', 'text/html');
      for (let at = 0; at < text.length; at += 65_536) page.write(text.subarray(at, at + 65_536));
      page.preview();
    }, MAX_MS);
    expect(ms).toBeLessThan(MAX_MS);
  });
});
