import { changeTopicPolicy } from '../../channels/change-topic-policy.js';
import type { Channel } from '../../channels/channel.js';
import { hasFullHistoryAccess } from '../../channels/channel-access.js';
import { normalizeTopic, topicKey } from '../../channels/topic.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../delete-messages.js';
import { canDeleteTopic } from '../message-permissions.js';
import { receivedMessagesIn } from '../narrow.js';

export interface DeleteTopicInput {
  readonly channelId: ChannelId;
  /** As typed. */
  readonly topic: string;
}

/** After so long the client is asked to go on by another request. */
const BUDGET_MS = 50_000;
/** Topic policies that one unit takes away. */
const POLICIES_AT_ONCE = 100;

/** Deletes a topic, newest messages first, in units between which others get their turn (channels §5.6). */
export class DeleteTopic {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers whether nothing of it is left that the caller can see; false: the time was over.
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_CHANNEL
   */
  async execute(caller: Caller, { channelId, topic }: DeleteTopicInput): Promise<boolean> {
    const key = topicKey(normalizeTopic(topic));
    const deadline = this.clock.nowMs() + BUDGET_MS;
    let count: number;
    do {
      if (this.clock.nowMs() >= deadline) return false;
      count = await this.uow.write((tx) => this.deleteNewest(tx, caller, channelId, key), { givesWay: true });
    } while (count === MAX_DELETED_AT_ONCE);
    let after: number | null = 0;
    while (after !== null) {
      const from: number = after;
      after = await this.uow.write((tx) => this.forgetPolicies(tx, caller, channelId, key, from), { givesWay: true });
    }
    return true;
  }

  /** Answers how many there were. */
  private async deleteNewest(tx: Transaction, caller: Caller, channelId: ChannelId, key: string): Promise<number> {
    const { realmId } = caller;
    const actor = await tx.actors.get(caller);
    const channel = await tx.channels.find(realmId, channelId);
    const isSubscribed = channel !== null && (await tx.channels.isSubscribed(realmId, channelId, actor.id));
    enforce(canDeleteTopic(actor, channel, isSubscribed));
    const scope = hasFullHistoryAccess(actor, channel!, isSubscribed) ? 'shared' : 'own';
    const filter = { ...receivedMessagesIn(channel!.recipientId, key), scope } as const;
    const entries = await tx.pages.listEntriesUpTo(caller, filter, null, MAX_DELETED_AT_ONCE);
    if (entries.length === 0) return 0;
    const ids = entries.map(({ id }) => id);
    await deleteMessages(tx, {
      realmId,
      deletedBy: actor.id,
      deletedAt: this.clock.now(),
      channel,
      messages: await tx.messages.list(realmId, ids),
    });
    return ids.length;
  }

  /** Of those who have no message of the topic left. Answers after whom to go on; null: that was everybody. */
  private async forgetPolicies(
    tx: Transaction,
    { realmId }: Caller,
    channelId: ChannelId,
    key: string,
    after: number,
  ): Promise<number | null> {
    const channel = await tx.channels.find(realmId, channelId);
    if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
    const policies = await tx.topicPolicies.listOfTopic(realmId, channelId, key, after, POLICIES_AT_ONCE);
    const isEmpty = !(await tx.topics.hasMessages(realmId, channel.recipientId, key));
    for (const policy of policies) {
      if (!isEmpty && (await this.hasMessages(tx, channel, key, policy.userId))) continue;
      await changeTopicPolicy(tx, { ...policy, visibility: 'inherit', changedAt: this.clock.now() });
      await tx.yield();
    }
    return policies.length < POLICIES_AT_ONCE ? null : policies.at(-1)!.userId;
  }

  private async hasMessages(tx: Transaction, channel: Channel, key: string, userId: Caller['userId']) {
    const viewer = { realmId: channel.realmId, userId };
    return (await tx.topics.listNewestOwnInTopics(viewer, channel.recipientId, [key])).has(key);
  }
}
