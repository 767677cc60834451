import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import { invalidInput } from '../../shared/errors.js';
import type { MessageId, UserId } from '../../shared/ids.js';
import type { RealmAddresses } from '../../shared/realm-address.js';
import type { Repositories, UnitOfWork } from '../../shared/unit-of-work.js';
import { strangersAmong } from '../../users/acquaintances.js';
import type { Actor } from '../../users/actor.js';
import { listReadableHeads } from '../load-access.js';
import { checkRange, MAX_MESSAGES, type MessagePage, type PageRange, selectPage } from '../message-page.js';
import type { MessageView } from '../message-repository.js';
import { matchesConditions, type NarrowTerm, type ResolvedNarrow, resolveNarrow } from '../narrow.js';

export interface GetMessagesInput {
  readonly narrow: readonly NarrowTerm[];
  /** A range of the narrow, or these messages as far as they are of it. */
  readonly select: PageRange | { readonly ids: readonly MessageId[] };
}

export interface MessageList extends MessagePage {
  readonly viewer: Actor;
  readonly realm: Realm;
  /** Senders whom the caller may not know; their messages name nobody (messages §2). */
  readonly strangers: ReadonlySet<UserId>;
  /** Of the messages that were named those that have not been looked at, ascending: they are asked for by themselves. */
  readonly beyond: readonly MessageId[];
}

/** Topics are known from whole messages only, so that many of them make more than one list. */
const MAX_LOADED = 20;

/** Called inside the read's snapshot, so that whoever has presented messages before asks for the missing ones only. */
export type PresentMessages<T> = (
  list: MessageList,
  hydrate: (ids: readonly MessageId[]) => Promise<readonly MessageView[]>,
) => Promise<T>;

/** A page of messages (messages §5). */
export class GetMessages {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmAddresses,
  ) {}

  /** @throws DomainError INVALID_INPUT, INVALID_NARROW */
  execute<T>(caller: Caller, { narrow, select }: GetMessagesInput, present: PresentMessages<T>): Promise<T> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const wanted = 'ids' in select ? select.ids.length : select.before + select.after;
      if (wanted > MAX_MESSAGES) throw invalidInput(`Too many messages requested (maximum ${MAX_MESSAGES}).`);
      if (!('ids' in select)) checkRange(select);
      const resolved = await resolveNarrow(repositories, actor, narrow, this.addresses);
      const page =
        'ids' in select
          ? await pick(repositories, actor, resolved, select.ids)
          : { ...(await selectPage(repositories, actor, resolved, select)), beyond: [] };
      const realm = await repositories.realms.get(actor.realmId);
      const senderIds = page.heads.map((head) => head.senderId);
      const strangers = await strangersAmong(repositories, actor, realm, senderIds);
      return present({ ...page, viewer: actor, realm, strangers }, (ids) =>
        repositories.messages.listViews(actor.realmId, ids),
      );
    });
  }
}

/** Whatever of these messages exists, may be read and is of the narrow. */
async function pick(
  repositories: Repositories,
  actor: Actor,
  { filter }: ResolvedNarrow,
  ids: readonly MessageId[],
): Promise<MessagePage & Pick<MessageList, 'beyond'>> {
  const { conditions } = filter;
  const named = [...new Set(ids)].sort((a, b) => a - b);
  const needsTopics = conditions.some((condition) => condition.kind === 'topic');
  const count = needsTopics ? MAX_LOADED : named.length;
  const readable = await listReadableHeads(repositories, actor, named.slice(0, count));
  const topics = new Map<MessageId, string>();
  if (needsTopics) {
    const readableIds = readable.map((head) => head.id);
    for (const { id, topic } of await repositories.messages.list(actor.realmId, readableIds)) topics.set(id, topic);
  }
  return {
    heads: readable.filter((head) => matchesConditions({ ...head, topic: topics.get(head.id) ?? '' }, conditions)),
    beyond: named.slice(count),
    anchor: null,
    foundAnchor: false,
    foundOldest: false,
    foundNewest: false,
  };
}
