import { mustBeHuman } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { ProfileFieldId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { editableField, fieldsById, type ProfileEntry, ProfileValues, removeProfileValue } from '../change-profile.js';

/** What people say about themselves (users §13.5). */
export class ChangeOwnProfile {
  static readonly inject = ['unitOfWork', ProfileValues] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly values: ProfileValues,
  ) {}

  /**
   * All or nothing. @throws DomainError MUST_NOT_BE_BOT, UNKNOWN_PROFILE_FIELD, PROFILE_FIELD_NOT_EDITABLE,
   * INVALID_PROFILE_VALUE, UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, entries: readonly ProfileEntry[]): Promise<void> {
    const parsed = await this.values.parse(caller.realmId, entries);
    await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const realm = await tx.realms.get(caller.realmId);
      const user = (await tx.users.find(caller.realmId, caller.userId))!;
      await this.values.store(tx, { realm, actor, user }, entries, parsed, { emptyRemoves: false });
    });
  }
}

/** Takes away what people said in these fields (users §13.5). */
export class ClearOwnProfile {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** All or nothing. @throws DomainError MUST_NOT_BE_BOT, UNKNOWN_PROFILE_FIELD, PROFILE_FIELD_NOT_EDITABLE */
  execute(caller: Caller, fieldIds: readonly ProfileFieldId[]): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeHuman(actor));
      const fields = await fieldsById(tx, caller.realmId);
      for (const id of fieldIds) editableField(fields, id, actor);
      const user = (await tx.users.find(caller.realmId, caller.userId))!;
      for (const id of fieldIds) await removeProfileValue(tx, user, id);
    });
  }
}
