import type { MarkdownRenderer } from '../../markdown/markdown.js';
import type { Caller } from '../../shared/caller.js';
import { DomainError } from '../../shared/errors.js';
import type { RealmUrls } from '../../shared/realm-urls.js';
import { isLongerThan } from '../../shared/text.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { MAX_MESSAGE_LENGTH } from '../message.js';
import { ownMarkdownOptions, renderText } from '../render-message.js';

/** What a text would look like as the caller's message; nothing is stored or announced (messages §15.1). */
export class RenderMarkdown {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** HTML; empty for an empty text. @throws DomainError UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { content }: { readonly content: string }): Promise<string> {
    // Sending would cut it, and what it would look like then is not what was asked for.
    if (isLongerThan(content, MAX_MESSAGE_LENGTH))
      throw new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
    const options = await this.uow.read((repositories) => ownMarkdownOptions(repositories, caller, this.realmUrls));
    const parsed = await this.renderer.parse(content, options);
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(actor.realmId);
      return (await renderText(repositories, this.renderer, parsed, realm, { actor })).html;
    });
  }
}
