import type { UserSummary } from '../messages/message-view.js';
import type { ChannelId } from '../shared/ids.js';
import type { Audience } from './audience.js';

/** What is told to those who are there and then forgotten: it is not logged, and reaches live queues at most once. */
export type EphemeralEvent = {
  readonly type: 'typing.changed';
  readonly op: 'start' | 'stop';
  readonly sender: UserSummary;
  readonly to:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
    /** Everybody in the conversation, the sender included; ascending id. */
    | { readonly kind: 'direct'; readonly people: readonly UserSummary[] };
};

export interface EphemeralAnnouncement {
  readonly event: EphemeralEvent;
  readonly audience: Audience;
}
