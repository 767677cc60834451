import type { ProfileEventTypes } from '@parley/domain/users';
import { form } from '../events/event-forms.js';
import { keyOf, opened, type Presenters, toAll } from '../events/event-presenter.js';
import { variantByKey } from '../kernel/client-variant.js';
import * as wire from '../kernel/wire-schema.js';
import { personForm } from './person-form.js';
import { profileField } from './profile.answers.js';
import { presentProfileField } from './profile.presenters.js';
import { presentProfileValue } from './user.presenters.js';

export const PROFILE_EVENTS = {
  'profile.fields_changed': {
    forms: [form('custom_profile_fields', { fields: wire.listOf(profileField) })],
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
  'profile.value_changed': toAll(
    personForm({
      custom_profile_field: wire.fields({
        id: wire.integer(),
        value: wire.nullable(wire.text()),
        rendered_value: wire.optional(wire.text()),
      }),
    }),
    ({ userId, fieldId, value, rendered }) => ({
      op: 'update',
      person: { user_id: userId, custom_profile_field: { id: fieldId, ...presentProfileValue(value, rendered) } },
    }),
  ),
} satisfies Presenters<keyof ProfileEventTypes>;
