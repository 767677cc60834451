import { loadMutedUsers } from '@parley/domain/muted-users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentMutedUsers } from './muted-user.presenters.js';

export const mutedUsersSection: RegisterSection = registerSection({
  name: 'muted_users',
  forSpectators: { muted_users: [] },
  load: (snapshot) => snapshot.load(loadMutedUsers),
  present: (muted) => ({ muted_users: presentMutedUsers(muted) }),
});
