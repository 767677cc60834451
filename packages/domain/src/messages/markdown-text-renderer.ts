import type { Actor } from '../access/actor.js';
import { orThrow } from '../kernel/errors.js';
import type { RealmId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { MarkdownRenderer } from '../markdown/markdown.js';
import type { ParsedText, TextRenderer } from '../markdown/text-renderer.js';
import { markdownOptions, parseAhead, renderText } from './render-message.js';

/** Texts that are no messages have the Markdown of messages. */
export class MarkdownTextRenderer implements TextRenderer {
  static readonly inject = ['unitOfWork', 'markdownRenderer', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  async parse(realmId: RealmId, text: string): Promise<ParsedText> {
    return (await this.parseAll(realmId, [text])).get(text)!;
  }

  async parseAll(realmId: RealmId, texts: readonly string[]): Promise<ReadonlyMap<string, ParsedText>> {
    const all = new Map<string, ParsedText>(texts.map((text) => [text, { text, parsed: null }]));
    const written = [...all.keys()].filter((text) => text !== '');
    if (written.length === 0) return all;
    const realm = await this.uow.read(({ realms }) => realms.get(realmId));
    const options = markdownOptions(realm, this.realmUrls.urlOf(realm), { mediaPreviews: false });
    for (const text of written) all.set(text, { text, parsed: await parseAhead(this.renderer, text, options) });
    return all;
  }

  async render(tx: Transaction, realmId: RealmId, actor: Actor | null, { parsed }: ParsedText): Promise<string> {
    if (parsed === null) return '';
    const realm = await tx.realms.get(realmId);
    return (await renderText(tx, this.renderer, orThrow(parsed), realm, { actor })).html;
  }
}
