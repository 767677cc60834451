import { users as usersNamed } from '../kernel/audience.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { changed, type SettingChange } from '../kernel/settings.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { USER_SETTINGS } from '../realms/user-settings.js';
import { announceExportConsent } from './export-consent.js';
import { type PresencePolicy, presenceAudience } from './presence-policy.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

export type UserSettingChange = SettingChange<typeof USER_SETTINGS>;

/** What a change depends on beside the user. */
export interface ChangeContext {
  readonly now: UnixSeconds;
  readonly presencePolicy: PresencePolicy;
}

/** Somebody changes settings of their own: stores it, and tells them and whom it concerns (users §6.4). */
export async function applySettings(
  tx: Transaction,
  user: User,
  changes: readonly UserSettingChange[],
  context: ChangeContext,
): Promise<void> {
  if (changes.length === 0) return;
  const edited = changes.map(({ name }) => name).filter((name) => !user.editedSettings.includes(name));
  const settings = changed(user.settings, changes);
  const after = { ...user, settings, editedSettings: [...user.editedSettings, ...edited] };
  const stored = await tx.users.update(after);
  await dropDrafts(tx, user, changes);
  for (const change of lastTimeZone(changes)) {
    await announceSetting(tx, user.realmId, change, [user.id]);
    await announceToOthers(tx, change, user, stored, context);
  }
}

/** Whoever no longer wants drafts on the server has none there, without an event for each (users §6). */
export async function dropDrafts(
  tx: Transaction,
  { realmId, id }: User,
  changes: readonly UserSettingChange[],
): Promise<void> {
  const isOff = changes.some(({ name, value }) => name === 'enableDraftsSynchronization' && !value);
  if (isOff) await tx.drafts.removeAll(realmId, id);
}

/** The time zone comes after the others (users §6.2). */
const lastTimeZone = (changes: readonly UserSettingChange[]): readonly UserSettingChange[] => [
  ...changes.filter(({ name }) => name !== 'timezone'),
  ...changes.filter(({ name }) => name === 'timezone'),
];

export function announceSetting(
  tx: Transaction,
  realmId: RealmId,
  { name, value }: UserSettingChange,
  userIds: readonly UserId[],
) {
  const event = { type: 'user.setting_changed', setting: name, value } as const;
  return tx.events.append(realmId, { event, audience: usersNamed(userIds) });
}

async function announceToOthers(
  tx: Transaction,
  { name }: UserSettingChange,
  before: User,
  user: User,
  { now: at, presencePolicy }: ChangeContext,
): Promise<void> {
  switch (USER_SETTINGS[name].othersLearn) {
    case 'timeZone':
      await tx.events.append(user.realmId, {
        event: { type: 'user.time_zone_changed', user },
        audience: accessorsOf(user.id),
      });
      break;
    case 'email': {
      const visibility = before.settings.emailAddressVisibility;
      const event = { type: 'user.email_visibility_changed', user, before: visibility } as const;
      await tx.events.append(user.realmId, { event, audience: accessorsOf(user.id) });
      break;
    }
    case 'presence':
      await tx.events.append(user.realmId, {
        event: { type: 'user.presence_switched', user, at },
        audience: presenceAudience(presencePolicy, user.id),
      });
      break;
    case 'exportConsent':
      await announceExportConsent(tx, user);
      break;
    case 'nothing':
  }
}
