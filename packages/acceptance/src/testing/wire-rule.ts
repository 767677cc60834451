import type { Wire } from './expectations.js';
import type { WireUnread } from './wire-unread.js';

/** State that a client must fetch again, because no event names the message that replaces a deleted one. */
export interface Unsure {
  isNewestGone: boolean;
  /** Conversations by the ids of the other participants. */
  readonly conversations: Set<string>;
  /** Newest channel when the client registered. */
  readonly newestChannelId: number;
  /** Channels that became inaccessible. */
  readonly hidden: Set<number>;
  /** Channels that became accessible again; personal data in them is not sent again (channels §6.3). */
  readonly shownAgain: Set<number>;
}

export interface Happening {
  readonly event: Wire;
  /** Mutated in place. */
  readonly response: Wire;
  readonly unread: WireUnread;
  readonly unsure: Unsure;
  readonly selfId: number;
  readonly can: (capability: string) => boolean;
}

export type Rule = (happening: Happening) => void;

export const nothing: Rule = () => {};

/** Rule for an event that contains the whole register field. */
export const replaces =
  (field: string, from = field): Rule =>
  ({ response, event }) => {
    response[field] = event[from];
  };

/** Rules by `type/op`, or by type for all its ops. */
export type Rules = Readonly<Record<string, Rule>>;

/** Adds messages to the user's own after receipt or a flag change. */
export function own(response: Wire, ids: readonly number[]): void {
  response.max_message_id = Math.max(response.max_message_id, ...ids);
}

export const ascending = (a: number, b: number): number => a - b;
export const union = (ids: readonly number[], more: readonly number[]): number[] =>
  [...new Set([...ids, ...more])].sort(ascending);
export const without = (ids: readonly number[], fewer: readonly number[]): number[] =>
  ids.filter((id) => !fewer.includes(id));
