import type { Actor } from '../../access/actor.js';
import type { Channel } from '../../channels/channel.js';
import { canReadContent } from '../../channels/channel-access.js';
import { normalizeTopic, topicKey } from '../../channels/topic.js';
import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelId, MessageId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { receivedMessagesIn } from '../narrow.js';

export interface MarkReadInput {
  readonly scope:
    | { readonly kind: 'everything' }
    | { readonly kind: 'channel'; readonly channelId: ChannelId }
    | { readonly kind: 'topic'; readonly channelId: ChannelId; readonly topic: string };
}

/** Marks everything, a channel or a topic as read (messages §13.3). */
export class MarkRead {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL, UNKNOWN_TOPIC */
  execute(caller: Caller, { scope }: MarkReadInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      if (scope.kind === 'everything') {
        await tx.personal.markAllRead(caller);
        return announce(tx, actor, [], true);
      }
      const channel = await findReadable(tx, actor, scope.channelId);
      const key = scope.kind === 'topic' ? topicKey(normalizeTopic(scope.topic)) : null;
      const filter = receivedMessagesIn(channel.recipientId, key);
      const changed = await tx.personal.markRead(caller, filter);
      if (changed.length > 0) return announce(tx, actor, changed, false);
      // A topic in which something was unread exists; any other one is looked for.
      if (scope.kind === 'topic' && (await tx.pages.listEntriesUpTo(caller, filter, null, 1)).length === 0) {
        throw new DomainError('UNKNOWN_TOPIC', `No such topic '${scope.topic}'`);
      }
    });
  }
}

async function findReadable(tx: Transaction, actor: Actor, id: ChannelId): Promise<Channel> {
  const channel = await tx.channels.find(actor.realmId, id);
  if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
  enforce(canReadContent(actor, channel, await tx.channels.isSubscribed(actor.realmId, id, actor.id)));
  return channel;
}

async function announce(tx: Transaction, actor: Actor, messageIds: readonly MessageId[], all: boolean): Promise<void> {
  await tx.events.append(actor.realmId, {
    event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all, details: [] },
    audience: users([actor.id]),
  });
}
