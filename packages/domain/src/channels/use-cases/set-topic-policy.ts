import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { ChannelId } from '../../kernel/ids.js';
import { allowed } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canReadActive } from '../channel-access.js';
import { chooseTopicPolicy } from '../choose-topic-policy.js';
import { loadChannel } from '../load-channel.js';
import type { TopicVisibility } from '../topic-policy.js';

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
