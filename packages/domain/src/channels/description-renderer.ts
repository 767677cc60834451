import type { MarkdownRenderer } from '../markdown/markdown.js';
import { markdownOptions, type ParsedAhead, parseAhead, renderText } from '../messages/render-message.js';
import type { Actor } from '../permissions/actor.js';
import { orThrow } from '../shared/errors.js';
import type { RealmId } from '../shared/ids.js';
import type { RealmUrls } from '../shared/realm-urls.js';
import type { Transaction, UnitOfWork } from '../shared/unit-of-work.js';

/** A description that was parsed before the unit; empty ones are not. */
export interface ParsedDescription {
  readonly text: string;
  readonly parsed: ParsedAhead | null;
}

/** Turns what somebody typed about a channel or folder into HTML, without previews. */
export class DescriptionRenderer {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** Before the unit. Never throws for what the text is: that is said in its turn. */
  async parse(realmId: RealmId, text: string): Promise<ParsedDescription> {
    return (await this.parseAll(realmId, [text])).get(text)!;
  }

  /** By text. */
  async parseAll(realmId: RealmId, texts: readonly string[]): Promise<ReadonlyMap<string, ParsedDescription>> {
    const all = new Map<string, ParsedDescription>(texts.map((text) => [text, { text, parsed: null }]));
    const written = [...all.keys()].filter((text) => text !== '');
    if (written.length === 0) return all;
    const realm = await this.uow.read(({ realms }) => realms.get(realmId));
    const options = markdownOptions(realm, this.realmUrls.urlOf(realm), { mediaPreviews: false });
    for (const text of written) all.set(text, { text, parsed: await parseAhead(this.renderer, text, options) });
    return all;
  }

  /** Inside it, with what the actor may see. @throws DomainError UNRENDERABLE_CONTENT */
  async render(tx: Transaction, actor: Actor, { parsed }: ParsedDescription): Promise<string> {
    if (parsed === null) return '';
    const realm = await tx.realms.get(actor.realmId);
    return (await renderText(tx, this.renderer, orThrow(parsed), realm, { actor })).html;
  }
}
