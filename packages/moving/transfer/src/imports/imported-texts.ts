import type { Channel } from '@parley/domain/channels';
import {
  DomainError,
  type RealmId,
  type RealmUrls,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
} from '@parley/domain/kernel';
import type { MarkdownRenderer, ParsedAhead } from '@parley/domain/markdown';
import { loadSender, type Message } from '@parley/domain/messages';
import {
  destinationOf,
  editText,
  markdownOptions,
  parseAhead,
  type RenderedText,
  renderText,
} from '@parley/domain/writing';

export interface ParsedText {
  readonly content: string;
  readonly parsed: Exclude<ParsedAhead, DomainError>;
}

/** Replaces texts of imported messages by texts that refer to stored files. */
export class ImportedTexts {
  static readonly inject = ['markdownRenderer', 'realmUrls'] as const;
  constructor(
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** Returns null for a text that cannot be rendered. */
  async parse(uow: UnitOfWork, realmId: RealmId, content: string): Promise<ParsedText | null> {
    const realm = await uow.read(realmId, ({ realms }) => realms.get(realmId));
    const parsed = await parseAhead(this.renderer, content, markdownOptions(realm, this.realmUrls.urlOf(realm)));
    return parsed instanceof DomainError ? null : { content, parsed };
  }

  /** Publishes no event. */
  async replace(
    tx: Transaction,
    message: Message,
    { content, parsed }: ParsedText,
    editedAt: UnixSeconds,
  ): Promise<{ readonly channel: Channel | null; readonly rendered: RenderedText }> {
    const { realmId } = message;
    const realm = await tx.realms.get(realmId);
    const channel = message.channelId === null ? null : await tx.channels.find(realmId, message.channelId);
    const sender = await loadSender(tx, message);
    const destination = await destinationOf(tx, { message, channel });
    // The import wrote the text, so no author's access is needed.
    const rendered = await renderText(tx, this.renderer, parsed, realm, { actor: null });
    await editText(tx, message, { content, rendered, editedAt, destination, sender });
    return { channel, rendered };
  }
}
