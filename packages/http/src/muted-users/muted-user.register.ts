import { loadMutedUsers } from '@parley/domain/muted-users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../routing/wire-schema.js';
import { presentMutedUsers } from './muted-user.presenters.js';

export const mutedUsersSection: RegisterSection = registerSection({
  name: 'muted_users',
  fields: {
    muted_users: wire.listOf(wire.named('MutedUser', wire.fields({ id: wire.integer(), timestamp: wire.integer() }))),
  },
  forSpectators: { muted_users: [] },
  load: (snapshot) => snapshot.load(loadMutedUsers),
  present: (muted) => ({ muted_users: presentMutedUsers(muted) }),
});
