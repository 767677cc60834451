import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import type { MessageId, UserId } from '../../kernel/ids.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { SearchTexts } from '../../markdown/markdown.js';
import type { Realm } from '../../realms/realm.js';
import { inaccessibleUserIds } from '../../users/accessible-users.js';
import { listReadableEntries } from '../load-access.js';
import { checkPage, type MessagePage, type PageRange, pageOfIds, selectPage } from '../message-page.js';
import type { MessageText, MessageView } from '../message-view.js';
import { replaceWith, resolveNarrow } from '../narrow.js';
import type { NarrowTerm } from '../narrow-operators.js';
import { type Highlight, highlighting } from '../search.js';

export interface GetMessagesInput {
  readonly narrow: readonly NarrowTerm[];
  /** A range of the narrow, or these messages as far as they are of it. */
  readonly select: PageRange | { readonly ids: readonly MessageId[] };
}

export interface MessageList extends MessagePage {
  readonly viewer: Actor;
  readonly realm: Realm;
  /** Senders whom the caller may not know; their messages name nobody (messages §2). */
  readonly hiddenUserIds: ReadonlySet<UserId>;
  /** Null: nothing was searched for. */
  readonly highlight: Highlight | null;
}

/** Called inside the read's snapshot, so that whoever has presented messages before asks for the missing ones only. */
export type PresentMessages<T> = (
  list: MessageList,
  hydrate: (ids: readonly MessageId[]) => Promise<readonly MessageView[]>,
  /** For what is searched for to be marked in them. */
  listTexts: (ids: readonly MessageId[]) => Promise<readonly MessageText[]>,
) => Promise<T>;

/** A page of messages (messages §5). */
export class GetMessages {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
  ) {}

  /** @throws DomainError TOO_MANY_MESSAGES, INVALID_MESSAGE_RANGE, UNKNOWN_MESSAGE, INVALID_NARROW */
  execute<T>(caller: Caller, { narrow, select }: GetMessagesInput, present: PresentMessages<T>): Promise<T> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const terms = await replaceWith(repositories, actor, narrow);
      checkPage(select);
      const resolved = await resolveNarrow(
        { reads: repositories, actor, realmUrls: this.realmUrls, words: this.texts },
        terms,
      );
      const page =
        'ids' in select
          ? pageOfIds(await listReadableEntries(repositories, actor, select.ids, resolved.filter.conditions))
          : await selectPage(repositories, actor, resolved, select);
      const realm = await repositories.realms.get(actor.realmId);
      const senderIds = page.entries.map((entry) => entry.senderId);
      const hiddenUserIds = await inaccessibleUserIds(repositories, actor, realm, senderIds);
      const highlight = resolved.search === null ? null : highlighting(this.texts, resolved.search);
      return present(
        { ...page, viewer: actor, realm, hiddenUserIds, highlight },
        (ids) => repositories.pages.listViews(actor.realmId, ids),
        (ids) => repositories.pages.listTexts(actor.realmId, ids),
      );
    });
  }
}
