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
  /** As typed; nothing need have been said there. */
  readonly topic: string;
  readonly visibility: TopicVisibility;
}

/** Of what in a topic the caller wants to be notified, subscribed or not (channels §5.4). */
export class SetTopicPolicy {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, TOO_MANY_TOPIC_POLICIES */
  execute(caller: Caller, { channelId, topic, visibility }: SetTopicPolicyInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      // A choice for what one sees no longer can still be taken back.
      const rule = visibility === 'inherit' ? () => allowed : canReadActive;
      const { channel } = await loadChannel(tx, actor, channelId, rule);
      await chooseTopicPolicy(tx, actor, channel, { topic, visibility, changedAt: this.clock.now() });
    });
  }
}

export interface MuteTopicInput {
  readonly channel: { readonly id: ChannelId } | { readonly name: string };
  readonly topic: string;
  /** No: whatever was chosen for it is taken back. */
  readonly mutes: boolean;
}

/** The older way of choosing, which knows no more than muting (channels §5.5). Repeating changes nothing. */
export class MuteTopic {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, TOO_MANY_TOPIC_POLICIES */
  execute(caller: Caller, { channel: named, topic, mutes }: MuteTopicInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      const channel =
        'id' in named
          ? await tx.channels.find(realmId, named.id)
          : await tx.channels.findByName(realmId, trim(named.name));
      const isSubscribed = channel !== null && (await tx.channels.isSubscribed(realmId, channel.id, actor.id));
      // By its name a hidden channel is as good as unknown (contract decision 20).
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
