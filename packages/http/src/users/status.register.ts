import { loadStatuses } from '@parley/domain/users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { userStatus } from './status.answers.js';
import { presentStatus } from './status.presenters.js';

export const statusSection: RegisterSection = registerSection({
  name: 'user_status',
  fields: { user_status: wire.dictionaryOf(userStatus) },
  forSpectators: { user_status: {} },
  load: (snapshot) => snapshot.load(loadStatuses),
  present: (statuses, { variant }) => ({
    user_status: Object.fromEntries([...statuses].map(([id, status]) => [id, presentStatus(status, variant)])),
  }),
});
