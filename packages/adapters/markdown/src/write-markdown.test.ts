import {
  type Block,
  type Emphasis,
  type Inline,
  parseSlackMessage,
  plainText,
  writeMarkdown,
} from '@parley/domain/markdown';
import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { OPTIONS, resolve } from './fixtures/world.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const renderer = new ZulipMarkdownRenderer();
afterAll(() => renderer.close());

async function render(markdown: string, defaultCodeLanguage = 'quote') {
  const parsed = await renderer.parse(markdown, {
    ...OPTIONS,
    linkifiers: [],
    mediaPreviews: false,
    defaultCodeLanguage,
  });
  return renderer.render(parsed, resolve(parsed));
}

/** Visible character with the formatting around it, such as `x em li`. */
type Shown = string;

const SHOWN_TAGS: ReadonlySet<string> = new Set('strong em del code pre a h2 h4 blockquote li time'.split(' '));
const INVISIBLE = /[\s\u2060]/;

const shownOf = (text: string, tags: readonly string[]): readonly Shown[] =>
  [...text]
    .filter((character) => !INVISIBLE.test(character))
    .map((character) => [character, ...[...new Set(tags)].sort()].join(' '));

function shownHtml(html: string): readonly Shown[] {
  const visit = (node: DefaultTreeAdapterTypes.Node, tags: readonly string[]): readonly Shown[] => {
    if ('value' in node) return shownOf(node.value, tags);
    if (!('childNodes' in node)) return [];
    const own = 'tagName' in node && SHOWN_TAGS.has(node.tagName) ? [...tags, node.tagName] : tags;
    return node.childNodes.flatMap((child) => visit(child, own));
  };
  return visit(parseFragment(html), []);
}

const TAGS: Readonly<Record<Emphasis, string>> = { strong: 'strong', em: 'em', del: 'del' };

function shownInlines(inlines: readonly Inline[], tags: readonly string[]): readonly Shown[] {
  return inlines.flatMap((inline): readonly Shown[] => {
    if (inline.type === 'link') return shownOf(plainText([inline]), [...tags, 'a']);
    if ('children' in inline) return shownInlines(inline.children, [...tags, TAGS[inline.type]]);
    return shownOf(plainText([inline]), inline.type === 'code' ? [...tags, 'code'] : tags);
  });
}

function shownBlocks(blocks: readonly Block[], tags: readonly string[] = []): readonly Shown[] {
  return blocks.flatMap((block): readonly Shown[] => {
    switch (block.type) {
      case 'paragraph':
        return shownInlines(block.children, tags);
      case 'heading':
        return shownInlines(block.children, [...tags, `h${block.level ?? 2}`]);
      case 'quote':
        return shownBlocks(block.children, [...tags, 'blockquote']);
      case 'spoiler':
        return shownBlocks(block.children, tags);
      case 'code':
        return shownOf(block.text, [...tags, 'code', 'pre']);
      case 'list':
        return block.items.flatMap(({ children, lists }) => [
          ...shownInlines(children, [...tags, 'li']),
          ...shownBlocks(lists, [...tags, 'li']),
        ]);
      default:
        return [];
    }
  });
}

const piece = fc.constantFrom(
  ...'*¦**¦***¦~~¦~¦`¦``¦```¦~~~¦\n¦\n\n¦ ¦  ¦    ¦\t¦> ¦>¦# ¦#¦- ¦-¦1. ¦10. ¦---¦___¦$$¦$¦\\¦\\\\¦_¦:¦:smile:¦:parrot:¦<¦<b>¦<time:2024-01-01>¦@**Ann Example**¦@¦@_¦@**all**¦@*support*¦#**design**¦[¦]¦(¦)¦](¦![¦/user_uploads/1/a.png¦"¦\'¦&¦&amp;¦&#x6a;¦;¦quote¦\n```quote\n¦a|b\n-|-\nc|d¦|¦!¦^¦{¦/me ¦/poll ¦x¦word¦\r\n¦\u00a0¦\u2028¦--¦:-:¦+'.split(
    '¦',
  ),
);
const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const isVisible = (inlines: readonly Inline[]) => plainText(inlines).replace(/\s/g, '') !== '';

