import type { ChannelId, GroupId, MessageId, UserId } from '../shared/ids.js';
import type { Role } from '../users/role.js';

/**
 * Who is told: a set expression over the active users of the realm as of the event. Its size never grows with a channel
 * or the realm.
 */
export type Audience =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'realm' }
  | { readonly kind: 'users'; readonly ids: readonly UserId[] }
  | { readonly kind: 'role'; readonly atLeast: Role }
  | { readonly kind: 'subscribers'; readonly channelId: ChannelId }
  | { readonly kind: 'group'; readonly id: GroupId }
  /** Those who have the message as their own. */
  | { readonly kind: 'holders'; readonly messageId: MessageId }
  | { readonly kind: 'queue'; readonly id: string }
  | { readonly kind: 'anyOf'; readonly of: readonly Audience[] }
  | { readonly kind: 'allOf'; readonly of: readonly Audience[] }
  | { readonly kind: 'except'; readonly from: Audience; readonly without: Audience };

export const nobody: Audience = { kind: 'nobody' };
export const wholeRealm: Audience = { kind: 'realm' };
export const users = (ids: readonly UserId[]): Audience => ({ kind: 'users', ids });
export const atLeast = (role: Role): Audience => ({ kind: 'role', atLeast: role });
export const subscribersOf = (channelId: ChannelId): Audience => ({ kind: 'subscribers', channelId });
export const groupMembers = (id: GroupId): Audience => ({ kind: 'group', id });
export const anyOf = (...of: readonly Audience[]): Audience => ({ kind: 'anyOf', of });
export const allOf = (...of: readonly Audience[]): Audience => ({ kind: 'allOf', of });
export const except = (from: Audience, without: Audience): Audience => ({ kind: 'except', from, without });
