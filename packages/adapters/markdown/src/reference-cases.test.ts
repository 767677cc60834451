import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeHtml } from './fixtures/normalize-html.js';
import { typesetterWith } from './fixtures/typesetters.js';
import { linkifiers, OPTIONS, resolve } from './fixtures/world.js';
import { htmlMessages } from './html-messages.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

interface RecordedCase {
  readonly name: string;
  readonly input: string;
  readonly html: string;
  readonly settings?: {
    readonly translate_emoticons?: boolean;
    readonly default_code_block_language?: string;
    readonly linkifiers?: readonly (readonly [string, string])[];
  };
}

interface WrittenCase {
  readonly says: string;
  readonly input: string;
  readonly html: string;
  /** Notification text. */
  readonly text?: string;
  readonly settings?: { readonly translate_emoticons?: boolean };
}

const read = (file: string) => JSON.parse(readFileSync(join(__dirname, 'fixtures', file), 'utf8'));
/** Long timeout, so that a busy machine does not affect the result. */
const patient = typesetterWith(60_000);
const renderer = new ZulipMarkdownRenderer({}, patient);

describe('renderer compared with a reference server', () => {
  it.each((read('markdown-recorded.json') as readonly RecordedCase[]).map((c) => [c.name, c] as const))(
    '%s',
    async (_, { input, html, settings }) => {
      const parsed = await renderer.parse(input, {
        ...OPTIONS,
        translateEmoticons: settings?.translate_emoticons ?? false,
        defaultCodeLanguage: settings?.default_code_block_language ?? '',
        linkifiers: [...OPTIONS.linkifiers, ...linkifiers(settings?.linkifiers ?? [])],
      });
      expect(normalizeHtml(renderer.render(parsed, resolve(parsed)).html)).toBe(normalizeHtml(html));
    },
  );
});

describe('renderer compared with the format description', () => {
  it.each((read('documented-cases.json') as readonly RecordedCase[]).map((c) => [c.name, c] as const))(
    '%s',
    async (_, { input, html }) => {
      const parsed = await renderer.parse(input, OPTIONS);
      expect(normalizeHtml(renderer.render(parsed, resolve(parsed)).html)).toBe(normalizeHtml(html));
    },
  );
});

describe('renderer with additional texts', () => {
  const features = Object.entries(read('written-cases.json') as Record<string, readonly WrittenCase[]>);

  describe.each(features)('matches the reference: %s', (_, cases) => {
    it.each(cases.map((c) => [c.says, c] as const))('%s', async (_says, { input, html, text, settings }) => {
      const parsed = await renderer.parse(input, {
        ...OPTIONS,
        translateEmoticons: settings?.translate_emoticons ?? false,
      });
      const rendered = renderer.render(parsed, resolve(parsed)).html;
      expect(normalizeHtml(rendered)).toBe(normalizeHtml(html));
      if (text !== undefined) expect(htmlMessages.plainText(rendered)).toBe(text);
    });
  });
});
