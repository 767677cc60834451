import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import { invalidImport, type PersonPart } from '../kernel/export-parts.js';
import type { ProfileFieldId, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { isLongerThan, isUrl, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { htmlShape } from '../markdown/safe-html.js';
import { isScript } from '../realms/playgrounds.js';
import type { User } from './user.js';

/** Kinds of custom profile fields (users §13.1). */
export const PROFILE_FIELD_KINDS = [
  'shortText',
  'longText',
  'choice',
  'date',
  'link',
  'users',
  'externalAccount',
  'pronouns',
] as const;
export type ProfileFieldKind = (typeof PROFILE_FIELD_KINDS)[number];

/** Custom field of user profiles, defined by administrators. */
export interface ProfileField extends ProfileFieldSettings {
  readonly id: ProfileFieldId;
  readonly realmId: RealmId;
  readonly kind: ProfileFieldKind;
  /** Display order; ties are ordered by id. */
  readonly order: number;
}

export interface ProfileFieldSettings {
  /** Unique in the realm. */
  readonly name: string;
  readonly hint: string;
  /** Choices of a `choice` or service of an `externalAccount`; empty for other kinds. */
  readonly data: ProfileFieldData;
  /** Informational; a value is never required. */
  readonly isRequired: boolean;
  /** True if users may edit their value; administrators always may. */
  readonly isEditableByUser: boolean;
  readonly isForMatching: boolean;
  readonly isInSummary: boolean;
}

/** Client format: choices by key, or `subtype` and `url_pattern`. */
export type ProfileFieldData = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** In code points (protocol §14). */
export const MAX_PROFILE_FIELD_NAME_LENGTH = 40;
export const MAX_PROFILE_FIELD_HINT_LENGTH = 80;
/** Limit, because every client receives all fields and every user may have a value for each. */
export const MAX_PROFILE_FIELDS = 50;
/** Maximum number of choices of a `choice` field. */
export const MAX_PROFILE_CHOICES = 200;
const MAX_IN_SUMMARY = 2;

/** Services with field names defined by the server (users §13.3). */
export const DEFAULT_EXTERNAL_ACCOUNTS = {
  twitter: {
    text: 'Twitter',
    urlPattern: 'https://twitter.com/%(username)s',
    name: 'Twitter username',
    hint: '',
  },
  github: { text: 'GitHub', urlPattern: 'https://github.com/%(username)s', name: 'GitHub username', hint: '' },
} as const;
type DefaultExternalAccount = keyof typeof DEFAULT_EXTERNAL_ACCOUNTS;

/** Returns null for a field not defined by the server. */
export function defaultAccountOf({
  kind,
  data,
}: {
  readonly kind: ProfileFieldKind | 'unknown';
  readonly data: ProfileFieldData;
}): DefaultExternalAccount | null {
  const { subtype } = data;
  const isDefault = kind === 'externalAccount' && typeof subtype === 'string' && isDefaultAccount(subtype);
  return isDefault ? subtype : null;
}

const isDefaultAccount = (subtype: string): subtype is DefaultExternalAccount =>
  Object.hasOwn(DEFAULT_EXTERNAL_ACCOUNTS, subtype);

/**
 * Validates a field in the order of users §13.3. `others`: other fields of the realm.
 * @throws DomainError INVALID_PROFILE_FIELD, PROFILE_FIELD_NAME_TAKEN, TOO_MANY_SUMMARY_FIELDS,
 * TOO_MANY_PROFILE_FIELDS
 */
export function checkProfileField(
  kind: ProfileFieldKind | 'unknown',
  asked: ProfileFieldSettings,
  others: readonly ProfileField[],
): { readonly kind: ProfileFieldKind; readonly settings: ProfileFieldSettings } {
  requireRoomInSummary(asked.isInSummary, others);
  const data = checkData(kind, asked.data);
  const service = defaultAccountOf({ kind, data });
  const { name, hint } = service ? DEFAULT_EXTERNAL_ACCOUNTS[service] : checkTexts(asked);
  if (kind === 'unknown') throw invalid('Invalid field type.');
  if (asked.isInSummary && kind === 'users') throw invalid('Field type not supported for display in profile summary.');
  if (others.some((other) => other.name === name)) throw nameTaken();
  if (others.length >= MAX_PROFILE_FIELDS) {
    throw new DomainError('TOO_MANY_PROFILE_FIELDS', `Too many custom profile fields (limit: ${MAX_PROFILE_FIELDS}).`);
  }
  return { kind, settings: { ...asked, name, hint, data } };
}

function requireRoomInSummary(isInSummary: boolean, others: readonly ProfileField[]): void {
  if (isInSummary && others.filter((other) => other.isInSummary).length >= MAX_IN_SUMMARY) {
    throw new DomainError(
      'TOO_MANY_SUMMARY_FIELDS',
      `Only ${MAX_IN_SUMMARY} custom profile fields can be displayed in the profile summary.`,
    );
  }
}

function checkTexts({ name: raw, hint }: Pick<ProfileFieldSettings, 'name' | 'hint'>) {
  const name = trim(raw);
  if (name === '') throw invalid('Label cannot be blank.');
  if (isLongerThan(hint, MAX_PROFILE_FIELD_HINT_LENGTH)) throw tooLong('hint', MAX_PROFILE_FIELD_HINT_LENGTH);
  if (isLongerThan(name, MAX_PROFILE_FIELD_NAME_LENGTH)) throw tooLong('name', MAX_PROFILE_FIELD_NAME_LENGTH);
  return { name, hint };
}

function checkData(kind: ProfileFieldKind | 'unknown', data: ProfileFieldData): ProfileFieldData {
  if (kind === 'choice') return checkChoices(data);
  return kind === 'externalAccount' ? checkAccount(data) : {};
}

function checkChoices(data: ProfileFieldData): ProfileFieldData {
  const choices = Object.entries(data);
  if (choices.length === 0) throw invalid('Field must have at least one choice.');
  if (choices.length > MAX_PROFILE_CHOICES) {
    throw invalid(`field_data is too long (limit: ${MAX_PROFILE_CHOICES} items)`);
  }
  const texts = new Set<string>();
  for (const [key, choice] of choices) {
    if (trim(key) === '') throw invalid("'value' cannot be blank.");
    if (typeof choice === 'string') throw invalid('field_data is not a dict');
    texts.add(required(choice, 'text'));
    required(choice, 'order');
    refuseOthers(choice, ['text', 'order']);
  }
  if (texts.size < choices.length) throw invalid('Field must not have duplicate choices.');
  return data;
}

function checkAccount(data: ProfileFieldData): ProfileFieldData {
  const subtype = required(data, 'subtype');
  const { url_pattern: pattern } = data;
  if (pattern !== undefined) {
    if (typeof pattern !== 'string') throw invalid('field_data["url_pattern"] is not a string');
    if (!pattern.includes('%(username)s')) throw invalid("URL pattern must contain '%(username)s'.");
    if (!isUrl(pattern.replaceAll('%(username)s', 'username'))) throw invalid('field_data["url_pattern"] is not a URL');
  }
  refuseOthers(data, ['subtype', 'url_pattern']);
  if (!isDefaultAccount(subtype) && subtype !== 'custom') throw invalid('Invalid external account type');
  if (subtype === 'custom' && pattern === undefined) throw invalid('Custom external account must define URL pattern');
  return data;
}

function required(data: Readonly<Record<string, unknown>>, key: string): string {
  const value = data[key];
  if (value === undefined) throw invalid(`${key} key is missing from field_data`);
  if (typeof value !== 'string') throw invalid(`field_data["${key}"] is not a string`);
  if (trim(value) === '') throw invalid(`field_data["${key}"] cannot be blank.`);
  return value;
}

function refuseOthers(data: object, allowed: readonly string[]): void {
  const others = Object.keys(data).filter((key) => !allowed.includes(key));
  if (others.length > 0) throw invalid(`Unexpected arguments: ${others.join(', ')}`);
}

const nameTaken = () => new DomainError('PROFILE_FIELD_NAME_TAKEN', 'A field with that label already exists.');
const tooLong = (what: string, limit: number) => invalid(`${what} is too long (limit: ${limit} characters)`);
const invalid = (text: string) => new DomainError('INVALID_PROFILE_FIELD', text);

/** Requested changes; absent properties stay unchanged. */
export type ProfileFieldChanges = Partial<ProfileFieldSettings>;

/**
 * Returns the changed field. Fields defined by the server allow only flag changes (users §13.4).
 * @throws DomainError DEFAULT_PROFILE_FIELD, and the codes of `checkProfileField`
 */
export function changedProfileField(
  field: ProfileField,
  changes: ProfileFieldChanges,
  others: readonly ProfileField[],
): ProfileField {
  const asked = { ...field, ...changes };
  if (defaultAccountOf(field) !== null) {
    const isSame =
      trim(asked.name) === field.name &&
      asked.hint === field.hint &&
      (changes.data === undefined || JSON.stringify(changes.data) === JSON.stringify(field.data));
    if (!isSame) throw new DomainError('DEFAULT_PROFILE_FIELD', 'Default custom field cannot be updated.');
  }
  const { settings } = checkProfileField(field.kind, asked, others);
  return { ...asked, ...settings };
}

/** Returns the keys of removed choices; users' values with these keys must be deleted. */
export const removedChoices = (before: ProfileField, after: ProfileField): readonly string[] =>
  before.kind === 'choice' ? Object.keys(before.data).filter((key) => !Object.hasOwn(after.data, key)) : [];

export const unknownProfileField = (id: number): DomainError =>
  new DomainError('UNKNOWN_PROFILE_FIELD', `Field id ${id} not found.`);

/** Value of a user for one field. */
export interface ProfileValue {
  readonly fieldId: ProfileFieldId;
  /** Client format; for users, a JSON list of ids. */
  readonly value: string;
  /** HTML for rendered kinds with a value; otherwise null. */
  readonly rendered: string | null;
}

/** User with profile values, sorted by ascending field id. */
export interface UserWithProfile extends User {
  readonly profile: readonly ProfileValue[];
}

/** Requested value; null removes it. */
export type ProfileValueInput = string | readonly UserId[] | null;

/** In code points. */
const MAX_LENGTH: Readonly<Partial<Record<ProfileFieldKind, number>>> = {
  shortText: 50,
  longText: 500,
  externalAccount: 50,
  pronouns: 50,
};
/** Maximum number of users in one value. */
export const MAX_USERS_IN_VALUE = 100;

export const isRenderedKind = (kind: ProfileFieldKind): boolean => kind === 'shortText' || kind === 'longText';

/**
 * Validates a value and returns the text to store (users §13.1). `users`: the realm's users named in the value,
 * including deactivated ones and bots. @throws DomainError INVALID_PROFILE_VALUE
 */
export function profileValueText(
  { kind, name, data }: Pick<ProfileField, 'kind' | 'name' | 'data'>,
  value: string | readonly UserId[],
  users: ReadonlyMap<UserId, User>,
): string {
  if (kind === 'users') {
    if (typeof value === 'string') throw profileValueError('User IDs is not a list');
    return userListText(value, users);
  }
  if (typeof value !== 'string') throw profileValueError(`${name} is not a string`);
  const limit = MAX_LENGTH[kind];
  if (limit !== undefined && isLongerThan(value, limit)) {
    throw profileValueError(`${name} is too long (limit: ${limit} characters)`);
  }
  if (kind === 'choice' && !Object.hasOwn(data, value)) {
    throw profileValueError(`'${value}' is not a valid choice for '${name}'.`);
  }
  if (kind === 'date' && !isDate(value)) throw profileValueError(`${name} is not a date`);
  if (kind === 'link' && !isUrl(value)) throw profileValueError(`${name} is not a URL`);
  return value;
}

function userListText(ids: readonly UserId[], users: ReadonlyMap<UserId, User>): string {
  if (ids.length > MAX_USERS_IN_VALUE)
    throw profileValueError(`User IDs is too long (limit: ${MAX_USERS_IN_VALUE} items)`);
  for (const id of ids) {
    const user = users.get(id);
    if (!user || user.bot?.isSystem) throw profileValueError(`Invalid user ID: ${id}`);
    if (!user.isActive) throw profileValueError(`User with ID ${id} is deactivated`);
    if (user.bot) throw profileValueError(`User with ID ${id} is a bot`);
  }
  return JSON.stringify(ids);
}

/** True for a valid date of the form `YYYY-MM-DD`. */
function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return year > 0 && days !== undefined && day >= 1 && day <= days;
}

const profileValueError = (text: string) => new DomainError('INVALID_PROFILE_VALUE', text);

export const PROFILE_ERRORS = declareErrors({
  /** The custom profile field does not exist. */
  UNKNOWN_PROFILE_FIELD: 'unknown',
  /** The definition of the field is invalid. */
  INVALID_PROFILE_FIELD: 'invalid',
  /** Another field has the name. */
  PROFILE_FIELD_NAME_TAKEN: 'conflict',
  /** The organization has too many fields. */
  TOO_MANY_PROFILE_FIELDS: 'conflict',
  /** The summary has too many fields. */
  TOO_MANY_SUMMARY_FIELDS: 'conflict',
  /** The server defines the field; only its flags can change. */
  DEFAULT_PROFILE_FIELD: 'forbidden',
  /** The order does not name every field. */
  INVALID_PROFILE_FIELD_ORDER: 'invalid',
  /** The value does not fit the field. */
  INVALID_PROFILE_VALUE: 'invalid',
  /** Only administrators may change the field. */
  PROFILE_FIELD_NOT_EDITABLE: 'forbidden',
});

type ProfileErrors = typeof PROFILE_ERRORS;

const dataShape: shape.Shape<ProfileFieldData> = (value, path) => {
  const data = shape.dictionary((member, location) =>
    typeof member === 'string'
      ? shape.text(10_000)(member, location)
      : shape.dictionary(shape.text(10_000))(member, location),
  )(value, path);
  for (const key of ['subtype', 'url_pattern']) {
    if (typeof (data[key] ?? '') !== 'string') throw shape.wrong(`${path}.${key}`, 'is not a text');
  }
  if (typeof data.url_pattern === 'string' && isScript(data.url_pattern)) throw shape.wrong(path, 'is a script');
  return data;
};

export const PROFILE_FIELD_ROWS: RowRules<ProfileField> = {
  kind: 'profileField',
  owner: 'realm',
  order: ['order', 'id'],
  place: 'order',
  unique: { property: 'name', taken: nameTaken },
  exported: {
    noun: 'profile field',
    shape: {
      kind: shape.oneOf(...PROFILE_FIELD_KINDS),
      order: shape.integer,
      name: shape.name,
      hint: shape.name,
      data: dataShape,
      isRequired: shape.flag,
      isEditableByUser: shape.flag,
      isForMatching: shape.flag,
      isInSummary: shape.flag,
    },
    max: 1000,
  },
};

export interface ProfileEventTypes {
  /** Sent to everyone with all fields in order. */
  'profile.fields_changed': { readonly fields: readonly ProfileField[] };
  /** Sent to everyone who may see the user. `value`: null if removed. */
  'profile.value_changed': {
    readonly userId: UserId;
    readonly fieldId: ProfileFieldId;
    readonly value: string | null;
    readonly rendered: string | null;
  };
}

const personPart: PersonPart<'profile'> = {
  none: { profile: [] },
  isPublic: true,
  shapes: {
    profile: shape.list(
      shape.object({ fieldId: shape.anyId, value: shape.text(100_000), rendered: shape.orNull(htmlShape) }),
      1000,
    ),
  },
  async read(reads, { realmId, userId }) {
    const values = await reads.profiles.listValues(realmId, [userId]);
    return { profile: values.get(userId) ?? [] };
  },
  async add(tx, { realmId, userId }, { profile }, ids) {
    if (profile.length === 0) return;
    const fields = await tx.profileFields.list(realmId);
    for (const { fieldId: old, value, rendered } of profile) {
      const fieldId = ids.lastOf<ProfileFieldId>('profileField').get(old);
      const field = fields.find(({ id }) => id === fieldId)!;
      await tx.profiles.putValue(realmId, userId, {
        fieldId,
        value:
          field.kind === 'users'
            ? JSON.stringify(userListOf(value).flatMap((id) => ids.users.find(id) ?? []))
            : importedText(field, value),
        rendered: rendered && ids.rewriter.html(rendered),
      });
    }
  },
};

/** @throws DomainError INVALID_IMPORT if a user could not have set the value */
function importedText(field: ProfileField, value: string): string {
  try {
    return profileValueText(field, value, new Map());
  } catch (error) {
    throw invalidImport(`A profile field has a wrong value: ${(error as Error).message}.`);
  }
}

function userListOf(value: string): readonly UserId[] {
  let ids: unknown;
  try {
    ids = JSON.parse(value);
  } catch {
    ids = null;
  }
  if (!Array.isArray(ids) || !ids.every(Number.isSafeInteger)) {
    throw invalidImport('A list of users is not a list of ids.');
  }
  return ids as UserId[];
}

export const PROFILE_FEATURE = {
  eventFormats: {
    'profile.fields_changed': 1,
    'profile.value_changed': 1,
  },
  personPart,
  rows: { profileFields: PROFILE_FIELD_ROWS },
} satisfies FeatureParts<ProfileEventTypes>;

export interface ProfileReads {
  /** Returns values sorted by ascending field id; users without values are absent. Runs one statement for all users. */
  listValues(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly ProfileValue[]>>;
}

/**
 * Values of profile fields. Every implementation passes profile-repository.contract.ts. Changing a value increments the
 * user's version.
 */
export interface ProfileRepository extends ProfileReads {
  /** Adds or replaces a value. */
  putValue(realmId: RealmId, userId: UserId, value: ProfileValue): Promise<void>;
  /** Returns true if there was a value. */
  removeValue(realmId: RealmId, userId: UserId, fieldId: ProfileFieldId): Promise<boolean>;
  /**
   * Removes at most `limit` values of all users that equal one of `values` (null: any). Returns the number of removed
   * values.
   */
  removeValuesOf(
    realmId: RealmId,
    fieldId: ProfileFieldId,
    values: readonly string[] | null,
    limit: number,
  ): Promise<number>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ProfileErrors {}
  interface DomainEventTypes extends ProfileEventTypes {}
  interface RealmCopyParts {
    readonly profileFields: readonly ProfileField[];
  }
  interface PersonCopyParts {
    readonly profile: readonly ProfileValue[];
  }
  interface IdKindParts {
    profileField: ProfileFieldId;
  }
  interface RepositoryMap {
    /** Remove the values of a field before the field. */
    profileFields: [reads: RealmRowReads<ProfileField>, repository: RealmRows<ProfileField, 'order'>];
    profiles: [reads: ProfileReads, repository: ProfileRepository];
  }
}

/** Preserves the order of `users`. */
export async function withProfiles(
  { profiles }: Pick<Repositories | Transaction, 'profiles'>,
  realmId: RealmId,
  users: readonly User[],
): Promise<readonly UserWithProfile[]> {
  if (users.length === 0) return [];
  const values = await profiles.listValues(
    realmId,
    users.map(({ id }) => id),
  );
  return users.map((user) => ({ ...user, profile: values.get(user.id) ?? [] }));
}

/** Sorted by display order. */
export const loadProfileFields = ({ caller, repositories }: Snapshot): Promise<readonly ProfileField[]> =>
  repositories.profileFields.list(caller.realmId);
