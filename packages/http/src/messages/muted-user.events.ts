import type { MutedUserEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { mutedUser } from './muted-user.answers.js';
import { presentMutedUsers } from './muted-user.presenters.js';

export const MUTED_USER_EVENTS = {
  'muted_users.changed': toAll(form('muted_users', { muted_users: wire.listOf(mutedUser) }), ({ muted }) => ({
    muted_users: presentMutedUsers(muted),
  })),
} satisfies Presenters<keyof MutedUserEventTypes>;
