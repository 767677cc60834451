import type { ProfileFieldId, UserId } from '@parley/domain/kernel';
import {
  MAX_PROFILE_CHOICES,
  MAX_USERS_IN_VALUE,
  type ProfileEntry,
  type ProfileFieldData,
} from '@parley/domain/users';
import { given } from '../kernel/given.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { anyOf, integer, listOf, nullable, object, recordOf, text, type ValueOf } from '../kernel/param-types.js';
import { BooleanParam, IntegerListParam, IntegerParam, param, TextParam } from '../kernel/params.js';

/** Of values in one request. */
const MAX_ENTRIES = 200;
/** Of the keys and texts of choices, and of a pattern of URLs. */
const DATA_TEXT = { max: 500 };
const DATA_KEYS = { max: MAX_PROFILE_CHOICES + 1, maxKeyLength: 100 };

const isNotAllowed = (position: string) => `${position} is not an allowed_type`;
const value = nullable(anyOf([text({ max: 2500 }), listOf(integer(), { max: MAX_USERS_IN_VALUE + 1 })], isNotAllowed));
/** In the form in which values are given: `[{"id": 1, "value": "x"}]`. */
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

const fieldData = recordOf(
  anyOf(
    [text(DATA_TEXT), recordOf(text(DATA_TEXT), { ...DATA_KEYS, max: 10 })],
    () => 'field_data contains a value that is not an allowed_type',
  ),
  DATA_KEYS,
);

const TEXT = { max: MAX_TEXT_LENGTH };
const ABSENT = { optional: true };

export class AddProfileFieldDto {
  @IntegerParam() field_type!: number;
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

/** Absent parameters leave things as they are. */
export const toProfileFieldChanges = (dto: Omit<UpdateProfileFieldDto, 'field_id'>) =>
  given({
    name: dto.name,
    hint: dto.hint,
    data: dto.field_data as ProfileFieldData | undefined,
    isRequired: dto.required,
    isEditableByUser: dto.editable_by_user,
    isForMatching: dto.use_for_user_matching,
    isInSummary: dto.display_in_profile_summary,
  });
