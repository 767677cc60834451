import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeHtml } from './fixtures/normalize-html.js';
import { linkifiers, OPTIONS, resolve } from './fixtures/world.js';
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

interface ReferenceCase {
  readonly name: string;
  readonly input: string;
  readonly expected_output: string;
  readonly text_content?: string;
}

const read = (file: string) => JSON.parse(readFileSync(join(__dirname, 'fixtures', file), 'utf8'));
const renderer = new ZulipMarkdownRenderer();

describe('what a reference server made of', () => {
  it.each((read('markdown-recorded.json') as readonly RecordedCase[]).map((c) => [c.name, c] as const))(
    '%s',
    (_, { input, html, settings }) => {
      const parsed = renderer.parse(input, {
        ...OPTIONS,
        translateEmoticons: settings?.translate_emoticons ?? false,
        defaultCodeLanguage: settings?.default_code_block_language ?? '',
        linkifiers: [...OPTIONS.linkifiers, ...linkifiers(settings?.linkifiers ?? [])],
      });
      expect(normalizeHtml(renderer.render(parsed, resolve(parsed)).html)).toBe(normalizeHtml(html));
    },
  );
});

describe('what the format description says of', () => {
  it.each((read('documented-cases.json') as readonly RecordedCase[]).map((c) => [c.name, c] as const))(
    '%s',
    (_, { input, html }) => {
      const parsed = renderer.parse(input, OPTIONS);
      expect(normalizeHtml(renderer.render(parsed, resolve(parsed)).html)).toBe(normalizeHtml(html));
    },
  );
});

describe("the reference's own test", () => {
  const { regular_tests, linkify_tests } = read('markdown-cases.json') as Record<string, readonly ReferenceCase[]>;
  const withFileLinks = new ZulipMarkdownRenderer({ fileLinks: true });

  it.each([...regular_tests!, ...linkify_tests!].map((c) => [c.name, c] as const))(
    '%s',
    (name, { input, expected_output }) => {
      const parsed = withFileLinks.parse(input, {
        ...OPTIONS,
        realmUrl: 'http://zulip.testserver',
        linkifiers: [],
        translateEmoticons: name.startsWith('translate_emoticons') && name !== 'translate_emoticons_not_enabled',
      });
      expect(normalizeHtml(withFileLinks.render(parsed, resolve(parsed)).html)).toBe(normalizeHtml(expected_output));
    },
  );
});
