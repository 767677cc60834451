import { fixedSection, type RegisterSection } from '../events/register-section.js';

const PROFILE_FIELD_TYPES = {
  SHORT_TEXT: { id: 1, name: 'Text (short)' },
  LONG_TEXT: { id: 2, name: 'Text (long)' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
};

/** Nobody has fields of their own yet. */
export const profileFieldsSection: RegisterSection = fixedSection('custom_profile_fields', {
  custom_profile_fields: [],
  custom_profile_field_types: PROFILE_FIELD_TYPES,
});