const { inline } = fc.letrec<{ inline: Inline; inlines: Inline[] }>((tie) => ({
  inline: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text.map((value): Inline => ({ type: 'text', text: value })),
    text.map((value): Inline => ({ type: 'text', text: value })),
    // Deliberate: in quotes the dialect changes mentions inside code (markdown §5).
    text.map((value): Inline => ({ type: 'code', text: value.replace(/[`@]/g, '') })),
    text.map(
      (value): Inline => ({
        type: 'link',
        url: `https://a.example/${value}`,
        children: [{ type: 'text', text: `l${value}` }],
      }),
    ),
    fc.record({ type: fc.constantFrom<Emphasis>('strong', 'em', 'del'), children: tie('inlines') }),
  ) as fc.Arbitrary<Inline>,
  inlines: fc.array(tie('inline'), { minLength: 1, maxLength: 4 }),
}));
const inlines = fc.array(inline, { minLength: 1, maxLength: 5 }).filter(isVisible);

const simpleBlock: fc.Arbitrary<Block> = fc.oneof(
  inlines.map((children): Block => ({ type: 'paragraph', children })),
  inlines.map((children): Block => ({ type: 'heading', children })),
  inlines.map((children): Block => ({ type: 'heading', children, level: 4 })),
  text.map((value): Block => ({ type: 'code', text: value, language: '' })),
  fc.array(inlines, { minLength: 1, maxLength: 3 }).map(
    (items): Block => ({
      type: 'list',
      start: null,
      items: items.map((children) => ({
        children,
        lists: [{ type: 'list', start: 3, items: [{ children, lists: [] }] }],
      })),
    }),
  ),
);
const block = fc.oneof(
  simpleBlock,
  fc.array(simpleBlock, { minLength: 1, maxLength: 2 }).map((children): Block => ({ type: 'quote', children })),
  fc.array(simpleBlock, { minLength: 1, maxLength: 2 }).map((children): Block => ({ type: 'spoiler', children })),
);

describe('writeMarkdown with the renderer', () => {
  it('shows each character with exactly the formatting of its node, and mentions nobody', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 3 }), async (blocks) => {
        const markdown = writeMarkdown(blocks);
        const { html, isMeMessage, mentionedUserIds, mentionsChannelWildcard } = await render(markdown);
        expect({ markdown, shown: shownHtml(html) }).toEqual({ markdown, shown: shownBlocks(blocks) });
        expect(html).not.toMatch(/user-mention|user-group-mention|class="stream|class="katex/);
        expect([isMeMessage, mentionsChannelWildcard, mentionedUserIds.size]).toEqual([false, false, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('renders any Slack message without mentions', async () => {
    const slack = fc.constantFrom(
      ...'*¦_¦__¦~¦~~~¦\\¦`¦```¦```quote\n¦\n¦ ¦&gt;¦>¦>>>¦&lt;¦&amp;¦<¦>¦|¦<!here>¦<!everyone|@**all**>¦<@U1|**all**>¦<https://a.example|x>¦<!date^1^{date}|@**all**>¦:smile:¦@¦#¦@*all*¦@**all**¦**all**¦https://a.example/x¦x¦word¦/me '.split(
        '¦',
      ),
    );
    const texts = fc.array(slack, { maxLength: 15 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(texts, texts, async (value, markdown) => {
        const blocks = parseSlackMessage({
          text: '',
          blocks: [
            { type: 'section', text: { type: 'mrkdwn', text: value } },
            { type: 'markdown', text: markdown },
          ],
        });
        const written = writeMarkdown([...blocks, ...parseSlackMessage({ text: value })]);
        const { html, isMeMessage } = await render(written);
        expect(html).not.toMatch(/user-mention|user-group-mention|topic-mention|class="stream/);
        expect(isMeMessage).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
