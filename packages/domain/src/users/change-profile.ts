import { type Actor, isAdministrator } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { ProfileFieldId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { ParsedText, TextRenderer } from '../markdown/text-renderer.js';
import type { Realm } from '../realms/realm.js';
import { type ProfileField, unknownProfileField } from './profile-field.js';
import { type GivenProfileValue, isRenderedKind, type ProfileValue, profileValueText } from './profile-value.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

export interface ProfileEntry {
  readonly fieldId: ProfileFieldId;
  readonly value: GivenProfileValue;
}

/** Texts that are shown as Markdown, by what they are. */
export type ParsedProfile = ReadonlyMap<string, ParsedText>;

/** Values of custom profile fields (users §3.2, §13.5). */
export class ProfileValues {
  static readonly inject = ['unitOfWork', 'textRenderer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly texts: TextRenderer,
  ) {}

  /** Before the unit: what takes its time. */
  async parse(realmId: RealmId, entries: readonly ProfileEntry[]): Promise<ParsedProfile> {
    if (entries.length === 0) return new Map();
    const fields = await this.uow.read(({ profiles }) => profiles.listFields(realmId));
    const rendered = new Set(fields.filter(({ kind }) => isRenderedKind(kind)).map(({ id }) => id));
    const texts = entries.flatMap(({ fieldId, value }) => {
      // What is longer than any value is refused in its turn.
      const isText = typeof value === 'string' && value !== '' && value.length <= 1000;
      return isText && rendered.has(fieldId) ? [value] : [];
    });
    return this.texts.parseAll(realmId, texts);
  }

  /**
   * Checks all entries in their order, then stores those whose text differs, each announced by itself. `emptyRemoves`: an
   * empty value takes away what there is.
   * @throws DomainError UNKNOWN_PROFILE_FIELD, PROFILE_FIELD_NOT_EDITABLE, INVALID_PROFILE_VALUE, UNRENDERABLE_CONTENT
   */
  async store(
    tx: Transaction,
    { realm, actor, user }: { readonly realm: Realm; readonly actor: Actor; readonly user: User },
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
    for (const change of accepted) await this.apply(tx, realm, actor, user, change, present, parsed);
  }

  private async apply(
    tx: Transaction,
    realm: Realm,
    actor: Actor,
    user: User,
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
    await announce(tx, user, value);
  }
}

interface ProfileChange {
  readonly field: ProfileField;
  /** Null: the value is taken away. */
  readonly text: string | null;
}

export async function fieldsById(
  { profiles }: Pick<Transaction, 'profiles'>,
  realmId: RealmId,
): Promise<ReadonlyMap<ProfileFieldId, ProfileField>> {
  return new Map((await profiles.listFields(realmId)).map((field) => [field.id, field]));
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

/** Nothing happens where there is none. */
export async function removeProfileValue(tx: Transaction, user: User, fieldId: ProfileFieldId): Promise<void> {
  if (!(await tx.profiles.removeValue(user.realmId, user.id, fieldId))) return;
  await announce(tx, user, { fieldId, value: null, rendered: null });
}

function announce(
  tx: Transaction,
  { realmId, id: userId }: User,
  { fieldId, value, rendered }: { fieldId: ProfileFieldId; value: string | null; rendered: string | null },
) {
  return tx.events.append(realmId, {
    event: { type: 'profile.value_changed', userId, fieldId, value, rendered },
    audience: accessorsOf(userId),
  });
}
