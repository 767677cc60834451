import type { ProfileField, ProfileFieldKind } from '@parley/domain/users';
import type { ClientVariant } from '../kernel/client-variant.js';

const TYPES: Readonly<Record<ProfileFieldKind, readonly [number: number, key: string, name: string]>> = {
  shortText: [1, 'SHORT_TEXT', 'Text (short)'],
  longText: [2, 'LONG_TEXT', 'Text (long)'],
  choice: [3, 'SELECT', 'List of options'],
  date: [4, 'DATE', 'Date'],
  link: [5, 'URL', 'Link'],
  users: [6, 'USER', 'Users'],
  externalAccount: [7, 'EXTERNAL_ACCOUNT', 'External account'],
  pronouns: [8, 'PRONOUNS', 'Pronouns'],
};

const KINDS = new Map(Object.entries(TYPES).map(([kind, [number]]) => [number, kind as ProfileFieldKind]));

export const profileFieldKind = (number: number): ProfileFieldKind | 'unknown' => KINDS.get(number) ?? 'unknown';

export const presentProfileFieldTypes = () =>
  Object.fromEntries(Object.values(TYPES).map(([id, key, name]) => [key, { id, name }]));

/** Users §13.1. */
export function presentProfileField(
  field: ProfileField,
  { showsPronounsAsText }: Pick<ClientVariant, 'showsPronounsAsText'>,
) {
  const shown = field.kind === 'pronouns' && showsPronounsAsText ? 'shortText' : field.kind;
  return {
    id: field.id,
    name: field.name,
    type: TYPES[shown][0],
    hint: field.hint,
    field_data: Object.keys(field.data).length === 0 ? '' : JSON.stringify(field.data),
    order: field.order,
    required: field.isRequired,
    editable_by_user: field.isEditableByUser,
    use_for_user_matching: field.isForMatching,
    ...(field.isInSummary && { display_in_profile_summary: true }),
  };
}
