import type { StoredImage, StoredUpload } from '@parley/domain/markdown';
import { HOSTILE_TEXTS } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { findFaults } from './fixtures/safe-html.js';
import { typesetterWith } from './fixtures/typesetters.js';
import { OPTIONS, resolve } from './fixtures/world.js';
import { htmlMessages } from './html-messages.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const { highlightContent, highlightTopic, diff, plainText, searchableText, previewableLinks, showPreviews } =
  htmlMessages;
const hit = (text: string) => `<span class="highlight">${text}</span>`;

describe('search highlighting', () => {
  it.each`
    search                      | html                                                            | expected
    ${['lunch']}                | ${'<p>discuss lunch after lunch</p>'}                           | ${`<p>discuss ${hit('lunch')} after ${hit('lunch')}</p>`}
    ${['lunch']}                | ${'<p>I am hungry!</p>'}                                        | ${'<p>I am hungry!</p>'}
    ${['https://google.com']}   | ${'<p><a href="https://google.com">https://google.com</a></p>'} | ${`<p><a href="https://google.com">https://${hit('google.com')}</a></p>`}
    ${['KEYWORDMATCH', 'work']} | ${'<p>KEYWORDMATCH and should work</p>'}                        | ${`<p>${hit('KEYWORDMATCH')} and should ${hit('work')}</p>`}
    ${['meeting']}              | ${'<p>Meetings</p>'}                                            | ${`<p>${hit('Meetings')}</p>`}
    ${['the']}                  | ${'<p>the end</p>'}                                             | ${'<p>the end</p>'}
    ${['amp strong class']}     | ${'<p class="class">a &amp; <strong>b</strong></p>'}            | ${'<p class="class">a &amp; <strong>b</strong></p>'}
    ${['"release notes" out']}  | ${'<p>the notes of a release</p>'}                              | ${`<p>the ${hit('notes')} of a ${hit('release')}</p>`}
    ${['well-known']}           | ${'<p>a well-known fact</p>'}                                   | ${`<p>a ${hit('well-known')} fact</p>`}
    ${['known']}                | ${'<p>a well-known fact</p>'}                                   | ${`<p>a well-${hit('known')} fact</p>`}
    ${['日本']}                 | ${'<p>日本語 日本</p>'}                                         | ${`<p>${hit('日本')}語 ${hit('日本')}</p>`}
    ${['ann@a.example']}        | ${'<p>ask Ann@a.example today</p>'}                             | ${`<p>ask ${hit('Ann@a.example')} today</p>`}
    ${['a.b ']}                 | ${'<p>a--b a.b/c a..b</p>'}                                     | ${`<p>a--b ${hit('a.b')}/c a..b</p>`}
    ${['c.d']}                  | ${'<p>a+b@c.d a@b c.d.</p>'}                                    | ${`<p>a+b@${hit('c.d')} a@b ${hit('c.d')}.</p>`}
    ${['x1']}                   | ${'<p><span class="katex"><span>x1</span></span> x1</p>'}       | ${`<p><span class="katex"><span>x1</span></span> ${hit('x1')}</p>`}
    ${[]}                       | ${'<p>x</p>'}                                                   | ${'<p>x</p>'}
  `('marks $search in $html', ({ search, html, expected }) => {
    expect(highlightContent(html, search)).toBe(expected);
  });

  it('marks the whole text of links to found files', () => {
    const link = (path: string, text: string) => `<a href="/user_uploads/${path}/a.pdf">${text}</a>`;
    const html = (found: string) => `<p>${link('2/ab/c-d', found)} ${link('2/ab/e', 'a plan')}</p>`;
    expect(highlightContent(html('a <em>plan</em> &amp; b'), ['walnut'], ['/2/ab/c-d', '/2/ab/f'])).toBe(
      html(`${hit('a ')}<em>${hit('plan')}</em>${hit(' &amp; b')}`),
    );
    expect(highlightContent(html('a plan'), ['walnut'])).toBe(html('a plan'));
  });

  it.each`
    search        | topic               | expected
    ${['lunch']}  | ${'lunch plans'}    | ${`${hit('lunch')} plans`}
    ${['butter']} | ${'bread & butter'} | ${`bread &amp; ${hit('butter')}`}
    ${['butter']} | ${"Ann's butter"}   | ${`Ann&#x27;s ${hit('butter')}`}
    ${['amp']}    | ${'a & b'}          | ${'a &amp; b'}
    ${['x']}      | ${''}               | ${''}
    ${['quote']}  | ${'"quote" <b>'}    | ${`&quot;${hit('quote')}&quot; &lt;b&gt;`}
  `('marks $search in the topic $topic', ({ search, topic, expected }) => {
    expect(highlightTopic(topic, search)).toBe(expected);
  });
});

describe('diffHtml', () => {
  const inserted = (html: string) => `<span class="highlight_text_inserted">${html}</span>`;
  const deleted = (html: string) => `<span class="highlight_text_deleted">${html}</span>`;

  it.each([
    [
      '<p>content before edit</p>',
      '<p>content after edit</p>',
      `<div><p>content ${inserted('after')} ${deleted('before')} edit</p></div>`,
    ],
    ['<p>a</p>', '<p>a <strong>b</strong> c</p>', `<div><p>a ${inserted('<strong>b</strong> c')}</p></div>`],
    ['<p>x</p>', '<ul>\n<li>x</li>\n<li>y</li>\n</ul>', `<div><ul><li>x</li><li>${inserted('y')}</li></ul></div>`],
    ['', '<p>x</p>', `<div><p>${inserted('x')}</p></div>`],
    ['<p>x</p>', '', `<div> <p>${deleted('x')}</p></div>`],
    ['', '', '<div></div>'],
    ['<p>x</p>', '<p>hi</p>', `<div><p>${inserted('hi')}</p> <p>${deleted('x')}</p></div>`],
    [
      '<p><a href="http://a.example">x</a></p>',
      '<p><a href="http://b.example">x</a></p>',
      `<div><p><a href="http://a.example">x</a></p></div>`.replace(
        '<a href="http://a.example">x</a>',
        `<a href="http://b.example">x</a>${inserted('<a href="http://b.example"> Link: http://b.example </a>')} ${deleted('<a href="http://a.example"> Link: http://a.example </a>')}`,
      ),
    ],
  ])('shows the changes from %s to %s', (before, after, expected) => {
    expect(diff(before, after)).toBe(expected);
  });

  it('returns well-formed HTML for arbitrary versions', () => {
    const inline = fc.constantFrom(
      'a',
      'b ',
      ' c d',
      '<strong>e</strong>',
      '<em>f <code>g</code></em>',
      '<br>\n',
      '<a href="http://x.example">h</a>',
    );
    const text = fc.array(inline, { maxLength: 6 }).map((parts) => parts.join(''));
    const block = text.chain((t) =>
      fc.constantFrom(
        `<p>${t}</p>`,
        `<h1>${t}</h1>`,
        `<ul>\n<li>${t}</li>\n<li>x</li>\n</ul>`,
        `<blockquote>\n<p>${t}</p>\n</blockquote>`,
        '<hr>',
      ),
    );
    const html = fc.array(block, { maxLength: 4 }).map((blocks) => blocks.join('\n'));
    fc.assert(
      fc.property(html, html, (before, after) => {
        const result = diff(before, after);
        expect(findFaults(result).filter((fault) => !fault.startsWith('class highlight_text_'))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('takes bounded time for versions without common parts', () => {
    const words = (letter: string) => `<p>${`${letter} `.repeat(5000)}</p>`;
    expect(diff(words('a'), words('b'))).toContain('highlight_text_inserted');
  });

  it('shows deletions after the new version if changes are too deep and too numerous', () => {
    const nested = (word: (i: number) => string) =>
      `<p>${Array.from({ length: 2000 }, (_, i) => `<em>${word(i)} `).join('')}${'</em>'.repeat(2000)}</p>`;
    const before = nested((i) => (i % 2 === 0 ? 'a' : `b${i}`));
    const after = nested((i) => (i % 2 === 0 ? 'a' : `c${i}`));
    const result = diff(before, after);
    expect(result.startsWith(`<div>${after} <p>${deleted('a b1 a b3').slice(0, -'</span>'.length)}`)).toBe(true);
    expect(result.length).toBeLessThan(2 * (before.length + after.length));
  });
});

describe('rendered HTML of hostile text', () => {
  const renderer = new ZulipMarkdownRenderer({}, typesetterWith(150));
  /** CPU time, because the machine may be shared; generous because tests are instrumented. */
  const BUDGET_MS = 1000;

  it.each([
    ...[
      'words',
      'dollars2',
      'starnest',
      'emojiu',
      'urls4',
      'urls9',
      'ents',
      'links',
      'tablerows',
      'quotesnl',
      'listloose',
    ],
    ...['jscode2', 'mathmatrix'],
  ])('is processed in time: %s', async (name) => {
    const parsed = await renderer.parse(HOSTILE_TEXTS[name]!, OPTIONS);
    const { html } = renderer.render(parsed, resolve(parsed));
    const uses: Record<string, () => string> = {
      highlightContent: () => highlightContent(html, ['a', 'running', HOSTILE_TEXTS[name]!]),
      plainText: () => plainText(html),
      searchableText: () => searchableText(html),
      diff: () =>
        diff(
          html,
          html.replaceAll(/a/g, (letter, at) => (at % 7 === 0 ? 'q' : letter)),
        ),
      diffFromNothing: () => diff('', html),
    };
    for (const use of Object.values(uses)) {
      expect(await workMsOf(use, BUDGET_MS)).toBeLessThan(BUDGET_MS);
    }
  });
});

describe('plain text of a message', () => {
  it.each`
    html                                                                       | text
    ${'<p>a</p>\n<ol start="3">\n<li>b</li>\n<li>c</li>\n</ol>'}               | ${'a\n3. b\n4. c'}
    ${'<p><img alt=":parrot:" class="emoji" src="/x.gif" title="parrot"></p>'} | ${':parrot:'}
    ${'<p>1 &lt; 2 &amp; &#169;</p>'}                                          | ${'1 < 2 & ©'}
    ${`<p><a href="/" title=" class='emoji emoji-1f600'">word</a></p>`}        | ${'word'}
  `('renders $html as plain text', ({ html, text }) => {
    expect(plainText(html)).toBe(text);
  });

  it('includes spoiler content for search', () => {
    const html =
      '<div class="spoiler-block"><div class="spoiler-header">\n<p>H</p>\n</div><div class="spoiler-content" aria-hidden="true">\n<p>secret</p>\n</div></div>';
    expect(searchableText(html)).toContain('secret');
  });

  it.each([
    ['<p>a &amp; <strong>b</strong>c</p>\n<p>d</p>', 'a & bc\nd'],
    ['<p>so<img alt=":smile:" class="emoji" src="/smile.png">now</p>', 'so :smile: now'],
    [
      '<p><span class="katex"><span><math><annotation encoding="application/x-tex">x^2</annotation></math></span><span>x2</span></span>!</p>',
      'x^2!',
    ],
  ])('makes %s searchable by its text', (html, text) => {
    expect(searchableText(html)).toBe(text);
  });
});

describe('showThumbnails', () => {
  const { showThumbnails } = htmlMessages;
  const image = (thumbnail: StoredImage['thumbnail']): StoredUpload => ({
    contentType: 'image/png',
    image: { width: 3, height: 2, isAnimated: false, thumbnail },
  });
  const uploads = (upload: StoredUpload) => (path: string) => (path === '1/a.png' ? upload : null);
  const placeholder = (path: string) =>
    `<div class="message_inline_image"><a href="/user_uploads/${path}" title="x"><img class="image-loading-placeholder" data-original-content-type="image/png" data-original-dimensions="3x2" src="/static/images/loading/loader-black.svg"></a></div>`;

  it('replaces only the placeholder of the given image', () => {
    const html = `<p>x</p>\n${placeholder('1/a.png')}${placeholder('1/b.png')}`;
    const ready = image({ format: 'f.webp', transcodedFormat: null });
    const shown = showThumbnails(html, uploads(ready));
    expect(shown).toContain(
      'title="x"><img data-original-content-type="image/png" data-original-dimensions="3x2" src="/user_uploads/thumbnail/1/a.png/f.webp"></a></div>',
    );
    expect(shown).toContain(placeholder('1/b.png'));
    expect(showThumbnails(html, uploads(image('pending')))).toBe(html);
    expect(showThumbnails(html, uploads({ contentType: 'image/png', image: null }))).toBe(html);
  });

  it('removes the frame if the image cannot be shown', () => {
    expect(showThumbnails(`<p>x</p>\n${placeholder('1/a.png')}`, uploads(image('failed')))).toBe('<p>x</p>');
    expect(showThumbnails(placeholder('1/a.png'), uploads(image('failed')))).toBe('');
  });

  it('does not replace text typed by users', () => {
    const typed =
      '<p>&lt;img class="image-loading-placeholder"&gt; <a title="&lt;img class=&quot;image-loading-placeholder&quot;&gt;">x</a></p>';
    expect(showThumbnails(typed, uploads(image('failed')))).toBe(typed);
  });

  it('takes linear time for any text', async () => {
    for (const piece of [
      '<div class="message_inline_image"><a href="',
      '<img alt="',
      ' data-original-src="',
      placeholder('1/a.png'),
    ]) {
      const html = `image-loading-placeholder${piece.repeat(20_000)}`;
      expect(await workMsOf(() => showThumbnails(html, uploads(image('failed'))), 500)).toBeLessThan(500);
    }
  });
});

describe('page previews (markdown §15.6)', () => {
  const link = (url: string, text = url) => `<p><a href="${url}">${text}</a></p>`;
  const manyLinks = (count: number) => Array.from({ length: count }, (_, n) => link(`https://a.example/${n}`)).join('');
  const preview = { title: 'T', description: 'D', picture: '/external_content/1/2' };
  const shown = (html: string, url: string, more: object = {}) =>
    showPreviews(html, new Map([[url, { ...preview, ...more }]]));

  it.each([
    ['a page', link('https://a.example/x?a=1&amp;b=2'), ['https://a.example/x?a=1&b=2']],
    ['the same page twice', link('https://a.example/') + link('https://a.example/', 'x'), ['https://a.example/']],
    ['a video on YouTube', link('https://youtu.be/abc'), ['https://youtu.be/abc']],
    [
      'a page after a quote',
      `<blockquote>${link('https://q.example/')}</blockquote>${link('https://a.example/')}`,
      ['https://a.example/'],
    ],
    ['a quote in a quote', `<blockquote><blockquote></blockquote>${link('https://q.example/')}</blockquote>`, []],
    ['an image', link('https://a.example/x.png?a'), []],
    ['a video file', link('https://a.example/x.mp4'), []],
    ['the own server', link('https://chat.example/x') + link('https://chat.example') + link('/#narrow/x'), []],
    ['a similar host', link('https://chat.example.com/x'), ['https://chat.example.com/x']],
    ['another scheme', link('mailto:a@a.example') + link('ftp://a.example/'), []],
    ['credentials', link('https://a:b@a.example/'), []],
    ['an impossible address', link('https://a.example:99999/'), []],
    ['a long address', link(`https://a.example/${'x'.repeat(2000)}`), []],
    ['24 links', manyLinks(24), Array.from({ length: 24 }, (_, n) => `https://a.example/${n}`)],
    ['25 links', manyLinks(25), []],
  ])('finds links that can have a preview: %s', (_what, html, expected) => {
    expect(previewableLinks(html, 'https://chat.example')).toEqual(expected);
  });

  it('writes title and description only if the page has them, and nothing without a picture', () => {
    const url = 'https://a.example/';
    const start = `<div class="message_embed"><a class="message_embed_image" href="${url}" style="background-image: url(&quot;/external_content/1/2&quot;)"></a><div class="data-container">`;
    const title = `<div class="message_embed_title"><a href="${url}" title="T">T</a></div>`;
    const description = '<div class="message_embed_description">D</div>';
    const whole = `${start}${title}${description}</div></div>`;
    expect(shown('<p>x</p>', url)).toBe(`<p>x</p>\n${whole}`);
    const media = '<div class="message_inline_image"><a href="/x"><img src="/x"></a></div>';
    expect(shown(media, url)).toBe(media + whole);
    const two = new Map([url, `${url}2`].map((each) => [each, preview]));
    expect(showPreviews('<p>x</p>', two)).toBe(`<p>x</p>\n${whole}${whole.replaceAll(url, `${url}2`)}`);
    expect(shown('', url, { title: null })).toBe(`${start}${description}</div></div>`);
    expect(shown('', url, { description: null })).toBe(`${start}${title}</div></div>`);
    expect(shown('<p>x</p>', url, { picture: null })).toBe('<p>x</p>');
  });

  it.each(['https://youtu.be/abc', 'https://www.youtube.com/watch?v=abc&t=1'])(
    'names a link to the video %s',
    (url) => {
      const written = url.replace('&', '&amp;');
      const html = link(written) + link(written, 'own name');
      expect(shown(html, url, { title: 'A & <b> $&' })).toBe(
        link(written, 'YouTube - A &amp; &lt;b&gt; $&amp;') + link(written, 'own name'),
      );
      expect(shown(html, url, { title: null })).toBe(html);
    },
  );

  it.each([
    ['https://vimeo.com/123', 'Vimeo - T'],
    ['https://www.vimeo.com/channels/staff/123/', 'Vimeo - T'],
  ])('names a link to the video %s', (url, name) => {
    expect(shown(link(url), url)).toBe(link(url, name));
  });

  it.each(Object.entries(HOSTILE_TEXTS))('writes safe HTML for a hostile text: %s', (_name, text) => {
    const about = { title: text.slice(0, 500), description: text.slice(0, 500) };
    expect(findFaults(shown('<p>x</p>', 'https://a.example/"><script>', about))).toEqual([]);
  });

  it('leaves previews out of search and notifications', () => {
    const html = shown('<p>own text</p>', 'https://a.example/');
    expect([plainText(html), searchableText(html)]).toEqual(['own text', 'own text']);
    expect(plainText('<p>&lt;div class="message_embed"&gt; stays</p>')).toBe('<div class="message_embed"> stays');
  });
});
