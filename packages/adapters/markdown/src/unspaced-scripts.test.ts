import { workMsOf } from '@parley/testkit/process-usage';
import { linkifiers, OPTIONS, resolve } from './fixtures/world.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const renderer = new ZulipMarkdownRenderer({});

async function rendered(input: string): Promise<string> {
  const rules = linkifiers([
    ['#(?P<id>[0-9]+)', 'https://x.example/{id}'],
    ['(?P<key>(?:ABC|DE)-[0-9]+)', 'https://y.example/{key}'],
  ]);
  const parsed = await renderer.parse(input, { ...OPTIONS, linkifiers: rules });
  return renderer.render(parsed, resolve(parsed)).html;
}

const link = (href: string, text = href) => `<a href="${href}">${text}</a>`;
const ANN = '<span class="user-mention" data-user-id="31">@Ann Example</span>';

describe('text without spaces (markdown §11)', () => {
  it.each(['请', 'の', 'カ', '님', 'ครับ', '（', '，', '「', '𠀀'])(
    'mentions people and links channels after %s',
    async (before) => {
      expect(await rendered(`${before}@**Ann Example**看`)).toBe(`<p>${before}${ANN}看</p>`);
    },
  );

  it.each([
    ['修复#12完成', `修复${link('https://x.example/12', '#12')}完成`],
    ['（#12）', `（${link('https://x.example/12', '#12')}）`],
    [
      '修复DE-12完成，ABC-3',
      `修复${link('https://y.example/DE-12', 'DE-12')}完成，${link('https://y.example/ABC-3', 'ABC-3')}`,
    ],
    ['（DE-12）', `（${link('https://y.example/DE-12', 'DE-12')}）`],
  ])('applies linkifiers: %s', async (input, html) => {
    expect(await rendered(input)).toBe(`<p>${html}</p>`);
  });

  it.each([
    ['链接：https://a.example/x，然后', `链接：${link('https://a.example/x')}，然后`],
    ['请看https://a.example/路径。', `请看${link('https://a.example/路径')}。`],
    ['请看https://a.com谢谢', `请看${link('https://a.com')}谢谢`],
    ['（https://10.0.0.1:80端口）', `（${link('https://10.0.0.1:80')}端口）`],
    ['见「https://a.example/(b)」', `见「${link('https://a.example/(b)')}」`],
    ['请访问example.com查看', `请访问${link('http://example.com', 'example.com')}查看`],
    ['发给zhang@corp.example了', `发给${link('mailto:zhang@corp.example', 'zhang@corp.example')}了`],
    ['日本.jp http://日本.jp/x', `${link('http://日本.jp', '日本.jp')} ${link('http://日本.jp/x')}`],
    ['한국은example.com에서', `한국은${link('http://example.com', 'example.com')}에서`],
  ])('finds addresses: %s', async (input, html) => {
    expect(await rendered(input)).toBe(`<p>${html}</p>`);
  });

  it('takes time proportional to the length', async () => {
    for (const piece of ['a请', 'https://a请', 'a.com请', '请a@', '（#1', '请', 'a@b请']) {
      const text = piece.repeat(10_000 / piece.length);
      expect(await workMsOf(async () => void (await rendered(text)), 300)).toBeLessThan(300);
    }
  });

  it.each(['é@**Ann Example**', 'я#12', 'яhttps://a.example/', '😀@**Ann Example**', '请a@**Ann Example**'])(
    'keeps the rules of other scripts: %s',
    async (input) => {
      expect(await rendered(input)).not.toMatch(/user-mention|<a/);
    },
  );
});
