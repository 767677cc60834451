import type { ProfileFieldId } from '@parley/domain/kernel';
import {
  AddProfileField,
  ChangeOwnProfile,
  ClearOwnProfile,
  ListProfileFields,
  OrderProfileFields,
  type ProfileFieldData,
  RemoveProfileField,
  UpdateProfileField,
} from '@parley/domain/users';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { profileField } from './profile.answers.js';
import {
  AddProfileFieldDto,
  ChangeOwnProfileDto,
  ClearOwnProfileDto,
  OrderProfileFieldsDto,
  ProfileFieldIdDto,
  toProfileEntries,
  toProfileFieldChanges,
  UpdateProfileFieldDto,
} from './profile.dtos.js';
import { presentProfileField, profileFieldKind } from './profile.presenters.js';

const forAdministrators = { auth: 'user', roleRequirements: ['administrator'] } as const;
const forPeople = { auth: 'user', roleRequirements: ['human'] } as const;

/** Users §13. */
export const profileRoutes: readonly Route[] = [
  route('GET', '/realm/profile_fields', {
    auth: 'user',
    dto: NoParameters,
    useCase: ListProfileFields,
    answer: wire.fields({ custom_fields: wire.listOf(profileField) }),
    present: (fields, { variant }) => ({ custom_fields: fields.map((field) => presentProfileField(field, variant)) }),
  }),
  route('POST', '/realm/profile_fields', {
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
    answer: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('PATCH', '/realm/profile_fields', {
    ...forAdministrators,
    dto: OrderProfileFieldsDto,
    useCase: OrderProfileFields,
    toInput: ({ order }) => order as ProfileFieldId[],
  }),
  route('PATCH', '/realm/profile_fields/:field_id', {
    ...forAdministrators,
    dto: UpdateProfileFieldDto,
    useCase: UpdateProfileField,
    toInput: ({ field_id, ...changes }) => ({
      id: field_id as ProfileFieldId,
      changes: toProfileFieldChanges(changes),
    }),
  }),
  route('DELETE', '/realm/profile_fields/:field_id', {
    ...forAdministrators,
    dto: ProfileFieldIdDto,
    useCase: RemoveProfileField,
    toInput: ({ field_id }) => field_id as ProfileFieldId,
  }),
  route('PATCH', '/users/me/profile_data', {
    ...forPeople,
    dto: ChangeOwnProfileDto,
    useCase: ChangeOwnProfile,
    toInput: ({ data }) => toProfileEntries(data),
  }),
  route('DELETE', '/users/me/profile_data', {
    ...forPeople,
    dto: ClearOwnProfileDto,
    useCase: ClearOwnProfile,
    toInput: ({ data }) => data as ProfileFieldId[],
  }),
];
