import { type Actor, isAdministrator, mustBeAdministrator, mustBeHuman } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller, ProfileFieldId, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, ROWS_PER_PAGE } from '../kernel/work.js';
import type { ParsedText, TextRenderer } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import {
  changedProfileField,
  checkProfileField,
  isRenderedKind,
  type ProfileField,
  type ProfileFieldChanges,
  type ProfileFieldKind,
  type ProfileFieldSettings,
  type ProfileValue,
  type ProfileValueInput,
  profileValueText,
  removedChoices,
  unknownProfileField,
} from './profiles.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

export interface ProfileEntry {
  readonly fieldId: ProfileFieldId;
  readonly value: ProfileValueInput;
}

/** Parsed Markdown texts, keyed by text. */
export type ParsedProfile = ReadonlyMap<string, ParsedText>;

/** Parses and stores values of custom profile fields (users §3.2, §13.5). */
export class ProfileValues {
  static readonly inject = ['unitOfWork', 'textRenderer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly texts: TextRenderer,
  ) {}

  /** Runs before the unit of work, since parsing is slow. */
  async parse(realmId: RealmId, entries: readonly ProfileEntry[]): Promise<ParsedProfile> {
    if (entries.length === 0) return new Map();
    const fields = await this.uow.read(realmId, ({ profileFields }) => profileFields.list(realmId));
    const rendered = new Set(fields.filter(({ kind }) => isRenderedKind(kind)).map(({ id }) => id));
    const texts = entries.flatMap(({ fieldId, value }) => {
      // Overlong values are rejected later, at their place in the validation order.
      const isText = typeof value === 'string' && value !== '' && value.length <= 1000;
      return isText && rendered.has(fieldId) ? [value] : [];
    });
    return this.texts.parseAll(realmId, texts);
  }

  /**
   * Validates all entries in order, then stores and publishes each entry with a changed text. `emptyRemoves`: an empty
   * value removes the existing one.
   * @throws DomainError UNKNOWN_PROFILE_FIELD, PROFILE_FIELD_NOT_EDITABLE, INVALID_PROFILE_VALUE, UNRENDERABLE_CONTENT
   */
  async store(
    tx: Transaction,
    { realm, actor, user }: ProfileOwner,
    entries: readonly ProfileEntry[],
    parsed: ParsedProfile,
    { emptyRemoves }: { readonly emptyRemoves: boolean },
  ): Promise<void> {
    if (entries.length === 0) return;
    const fields = await fieldsById(tx, realm.id);
    const named = entries.flatMap(({ value }) => (Array.isArray(value) ? (value as UserId[]) : []));
    const users = new Map(
      (named.length === 0 ? [] : await tx.users.list(realm.id, [...new Set(named)])).map((each) => [each.id, each]),
    );
    const accepted: ProfileChange[] = [];
    for (const { fieldId, value } of entries) {
      const field = editableField(fields, fieldId, actor);
      const isRemoved = value === null || (emptyRemoves && value.length === 0);
      accepted.push({ field, text: isRemoved ? null : profileValueText(field, value, users) });
    }
    const present = new Map(
      ((await tx.profiles.listValues(realm.id, [user.id])).get(user.id) ?? []).map((value) => [value.fieldId, value]),
    );
    for (const change of accepted) await this.apply(tx, { realm, actor, user }, change, present, parsed);
  }

  private async apply(
    tx: Transaction,
    { realm, actor, user }: ProfileOwner,
    { field: { id: fieldId, kind }, text }: ProfileChange,
    present: Map<ProfileFieldId, ProfileValue>,
    parsed: ParsedProfile,
  ): Promise<void> {
    if (text === null) {
      if (present.delete(fieldId)) await removeProfileValue(tx, user, fieldId);
      return;
    }
    if (present.get(fieldId)?.value === text) return;
    const ahead = isRenderedKind(kind) ? parsed.get(text) : undefined;
    const rendered = ahead ? await this.texts.render(tx, realm.id, actor, ahead) : null;
    const value: ProfileValue = { fieldId, value: text, rendered };
    present.set(fieldId, value);
    await tx.profiles.putValue(realm.id, user.id, value);
    await announceProfileValue(tx, user, value);
  }
}

