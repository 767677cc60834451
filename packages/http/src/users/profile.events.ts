import type { ProfileEventTypes } from '@parley/domain/users';
import { keyOf, opened, type Presenters, toAll } from '../events/event-presenter.js';
import { variantByKey } from '../routing/client-variant.js';
import { presentProfileField } from './profile.presenters.js';
import { presentProfileValue } from './user.presenters.js';

export const PROFILE_EVENTS = {
  'profile.fields_changed': {
    wireTypes: ['custom_profile_fields'],
    present: ({ fields }, context) => {
      const variant = variantByKey(context.presentation.client);
      return context.shared(keyOf(variant.showsPronounsAsText), () =>
        opened({
          type: 'custom_profile_fields',
          fields: fields.map((field) => presentProfileField(field, variant)),
        }),
      );
    },
  },
  'profile.value_changed': toAll('realm_user', ({ userId, fieldId, value, rendered }) => ({
    op: 'update',
    person: { user_id: userId, custom_profile_field: { id: fieldId, ...presentProfileValue(value, rendered) } },
  })),
} satisfies Presenters<keyof ProfileEventTypes>;
