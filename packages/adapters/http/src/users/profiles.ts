import type { ProfileFieldId, UserId } from '@parley/domain/kernel';
import {
  AddProfileField,
  ChangeOwnProfile,
  ClearOwnProfile,
  ListProfileFields,
  loadProfileFields,
  MAX_PROFILE_CHOICES,
  MAX_USERS_IN_VALUE,
  OrderProfileFields,
  type ProfileEntry,
  type ProfileEventTypes,
  type ProfileField,
  type ProfileFieldData,
  type ProfileFieldKind,
  RemoveProfileField,
  UpdateProfileField,
} from '@parley/domain/users';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, keyOf, opened, type Presenters, toAll } from '../delivery/event-presenter.js';
import {
  anyOf,
  integer,
  listOf,
  MAX_TEXT_LENGTH,
  named,
  nullable,
  object,
  type ParamType,
  recordOf,
  text,
  type ValueOf,
} from '../params/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerListParam,
  IntegerParam,
  NoParameters,
  param,
  TextParam,
} from '../params/params.js';
import { type ClientVariant, variantByKey } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { presentProfileValue } from './user.presenters.js';
import { personForm } from './user-page.js';

/** Users §13.1. */
export const profileField = wire.named(
  'ProfileField',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    type: wire.integer(),
    hint: wire.text(),
    field_data: wire.text(),
    order: wire.integer(),
    required: wire.boolean(),
    editable_by_user: wire.boolean(),
    use_for_user_matching: wire.optional(wire.boolean()),
    display_in_profile_summary: wire.optional(wire.boolean()),
  }),
);

/** Maximum number of values per request. */
const MAX_ENTRIES = 200;
/** Limit of keys and texts of choices, and of URL patterns. */
const DATA_TEXT = { max: 500 };
const DATA_KEYS = { max: MAX_PROFILE_CHOICES + 1, maxKeyLength: 100 };

const isNotAllowed = (position: string) => `${position} is not an allowed_type`;
const value = nullable(
  named('ProfileValue', anyOf([text({ max: 2500 }), listOf(integer(), { max: MAX_USERS_IN_VALUE + 1 })], isNotAllowed)),
);
/** List of profile values: `[{"id": 1, "value": "x"}]`. */
export const profileEntries = listOf(object({ id: integer(), value }), {
  max: MAX_ENTRIES,
  jsonLength: 500_000,
});
export type ProfileEntriesParam = ValueOf<typeof profileEntries>;

export const toProfileEntries = (entries: ProfileEntriesParam): readonly ProfileEntry[] =>
  entries.map(({ id, value: asked }) => ({
    fieldId: id as ProfileFieldId,
    value: Array.isArray(asked) ? (asked as UserId[]) : asked,
  }));

/** Entries of a choice; other keys are ignored. */
const choice: ParamType<Record<string, string>> = {
  ...recordOf(text(DATA_TEXT), { ...DATA_KEYS, max: 10 }),
  // Generators write invalid code for a union with a dictionary.
  schema: { type: 'object', properties: { text: text(DATA_TEXT).schema, order: text(DATA_TEXT).schema } },
};

const fieldData = recordOf(
  named(
    'ProfileFieldDatum',
    anyOf([text(DATA_TEXT), choice], () => 'field_data contains a value that is not an allowed_type'),
  ),
  DATA_KEYS,
);

const TEXT = { max: MAX_TEXT_LENGTH };
const ABSENT = { optional: true };

export class AddProfileFieldDto {
  @IntegerParam({ description: 'Type of the field, as a number.' }) field_type!: number;
  @TextParam(TEXT) name = '';
  @TextParam(TEXT) hint = '';
  @param(fieldData) field_data: ValueOf<typeof fieldData> = {};
  @BooleanParam() display_in_profile_summary = false;
  @BooleanParam() required = false;
  @BooleanParam() editable_by_user = true;
  @BooleanParam() use_for_user_matching = false;
}

export class UpdateProfileFieldDto {
  @IntegerParam() field_id!: number;
  @TextParam({ ...TEXT, optional: true }) name?: string;
  @TextParam({ ...TEXT, optional: true }) hint?: string;
  @param(fieldData, ABSENT) field_data?: ValueOf<typeof fieldData>;
  @BooleanParam(ABSENT) display_in_profile_summary?: boolean;
  @BooleanParam(ABSENT) required?: boolean;
  @BooleanParam(ABSENT) editable_by_user?: boolean;
  @BooleanParam(ABSENT) use_for_user_matching?: boolean;
}

export class ProfileFieldIdDto {
  @IntegerParam() field_id!: number;
}

export class OrderProfileFieldsDto {
  @IntegerListParam({ max: MAX_ENTRIES }) order!: number[];
}

