import type { ChannelId } from '../shared/ids.js';
import type { UserSummary } from './message-view.js';

export interface TypingEventTypes {
  /** To those in the conversation (events §7.4). */
  'typing.changed': {
    readonly op: 'start' | 'stop';
    readonly sender: UserSummary;
    readonly to:
      | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
      /** Everybody in the conversation, the sender included; ascending id. */
      | { readonly kind: 'direct'; readonly people: readonly UserSummary[] };
  };
}

declare module '../events/event.js' {
  interface EphemeralEventTypes extends TypingEventTypes {}
}
