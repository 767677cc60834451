import type { GroupId, UserId } from '@parley/domain/kernel';
import { SETTINGS_WITH_REALM_DEFAULT, USER_SETTINGS, type UserSettingName } from '@parley/domain/realms';
import type { SettingTargets } from '@parley/domain/users';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { boolean, integer, listOf, object, optional, type ValueOf } from '../kernel/param-types.js';
import { param, TextParam } from '../kernel/params.js';
import { declareSettings } from '../realms/declare-settings.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

const ids = listOf(integer(), { max: MAX_IDS });
const targetUsers = object({ user_ids: optional(ids), group_ids: optional(ids), skip_if_already_edited: boolean() });
type TargetUsers = ValueOf<typeof targetUsers>;

/** And every setting of users, by the registry. */
export class ChangeSettingsDto {
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) email?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) old_password?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) new_password?: string;
  @param(targetUsers, { optional: true }) target_users?: TargetUsers;
}
declareSettings(ChangeSettingsDto, USER_SETTING_FORMS, Object.keys(USER_SETTINGS) as UserSettingName[]);

/** Every setting that the organization has a default for. */
export class ChangeUserDefaultsDto {}
declareSettings(ChangeUserDefaultsDto, USER_SETTING_FORMS, SETTINGS_WITH_REALM_DEFAULT);

export const toSettingTargets = ({ user_ids, group_ids, skip_if_already_edited }: TargetUsers): SettingTargets => ({
  userIds: (user_ids ?? []) as UserId[],
  groupIds: (group_ids ?? []) as GroupId[],
  skipsEdited: skip_if_already_edited,
});