export class ChangeOwnProfileDto {
  @param(profileEntries) data!: ProfileEntriesParam;
}

export class ClearOwnProfileDto {
  @IntegerListParam({ max: MAX_ENTRIES }) data!: number[];
}

/** Absent parameters mean no change. */
export const toProfileFieldChanges = (dto: Omit<UpdateProfileFieldDto, 'field_id'>) =>
  definedFields({
    name: dto.name,
    hint: dto.hint,
    data: dto.field_data as ProfileFieldData | undefined,
    isRequired: dto.required,
    isEditableByUser: dto.editable_by_user,
    isForMatching: dto.use_for_user_matching,
    isInSummary: dto.display_in_profile_summary,
  });

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
    ...(field.isForMatching && { use_for_user_matching: true }),
    ...(field.isInSummary && { display_in_profile_summary: true }),
  };
}

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

export const profileFieldsSection: RegisterSection = registerSection({
  name: 'custom_profile_fields',
  fields: {
    custom_profile_fields: wire.listOf(profileField),
    custom_profile_field_types: wire.dictionaryOf(wire.fields({ id: wire.integer(), name: wire.text() })),
  },
  forSpectators: { custom_profile_fields: [], custom_profile_field_types: presentProfileFieldTypes() },
  notForGuests: () => ['custom_profile_field_types'],
  load: (snapshot) => snapshot.load(loadProfileFields),
  present: (fields, { variant }) => ({
    custom_profile_fields: fields.map((field) => presentProfileField(field, variant)),
    custom_profile_field_types: presentProfileFieldTypes(),
  }),
});

const forAdministrators = { auth: 'user', scope: 'account', roleRequirements: ['administrator'] } as const;
const forPeople = { auth: 'user', scope: 'account', roleRequirements: ['human'] } as const;

/** Users §13. */
export const profileRoutes: readonly Route[] = [
  route('GET', '/realm/profile_fields', {
    summary: 'List custom profile fields',
    section: 'users §13.2',
    tag: 'Organization',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListProfileFields,
    response: wire.fields({ custom_fields: wire.listOf(profileField) }),
    present: (fields, { variant }) => ({ custom_fields: fields.map((field) => presentProfileField(field, variant)) }),
  }),
  route('POST', '/realm/profile_fields', {
    summary: 'Create a custom profile field',
    section: 'users §13.3',
    tag: 'Organization',
    ...forAdministrators,
    dto: AddProfileFieldDto,
    useCase: AddProfileField,
    toInput: (dto) => ({
      kind: profileFieldKind(dto.field_type),
      name: dto.name,
      hint: dto.hint,
      data: dto.field_data as ProfileFieldData,
      isRequired: dto.required,
      isEditableByUser: dto.editable_by_user,
      isForMatching: dto.use_for_user_matching,
      isInSummary: dto.display_in_profile_summary,
    }),
    response: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('PATCH', '/realm/profile_fields', {
    summary: 'Order the custom profile fields',
    section: 'users §13.4',
    tag: 'Organization',
    ...forAdministrators,
    dto: OrderProfileFieldsDto,
    useCase: OrderProfileFields,
    toInput: ({ order }) => order as ProfileFieldId[],
  }),
  route('PATCH', '/realm/profile_fields/:field_id', {
    summary: 'Change a custom profile field',
    section: 'users §13.4',
    tag: 'Organization',
    ...forAdministrators,
    dto: UpdateProfileFieldDto,
    useCase: UpdateProfileField,
    toInput: ({ field_id, ...changes }) => ({
      id: field_id as ProfileFieldId,
      changes: toProfileFieldChanges(changes),
    }),
  }),
  route('DELETE', '/realm/profile_fields/:field_id', {
    summary: 'Delete a custom profile field',
    section: 'users §13.4',
    tag: 'Organization',
    ...forAdministrators,
    dto: ProfileFieldIdDto,
    useCase: RemoveProfileField,
    toInput: ({ field_id }) => field_id as ProfileFieldId,
  }),
  route('PATCH', '/users/me/profile_data', {
    summary: 'Set values of custom profile fields',
    section: 'users §13.5',
    isStarred: true,
    ...forPeople,
    dto: ChangeOwnProfileDto,
    useCase: ChangeOwnProfile,
    toInput: ({ data }) => toProfileEntries(data),
  }),
  route('DELETE', '/users/me/profile_data', {
    summary: 'Remove values of custom profile fields',
    section: 'users §13.5',
    ...forPeople,
    dto: ClearOwnProfileDto,
    useCase: ClearOwnProfile,
    toInput: ({ data }) => data as ProfileFieldId[],
  }),
];
