import type { MutedUserEventTypes } from '@parley/domain/muted-users';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentMutedUsers } from './muted-user.presenters.js';

export const MUTED_USER_EVENTS = {
  'muted_users.changed': toAll('muted_users', ({ muted }) => ({ muted_users: presentMutedUsers(muted) })),
} satisfies Presenters<keyof MutedUserEventTypes>;
