import { loadStatuses } from '@parley/domain/statuses';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentStatus } from './status.presenters.js';

export const statusSection: RegisterSection = registerSection({
  name: 'user_status',
  forSpectators: { user_status: {} },
  load: (snapshot) => snapshot.load(loadStatuses),
  present: (statuses, { variant }) => ({
    user_status: Object.fromEntries([...statuses].map(([id, status]) => [id, presentStatus(status, variant)])),
  }),
});
