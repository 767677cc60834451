import type { Caller, SnippetId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  MAX_SNIPPETS,
  publishSnippet,
  requireRoomForSnippet,
  requireRoomForSnippetText,
  requireSnippet,
  type Snippet,
} from './snippets.js';

/** Lists the caller's snippets, oldest first (users §18). */
export class ListSnippets {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly Snippet[]> {
    return this.uow.read(realmId, ({ snippets }) => snippets.list(realmId, userId, MAX_SNIPPETS));
  }
}

export interface CreateSnippetInput {
  readonly title: string;
  readonly content: string;
}

/** Saves a text for reuse (users §18). */
export class CreateSnippet {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError TOO_MANY_SNIPPETS */
  execute({ realmId, userId }: Caller, { title, content }: CreateSnippetInput): Promise<SnippetId> {
    return this.uow.write(realmId, async (tx) => {
      requireRoomForSnippet(await tx.snippets.count(realmId, userId));
      requireRoomForSnippetText(await tx.snippets.countBytes(realmId, userId), [content]);
      const snippet = await tx.snippets.add({ realmId, userId, title, content, createdAt: this.clock.now() });
      await publishSnippet(tx, snippet, { type: 'snippet.added', snippet });
      return snippet.id;
    });
  }
}

/** Null keeps the current value. */
export interface ChangeSnippetInput {
  readonly id: SnippetId;
  readonly title: string | null;
  readonly content: string | null;
}

/** Changes one of the caller's snippets (users §18). */
export class ChangeSnippet {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SNIPPET, TOO_MANY_SNIPPETS */
  execute({ realmId, userId }: Caller, { id, title, content }: ChangeSnippetInput): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const before = requireSnippet(await tx.snippets.find(realmId, userId, id));
      if (title === null && content === null) return;
      const snippet = { ...before, title: title ?? before.title, content: content ?? before.content };
      const present = await tx.snippets.countBytes(realmId, userId);
      requireRoomForSnippetText(present, [snippet.content], [before.content]);
      await tx.snippets.update(snippet);
      await publishSnippet(tx, snippet, { type: 'snippet.changed', snippet });
    });
  }
}

/** Deletes one of the caller's snippets (users §18). */
export class DeleteSnippet {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SNIPPET */
  execute({ realmId, userId }: Caller, { id }: { readonly id: SnippetId }): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const snippet = requireSnippet(await tx.snippets.find(realmId, userId, id));
      await tx.snippets.remove(realmId, userId, id);
      await publishSnippet(tx, snippet, { type: 'snippet.removed', id });
    });
  }
}
