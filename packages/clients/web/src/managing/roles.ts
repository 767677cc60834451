import type { I18n } from '@lingui/core';
import type { Option } from './fields.js';

/** Values of a role in the API. */
export const ROLE = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 };

export const rolesOf = (i18n: I18n): readonly (Option & { readonly value: number })[] => [
  { value: ROLE.owner, label: i18n._('Owner') },
  { value: ROLE.administrator, label: i18n._('Administrator') },
  { value: ROLE.moderator, label: i18n._('Moderator') },
  { value: ROLE.member, label: i18n._('Member') },
  { value: ROLE.guest, label: i18n._('Guest') },
];
