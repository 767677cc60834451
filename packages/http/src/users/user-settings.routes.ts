import { ChangeUserDefaults } from '@parley/domain/membership';
import { ChangeSettings } from '@parley/domain/users';
import { given } from '../kernel/given.js';
import { type Route, route } from '../kernel/route.js';
import { ChangeSettingsDto, ChangeUserDefaultsDto, toSettingTargets } from './user-settings.dtos.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

const changeSettings = (path: string): Route =>
  route('PATCH', path, {
    auth: 'user',
    roleRequirements: ['human'],
    dto: ChangeSettingsDto,
    useCase: ChangeSettings,
    toInput: (dto) =>
      given({
        settings: USER_SETTING_FORMS.read(dto),
        fullName: dto.full_name,
        email: dto.email,
        oldPassword: dto.old_password,
        newPassword: dto.new_password,
        targets: dto.target_users && toSettingTargets(dto.target_users),
      }),
  });

export const userSettingRoutes: readonly Route[] = [
  changeSettings('/settings'),
  // What they were before they were one operation; the same in all (users §6.1).
  changeSettings('/settings/display'),
  changeSettings('/settings/notifications'),
  route('PATCH', '/realm/user_settings_defaults', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ChangeUserDefaultsDto,
    useCase: ChangeUserDefaults,
    toInput: (dto) => USER_SETTING_FORMS.read(dto),
  }),
];