interface ProfileOwner {
  readonly realm: Realm;
  readonly actor: Actor;
  /** User with the profile. */
  readonly user: User;
}

interface ProfileChange {
  readonly field: ProfileField;
  /** Null removes the value. */
  readonly text: string | null;
}

export async function fieldsById(
  { profileFields }: Pick<Transaction, 'profileFields'>,
  realmId: RealmId,
): Promise<ReadonlyMap<ProfileFieldId, ProfileField>> {
  return new Map((await profileFields.list(realmId)).map((field) => [field.id, field]));
}

/** @throws DomainError UNKNOWN_PROFILE_FIELD, PROFILE_FIELD_NOT_EDITABLE */
export function editableField(
  fields: ReadonlyMap<ProfileFieldId, ProfileField>,
  id: ProfileFieldId,
  actor: Actor,
): ProfileField {
  const field = fields.get(id);
  if (!field) throw unknownProfileField(id);
  if (!field.isEditableByUser && !isAdministrator(actor)) {
    throw new DomainError(
      'PROFILE_FIELD_NOT_EDITABLE',
      'You are not allowed to change this field. Contact an administrator to update it.',
    );
  }
  return field;
}

/** Does nothing if there is no value. */
export async function removeProfileValue(tx: Transaction, user: User, fieldId: ProfileFieldId): Promise<void> {
  if (!(await tx.profiles.removeValue(user.realmId, user.id, fieldId))) return;
  await announceProfileValue(tx, user, { fieldId, value: null, rendered: null });
}

export function announceProfileValue(
  tx: Transaction,
  { realmId, id: userId }: Pick<User, 'realmId' | 'id'>,
  { fieldId, value, rendered }: { fieldId: ProfileFieldId; value: string | null; rendered: string | null },
) {
  return tx.events.append(realmId, {
    event: { type: 'profile.value_changed', userId, fieldId, value, rendered },
    audience: accessorsOf(userId),
  });
}

/** Sets values in the caller's profile (users §13.5). */
export class ChangeOwnProfile {
  static readonly inject = ['unitOfWork', ProfileValues] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly values: ProfileValues,
  ) {}

  /**
   * Applies all changes or none. @throws DomainError MUST_NOT_BE_BOT, UNKNOWN_PROFILE_FIELD,
   * PROFILE_FIELD_NOT_EDITABLE, INVALID_PROFILE_VALUE, UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, entries: readonly ProfileEntry[]): Promise<void> {
    const parsed = await this.values.parse(caller.realmId, entries);
    await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const realm = await tx.realms.get(caller.realmId);
      const user = await tx.users.get(caller.realmId, caller.userId);
      await this.values.store(tx, { realm, actor, user }, entries, parsed, { emptyRemoves: false });
    });
  }
}

/** Removes values from the caller's profile (users §13.5). */
export class ClearOwnProfile {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Removes all values or none. @throws DomainError MUST_NOT_BE_BOT, UNKNOWN_PROFILE_FIELD,
   * PROFILE_FIELD_NOT_EDITABLE
   */
  execute(caller: Caller, fieldIds: readonly ProfileFieldId[]): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const fields = await fieldsById(tx, caller.realmId);
      for (const id of fieldIds) editableField(fields, id, actor);
      const user = await tx.users.get(caller.realmId, caller.userId);
      for (const id of fieldIds) await removeProfileValue(tx, user, id);
    });
  }
}

/** Lists the custom profile fields (users §13.2). */
export class ListProfileFields {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Sorted by display order. */
  execute(caller: Caller): Promise<readonly ProfileField[]> {
    return this.uow.read(caller.realmId, async ({ actors, profileFields }) => {
      await actors.get(caller);
      return profileFields.list(caller.realmId);
    });
  }
}

