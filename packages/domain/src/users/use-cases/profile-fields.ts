import { mustBeAdministrator } from '../../access/role-rules.js';
import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ProfileFieldId, RealmId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import {
  changedProfileField,
  checkProfileField,
  type ProfileField,
  type ProfileFieldChanges,
  type ProfileFieldKind,
  type ProfileFieldSettings,
  removedChoices,
  unknownProfileField,
} from '../profile-field.js';

/** What fields users have beside their name (users §13.2). */
export class ListProfileFields {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** By order. */
  execute(caller: Caller): Promise<readonly ProfileField[]> {
    return this.uow.read(async ({ actors, profiles }) => {
      await actors.get(caller);
      return profiles.listFields(caller.realmId);
    });
  }
}

export interface AddProfileFieldInput extends ProfileFieldSettings {
  readonly kind: ProfileFieldKind | 'unknown';
}

/** Users §13.3. */
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
      const { id } = await tx.profiles.addField({ realmId: caller.realmId, kind, ...accepted });
      return id;
    });
  }
}

/** Users §13.4. */
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
      await tx.profiles.updateField(after);
      const removed = removedChoices(field, after);
      if (removed.length > 0) await removeValues(tx, caller.realmId, id, removed);
    });
  }
}

/** With what everybody said in it (users §13.4). */
export class RemoveProfileField {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_PROFILE_FIELD */
  execute(caller: Caller, id: ProfileFieldId): Promise<void> {
    return administrate(this.uow, caller, async (tx, fields) => {
      fieldIn(fields, id);
      await removeValues(tx, caller.realmId, id, null);
      await tx.profiles.removeField(caller.realmId, id);
    });
  }
}

/** In which order they are shown (users §13.4). */
export class OrderProfileFields {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `ids`: all fields; of those named twice the last place counts. @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_PROFILE_FIELD_ORDER */
  execute(caller: Caller, ids: readonly ProfileFieldId[]): Promise<void> {
    return administrate(this.uow, caller, async (tx, fields) => {
      const places = new Map(ids.map((id, place) => [id, place]));
      if (fields.some(({ id }) => !places.has(id))) {
        throw new DomainError('INVALID_PROFILE_FIELD_ORDER', 'Invalid order mapping.');
      }
      for (const field of fields) await tx.profiles.updateField({ ...field, order: places.get(field.id)! });
    });
  }
}

/** Afterwards everybody gets all fields. */
function administrate<T>(
  uow: UnitOfWork,
  caller: Caller,
  change: (tx: Transaction, fields: readonly ProfileField[]) => Promise<T>,
): Promise<T> {
  const { realmId } = caller;
  return uow.write(async (tx) => {
    enforce(mustBeAdministrator(await tx.actors.get(caller)));
    const result = await change(tx, await tx.profiles.listFields(realmId));
    const event = { type: 'profile.fields_changed', fields: await tx.profiles.listFields(realmId) } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
    return result;
  });
}

function fieldIn(fields: readonly ProfileField[], id: ProfileFieldId): ProfileField {
  const field = fields.find((each) => each.id === id);
  if (!field) throw unknownProfileField(id);
  return field;
}

const VALUES_AT_A_TIME = 500;

async function removeValues(
  tx: Transaction,
  realmId: RealmId,
  id: ProfileFieldId,
  values: readonly string[] | null,
): Promise<void> {
  while ((await tx.profiles.removeValuesOf(realmId, id, values, VALUES_AT_A_TIME)) === VALUES_AT_A_TIME) {
    await tx.yield();
  }
}
