import type { StoredImage, StoredUpload } from '@parley/domain/markdown';
import { HOSTILE_TEXTS } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { findFaults } from './fixtures/safe-html.js';
import { typesetterWith } from './fixtures/typesetters.js';
import { OPTIONS, resolve } from './fixtures/world.js';
import { htmlMessages } from './html-messages.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const { highlightContent, highlightTopic, diff, plainText, searchableText } = htmlMessages;
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