export interface AddProfileFieldInput extends ProfileFieldSettings {
  readonly kind: ProfileFieldKind | 'unknown';
}

/** Adds a profile field (users §13.3). */
export class AddProfileField {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, TOO_MANY_SUMMARY_FIELDS, INVALID_PROFILE_FIELD, PROFILE_FIELD_NAME_TAKEN,
   * TOO_MANY_PROFILE_FIELDS
   */
  execute(caller: Caller, { kind: asked, ...settings }: AddProfileFieldInput): Promise<ProfileFieldId> {
    return administrate(this.uow, caller, async (tx, fields) => {
      const { kind, settings: accepted } = checkProfileField(asked, settings, fields);
      const { id } = await tx.profileFields.add({ realmId: caller.realmId, kind, ...accepted });
      return id;
    });
  }
}

/** Updates a profile field (users §13.4). */
export class UpdateProfileField {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_PROFILE_FIELD, DEFAULT_PROFILE_FIELD, TOO_MANY_SUMMARY_FIELDS,
   * INVALID_PROFILE_FIELD, PROFILE_FIELD_NAME_TAKEN
   */
  execute(
    caller: Caller,
    { id, changes }: { readonly id: ProfileFieldId; readonly changes: ProfileFieldChanges },
  ): Promise<void> {
    return administrate(this.uow, caller, async (tx, fields) => {
      const field = fieldIn(fields, id);
      const after = changedProfileField(
        field,
        changes,
        fields.filter((other) => other.id !== id),
      );
      await tx.profileFields.update(after);
      const removed = removedChoices(field, after);
      if (removed.length > 0) await removeValues(tx, caller.realmId, id, removed);
    });
  }
}

/** Removes a profile field with all its values (users §13.4). */
export class RemoveProfileField {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_PROFILE_FIELD */
  execute(caller: Caller, id: ProfileFieldId): Promise<void> {
    return administrate(this.uow, caller, async (tx, fields) => {
      fieldIn(fields, id);
      await removeValues(tx, caller.realmId, id, null);
      await tx.profileFields.remove(caller.realmId, id);
    });
  }
}

/** Changes the display order of profile fields (users §13.4). */
export class OrderProfileFields {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * `ids`: all fields; for a repeated id, the last position counts. @throws DomainError MUST_BE_ADMINISTRATOR,
   * INVALID_PROFILE_FIELD_ORDER
   */
  execute(caller: Caller, ids: readonly ProfileFieldId[]): Promise<void> {
    return administrate(this.uow, caller, async (tx, fields) => {
      const positions = new Map(ids.map((id, position) => [id, position]));
      if (fields.some(({ id }) => !positions.has(id))) {
        throw new DomainError('INVALID_PROFILE_FIELD_ORDER', 'Invalid order mapping.');
      }
      for (const field of fields) await tx.profileFields.update({ ...field, order: getOrThrow(positions, field.id) });
    });
  }
}

/** Publishes all fields to everyone after the change. */
function administrate<T>(
  uow: UnitOfWork,
  caller: Caller,
  change: (tx: Transaction, fields: readonly ProfileField[]) => Promise<T>,
): Promise<T> {
  const { realmId } = caller;
  return uow.write(realmId, async (tx) => {
    enforce(mustBeAdministrator(await tx.actors.get(caller)));
    const result = await change(tx, await tx.profileFields.list(realmId));
    const event = { type: 'profile.fields_changed', fields: await tx.profileFields.list(realmId) } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
    return result;
  });
}

function fieldIn(fields: readonly ProfileField[], id: ProfileFieldId): ProfileField {
  const field = fields.find((each) => each.id === id);
  if (!field) throw unknownProfileField(id);
  return field;
}

async function removeValues(
  tx: Transaction,
  realmId: RealmId,
  id: ProfileFieldId,
  values: readonly string[] | null,
): Promise<void> {
  while ((await tx.profiles.removeValuesOf(realmId, id, values, ROWS_PER_PAGE)) === ROWS_PER_PAGE);
}
