import { emailVisibilityOf } from '../users/email-visibility.js';
import type { User } from '../users/user.js';
import type { UserSummary } from './message-view.js';

export function userSummary(user: User): UserSummary {
  return {
    id: user.id,
    fullName: user.fullName,
    email: user.email,
    emailVisibility: emailVisibilityOf(user),
    avatar: user.avatar,
    isSystemBot: user.bot?.isSystem ?? false,
  };
}
