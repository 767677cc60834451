import { loadProfileFields } from '@parley/domain/users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { profileField } from './profile.answers.js';
import { presentProfileField, presentProfileFieldTypes } from './profile.presenters.js';

export const profileFieldsSection: RegisterSection = registerSection({
  name: 'custom_profile_fields',
  fields: {
    custom_profile_fields: wire.listOf(profileField),
    custom_profile_field_types: wire.dictionaryOf(wire.fields({ id: wire.integer(), name: wire.text() })),
  },
  forSpectators: { custom_profile_fields: [], custom_profile_field_types: presentProfileFieldTypes() },
  load: (snapshot) => snapshot.load(loadProfileFields),
  present: (fields, { variant }) => ({
    custom_profile_fields: fields.map((field) => presentProfileField(field, variant)),
    custom_profile_field_types: presentProfileFieldTypes(),
  }),
});
