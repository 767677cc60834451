import type { ChannelId, GroupId, MessageId, UserId } from '../shared/ids.js';
import { isAtLeast, type Role } from '../users/role.js';
import type { Audience } from './audience.js';

/** What an audience is judged by: one user, as of one event. */
export interface Membership {
  readonly userId: UserId;
  readonly role: Role;
  /** A guest who may not know everybody. */
  readonly isLimitedGuest: boolean;
  isSubscribed(channelId: ChannelId): boolean;
  isInGroup(id: GroupId): boolean;
  holds(messageId: MessageId): boolean;
  /** Asked of limited guests only. */
  knows(userId: UserId): boolean;
  hasQueue(id: string): boolean;
}

export function isInAudience(audience: Audience, member: Membership): boolean {
  switch (audience.kind) {
    case 'nobody':
      return false;
    case 'realm':
      return true;
    case 'users':
      return audience.ids.includes(member.userId);
    case 'role':
      return isAtLeast(member.role, audience.atLeast);
    case 'subscribers':
      return member.isSubscribed(audience.channelId);
    case 'group':
      return member.isInGroup(audience.id);
    case 'holders':
      return member.holds(audience.messageId);
    case 'accessors':
      return !member.isLimitedGuest || member.knows(audience.userId);
    case 'limitedGuests':
      return member.isLimitedGuest;
    case 'queue':
      return member.hasQueue(audience.id);
    case 'anyOf':
      return audience.of.some((part) => isInAudience(part, member));
    case 'allOf':
      return audience.of.every((part) => isInAudience(part, member));
    case 'except':
      return isInAudience(audience.from, member) && !isInAudience(audience.without, member);
  }
}

/** What an audience asks about that has to be looked up. */
export interface AudienceQuestions {
  /** Who has these messages as their own. */
  readonly messageIds: readonly MessageId[];
  /** Who may know these users. */
  readonly userIds: readonly UserId[];
}

const NO_QUESTIONS: AudienceQuestions = { messageIds: [], userIds: [] };

export function questionsOf(audience: Audience): AudienceQuestions {
  switch (audience.kind) {
    case 'holders':
      return { messageIds: [audience.messageId], userIds: [] };
    case 'accessors':
      return { messageIds: [], userIds: [audience.userId] };
    case 'anyOf':
    case 'allOf':
      return mergeQuestions(audience.of.map(questionsOf));
    case 'except':
      return mergeQuestions([questionsOf(audience.from), questionsOf(audience.without)]);
    default:
      return NO_QUESTIONS;
  }
}

/** Each once. */
export function mergeQuestions(questions: readonly AudienceQuestions[]): AudienceQuestions {
  const asked = questions.filter((each) => each !== NO_QUESTIONS);
  if (asked.length === 0) return NO_QUESTIONS;
  return {
    messageIds: [...new Set(asked.flatMap(({ messageIds }) => messageIds))],
    userIds: [...new Set(asked.flatMap(({ userIds }) => userIds))],
  };
}
