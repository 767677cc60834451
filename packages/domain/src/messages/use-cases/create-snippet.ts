import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { SnippetId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { requireRoomForSnippet, requireRoomForSnippetText } from '../snippet.js';
import { publishSnippet } from '../snippet-events.js';

export interface CreateSnippetInput {
  readonly title: string;
  readonly content: string;
}

/** Saves a text to use it again (users §18). */
export class CreateSnippet {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError TOO_MANY_SNIPPETS */
  execute({ realmId, userId }: Caller, { title, content }: CreateSnippetInput): Promise<SnippetId> {
    return this.uow.write(async (tx) => {
      requireRoomForSnippet(await tx.snippets.count(realmId, userId));
      requireRoomForSnippetText(await tx.snippets.countBytes(realmId, userId), [content]);
      const snippet = await tx.snippets.add({ realmId, userId, title, content, createdAt: this.clock.now() });
      await publishSnippet(tx, snippet, { type: 'snippet.added', snippet });
      return snippet.id;
    });
  }
}
