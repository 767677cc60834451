import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId } from '../kernel/ids.js';
import { allowed } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { canReadActive, hasMetadataAccess, loadChannel } from './channel-access.js';
import { chooseTopicPolicy, type TopicVisibility } from './topic-policies.js';

export interface SetTopicPolicyInput {
  readonly channelId: ChannelId;
  /** Topic as typed; may have no messages. */
  readonly topic: string;
  readonly visibility: TopicVisibility;
}

/** Sets the caller's policy for a topic, subscribed or not (channels §5.4). */
export class SetTopicPolicy {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, TOO_MANY_TOPIC_POLICIES */
  execute(caller: Caller, { channelId, topic, visibility }: SetTopicPolicyInput): Promise<void> {
    return this.uow.write(
      caller.realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        // A policy can be removed even if the channel is no longer visible.
        const rule = visibility === 'inherit' ? () => allowed : canReadActive;
        const { channel } = await loadChannel(tx, actor, channelId, rule);
        await chooseTopicPolicy(tx, actor, channel, { topic, visibility, changedAt: this.clock.now() });
      },
      { shared: { kind: 'topicPolicies', userId: caller.userId } },
    );
  }
}

export interface MuteTopicInput {
  readonly channel: { readonly id: ChannelId } | { readonly name: string };
  readonly topic: string;
  /** False removes any policy for the topic. */
  readonly mutes: boolean;
}

/** Mutes or unmutes a topic through the legacy API (channels §5.5). Idempotent. */
export class MuteTopic {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, TOO_MANY_TOPIC_POLICIES */
  execute(caller: Caller, { channel: named, topic, mutes }: MuteTopicInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      const channel =
        'id' in named
          ? await tx.channels.find(realmId, named.id)
          : await tx.channels.findByName(realmId, trim(named.name));
      const isSubscribed = channel !== null && (await tx.channels.isSubscribed(realmId, channel.id, actor.id));
      // A hidden channel is reported as unknown when addressed by name (contract decision 20).
      const isFound = channel !== null && ('id' in named || hasMetadataAccess(actor, channel, isSubscribed));
      if (!mutes && !isFound) throw new DomainError('UNKNOWN_CHANNEL', 'Topic is not muted');
      if (channel === null || (mutes && !canReadActive(actor, channel, isSubscribed).allowed)) {
        const text = 'id' in named ? 'Invalid channel ID' : `Invalid channel name '${named.name}'`;
        throw new DomainError('UNKNOWN_CHANNEL', text);
      }
      const visibility = mutes ? 'muted' : 'inherit';
      await chooseTopicPolicy(tx, actor, channel, { topic, visibility, changedAt: this.clock.now() });
    });
  }
}
