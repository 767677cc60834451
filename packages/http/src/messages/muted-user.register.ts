import { loadMutedUsers } from '@parley/domain/messages';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { mutedUser } from './muted-user.answers.js';
import { presentMutedUsers } from './muted-user.presenters.js';

export const mutedUsersSection: RegisterSection = registerSection({
  name: 'muted_users',
  fields: {
    muted_users: wire.listOf(mutedUser),
  },
  forSpectators: { muted_users: [] },
  load: (snapshot) => snapshot.load(loadMutedUsers),
  present: (muted) => ({ muted_users: presentMutedUsers(muted) }),
});
