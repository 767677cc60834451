import type { ChannelId, GroupId, MessageId, UserId } from '../shared/ids.js';
import { ROLES, type Role } from '../users/role.js';

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
  /** Everybody but the guests who may not know the user (users §1.4). */
  | { readonly kind: 'accessors'; readonly userId: UserId }
  /** Guests who may not know everybody (users §1.4). */
  | { readonly kind: 'limitedGuests' }
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
export const holdersOf = (messageId: MessageId): Audience => ({ kind: 'holders', messageId });
export const limitedGuests: Audience = { kind: 'limitedGuests' };
export const accessorsOf = (userId: UserId): Audience => ({ kind: 'accessors', userId });
export const anyOf = (...of: readonly Audience[]): Audience => ({ kind: 'anyOf', of });
export const allOf = (...of: readonly Audience[]): Audience => ({ kind: 'allOf', of });
export const except = (from: Audience, without: Audience): Audience => ({ kind: 'except', from, without });

/** No writer nests them that deep; what does was not written by one. */
const MAX_DEPTH = 16;

/** An audience as the log keeps it. Null: it is none. */
export function parseAudience(value: unknown, depth = 0): Audience | null {
  return isAudience(value, depth) ? value : null;
}

function isAudience(value: unknown, depth: number): value is Audience {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  const part = value as Readonly<Record<string, unknown>>;
  const areAudiences = (parts: unknown) => Array.isArray(parts) && parts.every((each) => isAudience(each, depth + 1));
  switch (part.kind) {
    case 'nobody':
    case 'realm':
    case 'limitedGuests':
      return true;
    case 'users':
      return Array.isArray(part.ids) && part.ids.every(isId);
    case 'role':
      return ROLES.includes(part.atLeast as Role);
    case 'subscribers':
      return isId(part.channelId);
    case 'group':
      return isId(part.id);
    case 'holders':
      return isId(part.messageId);
    case 'accessors':
      return isId(part.userId);
    case 'queue':
      return typeof part.id === 'string';
    case 'anyOf':
    case 'allOf':
      return areAudiences(part.of);
    case 'except':
      return areAudiences([part.from, part.without]);
    default:
      return false;
  }
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
