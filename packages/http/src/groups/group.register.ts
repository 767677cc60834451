import { loadGroups } from '@parley/domain/groups';
import { can } from '../events/queue-presentation.js';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { PresentedList } from '../kernel/json-lists.js';
import * as wire from '../kernel/wire-schema.js';
import { group } from './group.answers.js';
import { presentGroup } from './group.presenters.js';

export const groupsSection: RegisterSection = registerSection({
  name: 'realm_user_groups',
  fields: { realm_user_groups: wire.listOf(group) },
  forSpectators: { realm_user_groups: [] },
  load: (snapshot) => snapshot.load(loadGroups),
  present: (groups, { presentation }) => ({
    realm_user_groups: new PresentedList(
      groups.filter((group) => !group.isDeactivated || can(presentation, 'include_deactivated_groups')),
      presentGroup,
    ),
  }),
});
