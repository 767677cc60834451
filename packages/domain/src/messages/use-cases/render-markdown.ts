import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { isLongerThan } from '../../kernel/text.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { MarkdownRenderer } from '../../markdown/markdown.js';
import { MAX_MESSAGE_LENGTH } from '../message.js';
import { OwnTextParser } from '../own-text-parser.js';
import { renderText } from '../render-message.js';

/** What a text would look like as the caller's message; nothing is stored or announced (messages §15.1). */
export class RenderMarkdown {
  static readonly inject = ['unitOfWork', 'markdownRenderer', OwnTextParser] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly parser: OwnTextParser,
  ) {}

  /** HTML; empty for an empty text. @throws DomainError UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { content }: { readonly content: string }): Promise<string> {
    // Sending would cut it, and what it would look like then is not what was asked for.
    if (isLongerThan(content, MAX_MESSAGE_LENGTH))
      throw new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
    const text = await this.parser.parse(caller, content);
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(actor.realmId);
      const author = (await repositories.users.find(actor.realmId, actor.id))!;
      const parsed = this.parser.parsedBy(realm, author, text);
      return (await renderText(repositories, this.renderer, parsed, realm, { actor })).html;
    });
  }
}
