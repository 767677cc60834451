import { topicKey } from '../channels/channel.js';
import type { Caller, MessageId, RealmId, TokenConversation, TokenScope, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { unknownMessage } from './load-access.js';
import { type MessageCondition, NO_MESSAGE } from './message-condition.js';

type Reads = Pick<Repositories | Transaction, 'channels' | 'recipients' | 'pages'>;

/** Returns those of the messages that are in a conversation of the scope, readable or not. */
export async function filterWithin(
  reads: Reads,
  viewer: { readonly realmId: RealmId; readonly userId: UserId },
  { conversations }: Pick<TokenScope, 'conversations'>,
  ids: readonly MessageId[],
): Promise<ReadonlySet<MessageId>> {
  if (ids.length === 0) return new Set();
  const conditions: MessageCondition[] = [];
  for (const conversation of conversations) conditions.push(await conditionOf(reads, viewer.realmId, conversation));
  const entries = await reads.pages.listEntries(viewer, ids, [{ kind: 'anyOf', conditions }]);
  return new Set(entries.map(({ id }) => id));
}

async function conditionOf(reads: Reads, realmId: RealmId, conversation: TokenConversation): Promise<MessageCondition> {
  if (conversation.kind === 'direct') {
    const recipientId = await reads.recipients.findDirect(realmId, conversation.userIds);
    return recipientId === null ? NO_MESSAGE : { kind: 'recipient', recipientIds: [recipientId] };
  }
  const channel = await reads.channels.find(realmId, conversation.channelId);
  if (!channel) return NO_MESSAGE;
  const { recipientId } = channel;
  if (conversation.topic === null) return { kind: 'recipient', recipientIds: [recipientId] };
  return { kind: 'channelTopic', topics: [{ recipientId, topicKey: topicKey(conversation.topic) }] };
}

/** Requires that messages are in conversations of the caller's token. */
export class RequireMessagesInScope {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_MESSAGE, as for messages that do not exist */
  async execute(caller: Caller, scope: TokenScope, ids: readonly MessageId[]): Promise<void> {
    const within = await this.uow.read(caller.realmId, (reads) => filterWithin(reads, caller, scope, ids));
    if (ids.some((id) => !within.has(id))) throw unknownMessage();
  }
}
